// Package sdkenv works out an environment in which SDKs are set up, from the environment that is there, and writes it for
// a shell.
//
// Doing it twice changes nothing, and the folders of another release that the variables name give way. (The SDKs' own
// scripts put their folders in front each time.) The package does not know which variables an SDK needs (the catalog
// does), and does not read the process's environment.
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

// Environment is one in the making.
type Environment struct {
	lookup func(name string) string
	vars   map[string]string
	lists  map[string]bool
}

// New returns an environment that starts from the results of lookup ("" for a variable that is not set).
func New(lookup func(name string) string) *Environment {
	return &Environment{lookup: lookup, vars: map[string]string{}, lists: map[string]bool{}}
}

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Add applies the variables of a toolchain at root.
func (e *Environment) Add(toolchain, root string, values []toolchains.EnvValue) error {
	olds := e.roots(values)
	for _, v := range values {
		if !variableName.MatchString(v.Name) {
			return fmt.Errorf("toolchain %s: %q is no name of a variable", toolchain, v.Name)
		}
		if strings.ContainsRune(v.Value, 0) {
			return fmt.Errorf("toolchain %s: the value of %s holds a zero byte", toolchain, v.Name)
		}
		if !v.Prepend {
			e.vars[v.Name] = v.Value
			continue
		}
		if strings.Contains(root, ":") {
			return fmt.Errorf("toolchain %s is at %q: a list such as %s can't have a folder with \":\" in its name: move "+
				"the SDK", toolchain, root, v.Name)
		}
		e.vars[v.Name], e.lists[v.Name] = e.prepend(v, olds), true
	}
	return nil
}

// Set sets a variable that no SDK's script knows.
func (e *Environment) Set(name, value string) { e.vars[name] = value }

// roots are the roots that the variables name so far: of the same toolchain, perhaps in another release.
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

// prepend puts the value in front of the list. It leaves out parts that the value has, parts of another release of the
// toolchain, and empty parts, which programs read as the working directory.
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

// replaced tells whether the part of a list is below one of the old roots.
func replaced(part string, tails, olds []string) bool {
	return slices.ContainsFunc(tails, func(tail string) bool {
		root, ok := strings.CutSuffix(path.Clean(part), path.Clean(tail))
		return ok && tail != "" && slices.Contains(olds, root)
	})
}

// Var is a variable of the result.
type Var struct {
	Name, Value string
	List        bool // parts with ":" between them
}

// Vars returns the variables that are to be set, sorted by name.
func (e *Environment) Vars() []Var {
	out := make([]Var, 0, len(e.vars))
	for name, value := range e.vars {
		out = append(out, Var{name, value, e.lists[name]})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Shells are the shells that Write knows. The lines for bash are those of any POSIX shell.
func Shells() []string { return []string{"bash", "zsh", "sh", "fish"} }

// Write writes one line for each variable which sets it in the shell, whatever is in its value.
func Write(w io.Writer, shell string, vars []Var) error {
	line, ok := map[string]func(Var) string{
		"bash": posix, "zsh": posix, "sh": posix, "fish": fish,
	}[shell]
	if !ok {
		return fmt.Errorf("shell %q is not known: use one of %s", shell, strings.Join(Shells(), ", "))
	}
	var b strings.Builder
	for _, v := range vars {
		b.WriteString(line(v) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// posix quotes all but plain words: in single quotes nothing has a meaning but the quote that ends them.
func posix(v Var) string {
	if plain(v.Value) {
		return "export " + v.Name + "=" + v.Value
	}
	return "export " + v.Name + "='" + strings.ReplaceAll(v.Value, "'", `'\''`) + "'"
}

// plain tells whether every shell takes the text as it is.
func plain(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/._-+:,@%", c) >= 0) {
			return false
		}
	}
	return s != ""
}

// fish has real lists; those that end with PATH it joins with ":" for programs.
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
