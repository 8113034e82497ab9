package lang

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/workspace"
)

func fileFunc(f *workspace.Files) function.Function {
	return function.New(&function.Spec{
		Description: "The text of a file of the workspace.",
		Params:      []function.Parameter{{Name: "path", Type: cty.String, AllowMarked: true}},
		Type:        function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name, marks, err := hostArg(args[0], 0)
			if err != nil {
				return cty.NilVal, err
			}
			s, err := f.Read(name)
			if err != nil {
				return cty.NilVal, err
			}
			return cty.StringVal(s).WithMarks(marks), nil
		},
	})
}

func filesetFunc(f *workspace.Files) function.Function {
	return function.New(&function.Spec{
		Description: "The files below a folder that match any of the patterns (all without any), as paths from the " +
			"workspace. A pattern with ! in front leaves files out.",
		Params:   []function.Parameter{{Name: "dir", Type: cty.String, AllowMarked: true}},
		VarParam: &function.Parameter{Name: "patterns", Type: cty.String, AllowMarked: true},
		Type:     function.StaticReturnType(cty.List(cty.String)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			var plain []string
			all := cty.ValueMarks{}
			for i, a := range args {
				s, marks, err := hostArg(a, i)
				if err != nil {
					return cty.NilVal, err
				}
				plain = append(plain, s)
				for m := range marks {
					all[m] = struct{}{}
				}
			}
			found, err := f.List(plain[0], plain[1:])
			if err != nil {
				return cty.NilVal, err
			}
			if len(found) == 0 {
				return cty.ListValEmpty(cty.String).WithMarks(all), nil
			}
			vals := make([]cty.Value, len(found))
			for i, s := range found {
				vals[i] = cty.StringVal(s)
			}
			return cty.ListVal(vals).WithMarks(all), nil
		},
	})
}

// hostArg rejects paths of step outputs: they do not exist during planning.
func hostArg(v cty.Value, i int) (string, cty.ValueMarks, error) {
	v, marks := v.Unmark()
	for m := range marks {
		if o, ok := m.(addrs.Output); ok {
			return "", nil, function.NewArgErrorf(i, "%s does not exist during planning; read the output in a step", o)
		}
	}
	return v.AsString(), marks, nil
}
