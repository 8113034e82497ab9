// Package addrs defines addresses in a pipeline: Step, Instance (a step, or one for_each instance) and Output.
//
// All types are small immutable values that can be map keys. The package knows the syntax of addresses. It does not
// know whether a step or output with a given address exists.
package addrs

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Toolchain is the Kind of the step that hexmage adds for each toolchain block. So toolchain.llvm is also the address
// of an instance.
const Toolchain = "toolchain"

// Step is the address of a step block. For example, the block `step "patch" "ops"` of the pipeline has the Kind
// "patch", the Name "ops" and no Module.
type Step struct {
	Module     Module
	Kind, Name string
}

// String returns the address as references spell it: "step.patch.ops", "toolchain.llvm" for a toolchain, or
// "module.aot.step.patch.ops" for a step in a module.
func (s Step) String() string {
	at := "step." + s.Kind + "." + s.Name
	if s.Kind == Toolchain {
		at = "toolchain." + s.Name
	}
	return s.Module.Of(at)
}

// Short returns the address as reports and command lines spell it: "patch.ops", or "module.aot.patch.ops" for a step in
// a module. If the address stands for all steps of a module, Short returns the module's address.
func (s Step) Short() string {
	if s.Kind == "" {
		return string(s.Module)
	}
	return s.Module.Of(s.Kind + "." + s.Name)
}

// Instance is the address of a step without for_each, or of one instance of a step with for_each.
type Instance struct {
	Step
	Key   string // the for_each key
	Keyed bool   // false for a step without for_each
}

// String returns the address as references spell it, such as `step.exec.gen["v12"]`.
func (i Instance) String() string { return i.Step.String() + i.suffix() }

// MarshalText returns the address as String formats it.
func (i Instance) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// Short returns the address as reports spell it, such as `exec.gen["v12"]`.
func (i Instance) Short() string { return i.Step.Short() + i.suffix() }

// Title returns the default title of a table that the instance writes, such as "gen", or "gen, v12" for an instance of
// for_each.
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

// Dir returns the slash path of the instance's folder in an exec root, such as "toolchains/llvm", "steps/patch/ops",
// "steps/exec/gen/+v12" or "steps/module.aot/patch/ops". No other instance uses this folder.
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

// MarshalText returns the address as String formats it.
func (o Output) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// String returns the address as references spell it: "step.patch.ops.outputs.dir", or "toolchain.llvm" for the single
// output of a toolchain.
func (o Output) String() string {
	if o.Kind == Toolchain {
		return o.Instance.String()
	}
	return o.Instance.String() + ".outputs." + o.Name
}

// Path returns the output's slash path in an exec root: "toolchains/llvm", "steps/patch/ops.dir", or
// "steps/exec/gen.so/v12" for an instance of for_each. All instances of a step share one folder for outputs with the
// same name, so a step that uses 10,000 instances gets one input folder.
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

// Covers reports whether the address s, which a user typed, includes the step in the parameter at. If s names a module
// without keys, it includes the step in all instances of the module. If s names only a module, it includes all steps of
// the module and of the modules that the module calls.
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

// ParseStep parses an address such as "patch.ops", "step.patch.ops", "toolchain.llvm", "module.aot.patch.ops", or only
// "module.aot". For a module, the returned Step has neither kind nor name.
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
		return Step{}, fmt.Errorf("invalid step address %q; write KIND.NAME, such as patch.ops, or "+
			"module.MODULE.KIND.NAME for a step of a module", s)
	}
	return Step{m, parts[0], parts[1]}, nil
}

// CutKey splits the address of an instance into the step and the key. For example, it splits
// `module.aot["x"].exec.gen["v12"]` into `module.aot["x"].exec.gen` and `["v12"]`. If the address has no key, the
// result key is "".
func CutKey(s string) (step, key string) {
	_, rest, err := splitModule(s)
	at := strings.IndexByte(rest, '[')
	if err != nil || at < 0 {
		return s, ""
	}
	at += len(s) - len(rest)
	return s[:at], s[at:]
}

// WithoutKeys returns the address without the keys of steps and modules, as pipeline files write it.
func WithoutKeys(name string) string {
	before, rest, keyed := strings.Cut(name, "[")
	if !keyed {
		return name
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil || !strings.HasPrefix(rest[len(quoted):], "]") {
		return before
	}
	return before + WithoutKeys(rest[len(quoted)+1:])
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

// Compare compares the addresses of two instances as strings.
func Compare(a, b Instance) int { return cmp.Compare(a.String(), b.String()) }

// SortOutputs sorts the slice os in place by address, and returns it without duplicates.
func SortOutputs(os []Output) []Output {
	slices.SortFunc(os, func(a, b Output) int { return cmp.Compare(a.String(), b.String()) })
	return slices.Compact(os)
}

// SortInstances is like SortOutputs, for addresses of instances.
func SortInstances(is []Instance) []Instance {
	slices.SortFunc(is, Compare)
	return slices.Compact(is)
}
