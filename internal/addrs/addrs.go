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

// Toolchain is the Kind of the implicit step behind every toolchain block: toolchain.llvm is an instance like any other.
const Toolchain = "toolchain"

// Step is the address of a step block: `step "patch" "ops"` is {patch, ops}.
type Step struct {
	Kind, Name string
}

// String returns "step.patch.ops", or "toolchain.llvm" for a toolchain: the way a reference spells it.
func (s Step) String() string {
	if s.Kind == Toolchain {
		return "toolchain." + s.Name
	}
	return "step." + s.Kind + "." + s.Name
}

// Short returns "patch.ops": the way reports and command lines spell it.
func (s Step) Short() string { return s.Kind + "." + s.Name }

// Instance is a step, or one of its for_each copies.
type Instance struct {
	Step
	Key   string // the for_each key
	Keyed bool   // false for a step without for_each
}

// String returns `step.exec.gen["v12"]`.
func (i Instance) String() string { return i.Step.String() + i.suffix() }

// Short returns `exec.gen["v12"]`.
func (i Instance) Short() string { return i.Step.Short() + i.suffix() }

func (i Instance) suffix() string {
	if !i.Keyed {
		return ""
	}
	return "[" + strconv.Quote(i.Key) + "]"
}

// Dir returns a slash path of an exec root that is the instance's own: "toolchains/llvm", "steps/patch/ops",
// "steps/exec/gen/+v12". No other instance has it, and no output of another is below it.
func (i Instance) Dir() string {
	if i.Kind == Toolchain {
		return "toolchains/" + i.Name
	}
	dir := "steps/" + i.Kind + "/" + i.Name
	if i.Keyed {
		dir += "/+" + pathKey(i.Key) // no output's name begins so
	}
	return dir
}

// maxPathKey is how long a spelt key may be: file systems take names of 255 bytes.
const maxPathKey = 200

// pathKey spells a for_each key so that it is one path element and different keys stay different: "src/a.c" is "src=2fa.c".
func pathKey(k string) string {
	var b strings.Builder
	for i := range len(k) {
		switch c := k[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '+', c == '.' && i > 0:
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

// String returns "step.patch.ops.outputs.dir"; a toolchain's only output is "toolchain.llvm".
func (o Output) String() string {
	if o.Kind == Toolchain {
		return o.Instance.String()
	}
	return o.Instance.String() + ".outputs." + o.Name
}

// Path returns the output's slash path in an exec root: "toolchains/llvm", "steps/patch/ops/dir", and
// "steps/exec/gen/so/v12" for one of many copies. These stand together in one folder: to use the outputs of ten thousand copies then takes
// one folder, not ten thousand.
func (o Output) Path() string {
	if o.Kind == Toolchain {
		return o.Dir()
	}
	path := "steps/" + o.Kind + "/" + o.Step.Name + "/" + o.Name
	if o.Keyed {
		path += "/" + pathKey(o.Key)
	}
	return path
}

// ParseStep reads "patch.ops", "step.patch.ops" or "toolchain.llvm".
func ParseStep(s string) (Step, error) {
	parts := strings.Split(strings.TrimPrefix(s, "step."), ".")
	if len(parts) != 2 || !identifier(parts[0]) || !identifier(parts[1]) {
		return Step{}, fmt.Errorf("%q is no step address: want KIND.NAME, such as patch.ops", s)
	}
	return Step{parts[0], parts[1]}, nil
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
	case a.Kind == b.Kind && apart(a.Name, b.Name):
		return cmp.Compare(a.Name, b.Name)
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
	case a.Step == b.Step && a.Keyed && b.Keyed, a.Kind == b.Kind && apart(a.Step.Name, b.Step.Name):
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
