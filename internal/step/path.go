package step

import (
	"fmt"
	"path"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Root is a folder of this machine that modules are in, and where it is in exec roots: there its name is the same on
// every machine, so keys are.
type Root struct{ Dir, At string }

// Placed is a text for a command, such as one of its arguments, with the paths of modules' files as they are in the
// exec root.
func (r Request) Placed(text string) string {
	for _, root := range r.Roots {
		if path.IsAbs(text) && !strings.ContainsAny(text, " \t\n") && strings.HasPrefix(text, root.Dir+"/") {
			text = path.Clean(text) // folders on a way with .. are not all there
		}
		text = strings.ReplaceAll(text, root.Dir+"/", root.At+"/")
	}
	return text
}

// Path is an argument that names a file or folder: an output of a step or toolchain, something below one, or a path
// of the workspace. The zero Path is one that is not set, as is that of "".
type Path struct {
	value  string
	arg    string
	output *addrs.Output // that the value is, or is below
	index  int           // in a list
	listed bool
}

// Path is a value of an argument as a path.
func (r Request) Path(arg, value string) Path {
	p := Path{value: value, arg: arg}
	for _, o := range r.Used(arg) {
		if at := o.Path(); value == at || strings.HasPrefix(value, at+"/") {
			p.output = &o
		}
	}
	return p
}

var shellOnly = lazyregexp.New(`^~[^/]*(?:/|$)|\$\{?[A-Z_][A-Z0-9_]*\}?`)

// Unexpanded says, for a path that only a shell would expand, that nobody does; "" for other paths.
func Unexpanded(value string) string {
	part := shellOnly.Get().FindString(value)
	if part == "" {
		return ""
	}
	return fmt.Sprintf("hexmage does not expand %s, as a shell does. Write the path itself, or make it a variable of "+
		"the pipeline, and let the shell expand it: hexmage run … --var NAME=%s", strings.TrimSuffix(part, "/"), value)
}

// String returns the value.
func (p Path) String() string { return p.value }

// IsSet tells whether there is a path.
func (p Path) IsSet() bool { return p.value != "" }

// Host returns the path of a file or folder of this machine, absolute or relative to the workspace, or "" for what
// steps make.
func (p Path) Host() string {
	if p.output != nil {
		return ""
	}
	return p.value
}

// Output returns the output that the path is, or is below.
func (p Path) Output() (addrs.Output, bool) {
	if p.output == nil {
		return addrs.Output{}, false
	}
	return *p.output, true
}

// InRoot is where the path appears in the exec root with Input: of an output at the output's own path; a file or
// folder of the workspace at in/<argument>/<base name>.
func (p Path) InRoot() string {
	if p.value == "" || p.output != nil {
		return cleaned(p.value)
	}
	at := "in/" + p.arg
	if p.listed {
		at += fmt.Sprintf("/%d", p.index)
	}
	if base := path.Base(path.Clean("/" + p.value)); base != "/" { // "." and ".." have no name of their own
		at += "/" + base
	}
	return at
}

// MarshalText makes InRoot what documents have of a path.
func (p Path) MarshalText() ([]byte, error) { return []byte(p.InRoot()), nil }

func cleaned(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(p)
}

// Input places the path at InRoot; the output that it is below comes along as a whole. What is not set is no input.
func (p Path) Input() action.Input {
	switch {
	case p.value == "":
		return action.Input{}
	case p.output != nil:
		return action.Input{Path: p.output.Path(), Artifact: p.output, Shared: p.output.Kind == addrs.Toolchain}
	}
	return action.Input{Path: p.InRoot(), Host: &action.HostPath{Path: cleaned(p.value)}}
}

// As places what the path names, and nothing beside it, at a path of the exec root.
func (p Path) As(at string) action.Input {
	if p.output == nil {
		return action.Input{Path: at, Host: &action.HostPath{Path: cleaned(p.value)}}
	}
	in := action.Input{Path: at, Artifact: p.output}
	if sub, ok := strings.CutPrefix(p.value, p.output.Path()+"/"); ok {
		in.Sub = path.Clean(sub)
	}
	return in
}

// Below places one file or folder below the path where it appears with Input.
func (p Path) Below(rel string) action.Input {
	below := p
	below.value = path.Join(p.value, rel)
	return below.As(path.Join(p.InRoot(), rel))
}
