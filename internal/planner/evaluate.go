package planner

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/plan"
)

// Planning is done on all processors, and gives the same as on one, also the same diagnostics and the same use of the budget. So only what is alike is
// done at once (copies of a step, and steps without for_each that do not need each other), and what came of it is told in order. What goes wrong is
// thrown away and done again, one after the other, with the budget that there was: whatever depends on the order then does so as it always has.

const (
	window  = 1024 // steps of which it is looked which may be evaluated at once, at most
	portion = 32   // of copies or steps that one goroutine takes at a time
)

// evaluateAll evaluates the objects in order.
func (p *planner) evaluateAll() (diags hcl.Diagnostics) {
	most := portion // at first few: the sooner somebody is told of them, the sooner their actions begin
	for at := 0; at < len(p.order); most = min(2*most, window) {
		n := p.alike(at, most)
		ds, ok := p.atOnce(p.order[at : at+n])
		n = max(1, n)
		for i := 0; i < n && !ok; i++ {
			ds = append(ds, p.evaluate(p.objects[p.order[at+i]])...)
			ok = p.budget.Spent() // whatever comes would fail for the same reason
		}
		if diags = append(diags, ds...); p.budget.Spent() {
			break
		}
		if ds.HasErrors() {
			p.o.Made = nil
		}
		at += n
	}
	return diags
}

// alike is how many objects from one on, at most so many, may be evaluated at once, as far as their references allow: steps without for_each.
func (p *planner) alike(at, most int) int {
	n := 0
	for at+n < len(p.order) && n < most {
		o := p.objects[p.order[at+n]]
		if o.step == nil || o.step.block.ForEach != nil || o.step.block.At.Kind == addrs.Toolchain {
			break
		}
		n++
	}
	return n
}

// stepIn is a step without for_each in a frame, and what came of it.
type stepIn struct {
	of     *object
	frame  *frame
	state  *stepState
	all    [1]evaluated
	failed bool
}

// atOnce evaluates steps without for_each, those that do not need each other at the same time. If it says no, what it did is to be done again: it is too
// little, or something is wrong.
func (p *planner) atOnce(names []string) (diags hcl.Diagnostics, ok bool) {
	waves, items := p.waves(names)
	if p.workers == 1 || len(items) < 2 || p.copied+len(items) > maxCopies {
		return nil, false
	}
	left := p.budget.Left()
	for _, wave := range waves {
		p.spread(len(wave), func(from, to int) {
			for _, a := range wave[from:to] {
				p.evalStepIn(a)
			}
		})
		for _, a := range wave {
			if a.failed || p.budget.Spent() {
				p.budget.Restore(left)
				return nil, false
			}
			a.state.publish()
		}
	}
	p.budget.Allow(len(items)) // not before: in order it comes bit by bit, and may come too late
	for _, a := range items {
		if a.frame.caller != nil {
			p.copied++
		}
		diags = append(diags, a.frame.inside(p.finish(a.all[:]))...)
	}
	return diags, true
}

// waves are the steps in their frames, in order, and apart: none needs another one of its wave, or of a later one. It leaves out steps of which something
// is known to be wrong.
func (p *planner) waves(names []string) (waves [][]*stepIn, items []*stepIn) {
	wave := make(map[string]int, len(names))
	for _, name := range names {
		o, at := p.objects[name], 0
		for _, d := range o.deps {
			o.failed = o.failed || p.objects[d].failed
			if w, here := wave[d]; here {
				at = max(at, w+1)
			}
		}
		wave[name] = at
		if o.failed {
			continue
		}
		if at == len(waves) {
			waves = append(waves, nil)
		}
		for _, f := range o.in.frames {
			a := &stepIn{of: o, frame: f}
			waves[at], items = append(waves[at], a), append(items, a)
		}
	}
	return waves, items
}

// evalStepIn is evaluate and evalStep for one step, which does not change what others see.
func (p *planner) evalStepIn(a *stepIn) {
	ds := p.checkAttrs(a.of, a.frame.up(a.of.scope))
	if !ds.HasErrors() {
		a.state = newState(a.of.step, a.frame)
		e := p.evaluator(a.state, &a.frame.scope, &later{p: p})
		if e.copy(&a.all[0], "", cty.NilVal); !a.all[0].diags.HasErrors() {
			a.state.take(a.all[:])
			a.all[0].diags = append(ds, a.all[0].diags...)
			return
		}
	}
	a.failed = true
}

