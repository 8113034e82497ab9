package step

import (
	"fmt"
	"path"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Root is a folder of modules. Dir is the folder on this machine, and At is the path in exec roots. At is the same on
// all machines, so cache keys do not depend on the machine.
type Root struct{ Dir, At string }

// Placed replaces host paths of module files in the text with paths in the exec root. The text is part of a command,
// such as an argument.
func (r Request) Placed(text string) string {
	for _, root := range r.Roots {
		if path.IsAbs(text) && !strings.ContainsAny(text, " \t\n") && strings.HasPrefix(text, root.Dir+"/") {
			text = path.Clean(text) // parents of .. may not exist in the exec root
		}
		text = strings.ReplaceAll(text, root.Dir+"/", root.At+"/")
	}
	return text
}

// Path is the value of an argument that names a file or folder. The value is an output of a step or toolchain, a path
// below an output, or a path in the workspace. If the argument is not set or is "", the Path is zero.
type Path struct {
	value  string
	arg    string
	output *addrs.Output // the output that the value is or is below
	index  int           // in a list
	listed bool
}

// Path converts the value of the argument arg to a Path.
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

// Unexpanded returns an error text if the path contains shell syntax, such as "~/models" or "$HOME". Otherwise it
// returns "".
func Unexpanded(value string) string {
	part := shellOnly.Get().FindString(value)
	if part == "" {
		return ""
	}
	return fmt.Sprintf("hexmage does not expand %s, because no shell reads the pipeline. Write the full path, or use "+
		"a variable and let your shell expand the path with --var NAME=%s", strings.TrimSuffix(part, "/"), value)
}

// String returns the value of the argument.
func (p Path) String() string { return p.value }

// IsSet reports whether the argument is set.
func (p Path) IsSet() bool { return p.value != "" }

// Host returns the path of a file or folder on this machine, absolute or relative to the workspace. For an output of a
// step, it returns "".
func (p Path) Host() string {
	if p.output != nil {
		return ""
	}
	return p.value
}

// Output returns the output that the Path refers to, directly or through a path below the output. It returns false for
// a file of this machine.
func (p Path) Output() (addrs.Output, bool) {
	if p.output == nil {
		return addrs.Output{}, false
	}
	return *p.output, true
}

// InRoot returns the path of the file or folder in the exec root, after Input has added it as an input. For an output,
// this is the output's path. For a file or folder of the workspace, it is in/<argument>/<base name>.
func (p Path) InRoot() string {
	if p.value == "" || p.output != nil {
		return cleaned(p.value)
	}
	at := "in/" + p.arg
	if p.listed {
		at += fmt.Sprintf("/%d", p.index)
	}
	if base := path.Base(path.Clean("/" + p.value)); base != "/" { // "." and ".." have no base name
		at += "/" + base
	}
	return at
}

// MarshalText returns InRoot.
func (p Path) MarshalText() ([]byte, error) { return []byte(p.InRoot()), nil }

func cleaned(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(p)
}

// Input returns an input that puts the file or folder at InRoot. For a path below an output, the input is the whole
// output. If the argument is not set, the input is empty.
func (p Path) Input() action.Input {
	switch {
	case p.value == "":
		return action.Input{}
	case p.output != nil:
		return action.Input{Path: p.output.Path(), Artifact: p.output, Shared: p.output.Kind == addrs.Toolchain}
	}
	return action.Input{Path: p.InRoot(), Host: &action.HostPath{Path: cleaned(p.value)}}
}

// As returns an input that puts only the named file or folder into the exec root, at the given path.
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

// Below returns an input with one file or folder inside the folder p. The argument rel is relative to p. The path in
// the exec root is the same as if Input added the whole folder.
func (p Path) Below(rel string) action.Input {
	below := p
	below.value = path.Join(p.value, rel)
	return below.As(path.Join(p.InRoot(), rel))
}
