// Package sdkenv works out an environment in which SDKs are set up, from the environment that is there, and writes it for
// a shell.
//
// The SDKs' own scripts put their folders in front each time they are sourced, so that those of several releases pile up.
// Here doing it twice changes nothing, and the folders of another release give way. The package does not know which
// variables an SDK needs (the catalogue does), nor does it read the process's environment.
package sdkenv

import (
	"fmt"
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
	other  func(toolchain, root string) bool
	vars   map[string]string
	lists  map[string]bool
}

// New returns an environment that starts from what lookup says ("" for variables that are not set). other tells whether a
// folder is the root of a release of the toolchain, whichever; nil knows none.
func New(lookup func(name string) string, other func(toolchain, root string) bool) *Environment {
	if other == nil {
		other = func(string, string) bool { return false }
	}
	return &Environment{lookup: lookup, other: other, vars: map[string]string{}, lists: map[string]bool{}}
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
			return fmt.Errorf("toolchain %s is at %q: a list such as %s can't have a folder with \":\" in its name: move the SDK", toolchain, root, v.Name)
		}
		e.vars[v.Name], e.lists[v.Name] = e.prepend(toolchain, v, olds), true
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

// prepend puts the value in front of the list. Left out of what was there are parts that the value has, those of another
// release of the toolchain, and empty ones, which programs read as the working directory: they come from scripts that
// put something in front of nothing.
func (e *Environment) prepend(toolchain string, v toolchains.EnvValue, olds []string) string {
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
		if p == "" || have[path.Clean(p)] || e.replaced(toolchain, p, v.Tails, olds) {
			continue
		}
		have[path.Clean(p)] = true
		parts = append(parts, p)
	}
	return strings.Join(parts, ":")
}

// replaced tells whether the part of a list belongs to another release.
func (e *Environment) replaced(toolchain, part string, tails, olds []string) bool {
	for _, tail := range tails {
		root, ok := strings.CutSuffix(path.Clean(part), path.Clean(tail))
		if !ok || root == "" || tail == "" {
			continue
		}
		if slices.Contains(olds, root) || e.other(toolchain, root) {
			return true
		}
	}
	return false
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
