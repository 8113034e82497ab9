package toolchains

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/qnn/sdk"
)

// EnvValue is a variable that an SDK's own environment script sets.
type EnvValue struct {
	Name, Value string
	Prepend     bool     // put before the current list, with a ":"
	Tails       []string // if the value contains the SDK's root: the text after the root, in each part
}

const maxScript = 1 << 20 // bytes of an SDK's script

// Env returns the variables that the toolchain's environment script would export for the SDK at root. It does not run
// the script. Unlike the script, package sdkenv can apply the variables repeatedly.
func (t *Toolchain) Env(r *Release, root string) ([]EnvValue, error) {
	tools := ""
	if r.ToolsVersion != "" {
		tools = "tools/HEXAGON_Tools/" + r.ToolsVersion
	}
	if is, err := sdk.Identify(root); (err == nil || errors.Is(err, sdk.ErrNoVersion)) && is.ToolsDir != "" {
		tools = is.ToolsDir
	}
	fsys := os.DirFS(root)
	var out []EnvValue
	for _, e := range t.EnvVars {
		match, ok, err := e.applies(fsys)
		if err != nil {
			return nil, fmt.Errorf("toolchain %s: variable %s: %w", t.Name, e.Name, err)
		}
		if !ok {
			continue
		}
		text := strings.NewReplacer("${tools}", tools, "${match}", match).Replace(r.fill(e.Value))
		v := EnvValue{Name: e.Name, Value: strings.ReplaceAll(text, "${root}", root), Prepend: e.Prepend}
		for _, part := range strings.Split(text, ":") {
			if tail, ok := strings.CutPrefix(part, "${root}"); ok {
				v.Tails = append(v.Tails, tail)
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// applies reports whether the SDK's script sets the variable, and returns the match of its pattern.
func (e *EnvVar) applies(fsys fs.FS) (match string, ok bool, err error) {
	if e.When != "" {
		names, err := doublestar.Glob(fsys, e.When)
		if err != nil || len(names) == 0 {
			return "", false, err
		}
	}
	if e.File == "" {
		return "", true, nil
	}
	re, err := regexp.Compile(e.Pattern)
	if err != nil || re.NumSubexp() != 1 {
		return "", false, fmt.Errorf("invalid pattern %q; write a regular expression with one group", e.Pattern)
	}
	b, err := boundedfile.ReadFS(fsys, path.Clean(e.File), maxScript)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, err
	}
	m := re.FindSubmatch(b)
	if m == nil {
		return "", false, nil
	}
	return string(m[1]), true, nil
}
