package cli

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/hexmage/hexmage/internal/plan"
)

// stepsFlag is a flag such as --verify, for all steps, or --verify=STEP, which may be repeated.
type stepsFlag struct {
	on    bool
	steps []string // of the flag; none: all steps
}

// Decode implements kong.MapperValue.
func (f *stepsFlag) Decode(ctx *kong.DecodeContext) error {
	f.on = true
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		if s, ok := ctx.Scan.Pop().Value.(string); ok {
			f.steps = append(f.steps, s)
		}
	}
	return nil
}

// IsBool tells kong that the flag may stand without a value.
func (*stepsFlag) IsBool() bool { return true }

// everything tells of every step that the flag means it, if it names none; nil if it means none or some.
func (f stepsFlag) everything() func(step string) bool {
	if !f.on || len(f.steps) > 0 {
		return nil
	}
	return func(string) bool { return true }
}

// choose returns what tells of a step of the plan, or a copy of it, whether the flag means it; nil if it means none. What it names must be
// there.
func (f stepsFlag) choose(flag string, p *plan.Plan) (func(step string) bool, error) {
	if !f.on || len(f.steps) == 0 {
		return f.everything(), nil
	}
	chosen, err := selected(f.steps)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, n := range p.Instances {
		known[n.At.Step.Short()] = true
	}
	wanted := map[string]bool{}
	for _, s := range chosen {
		if !known[s.Short()] {
			return nil, usage("%s=%s: no such step is part of this run", flag, s.Short())
		}
		wanted[s.Short()] = true
	}
	return func(step string) bool {
		name, _, _ := strings.Cut(step, "[")
		return wanted[name]
	}, nil
}
