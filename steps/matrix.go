package steps

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/thermal"
)

// Bounds of one step.
const (
	maxRepeat = 1000
	maxRuns   = 4096 // variants × repetitions
)

// serialAxis is the axis of a matrix that chooses phones.
const serialAxis = "serial"

// replacedArgs are the arguments in which {axis} stands for the variant's value.
func replacedArgs() []string {
	return []string{"argv", "stdin", "facts", "title", "push", "pull", "expect", "serial"}
}

// bench says how a step measures.
type bench struct {
	repeat, warmup int
	cooldown       *thermal.Cooldown
	axes           []string // sorted
	variants       []variant
	titled         bool // the step's title tells the variants apart
}

// variant is one combination of the matrix's values. A step without a matrix has one, without values.
type variant struct {
	values map[string]string // by axis
	label  string            // "model=a,seq=64": for names of actions and folders, unlike every other
}

// cell is one run of a variant.
type cell struct {
	variant
	repetition int    // from 1
	dir        string // slash path among the results, "" when there is only one run
	name       string // of its action
}

// several tells whether there is more than one run, or could be if the matrix had another value.
func (b bench) several() bool { return b.repeat > 1 || len(b.axes) > 0 }

// recorded tells whether the runs have records.
func (b bench) recorded() bool { return b.several() || b.warmup > 0 || b.cooldown != nil }

// varies tells whether the text is another for some variants.
func (b bench) varies(s string) bool {
	return slices.ContainsFunc(b.axes, func(a string) bool { return strings.Contains(s, "{"+a+"}") })
}

// cells returns all runs in the order in which one device does them, since a build begins the ready actions of a step in the order of its
// plan: no variant is done before the others began.
func (b bench) cells() []cell {
	var out []cell
	for n := 1; n <= b.repeat; n++ {
		for _, v := range b.variants {
			c := cell{variant: v, repetition: n, name: "run"}
			if v.label != "" {
				c.name += "[" + v.label + "]"
			}
			if b.several() {
				c.name += fmt.Sprintf("#%d", n)
				c.dir = path.Join(v.label, fmt.Sprint(n))
			}
			out = append(out, c)
		}
	}
	return out
}

// benchOf reads the arguments repeat, warmup, cooldown and matrix.
func benchOf(r step.Request) (b bench, diags hcl.Diagnostics) {
	bad := func(arg, summary, detail string, args ...any) {
		diags = append(diags, r.ArgErrorf(arg, summary, detail, args...))
	}
	whole := func(name string, def, least, most int) int {
		v, ok := num(r.Args, name)
		if !ok {
			return def
		}
		if v != float64(int(v)) || int(v) < least || int(v) > most {
			bad(name, "Not a number of runs", "%s is %v: give a whole number from %d to %d.", name, v, least, most)
			return def
		}
		return int(v)
	}
	b.repeat, b.warmup = whole("repeat", 1, 1, maxRepeat), whole("warmup", 0, 0, runner.MaxWarmup)
	if v := attribute(r.Args, "cooldown"); !v.IsNull() {
		c := thermal.Cooldown{Celsius: 40, Timeout: thermal.Duration(10 * time.Minute)}
		if f, ok := num(v, "celsius"); ok {
			c.Celsius = f
		}
		args := step.Request{Args: v}
		if s := args.String("timeout"); s != "" {
			if err := c.Timeout.UnmarshalText([]byte(s)); err != nil {
				bad("cooldown", "Not a time", "timeout = %q: want a duration such as \"10m\" or \"90s\".", s)
			}
		}
		c.Zones, c.Required = args.Strings("zones"), args.Bool("required")
		if err := c.Check(); err != nil {
			bad("cooldown", "Cool-down that cannot be", "%s.", err)
		}
		b.cooldown = &c
	}
	axes := map[string][]string{}
	if m := attribute(r.Args, "matrix"); !m.IsNull() && m.CanIterateElements() {
		for name, l := range m.AsValueMap() {
			axes[name] = step.Request{Args: cty.ObjectVal(map[string]cty.Value{"l": l})}.Strings("l")
			b.axes = append(b.axes, name)
			switch dup := repeated(axes[name]); {
			case !metricName(name):
				bad("matrix", "Not a name for an axis", "%q: use small letters, digits and '_'.", name)
			case len(axes[name]) == 0:
				bad("matrix", "An axis without values", "Axis %q of the matrix has no values, so nothing would run. Give it some, or leave it out.", name)
			case dup != "":
				bad("matrix", "The same value twice", "Axis %q of the matrix has %q twice. To measure it several times, set repeat.", name, dup)
			}
		}
	}
	slices.Sort(b.axes)
	b.titled = b.varies(r.String("title"))
	n := b.repeat
	for _, a := range b.axes {
		if n *= max(1, len(axes[a])); n > maxRuns {
			bad("matrix", "Too many runs", "The matrix and repeat make more than %d runs.", maxRuns)
			break
		}
	}
	diags = append(diags, unused(r, b.axes)...)
	if !diags.HasErrors() {
		b.variants = combine(b.axes, axes)
	}
	return b, diags
}

