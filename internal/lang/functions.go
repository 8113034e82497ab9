package lang

import (
	"path"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/hexmage/hexmage/internal/workspace"
)

// Functions returns all functions of the pipeline language, by name. The functions never use the clock, the network or
// the environment. They read files only through the parameter files, which records each read.
func Functions(files *workspace.Files) map[string]function.Function {
	all := functions(files)
	for name, check := range limits() {
		all[name] = limited(all[name], check)
	}
	return all
}

func functions(files *workspace.Files) map[string]function.Function {
	return map[string]function.Function{
		"abs":             stdlib.AbsoluteFunc,
		"alltrue":         boolsFunc("Whether all elements are true; true of an empty list.", true),
		"anytrue":         boolsFunc("Whether an element is true; false of an empty list.", false),
		"basename":        pathFunc("The last element of a slash path.", path.Base),
		"can":             tryfunc.CanFunc,
		"ceil":            stdlib.CeilFunc,
		"chomp":           stdlib.ChompFunc,
		"chunklist":       stdlib.ChunklistFunc,
		"coalesce":        stdlib.CoalesceFunc,
		"coalescelist":    stdlib.CoalesceListFunc,
		"compact":         stdlib.CompactFunc,
		"concat":          stdlib.ConcatFunc,
		"contains":        stdlib.ContainsFunc,
		"csvdecode":       stdlib.CSVDecodeFunc,
		"dirname":         pathFunc("A slash path without its last element.", path.Dir),
		"distinct":        stdlib.DistinctFunc,
		"element":         stdlib.ElementFunc,
		"file":            fileFunc(files),
		"fileset":         filesetFunc(files),
		"flatten":         stdlib.FlattenFunc,
		"floor":           stdlib.FloorFunc,
		"format":          stdlib.FormatFunc,
		"formatlist":      stdlib.FormatListFunc,
		"indent":          stdlib.IndentFunc,
		"join":            stdlib.JoinFunc,
		"jsondecode":      stdlib.JSONDecodeFunc,
		"jsonencode":      stdlib.JSONEncodeFunc,
		"keys":            stdlib.KeysFunc,
		"length":          lengthFunc(),
		"log":             stdlib.LogFunc,
		"lookup":          stdlib.LookupFunc,
		"lower":           stdlib.LowerFunc,
		"max":             stdlib.MaxFunc,
		"merge":           stdlib.MergeFunc,
		"min":             stdlib.MinFunc,
		"one":             oneFunc(),
		"parseint":        stdlib.ParseIntFunc,
		"pow":             stdlib.PowFunc,
		"range":           stdlib.RangeFunc,
		"regex":           stdlib.RegexFunc,
		"regexall":        stdlib.RegexAllFunc,
		"regexreplace":    stdlib.RegexReplaceFunc,
		"replace":         stdlib.ReplaceFunc,
		"reverse":         stdlib.ReverseListFunc,
		"setintersection": stdlib.SetIntersectionFunc,
		"setproduct":      stdlib.SetProductFunc,
		"setsubtract":     stdlib.SetSubtractFunc,
		"setunion":        stdlib.SetUnionFunc,
		"slice":           stdlib.SliceFunc,
		"sort":            stdlib.SortFunc,
		"split":           stdlib.SplitFunc,
		"strlen":          stdlib.StrlenFunc,
		"strrev":          stdlib.ReverseFunc,
		"substr":          stdlib.SubstrFunc,
		"title":           stdlib.TitleFunc,
		"tobool":          stdlib.MakeToFunc(cty.Bool),
		"tolist":          stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"tomap":           stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
		"tonumber":        stdlib.MakeToFunc(cty.Number),
		"toset":           stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"tostring":        stdlib.MakeToFunc(cty.String),
		"trim":            stdlib.TrimFunc,
		"trimprefix":      stdlib.TrimPrefixFunc,
		"trimspace":       stdlib.TrimSpaceFunc,
		"trimsuffix":      stdlib.TrimSuffixFunc,
		"try":             tryfunc.TryFunc,
		"upper":           stdlib.UpperFunc,
		"values":          stdlib.ValuesFunc,
		"zipmap":          stdlib.ZipmapFunc,
	}
}

func pathFunc(doc string, f func(string) string) function.Function {
	return function.New(&function.Spec{
		Description: doc,
		Params:      []function.Parameter{{Name: "path", Type: cty.String}},
		Type:        function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.StringVal(f(args[0].AsString())), nil
		},
	})
}

// lengthFunc is the standard library's length, plus objects, which it rejects: in a pipeline { a = 1 } is an object.
func lengthFunc() function.Function {
	return function.New(&function.Spec{
		Description: "How many elements a collection has, or attributes an object.",
		Params: []function.Parameter{{Name: "collection", Type: cty.DynamicPseudoType, AllowDynamicType: true,
			AllowUnknown: true, AllowMarked: true}},
		Type: func(args []cty.Value) (cty.Type, error) {
			if ty := args[0].Type(); ty.IsPrimitiveType() {
				return cty.NilType, function.NewArgErrorf(0,
					"a list, map, set or object is required, not %s; for the length of a string, use strlen",
					ty.FriendlyName())
			}
			return cty.Number, nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, marks := args[0].Unmark()
			if ty := v.Type(); ty.IsObjectType() {
				return cty.NumberIntVal(int64(len(ty.AttributeTypes()))).WithMarks(marks), nil
			}
			return stdlib.Length(args[0])
		},
	})
}

// boolsFunc returns end, unless an element differs from end.
func boolsFunc(description string, end bool) function.Function {
	return function.New(&function.Spec{
		Description: description,
		Params:      []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		Type:        function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			unknown := false
			for i, v := range args[0].AsValueSlice() {
				switch {
				case !v.IsKnown():
					unknown = true
				case v.IsNull():
					return cty.NilVal, function.NewArgErrorf(0, "element %d is null instead of true or false", i)
				case v.True() != end:
					return cty.BoolVal(!end), nil
				}
			}
			if unknown {
				return cty.UnknownVal(cty.Bool), nil
			}
			return cty.BoolVal(end), nil
		},
	})
}

// oneFunc returns the only element of a list, set or tuple, and null for an empty one.
func oneFunc() function.Function {
	return function.New(&function.Spec{
		Description: "The only element of a collection; null when it is empty.",
		Params:      []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
		Type: func(args []cty.Value) (cty.Type, error) {
			ty := args[0].Type()
			switch {
			case ty.IsListType() || ty.IsSetType():
				return ty.ElementType(), nil
			case ty.IsTupleType() && ty.Length() == 0:
				return cty.DynamicPseudoType, nil
			case ty.IsTupleType() && ty.Length() == 1:
				return ty.TupleElementType(0), nil
			case ty.IsTupleType():
				return cty.NilType, function.NewArgErrorf(0, "the tuple has %d elements; the limit is 1", ty.Length())
			}
			return cty.NilType, function.NewArgErrorf(0, "a list, set or tuple is required")
		},
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			switch n := args[0].LengthInt(); n {
			case 0:
				return cty.NullVal(ty), nil
			case 1:
				return args[0].AsValueSlice()[0], nil
			default:
				return cty.NilVal, function.NewArgErrorf(0, "the collection has %d elements; the limit is 1", n)
			}
		},
	})
}
