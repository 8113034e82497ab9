// Package sdkenv adds the variables of SDKs to an existing environment, and writes the result for a shell.
//
// It is idempotent, and replaces folders of other releases in the variables. The SDKs' own scripts, in contrast,
// prepend their folders each time. The package does not know which variables an SDK needs (the catalog does). It does
// not read the process's environment.
package sdkenv

import (
	"fmt"
	"io"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/toolchains"
)

// Environment collects environment variables.
type Environment struct {
	lookup func(name string) string
	vars   map[string]string
	lists  map[string]bool
}

// New returns an environment without variables. The function lookup returns a variable's existing value, or "".
func New(lookup func(name string) string) *Environment {
	return &Environment{lookup: lookup, vars: map[string]string{}, lists: map[string]bool{}}
}

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Add adds the variables of the toolchain at root.
func (e *Environment) Add(toolchain, root string, values []toolchains.EnvValue) error {
	olds := e.roots(values)
	for _, v := range values {
		if !variableName.MatchString(v.Name) {
			return fmt.Errorf("toolchain %s: invalid variable name %q", toolchain, v.Name)
		}
		if strings.ContainsRune(v.Value, 0) {
			return fmt.Errorf("toolchain %s: the value of %s contains a zero byte", toolchain, v.Name)
		}
		if !v.Prepend {
			e.vars[v.Name] = v.Value
			continue
		}
		if strings.Contains(root, ":") {
			return fmt.Errorf("toolchain %s: path %q contains \":\", which separates paths in variables such as %s; "+
				"move the SDK to another folder",
				toolchain, root, v.Name)
		}
		e.vars[v.Name], e.lists[v.Name] = e.prepend(v, olds), true
	}
	return nil
}

// Set sets a variable that is not part of an SDK.
func (e *Environment) Set(name, value string) { e.vars[name] = value }

// roots returns the roots in the present values of the variables: those of the same toolchain, perhaps of another
// release.
func (e *Environment) roots(values []toolchains.EnvValue) []string {
	var out []string
	for _, v := range values {
		if v.Prepend || len(v.Tails) != 1 || v.Tails[0] != "" {
			continue
		}
		for _, old := range []string{e.lookup(v.Name), e.vars[v.Name]} {
			if old != "" && !slices.Contains(out, path.Clean(old)) {
				out = append(out, path.Clean(old))
			}
		}
	}
	return out
}

// prepend adds the value to the front of the list. It removes duplicates of the value's parts, parts of another release
// of the toolchain, and empty parts, which programs read as the working directory.
func (e *Environment) prepend(v toolchains.EnvValue, olds []string) string {
	old, ok := e.vars[v.Name]
	if !ok {
		old = e.lookup(v.Name)
	}
	parts := strings.Split(v.Value, ":")
	have := map[string]bool{}
	for _, p := range parts {
		have[path.Clean(p)] = true
	}
	for _, p := range strings.Split(old, ":") {
		if p == "" || have[path.Clean(p)] || replaced(p, v.Tails, olds) {
			continue
		}
		have[path.Clean(p)] = true
		parts = append(parts, p)
	}
	return strings.Join(parts, ":")
}

// replaced reports whether the part of a list is below one of the old roots.
func replaced(part string, tails, olds []string) bool {
	return slices.ContainsFunc(tails, func(tail string) bool {
		root, ok := strings.CutSuffix(path.Clean(part), path.Clean(tail))
		return ok && tail != "" && slices.Contains(olds, root)
	})
}

// Var is a variable with its value.
type Var struct {
	Name, Value string
	List        bool // whether ":" separates parts
}

// Vars returns the variables to set, sorted by name.
func (e *Environment) Vars() []Var {
	out := make([]Var, 0, len(e.vars))
	for name, value := range e.vars {
		out = append(out, Var{name, value, e.lists[name]})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Shells returns the shells that Write supports. Other POSIX shells can read the lines for bash.
func Shells() []string { return []string{"bash", "zsh", "sh", "fish"} }

// Write writes one line per variable, in the syntax of the shell. The lines quote all values.
func Write(w io.Writer, shell string, vars []Var) error {
	line, ok := map[string]func(Var) string{
		"bash": posix, "zsh": posix, "sh": posix, "fish": fish,
	}[shell]
	if !ok {
		return fmt.Errorf("unknown shell %q; use one of %s", shell, strings.Join(Shells(), ", "))
	}
	var b strings.Builder
	for _, v := range vars {
		b.WriteString(line(v) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// posix quotes all except plain words: inside single quotes only the closing quote has a meaning.
func posix(v Var) string {
	if plain(v.Value) {
		return "export " + v.Name + "=" + v.Value
	}
	return "export " + v.Name + "='" + strings.ReplaceAll(v.Value, "'", `'\''`) + "'"
}

// plain reports whether shells read the text literally.
func plain(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/._-+:,@%", c) >= 0) {
			return false
		}
	}
	return s != ""
}

// fish has lists. It joins lists whose names end with PATH by ":" for programs.
func fish(v Var) string {
	parts := []string{v.Value}
	if v.List && strings.HasSuffix(v.Name, "PATH") {
		parts = strings.Split(v.Value, ":")
	}
	var b strings.Builder
	b.WriteString("set -gx " + v.Name)
	for _, p := range parts {
		b.WriteString(" '" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(p) + "'")
	}
	return b.String()
}
