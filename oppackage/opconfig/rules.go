package opconfig

import (
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

var (
	optimization = lazyregexp.New(`\bDEF_PACKAGE_OPTIMIZATION(?:_WITH_FLAGS)?\s*\(`)
	ruleOp       = lazyregexp.New(`\bOp\s*\(\s*"([A-Za-z_][A-Za-z0-9_.]*)"`)
)

// rule is an optimization of a package. It replaces one op with others and omits ops of QNN's own package.
type rule struct {
	from string
	to   []string
}

// rulesOf returns the optimizations that a source registers. Their last three arguments are the replaced op, the
// condition and the replacement.
func rulesOf(source []byte) (all []rule) {
	text := string(comments.Get().ReplaceAll(source, []byte(" ")))
	for _, at := range optimization.Get().FindAllStringIndex(text, maxOps) {
		args := arguments(text[at[1]:])
		if len(args) < 3 {
			continue
		}
		var r rule
		if m := ruleOp.Get().FindStringSubmatch(args[len(args)-3]); m != nil {
			r.from = m[1]
		}
		for _, m := range ruleOp.Get().FindAllStringSubmatch(args[len(args)-1], maxOps) {
			if m[1] != r.from {
				r.to = append(r.to, m[1])
			}
		}
		all = append(all, r)
	}
	return all
}

// arguments splits the text after an opening parenthesis at its commas, up to the closing parenthesis. It returns
// nil if the parenthesis is not closed.
func arguments(text string) (args []string) {
	depth, start, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			return append(args, text[start:i])
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			args, start = append(args, text[start:i]), i+1
		}
	}
	return nil
}

// Named returns the ops in a source that a graph may name. Registered ops are first, then ops that the source's
// optimizations replace. A registration without ops counts as one op without a name.
func Named(source []byte) []Op {
	registered := Registered(source)
	if len(registered) == 0 {
		return nil
	}
	var names []string
	for _, op := range registered {
		names = append(names, op.Name)
	}
	for _, r := range rulesOf(source) {
		names = append(names, r.from)
	}
	return ops(registered[0].Registration, slices.DeleteFunc(names, func(n string) bool { return n == "" }))
}

// made returns a function that reports whether an optimization in the sources creates an op or a base of it:
// "A.flat" is a base of "A.flat.tcm".
func made(sources [][]byte) func(Op) bool {
	var names []string
	for _, text := range sources {
		for _, r := range rulesOf(text) {
			names = append(names, r.to...)
		}
	}
	return func(o Op) bool {
		return slices.ContainsFunc(names, func(n string) bool { return o.Name == n || strings.HasPrefix(o.Name, n+".") })
	}
}
