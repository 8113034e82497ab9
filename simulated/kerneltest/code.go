package kerneltest

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/oppackage/opconfig"
)

// HVX returns the HVX that code for an arch, "v79", is to be compiled for, so that it can be run by a release of qemu: "v66". Releases before 10 have
// nothing newer, and execute some newer instructions wrongly without a word, so that the compiler is to refuse them. Later ones have the integers of v68
// and v69, to which v81 has added one instruction: code is compiled as for a phone, and looked at (Unsafe). "" is a release that nobody knows.
func HVX(qemu, arch string) string {
	if version.Compare(qemu, "10") < 0 {
		return "v66"
	}
	return arch
}

// Code is an op package's library, and what it was made of.
type Code struct {
	Library string   `json:"library"`
	HVX     string   `json:"hvx"` // whose instructions the compiler could use: "v66"
	Sources []Source `json:"sources"`
}

// Source is a source of the package, and what the compiler made of it.
type Source struct {
	Path     string `json:"path"`
	Assembly string `json:"assembly"` // text that became the library's code
}

// Instruction is one that the emulator does not have, or gets wrong.
type Instruction struct {
	Text  string `json:"text"` // without the registers' numbers: "V.qf32 = vadd(V.sf,V.sf)"
	Times int    `json:"times"`
}

// Op is what became of an op of the package.
type Op struct {
	Name    string        `json:"name"`
	Source  string        `json:"source"`
	HVX     string        `json:"hvx"`               // that it was compiled for
	Ran     bool          `json:"ran"`               // a case had it executed
	Refused []Instruction `json:"refused,omitempty"` // for which no case has it executed, most frequent first
	Callee  string        `json:"callee,omitempty"`  // source that has them, where that is another one, which the op's refers to
}

func (o Op) String() string {
	switch {
	case len(o.Refused) > 0:
		return o.Name + ": " + o.refusal()
	case o.Ran:
		return fmt.Sprintf("%s: ran with HVX %s", o.Name, o.HVX)
	}
	return fmt.Sprintf("%s: no case ran it", o.Name)
}

// refusal says why the op is not run.
func (o Op) refusal() string {
	var all []string
	for _, i := range o.Refused {
		all = append(all, fmt.Sprintf("%d × %s", i.Times, i.Text))
	}
	return fmt.Sprintf("refused: %s in %s, which the simulated DSP lacks or gets wrong: test the op on a device", strings.Join(all, ", "), cmp.Or(o.Callee, o.Source))
}

// refusalOf says why an op of the package is not run, "" if it may be. One of which no source is known may be any code of the package.
func refusalOf(ops []Op, name string) string {
	known, other := false, ""
	for _, o := range ops {
		switch {
		case o.Name == name && len(o.Refused) > 0:
			return o.refusal()
		case o.Name == name:
			known = true
		case len(o.Refused) > 0 && other == "":
			other = fmt.Sprintf("refused: it is not known which source registers it, and of the same package %s is %s", o.Name, o.refusal())
		}
	}
	if known {
		return ""
	}
	return other
}

// text is what was read of a Source.
type text struct {
	Source
	unsafe   []Instruction
	defines  map[string]bool // names that other sources can refer to
	mentions map[string]bool
}

var (
	global    = lazyregexp.New(`(?m)^\s*\.(?:globl|global|weak)\s+([\w.$]+)`)
	mention   = lazyregexp.New(`[A-Za-z_.$][\w.$]*`)
	statement = lazyregexp.New(`[^{};\n]+`)
	typed     = lazyregexp.New(`(?i)\bv(?:\d+(?::\d+)?|tmp)\.([a-z]\w*)|\b(?:vf[a-z]\w*|valign4)\(`)
	register  = lazyregexp.New(`(?i)\b([vrpqm])\d+(?::\d+)?\b`)
)

// Unsafe returns the instructions of an assembly text that the emulator does not have or gets wrong, most frequent first: those whose vectors have other
// elements than integers, all of which came with v68 or later, and the integers that came after v69.
func Unsafe(assembly string) []Instruction {
	integers := []string{"b", "ub", "h", "uh", "w", "uw", "cur", "tmp", "new"}
	times := map[string]int{}
	for line := range strings.Lines(assembly) {
		line, _, _ = strings.Cut(line, "//")
		for _, s := range statement.Get().FindAllString(line, -1) {
			for _, m := range typed.Get().FindAllStringSubmatch(s, -1) {
				if !slices.Contains(integers, strings.ToLower(m[1])) {
					times[register.Get().ReplaceAllStringFunc(strings.Join(strings.Fields(s), " "), func(r string) string { return strings.ToUpper(r[:1]) })]++
					break
				}
			}
		}
	}
	var all []Instruction
	for _, name := range slices.Sorted(maps.Keys(times)) {
		all = append(all, Instruction{name, times[name]})
	}
	slices.SortStableFunc(all, func(a, b Instruction) int { return b.Times - a.Times })
	return all
}

// read reads a source's assembly text.
func read(s Source) (text, error) {
	data, err := os.ReadFile(s.Assembly)
	if err != nil {
		return text{}, err
	}
	t := text{Source: s, unsafe: Unsafe(string(data)), defines: map[string]bool{}, mentions: map[string]bool{}}
	for _, m := range global.Get().FindAllStringSubmatch(string(data), -1) {
		t.defines[m[1]] = true
	}
	for _, name := range mention.Get().FindAllString(string(data), -1) {
		if !t.defines[name] {
			t.mentions[name] = true
		}
	}
	return t, nil
}

// refused returns the first of all that has unsafe instructions and can be reached from all[from]; nil if none can.
func refused(all []text, from int) *text {
	reached := []int{from}
	for k := 0; k < len(reached); k++ {
		t := &all[reached[k]]
		if len(t.unsafe) > 0 {
			return t
		}
		for i := range all {
			if !slices.Contains(reached, i) && slices.ContainsFunc(slices.Collect(maps.Keys(all[i].defines)), func(name string) bool { return t.mentions[name] }) {
				reached = append(reached, i)
			}
		}
	}
	return nil
}

// opsOf returns the ops that the code's sources register, in the sources' order, with why they must not be run; for a source that is not known to
// register one, and must not be run, one by the source's name. An op runs what its source was compiled to, and
// what other sources define that this refers to.
func opsOf(c Code) ([]Op, error) {
	var all []text
	for _, s := range c.Sources {
		t, err := read(s)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	var ops []Op
	for i, t := range all {
		data, err := os.ReadFile(t.Path)
		if err != nil {
			return nil, err
		}
		bad, named := refused(all, i), false
		for _, registered := range opconfig.Registered(data) {
			if registered.Name == "" {
				continue
			}
			named = true
			o := Op{Name: registered.Name, Source: path.Base(t.Path), HVX: c.HVX}
			if bad != nil {
				if o.Refused = bad.unsafe; bad.Path != t.Path {
					o.Callee = path.Base(bad.Path)
				}
			}
			ops = append(ops, o)
		}
		if len(t.unsafe) > 0 && !named { // it may register ops by macros of its own
			ops = append(ops, Op{Name: path.Base(t.Path), Source: path.Base(t.Path), HVX: c.HVX, Refused: t.unsafe})
		}
	}
	return ops, nil
}
