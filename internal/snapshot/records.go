package snapshot

import (
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/plan"
)

func (e *encoder) title(t Title) {
	e.string(t.Pipeline)
	e.string(t.Description)
	e.string(t.Profile)
	e.Bool(t.Always)
	e.ints(t.Awaiting)
	e.Digest(t.Exported)
}

func (d *decoder) title() Title {
	return Title{Pipeline: d.string(), Description: d.string(), Profile: d.string(), Always: d.Bool(), Awaiting: d.ints(d.r.len(secInstances), nil), Exported: d.Digest()}
}

func (e *encoder) read(r Read) {
	e.string(r.Path)
	e.Stamp(r.Stamp)
	e.Bool(r.Young)
	e.Digest(r.Digest)
}

func (d *decoder) read() Read {
	return Read{Path: d.string(), Stamp: d.Stamp(), Young: d.Bool(), Digest: d.Digest()}
}

func (e *encoder) glob(g Glob) {
	e.string(g.Dir)
	e.strings(g.Patterns)
	e.strings(g.Found)
	e.ints(g.Dirs)
}

func (d *decoder) glob() Glob {
	return Glob{Dir: d.string(), Patterns: d.strings(), Found: d.strings(), Dirs: d.ints(d.r.len(secReads), nil)}
}

func (e *encoder) lookup(l Lookup) {
	e.string(l.Name)
	e.Digest(l.Value)
}

func (d *decoder) lookup() Lookup { return Lookup{Name: d.string(), Value: d.Digest()} }

func (e *encoder) host(h Host) {
	e.string(h.Path)
	e.strings(h.Globs)
	e.Bool(h.Dir)
	e.Bool(h.Executable)
	e.Digest(h.Digest)
	e.Int(len(h.Files))
	for _, f := range h.Files {
		e.string(f.Path)
		e.Stamp(f.Stamp)
		e.Bool(f.Clean)
		e.Bool(f.Other)
	}
}

func (d *decoder) host() Host {
	h := Host{Path: d.string(), Globs: d.strings(), Dir: d.Bool(), Executable: d.Bool(), Digest: d.Digest()}
	n := d.Count()
	h.Files = make([]File, 0, n)
	for range n {
		h.Files = append(h.Files, d.file())
	}
	return h
}

func (d *decoder) file() File {
	return File{Path: d.string(), Stamp: d.Stamp(), Clean: d.Bool(), Other: d.Bool()}
}

// skipHost reads what stands before a Host's files.
func (d *decoder) skipHost() {
	d.string()
	for range d.Count() {
		d.string()
	}
	d.Bool()
	d.Bool()
	d.Digest()
}

func (e *encoder) instance(n *Instance) {
	p := &n.Plan
	e.address(p.At)
	e.ints(n.After)
	e.Int(n.Level)
	e.ints(n.AwaitHosts)
	e.ints(n.AwaitUnits)
	e.string(p.Description)
	e.string(p.Where)
	e.lines(p.Source)
	e.Int(p.Retries)
	encodeMap(e, p.Resources, e.Int)
	e.string(p.Cache)
	e.Bool(p.Explains)
	encodeMap(e, p.Outputs, e.artifact)
	encodeMap(e, p.Classes, e.class)
	e.Int(int(p.Waits))
	e.outputs(p.AwaitValues)
	e.inputs(p.Await)
	e.string(p.Deferred)
	e.strings(p.Missing)
	e.strings(p.Programs)
	e.string(p.Version)
	e.Uint(uint64(p.Timeout))
	e.codes(p.RetryExitCodes)
	e.refs(p.Deps)
	e.refs(p.After)
}

func (d *decoder) instance() Instance {
	n := Instance{Plan: plan.Instance{At: d.address()}, After: d.ints(d.r.len(secInstances), nil), Level: d.small(),
		AwaitHosts: d.ints(d.r.len(secHosts), nil), AwaitUnits: d.ints(d.r.len(secUnits), nil)}
	p := &n.Plan
	p.Description, p.Where, p.Source, p.Retries = d.string(), d.string(), d.lines(), d.small()
	p.Resources, p.Cache, p.Explains = decodeMap(d, d.small), d.string(), d.Bool()
	p.Outputs, p.Classes = decodeMap(d, d.artifact), decodeMap(d, d.class)
	p.Waits, p.AwaitValues, p.Await, p.Deferred = plan.Waits(d.Below(int(plan.ForListing)+1)), d.outputs(), d.inputs(), d.string()
	p.Missing, p.Programs, p.Version, p.Timeout = d.strings(), d.strings(), d.string(), time.Duration(d.Uint())
	p.RetryExitCodes, p.Deps, p.After = d.codes(), d.refs(), d.refs()
	return n
}

// lines writes a text as lines, which texts have in common.
func (e *encoder) lines(text string) {
	if text == "" {
		e.Int(0)
		return
	}
	e.Int(strings.Count(text, "\n") + 1)
	for line := range strings.SplitSeq(text, "\n") {
		e.string(line)
	}
}

