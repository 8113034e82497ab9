// Package addrs has the addresses of what a pipeline declares: steps, their instances, their outputs.
//
// All types are small immutable values that can be map keys. The package knows how addresses are spelt; it does not
// know what exists.
package addrs

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Toolchain is the Kind of the implicit step behind every toolchain block: toolchain.llvm is an instance like any
// other.
const Toolchain = "toolchain"

// Step is the address of a step block: `step "patch" "ops"` of the pipeline is {"", patch, ops}.
type Step struct {
	Module     Module
	Kind, Name string
}

// String returns "step.patch.ops", or "toolchain.llvm" for a toolchain, the way a reference spells it; in a module
// "module.aot.step.patch.ops".
func (s Step) String() string {
	at := "step." + s.Kind + "." + s.Name
	if s.Kind == Toolchain {
		at = "toolchain." + s.Name
	}
	return s.Module.Of(at)
}

// Short returns "patch.ops", in a module "module.aot.patch.ops": the way reports and command lines spell it. Of all
// that is in a module it is the module.
func (s Step) Short() string {
	if s.Kind == "" {
		return string(s.Module)
	}
	return s.Module.Of(s.Kind + "." + s.Name)
}

// Instance is a step, or one of its for_each copies.
type Instance struct {
	Step
	Key   string // the for_each key
	Keyed bool   // false for a step without for_each
}

// String returns `step.exec.gen["v12"]`.
func (i Instance) String() string { return i.Step.String() + i.suffix() }

// MarshalText returns what String does.
func (i Instance) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// Short returns `exec.gen["v12"]`.
func (i Instance) Short() string { return i.Step.Short() + i.suffix() }

// Title returns "gen", or "gen, v12" for an instance of for_each: what a table is called by default.
func (i Instance) Title() string {
	if !i.Keyed {
		return i.Name
	}
	return i.Name + ", " + i.Key
}

func (i Instance) suffix() string {
	if !i.Keyed {
		return ""
	}
	return "[" + strconv.Quote(i.Key) + "]"
}

// Dir returns a slash path of an exec root that is the instance's own: "toolchains/llvm", "steps/patch/ops",
// "steps/exec/gen/+v12", "steps/module.aot/patch/ops". No other instance has it, and no output of another is below
// it.
func (i Instance) Dir() string {
	dir := i.Step.dir()
	if i.Keyed {
		dir += "/+" + pathKey(i.Key) // no output's name begins so
	}
	return dir
}

func (s Step) dir() string {
	in := s.Module.Dir()
	switch {
	case s.Kind == Toolchain && in == "":
		return "toolchains/" + s.Name
	case s.Kind == Toolchain:
		return in + "/toolchains.own/" + s.Name // no kind's name has a dot
	case in == "":
		in = "steps"
	}
	return in + "/" + s.Kind + "/" + s.Name
}

// maxPathKey is how long a spelt key may be: file systems take names of 255 bytes.
const maxPathKey = 200

// pathKey spells a for_each key so that it is one path element and different keys stay different: "src/a.c" is
// "src=2fa.c".
func pathKey(k string) string {
	var b strings.Builder
	for i := range len(k) {
		switch c := k[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '+',
			c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02x", c)
		}
	}
	switch s := b.String(); {
	case s == "":
		return "="
	case len(s) > maxPathKey:
		sum := sha256.Sum256([]byte(k))
		return fmt.Sprintf("%s=~%x", s[:maxPathKey/2], sum[:16]) // no other key is spelt with "=~"
	default:
		return s
	}
}

// Output is the address of one output of an instance.
type Output struct {
	Instance
	Name string
}

// MarshalText returns what String does.
func (o Output) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// String returns "step.patch.ops.outputs.dir"; a toolchain's only output is "toolchain.llvm".
func (o Output) String() string {
	if o.Kind == Toolchain {
		return o.Instance.String()
	}
	return o.Instance.String() + ".outputs." + o.Name
}

// Path returns the output's slash path in an exec root: "toolchains/llvm", "steps/patch/ops.dir", and
// "steps/exec/gen.so/v12" for one of many copies. The outputs of steps stand together in one folder, and so do those
// of copies: to use those of ten thousand then takes one folder, not ten thousand.
func (o Output) Path() string {
	if o.Kind == Toolchain {
		return o.Dir()
	}
	path := o.Step.dir() + "." + o.Name // no step's name has a dot
	if o.Keyed {
		path += "/" + pathKey(o.Key)
	}
	return path
}