func repeated(list []string) string {
	for i, s := range list {
		if slices.Contains(list[:i], s) {
			return s
		}
	}
	return ""
}

// unused finds axes that change nothing.
func unused(r step.Request, axes []string) (diags hcl.Diagnostics) {
	var texts []string
	for _, name := range replacedArgs() {
		if v := attribute(r.Args, name); !v.IsNull() {
			texts = append(texts, strs(v)...)
		}
	}
	for _, v := range r.Env {
		texts = append(texts, v)
	}
	all := strings.Join(texts, "\n")
	for _, a := range axes {
		chooses := a == serialAxis
		switch {
		case strings.Contains(all, "{"+a+"}"):
		case chooses && r.String("serial") != "":
			diags = append(diags, r.ArgErrorf("serial", "Two ways to choose a phone", "The matrix has the axis serial, and serial is %q. Leave one out.", r.String("serial")))
		case chooses && r.String("device") != "":
			diags = append(diags, r.ArgErrorf("matrix", "The emulated phone has no serial", "The axis serial chooses real phones, and the step has a device, which is the emulated one."))
		case !chooses:
			diags = append(diags, r.ArgErrorf("matrix", "An axis that changes nothing",
				"Nothing of the step has {%s}, so all its values would measure the same. Write {%s} where the value belongs: in argv, env, stdin, push, pull, expect, serial, facts or title.", a, a))
		}
	}
	return diags
}

// strs are all strings in a value, keys too.
func strs(v cty.Value) []string {
	switch {
	case v.IsNull() || !v.IsKnown():
	case v.Type() == cty.String:
		return []string{v.AsString()}
	case v.CanIterateElements():
		var out []string
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			out = append(append(out, strs(k)...), strs(e)...)
		}
		return out
	}
	return nil
}

// combine makes a variant of every combination of values; the last axis changes fastest.
func combine(axes []string, values map[string][]string) []variant {
	all := []variant{{values: map[string]string{}}}
	for _, a := range axes {
		var next []variant
		for _, v := range all {
			for _, x := range values[a] {
				with := map[string]string{a: x}
				for k, o := range v.values {
					with[k] = o
				}
				label := a + "=" + word(x)
				if v.label != "" {
					label = v.label + "," + label
				}
				next = append(next, variant{with, label})
			}
		}
		all = next
	}
	seen := map[string]bool{}
	for i := range all {
		label := all[i].label
		for n := 2; seen[all[i].label]; n++ {
			all[i].label = fmt.Sprintf("%s~%d", label, n)
		}
		seen[all[i].label] = true
	}
	return all
}

// word makes a value a short part of a file's name.
func word(s string) string {
	const most = 40
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-+", r) {
			return r
		}
		return '_'
	}, s)
	return clean[:min(len(clean), most)]
}

// request is the step's request as the variant has it.
func (v variant) request(r step.Request) (step.Request, error) {
	if len(v.values) == 0 {
		return r, nil
	}
	var pairs []string
	for a, x := range v.values {
		pairs = append(pairs, "{"+a+"}", x)
	}
	to := strings.NewReplacer(pairs...)
	attrs := r.Args.AsValueMap()
	for _, name := range replacedArgs() {
		if a, ok := attrs[name]; ok {
			got, err := replaced(a, to)
			if err != nil {
				return r, fmt.Errorf("%s: %w", name, err)
			}
			attrs[name] = got
		}
	}
	if s, ok := v.values[serialAxis]; ok && r.String("serial") == "" {
		attrs["serial"] = cty.StringVal(s)
	}
	r.Args = cty.ObjectVal(attrs)
	env := map[string]string{}
	for k, x := range r.Env {
		env[k] = to.Replace(x)
	}
	r.Env = env
	return r, nil
}

// replaced is a string, or a list or map of strings, after the replacement.
func replaced(v cty.Value, to *strings.Replacer) (cty.Value, error) {
	switch {
	case v.IsNull() || !v.IsKnown() || v.Type() != cty.String && (!v.CanIterateElements() || v.LengthInt() == 0):
		return v, nil
	case v.Type() == cty.String:
		return cty.StringVal(to.Replace(v.AsString())), nil
	case v.Type().IsListType():
		var list []cty.Value
		for _, e := range v.AsValueSlice() {
			r, err := replaced(e, to)
			if err != nil {
				return v, err
			}
			list = append(list, r)
		}
		return cty.ListVal(list), nil
	case v.Type().IsMapType():
		m := map[string]cty.Value{}
		for k, e := range v.AsValueMap() {
			r, err := replaced(e, to)
			if err != nil {
				return v, err
			}
			key := to.Replace(k)
			if _, ok := m[key]; ok {
				return v, fmt.Errorf("two entries have the name %q in the variant", key)
			}
			m[key] = r
		}
		return cty.MapVal(m), nil
	}
	return v, nil
}
