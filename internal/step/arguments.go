package step

import (
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
)

// Argument describes an argument or block that a kind accepts, for users and editors.
type Argument struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // as HCL spells it; for blocks also their content
	Required bool   `json:"required,omitempty"`
	Default  string `json:"default,omitempty"`
	Values   string `json:"values,omitempty"` // the allowed values: "v1 or v2", "1 to 1000"
	Doc      string `json:"doc"`

	Choices []string `json:"-"` // the allowed values one by one; empty if Values is not a list
}

// arguments describes the fields of a struct with these tags
//
//	arg:"name"             an argument; options: ",required", ",nonull" for a list without null elements,
//	",label" for the label of a block
//	block:"name"           blocks: a slice of structs, or a pointer to a struct for at most one; with ",required"
//	at least one
//	default:"v2"           the value of an argument that is not set, null, "", or an empty list; words for a list
//	oneof:"v1 v2"          the allowed values
//	range:"1..64"          the smallest and the largest number
//
// Arguments of embedded structs count as arguments of the struct. A field of an integer type accepts only whole
// numbers. A pointer is nil if and only if the argument is null. A field whose pointer has UnmarshalText is a string in
// HCL.
type arguments struct {
	fields []*field
	zero   reflect.Value // with all defaults
}

// field describes one argument or block.
type field struct {
	name                    string
	index                   []int
	ty                      cty.Type   // of an argument
	nested                  *arguments // of blocks
	required, nonull, label bool
	many                    bool // several blocks allowed
	def                     string
	oneOf                   []string
	bounds                  string // "1..64"
	low, high               float64
}

// argumentsOf reads the tags of a struct. It panics on invalid tags, which are bugs that the first use of the kinds'
// table finds.
func argumentsOf(t reflect.Type) *arguments {
	a := &arguments{zero: reflect.New(t).Elem()}
	for _, sf := range reflect.VisibleFields(t) {
		arg, isArg := sf.Tag.Lookup("arg")
		block, isBlock := sf.Tag.Lookup("block")
		if !isArg && !isBlock {
			continue
		}
		options := strings.Split(arg+block, ",")
		f := &field{name: options[0], index: sf.Index, def: sf.Tag.Get("default"),
			oneOf: strings.Fields(sf.Tag.Get("oneof")), bounds: sf.Tag.Get("range"),
			required: slices.Contains(options[1:], "required"), nonull: slices.Contains(options[1:], "nonull"),
			label: slices.Contains(options[1:], "label")}
		if isBlock {
			f.many = sf.Type.Kind() == reflect.Slice
			f.nested = argumentsOf(sf.Type.Elem())
		} else {
			f.ty = typeOf(sf.Type)
		}
		if low, high, ok := strings.Cut(f.bounds, ".."); ok {
			f.low, f.high = mustFloat(low), mustFloat(high)
		}
		if f.def != "" {
			if err := setText(a.zero.FieldByIndex(sf.Index), f.def); err != nil {
				panic(fmt.Sprintf("default of %s.%s: %v", t, sf.Name, err))
			}
		}
		a.fields = append(a.fields, f)
	}
	return a
}

func mustFloat(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return f
}

// typeOf returns the HCL type for a Go type.
func typeOf(t reflect.Type) cty.Type {
	switch {
	case t == reflect.TypeFor[Path](), reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return cty.String
	case t == reflect.TypeFor[cty.Value]():
		return cty.DynamicPseudoType
	}
	switch t.Kind() {
	case reflect.String:
		return cty.String
	case reflect.Bool:
		return cty.Bool
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64, reflect.Float32, reflect.Float64:
		return cty.Number
	case reflect.Slice:
		return cty.List(typeOf(t.Elem()))
	case reflect.Map:
		return cty.Map(typeOf(t.Elem()))
	case reflect.Pointer:
		return typeOf(t.Elem())
	}
	panic(fmt.Sprintf("an argument cannot have type %s", t))
}

// spec returns the schema.
func (a *arguments) spec() hcldec.ObjectSpec {
	spec := hcldec.ObjectSpec{}
	labels := 0
	for _, f := range a.fields {
		switch {
		case f.label:
			spec[f.name] = &hcldec.BlockLabelSpec{Index: labels, Name: f.name}
			labels++
		case f.nested == nil:
			spec[f.name] = &hcldec.AttrSpec{Name: f.name, Type: f.ty, Required: f.required}
		case f.many:
			least := 0
			if f.required {
				least = 1
			}
			spec[f.name] = &hcldec.BlockListSpec{TypeName: f.name, Nested: f.nested.spec(), MinItems: least}
		default:
			spec[f.name] = &hcldec.BlockSpec{TypeName: f.name, Nested: f.nested.spec(), Required: f.required}
		}
	}
	return spec
}