func (d *decoder) lines() string { return strings.Join(d.strings(), "\n") }

func (e *encoder) address(at addrs.Instance) {
	e.string(string(at.Module))
	e.string(at.Kind)
	e.string(at.Name)
	e.string(at.Key)
	e.Bool(at.Keyed)
}

func (d *decoder) address() addrs.Instance {
	at := addrs.Step{Module: addrs.Module(d.string()), Kind: d.string(), Name: d.string()}
	return addrs.Instance{Step: at, Key: d.string(), Keyed: d.Bool()}
}

// refs writes addresses of instances, by their numbers where they have any: one that stands for all copies of a step has none.
func (e *encoder) refs(l []addrs.Instance) {
	e.Int(len(l))
	last := 0
	for _, at := range l {
		i, ok := e.at(at)
		if !ok {
			e.Signed(0)
			e.address(at)
			continue
		}
		by := i - last // of the number after the last one's it is 0, and a 0 is an address
		if last = i; by <= 0 {
			by--
		}
		e.Signed(int64(by))
	}
}

func (d *decoder) refs() []addrs.Instance {
	n := d.Count()
	if n == 0 {
		return nil
	}
	l := make([]addrs.Instance, 0, n)
	last := int64(0)
	for range n {
		by := d.Signed()
		if by == 0 {
			l = append(l, d.address())
			continue
		}
		if by < 0 {
			by++
		}
		if last += by; d.Bad() || last < 0 || last >= int64(d.r.len(secInstances)) {
			d.Fail()
			return nil
		}
		of := d.r.decoder(secInstances, int(last))
		l = append(l, of.address())
		if of.Bad() {
			d.Fail()
			return nil
		}
	}
	return l
}

func (e *encoder) outputs(l []addrs.Output) {
	e.Int(len(l))
	for _, o := range l {
		e.address(o.Instance)
		e.string(o.Name)
	}
}

func (d *decoder) outputs() []addrs.Output {
	n := d.Count()
	if n == 0 {
		return nil
	}
	l := make([]addrs.Output, n)
	for i := range l {
		l[i] = addrs.Output{Instance: d.address(), Name: d.string()}
	}
	return l
}

func (e *encoder) class(c action.Class) { e.Int(int(c)) }

func (d *decoder) class() action.Class { return action.Class(d.Below(256)) }

func (e *encoder) codes(l []int) {
	e.Int(len(l))
	for _, c := range l {
		e.Int(c)
	}
}

func (d *decoder) codes() []int {
	var l []int
	for range d.Count() {
		l = append(l, d.small())
	}
	return l
}

func (e *encoder) artifact(a action.Artifact) {
	e.class(a.Class)
	e.inputs(a.Parts)
}

func (d *decoder) artifact() action.Artifact {
	return action.Artifact{Class: d.class(), Parts: d.inputs()}
}

func (e *encoder) inputs(l []action.Input) {
	e.Int(len(l))
	for i := range l {
		e.input(&l[i])
	}
}

func (d *decoder) inputs() []action.Input {
	n := d.Count()
	if n == 0 {
		return nil
	}
	l := make([]action.Input, n)
	for i := range l {
		l[i] = d.input()
	}
	return l
}

// Where an input comes from, in a record.
const (
	fromNowhere = iota
	fromArtifact
	fromSpec
	fromHost
	fromContent
)

func (e *encoder) input(in *action.Input) {
	e.string(in.Path)
	e.string(in.Sub)
	e.Bool(in.Shared)
	e.Bool(in.Whole)
	switch {
	case in.Artifact != nil:
		e.Uint(fromArtifact)
		e.address(in.Artifact.Instance)
		e.string(in.Artifact.Name)
	case in.Spec != nil:
		e.Uint(fromSpec)
		e.string(in.Spec.Spec)
		e.string(in.Spec.Path)
	case in.Host != nil:
		e.Uint(fromHost)
		e.string(in.Host.Path)
		e.strings(in.Host.Globs)
	case in.Content != nil:
		e.Uint(fromContent)
		e.Bytes(in.Content.Data)
		e.Bool(in.Content.Executable)
	default:
		e.Uint(fromNowhere)
	}
}

func (d *decoder) input() action.Input {
	in := action.Input{Path: d.string(), Sub: d.string(), Shared: d.Bool(), Whole: d.Bool()}
	switch d.Uint() {
	case fromArtifact:
		at := d.address()
		in.Artifact = &addrs.Output{Instance: at, Name: d.string()}
	case fromSpec:
		in.Spec = &action.SpecOutput{Spec: d.string(), Path: d.string()}
	case fromHost:
		in.Host = &action.HostPath{Path: d.string(), Globs: d.strings()}
	case fromContent:
		in.Content = &action.Content{Data: append([]byte{}, d.Bytes()...), Executable: d.Bool()}
	}
	return in
}

// links are the parts of a unit that tell what has to be looked at again when something changed.
func (e *encoder) links(u *Unit) {
	e.Int(u.Instance)
	e.Bool(u.Always)
	e.ints(u.Hosts)
	e.ints(u.Needs)
}

