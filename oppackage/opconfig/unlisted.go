package opconfig

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/oppackage"
)

// ListedTool is the name and behavior version of RunListed. Raise the version whenever its findings change.
const ListedTool tool.Name[ListedSpec] = "op-listed/2"

// ListedSpec names the sources to compare.
type ListedSpec struct {
	Interface []string `json:"interface"` // sources other than the ops; one is the interface
	Ops       []string `json:"ops"`       // sources of the ops
	Out       string   `json:"out"`       // file that lists the registered ops of each source
}

var (
	lists    = lazyregexp.New(`(?s)\bBEGIN_PKG_OPS_OPTS_LIST\s*\(\s*\)(.*?)\bEND_PKG_OPS_OPTS_LIST\s*\(\s*\)`)
	declares = lazyregexp.New(`\bDECLARE_PKG_OPS_OPTS_LIST\s*\(\s*([A-Za-z_][A-Za-z0-9_]*)\s*\)\s*;?`)
	ifs      = lazyregexp.New(`(?m)^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif)\b.*$`)
)

// Unlisted returns one text for each source: the edits that the interface needs, or "".
//
// If the interface does not list an op's registration, HTP cannot run the op. If the interface names none of a source's
// ops, backends ignore the source. The linker reports neither error. The interface may omit ops that only the package's
// own optimizations create.
//
// Unlisted ignores lists and names that come from elsewhere, such as a header or a macro.
func Unlisted(iface []byte, sources [][]byte) []string {
	iface = comments.Get().ReplaceAll(iface, []byte(" "))
	named := func(o Op) bool { return o.Name != "" && bytes.Contains(iface, []byte(`"`+o.Name+`"`)) }
	ops, names := make([][]Op, len(sources)), false
	for i, text := range sources {
		ops[i] = Named(text)
		names = names || slices.ContainsFunc(ops[i], named)
	}
	inner := made(sources)
	listed, whole := registrations(iface)
	missing := make([]string, len(sources))
	for i, of := range ops {
		if len(of) == 0 {
			continue
		}
		var edits []string
		if whole && !slices.Contains(listed, of[0].Registration) {
			edits = append(edits,
				fmt.Sprintf("add DECLARE_PKG_OPS_OPTS_LIST(%s) to its list of ops", of[0].Registration))
		}
		if first := slices.IndexFunc(of, func(o Op) bool { return o.Name != "" && !inner(o) }); names && first >= 0 &&
			!slices.ContainsFunc(of, named) {
			edits = append(edits, fmt.Sprintf("add %q to its names of ops, raise their number, and extend validateOpConfig",
				of[first].Name))
		}
		missing[i] = strings.Join(edits, "; ")
	}
	return missing
}

// registrations returns the registrations in an interface's list, and whether the list holds nothing else.
func registrations(iface []byte) (listed []string, whole bool) {
	list := lists.Get().FindSubmatch(iface)
	if list == nil {
		return nil, false
	}
	for _, m := range declares.Get().FindAllSubmatch(list[1], -1) {
		listed = append(listed, string(m[1]))
	}
	rest := ifs.Get().ReplaceAll(declares.Get().ReplaceAll(list[1], nil), nil)
	return listed, len(bytes.TrimSpace(rest)) == 0
}

// RunListed rejects packages for backends other than HTP, and interfaces that omit an op.
func RunListed(_ context.Context, s ListedSpec, env tool.Env) error {
	sources := make([][]byte, len(s.Ops))
	var iface []byte
	var said error
	for i, f := range slices.Concat(s.Ops, s.Interface) {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if b := oppackage.BackendOf(f, text); b != nil && !b.Compiles && said == nil {
			fmt.Fprintln(env.Stderr, b)
			said = tool.ErrSaid
		}
		if i < len(s.Ops) {
			sources[i] = text
		} else {
			iface = append(append(iface, text...), '\n')
		}
	}
	if said != nil {
		return said
	}
	var report strings.Builder
	for i, missing := range Unlisted(iface, sources) {
		var names []string
		for _, op := range Registered(sources[i]) {
			names = append(names, cmp.Or(op.Name, op.Registration))
		}
		fmt.Fprintf(&report, "%s: %s\n", path.Base(s.Ops[i]), strings.Join(names, " "))
		if missing != "" {
			said = tool.ErrSaid
			fmt.Fprintf(env.Stderr, "%s: the interface leaves out %s, so the library would lack it: in %s, "+
				"%s; or delete the interface and set package = \"NAME\" in the step, so that hexmage generates one\n",
				s.Ops[i], strings.Join(names, ", "), strings.Join(s.Interface, " or "), missing)
		}
	}
	if said != nil {
		return said
	}
	return os.WriteFile(s.Out, []byte(report.String()), 0o644)
}
