// Package steptest contains the conformance suite for implementations of step.Kind. The suite takes the type name of
// the implementation, as %T prints it without type parameters. TestSeams in package archtest collects these names, and
// reports types that no suite tests.
package steptest

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// Kind tests a kind with a request that the kind must be able to plan. While it plans, the kind can open only the files
// that Request.Open allows.
func Kind(t *testing.T, name string, k step.Kind, r step.Request) {
	if got, _, _ := strings.Cut(fmt.Sprintf("%T", k), "["); got != name {
		t.Fatalf("the suite checks a %s, but got a %s", name, got)
	}
	checkSchema(t, k)
	var mu sync.Mutex
	opened, open := map[string]bool{}, r.Open
	r.Open = func(name string) (fs.File, error) {
		mu.Lock()
		defer mu.Unlock()
		opened[name] = true
		if open != nil {
			return open(name)
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("no file can be opened during this check")}
	}
	before := fmt.Sprintf("%+v", r)
	var plans [4]step.Planned
	var wg sync.WaitGroup
	for i := range plans {
		wg.Go(func() {
			var diags hcl.Diagnostics
			if plans[i], diags = k.Plan(r); diags.HasErrors() || len(plans[i].Specs) == 0 {
				t.Errorf("%d actions, %v", len(plans[i].Specs), diags)
			}
		})
	}
	wg.Wait()
	if after := fmt.Sprintf("%+v", r); after != before {
		t.Errorf("planning changed the request to %s, was %s", after, before)
	}
	p := plans[0]
	for _, again := range plans[1:] {
		if !reflect.DeepEqual(data(p), data(again)) {
			t.Errorf("Plan returns a different plan each time: %s", cmp.Diff(data(p), data(again)))
		}
	}
	for name := range opened {
		if !slices.Contains(p.Reads.Paths, name) {
			t.Errorf("planning reads %s without recording the path", name)
		}
	}
	checkSpecs(t, r, p.Specs)
	checkOutputs(t, k, r, p)
	if p.Expand != nil {
		_, _, err := p.Expand(action.Listing{})
		_, _, again := p.Expand(action.Listing{})
		if fmt.Sprint(err) != fmt.Sprint(again) {
			t.Errorf("Expand returned error %v, then error %v for the same files", err, again)
		}
	}
	checkErrors(t, k, r)
}

// data returns the plan without its functions.
func data(p step.Planned) []any {
	return []any{p.Specs, p.Outputs, fmt.Sprintf("%#v", p.Attrs), p.Await, p.Expand != nil, p.Missing, p.Programs,
		p.Reads, p.Explain != nil}
}

func checkSchema(t *testing.T, k step.Kind) {
	t.Helper()
	s, again := k.Schema(), k.Schema()
	if s.Summary == "" || s.Example == "" || s.Summary != again.Summary || s.Example != again.Example ||
		!reflect.DeepEqual(s.Outputs, again.Outputs) || !reflect.DeepEqual(s.Arguments, again.Arguments) {
		t.Errorf("the schema is empty, or changes between calls: %+v, %+v", s, again)
	}
	seen := map[string]bool{}
	for _, o := range s.Outputs {
		if o.Name == "" || o.Doc == "" || seen[o.Name] || o.Class.String() == "none" {
			t.Errorf("the output lacks a name, class or doc, or repeats a name: %+v", o)
		}
		seen[o.Name] = true
	}
}

// checkSpecs checks actions as a build does: names and paths are unique and stay inside the exec root, and inputs
// exist.
func checkSpecs(t *testing.T, r step.Request, specs []action.Spec) {
	t.Helper()
	names := map[string]bool{}
	for _, s := range specs {
		if names[s.Name] {
			t.Errorf("two actions are named %q", s.Name)
		}
		names[s.Name] = true
		if len(s.Args) == 0 {
			t.Errorf("action %q has no command: %+v", s.Name, s)
		}
		paths := map[string]bool{}
		for _, in := range s.Inputs {
			if paths[in.Path] || in.Path != "" && !filepath.IsLocal(filepath.FromSlash(in.Path)) {
				t.Errorf("action %q: input %q leads out of the exec root, or repeats the path of another input", s.Name,
					in.Path)
			}
			paths[in.Path] = true
			checkInput(t, r, specs, in)
		}
		for _, o := range s.Outputs {
			if o.Path == "." || !filepath.IsLocal(filepath.FromSlash(o.Path)) {
				t.Errorf("action %q: the output %q leads out of the exec root", s.Name, o.Path)
			}
		}
	}
}

func checkInput(t *testing.T, r step.Request, specs []action.Spec, in action.Input) {
	t.Helper()
	n := 0
	for _, is := range []bool{in.Artifact != nil, in.Spec != nil, in.Host != nil, in.Content != nil} {
		if is {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the input at %q has %d sources, want 1", in.Path, n)
	}
	if o := in.Artifact; o != nil {
		used := slices.ContainsFunc(r.Uses, func(u step.OutputRef) bool { return *u.Output == *o })
		for _, tool := range r.Toolchains {
			used = used || tool.Output == *o
		}
		if !used {
			t.Errorf("the input at %q comes from %v, which the step does not use", in.Path, *o)
		}
	}
	if of := in.Spec; of != nil && !slices.ContainsFunc(specs, func(s action.Spec) bool {
		return s.Name == of.Spec &&
			slices.ContainsFunc(s.Outputs, func(o action.Output) bool { return o.Path == of.Path })
	}) {
		t.Errorf("the input at %q comes from file %q of action %q, but the action does not write that "+
			"file", in.Path, of.Path, of.Spec)
	}
}

func checkOutputs(t *testing.T, k step.Kind, r step.Request, p step.Planned) {
	t.Helper()
	want := map[string]action.Class{}
	for _, o := range k.Schema().Outputs {
		if _, planned := p.Outputs[o.Name]; planned || !o.Optional {
			want[o.Name] = o.Class
		}
	}
	for _, o := range r.Outputs {
		want[o.Name] = o.Class
	}
	for name, class := range want {
		if o, ok := p.Outputs[name]; p.Expand == nil && o.Class != class {
			t.Errorf("output %s is %+v (planned: %v), want class %v", name, o, ok, class)
		}
	}
	for name, o := range p.Outputs {
		if o.Class != action.Tree && (len(o.Parts) != 1 || o.Parts[0].Path != "") {
			t.Errorf("output %s of class %v has parts %+v, want one part without a path", name, o.Class, o.Parts)
		}
		for _, in := range o.Parts {
			checkInput(t, r, p.Specs, in)
		}
	}
}

// checkErrors plans without toolchains. A kind that requires one must report an error at the step, and must plan
// nothing.
func checkErrors(t *testing.T, k step.Kind, r step.Request) {
	t.Helper()
	r.Toolchains = nil
	p, diags := k.Plan(r)
	for _, d := range diags {
		if d.Summary == "" || d.Detail == "" || d.Subject == nil {
			t.Errorf("the diagnostic lacks a problem, a position or a remedy: %+v", d)
		}
	}
	if rest := (step.Planned{Reads: p.Reads}); diags.HasErrors() && !reflect.DeepEqual(p, rest) {
		t.Errorf("planning reports errors, but also returns %+v", p)
	}
}
