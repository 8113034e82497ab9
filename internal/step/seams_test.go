package step_test

import (
	"slices"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/step/steptest"
)

// A kind that finds out late that something is wrong has planned nothing.
func TestLateErrors(t *testing.T) {
	k := step.New(step.Schema{
		Summary: "Links.", Example: "step",
		Outputs: []step.OutputSpec{{Name: "library", Class: action.File, Doc: "The library."}},
	}, func(_ struct{}, p *step.Plan) {
		p.File("library", p.Action("", "link", "ld").Out("lib.so"))
		p.Missing("ld")
		p.Toolchain("linker")
	})
	linker := step.Toolchain{Output: addrs.Output{Name: "dir"}}
	steptest.Kind(t, "*step.kind", k, step.Request{Toolchains: map[string]step.Toolchain{"linker": linker}})
}

// What a machine lacks is said once, however many actions of a step want it.
func TestMissingOnce(t *testing.T) {
	k := step.New(step.Schema{Summary: "Runs.", Example: "step"}, func(_ struct{}, p *step.Plan) {
		p.Missing("a compiler", "a linker")
		p.Missing("a compiler")
	})
	planned, diags := k.Plan(step.Request{})
	if want := []string{"a compiler", "a linker"}; diags.HasErrors() || !slices.Equal(planned.Missing, want) {
		t.Errorf("%q, %v, want %q", planned.Missing, diags, want)
	}
}