// Covers says whether the address, as a person wrote it, means a step: the step itself; without the key of a module
// that step in all of its copies; and without kind and name all steps of the module and of those that it calls.
func (s Step) Covers(at Step) bool {
	here, there := s.Module.levels(), at.Module.levels()
	if len(here) > len(there) {
		return false
	}
	for i, l := range here {
		name, _, keyed := l.call()
		if other, _, _ := there[i].call(); l != there[i] && (keyed || name != other) {
			return false
		}
	}
	if s.Kind == "" {
		return at.Kind != Toolchain
	}
	return len(here) == len(there) && s.Kind == at.Kind && s.Name == at.Name
}

// ParseStep reads "patch.ops", "step.patch.ops" or "toolchain.llvm", those of a module, "module.aot.patch.ops", and
// the module itself: then there is neither kind nor name.
func ParseStep(s string) (Step, error) {
	m, rest, err := splitModule(s)
	if err != nil {
		return Step{}, err
	}
	if m != "" && rest == "" {
		return Step{Module: m}, nil
	}
	parts := strings.Split(strings.TrimPrefix(rest, "step."), ".")
	if len(parts) != 2 || !identifier(parts[0]) || !identifier(parts[1]) {
		return Step{}, fmt.Errorf("%q is no step address: want KIND.NAME, such as patch.ops, of a module "+
			"module.NAME.KIND.NAME", s)
	}
	return Step{m, parts[0], parts[1]}, nil
}

// CutKey takes the key off the address of a step's copy: `module.aot["x"].exec.gen["v12"]` is
// `module.aot["x"].exec.gen` and `["v12"]`. There is none in the address of a step.
func CutKey(s string) (step, key string) {
	_, rest, err := splitModule(s)
	at := strings.IndexByte(rest, '[')
	if err != nil || at < 0 {
		return s, ""
	}
	at += len(s) - len(rest)
	return s[:at], s[at:]
}

func identifier(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || r == '-')) {
			return false
		}
	}
	return s != ""
}

// Compare orders instances as their spellings are ordered, which it avoids to make where it can.
func Compare(a, b Instance) int {
	switch {
	case a == b:
		return 0
	case a.Step == b.Step && a.Keyed && b.Keyed && plainKey(a.Key) && plainKey(b.Key):
		return cmp.Compare(a.Key, b.Key) // what ends a key, ", is less than all that is in one
	case a.Module == b.Module && a.Kind == b.Kind && apart(a.Name, b.Name):
		return cmp.Compare(a.Name, b.Name)
	case apart(string(a.Module), string(b.Module)):
		return cmp.Compare(a.Module, b.Module)
	}
	return cmp.Compare(a.String(), b.String())
}

// apart says whether neither text is the beginning of the other.
func apart(a, b string) bool { return !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a) }

// plainKey says whether a key is spelt as it is, by characters above ".
func plainKey(k string) bool {
	for i := range len(k) {
		if c := k[i]; c <= '"' || c == '\\' || c >= 0x7f {
			return false
		}
	}
	return true
}

// CompareOutputs orders outputs as their spellings are ordered.
func CompareOutputs(a, b Output) int {
	switch {
	case a == b:
		return 0
	case a.Instance == b.Instance && a.Kind != Toolchain:
		return cmp.Compare(a.Name, b.Name)
	case a.Step == b.Step && a.Keyed && b.Keyed, a.Module == b.Module && a.Kind == b.Kind &&
		apart(a.Step.Name, b.Step.Name),
		apart(string(a.Module), string(b.Module)):
		return Compare(a.Instance, b.Instance) // they differ before either spelling ends
	}
	return cmp.Compare(a.String(), b.String())
}

// SortOutputs sorts os by address, in place, and returns it without duplicates.
func SortOutputs(os []Output) []Output {
	slices.SortFunc(os, CompareOutputs)
	return slices.Compact(os)
}

// SortInstances sorts is by address, in place, and returns it without duplicates.
func SortInstances(is []Instance) []Instance {
	slices.SortFunc(is, Compare)
	return slices.Compact(is)
}