// copies evaluates the step for each key, and says whether nothing was wrong; else the last copy is the one with which something is: the others would say the same.
func (e *evaluator) copies(keys []string, values []cty.Value) ([]evaluated, bool) {
	all := make([]evaluated, len(keys))
	left, first := int64(0), len(keys)
	for i := range all {
		if i+portion < len(keys) && e.p.workers > 1 && e.settled() {
			left, first = e.p.budget.Left(), i
			break
		}
		if e.copy(&all[i], keys[i], values[i]); all[i].diags.HasErrors() {
			return all[:i+1], false
		}
	}
	var bad atomic.Bool
	e.p.spread(len(keys)-first, func(from, to int) {
		own := *e
		own.plain = make(map[string]cty.Value)
		for i := first + from; i < first+to && !bad.Load(); i++ {
			if own.copy(&all[i], keys[i], values[i]); all[i].diags.HasErrors() {
				bad.Store(true)
			}
		}
	})
	if first == len(keys) || !bad.Load() && !e.p.budget.Spent() {
		return all, true
	}
	e.p.budget.Restore(left)
	for i := first; i < len(keys); i++ {
		all[i] = evaluated{}
		if e.copy(&all[i], keys[i], values[i]); all[i].diags.HasErrors() {
			return all[:i+1], false
		}
	}
	return all, true
}

// settled says whether all is known that depends on no copy: then evaluating one changes nothing that others need, and takes from the budget only
// what is its own.
func (e *evaluator) settled() bool {
	if e.broken || e.dummies == nil && len(e.p.dummies.vars) > 0 {
		return false
	}
	for _, a := range append([]*argument{e.env}, e.args...) {
		if a != nil && !a.each && a.value == nil {
			return false
		}
	}
	all := append([]*known{e.when, e.outputsFrom, e.target}, append(e.meta, e.paths...)...)
	for _, d := range e.after {
		all = append(all, d.key)
	}
	for _, k := range all {
		if k != nil && !k.each && !k.done {
			return false
		}
	}
	return true
}

// spread has do called for all from 0 to n, a portion at a time, by as many goroutines as there are workers.
func (p *planner) spread(n int, do func(from, to int)) {
	var next atomic.Int64
	serve := func() {
		for {
			to := int(next.Add(portion))
			if to-portion >= n {
				return
			}
			do(to-portion, min(to, n))
		}
	}
	var all sync.WaitGroup
	for range min(p.workers, (n+portion-1)/portion) - 1 {
		all.Go(serve)
	}
	serve()
	all.Wait()
}

// finish notes what the copies of a step gave that depends on the order, and returns what there is to say of them.
func (p *planner) finish(all []evaluated) (diags hcl.Diagnostics) {
	var made []*plan.Instance
	for i := range all {
		diags = append(diags, p.dummies.unwarned(all[i].diags)...)
		if in := all[i].instance; in != nil && in.planned != nil {
			n := in.planned
			share(n, p.last)
			p.last = n
			made = append(made, n)
			if in.classes = n.Classes; slices.Equal(in.outputs, p.lastOutputs) {
				in.outputs = p.lastOutputs
			}
			p.lastOutputs = in.outputs
		}
	}
	if p.o.Made != nil && !diags.HasErrors() {
		p.hand(made)
	}
	return diags
}

// hand has Made told of instances, and first of the toolchains that they are the first to need: a plan has no others.
func (p *planner) hand(made []*plan.Instance) {
	var all []*plan.Instance
	var with func(n *plan.Instance)
	with = func(n *plan.Instance) {
		n.EachNeed(func(at addrs.Instance) {
			if at.Kind != addrs.Toolchain || p.handed[at] {
				return
			}
			if in := p.instance(at); in != nil && in.planned != nil {
				p.handed[at] = true
				with(in.planned)
			}
		})
		all = append(all, n)
	}
	for _, n := range made {
		if n.At.Kind != addrs.Toolchain {
			with(n)
		}
	}
	if len(all) > 0 {
		p.o.Made(all)
	}
}

// publish lets others see the step.
func (s *stepState) publish() {
	b, f := s.block, s.frame
	f.steps[b.At] = s
	if b.At.Kind == addrs.Toolchain {
		f.scope.Toolchains[b.At.Name] = s.value
	}
}

// stepValue is what expressions see of a step. That of one without for_each is made for who asks: few do, and it takes as much memory as the step's plan.
func (f *frame) stepValue(at addrs.Step) (cty.Value, bool) {
	s := f.steps[at]
	switch {
	case s == nil:
		return cty.NilVal, false
	case s.value != cty.NilVal:
		return s.value, true
	}
	return stepValue(s, nil), true
}