// list returns the arguments, sorted by name.
func (a *arguments) list(docs map[string]string) []Argument {
	var out []Argument
	for _, f := range a.fields {
		if !f.label {
			out = append(out, Argument{Name: f.name, Type: f.typeName(), Required: f.required, Default: f.def,
				Values: f.values(), Doc: docs[f.name], Choices: f.oneOf})
		}
	}
	slices.SortFunc(out, func(a, b Argument) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// typeName returns the type in HCL's spelling, or the content of a block.
func (f *field) typeName() string {
	if f.nested == nil {
		return typeexpr.TypeString(f.ty)
	}
	word := "block"
	if f.many {
		word = "blocks"
	}
	for _, n := range f.nested.fields {
		if n.label {
			word += " \"" + strings.ToUpper(n.name) + "\""
		}
	}
	var parts []string
	for _, n := range f.nested.list(nil) {
		if n.Required {
			n.Type += ", required"
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", n.Name, n.Type))
	}
	return word + " { " + strings.Join(parts, ", ") + " }"
}

// values returns the allowed values, "" if all values of the type are allowed.
func (f *field) values() string {
	if f.bounds != "" {
		return strings.Replace(f.bounds, "..", " to ", 1)
	}
	if n := len(f.oneOf); n > 1 {
		return strings.Join(f.oneOf[:n-1], ", ") + " or " + f.oneOf[n-1]
	}
	return ""
}

// decode fills a struct from its arguments. It reports errors to the plan at the argument at, or at the argument itself
// if at is "".
func (a *arguments) decode(p *Plan, at string, args map[string]cty.Value, to reflect.Value) {
	to.Set(a.zero)
	for _, f := range a.fields {
		x, ok := args[f.name]
		if !ok || x.IsNull() || !x.IsKnown() {
			continue
		}
		decoding{p: p, f: f, arg: cmp.Or(at, f.name)}.set(x, to.FieldByIndex(f.index))
	}
}

// decoding is the decoding of one argument.
type decoding struct {
	p   *Plan
	f   *field
	arg string // the argument for diagnostics
	has bool   // the value is an element of the argument
}

func (d decoding) fail(summary, format string, args ...any) {
	d.p.Fail(d.arg, summary, format, args...)
}

// is returns the beginning of a message about the value.
func (d decoding) is() string {
	if d.has {
		return d.f.name + " has"
	}
	return d.f.name + " is"
}

// set stores a known value that is not null in to.
func (d decoding) set(v cty.Value, to reflect.Value) {
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		d.set(v, to.Elem())
		return
	case reflect.Slice:
		d.list(v, to)
		return
	case reflect.Map:
		m := reflect.MakeMapWithSize(to.Type(), v.LengthInt())
		for it := v.ElementIterator(); it.Next(); {
			if k, e := it.Element(); !e.IsNull() {
				x := reflect.New(to.Type().Elem()).Elem()
				d.set(e, x)
				m.SetMapIndex(reflect.ValueOf(k.AsString()), x)
			}
		}
		to.Set(m)
		return
	}
	switch to.Addr().Interface().(type) {
	case *cty.Value:
		to.Set(reflect.ValueOf(v))
		return
	case *Path:
		if why := Unexpanded(v.AsString()); why != "" {
			d.fail("Unexpanded path", "%s %q: %s.", d.is(), v.AsString(), why)
		}
		to.Set(reflect.ValueOf(d.p.Path(d.arg, v.AsString())))
		return
	}
	if d.f.nested != nil {
		d.f.nested.decode(d.p, d.arg, v.AsValueMap(), to)
		return
	}
	d.scalar(v, to)
}

func (d decoding) list(v cty.Value, to reflect.Value) {
	d.has = true
	out := reflect.MakeSlice(to.Type(), 0, v.LengthInt())
	i := -1
	for it := v.ElementIterator(); it.Next(); {
		i++
		_, e := it.Element()
		if e.IsNull() {
			d.null(i)
			continue
		}
		out = out.Slice(0, out.Len()+1)
		x := out.Index(out.Len() - 1)
		d.set(e, x)
		if path, ok := x.Addr().Interface().(*Path); ok {
			path.index, path.listed = i, true
		}
	}
	if out.Len() > 0 || d.f.nested == nil && d.f.def == "" {
		to.Set(out)
	}
}

// null reports a null element if the argument does not allow it.
func (d decoding) null(i int) {
	if d.f.nonull {
		d.fail("Null element", "%s[%d] of %s is null. Outputs of a step or module are null if its when is "+
			"false. Use coalesce(…), or compact(…) around the list.", d.f.name, i, d.p.At)
	}
}

// scalar stores a string, a number or a bool, after checking the constraints in the tags.
func (d decoding) scalar(v cty.Value, to reflect.Value) {
	var text string
	switch v.Type() {
	case cty.String:
		if text = v.AsString(); text == "" && d.f.def != "" {
			return
		}
	case cty.Bool:
		to.SetBool(v.True())
		return
	case cty.Number:
		f, _ := v.AsBigFloat().Float64()
		text = v.AsBigFloat().Text('f', -1)
		if d.f.bounds != "" && (f < d.f.low || f > d.f.high) {
			d.fail("Value out of range", "%s %s. Use a number from %s.", d.is(), text, d.f.values())
			return
		}
	}
	if len(d.f.oneOf) > 0 && !slices.Contains(d.f.oneOf, text) {
		d.fail("Invalid value", "%s %s. Use %s.", d.is(), spelled(v, text), d.f.values())
		return
	}
	if err := setText(to, text); err != nil {
		if v.Type() == cty.Number {
			d.fail("Invalid number", "%s %s. Use a whole number.", d.is(), text)
		} else {
			d.fail("Invalid value", "%s %q: %v.", d.is(), text, err)
		}
	}
}

// spelled returns the value in HCL's spelling.
func spelled(v cty.Value, text string) string {
	if v.Type() == cty.String {
		return strconv.Quote(text)
	}
	return text
}

// setText parses a value from its text.
func setText(to reflect.Value, text string) error {
	if u, ok := to.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch to.Kind() {
	case reflect.String:
		to.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		to.SetBool(b)
		return err
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, to.Type().Bits())
		to.SetInt(n)
		return err
	case reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, 64)
		to.SetUint(n)
		return err
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(text, to.Type().Bits())
		to.SetFloat(f)
		return err
	case reflect.Slice:
		for _, s := range strings.Fields(text) {
			x := reflect.New(to.Type().Elem()).Elem()
			if err := setText(x, s); err != nil {
				return err
			}
			to.Set(reflect.Append(to, x))
		}
	default:
		return fmt.Errorf("%s has no text representation", to.Type())
	}
	return nil
}