func (e *encoder) unit(u *Unit) {
	e.links(u)
	e.spec(&u.Spec)
}

func (e *encoder) result(u *Unit) {
	e.Digest(u.Key)
	e.Digest(u.Root)
	e.Int(len(u.Outs))
	for _, o := range u.Outs {
		e.string(o.Path)
		e.Bool(o.Dir)
		e.Bool(o.Executable)
		e.Digest(o.Digest)
	}
}

func (d *decoder) links(u *Unit) {
	u.Instance = d.Below(d.r.len(secInstances))
	u.Always = d.Bool()
	u.Hosts = d.ints(d.r.len(secHosts), u.Hosts)
	u.Needs = d.ints(d.r.len(secUnits), u.Needs)
}

// result reads what came of the unit.
func (d *decoder) result(u *Unit) {
	u.Key = d.Digest()
	u.Root = d.Digest()
	n := d.Count()
	u.Outs = make([]Out, 0, n)
	for range n {
		u.Outs = append(u.Outs, Out{Path: d.string(), Dir: d.Bool(), Executable: d.Bool(), Digest: d.Digest()})
	}
}

func (e *encoder) spec(s *action.Spec) {
	e.string(s.Name)
	e.string(s.Description)
	e.strings(s.Args)
	encodeMap(e, s.Env, e.string)
	e.string(s.Stdin)
	e.inputs(s.Inputs)
	e.Int(len(s.Outputs))
	for _, o := range s.Outputs {
		e.string(o.Path)
		e.Bool(o.Tree)
		e.string(o.Varies)
	}
	encodeMap(e, s.Platform, e.string)
	e.string(s.Depfile)
	e.strings(s.Programs)
	e.Uint(uint64(s.Timeout))
	e.Bool(s.NoCache)
	e.codes(s.OKExitCodes)
	e.codes(s.RetryExitCodes)
}

func (d *decoder) spec() action.Spec {
	s := action.Spec{Name: d.string(), Description: d.string(), Args: d.strings(), Env: decodeMap(d, d.string), Stdin: d.string(), Inputs: d.inputs()}
	for range d.Count() {
		s.Outputs = append(s.Outputs, action.Output{Path: d.string(), Tree: d.Bool(), Varies: d.string()})
	}
	s.Platform = decodeMap(d, d.string)
	s.Depfile = d.string()
	s.Programs = d.strings()
	s.Timeout = time.Duration(d.Uint())
	s.NoCache = d.Bool()
	s.OKExitCodes, s.RetryExitCodes = d.codes(), d.codes()
	return s
}

func (e *encoder) output(x *Output) {
	p := &x.Plan
	e.string(p.Name)
	e.string(p.Show)
	e.string(x.ID)
	e.ints(x.Hosts)
	e.ints(x.Units)
	e.string(p.Description)
	e.string(p.Where)
	e.class(p.Class)
	e.input(&p.Artifact)
	e.string(p.Literal)
	e.Int(int(p.Waits))
	e.outputs(p.AwaitValues)
	e.refs(p.Deps)
}

func (d *decoder) output() Output {
	x := d.outputLinks()
	p := &x.Plan
	p.Description, p.Where, p.Class, p.Artifact, p.Literal = d.string(), d.string(), d.class(), d.input(), d.string()
	p.Waits, p.AwaitValues, p.Deps = plan.Waits(d.Below(int(plan.ForListing)+1)), d.outputs(), d.refs()
	return x
}

// outputLinks reads what tells whether an output has to be made again.
func (d *decoder) outputLinks() Output {
	return Output{Plan: plan.Output{Name: d.string(), Show: d.string()}, ID: d.string(), Hosts: d.ints(d.r.len(secHosts), nil), Units: d.ints(d.r.len(secUnits), nil)}
}

func (e *encoder) check(c *Check) {
	p := &c.Plan
	for _, s := range []string{p.At, p.Description, p.Where, p.Severity, c.Result, c.Message} {
		e.string(s)
	}
	e.outputs(p.AwaitValues)
	e.Bool(p.Settled != nil)
	if v := p.Settled; v != nil {
		e.Bool(v.Known)
		e.Bool(v.Passed)
		e.string(v.Message)
		e.outputs(v.Missing)
	}
	e.ints(c.Hosts)
	e.ints(c.Units)
}

func (d *decoder) check() Check {
	c := Check{Plan: plan.Check{At: d.string(), Description: d.string(), Where: d.string(), Severity: d.string()}, Result: d.string(), Message: d.string()}
	c.Plan.AwaitValues = d.outputs()
	if d.Bool() {
		c.Plan.Settled = &plan.Verdict{Known: d.Bool(), Passed: d.Bool(), Message: d.string(), Missing: d.outputs()}
	}
	c.Hosts, c.Units = d.ints(d.r.len(secHosts), nil), d.ints(d.r.len(secUnits), nil)
	return c
}
