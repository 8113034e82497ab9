package snapshot

import (
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
)

func (e *encoder) title(t Title) {
	e.string(t.Pipeline)
	e.string(t.Profile)
	e.Bool(t.Always)
	e.Digest(t.Exported)
}

func (d *decoder) title() Title {
	return Title{Pipeline: d.string(), Profile: d.string(), Always: d.Bool(), Exported: d.Digest()}
}

func (e *encoder) read(r Read) {
	e.string(r.Path)
	e.Stamp(r.Stamp)
	e.Digest(r.Digest)
}

func (d *decoder) read() Read { return Read{Path: d.string(), Stamp: d.Stamp(), Digest: d.Digest()} }

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

func (e *encoder) instance(n Instance) {
	e.string(string(n.At.Module))
	e.string(n.At.Kind)
	e.string(n.At.Name)
	e.string(n.At.Key)
	e.Bool(n.At.Keyed)
	e.ints(n.After)
	e.string(n.Description)
	e.string(n.Where)
	e.strings(n.Source)
	e.Int(n.Level)
	e.Int(n.Retries)
	encodeMap(e, n.Resources, e.Int)
	e.string(n.Cache)
	e.Bool(n.Explains)
	encodeMap(e, n.Outputs, e.artifact)
	e.ints(n.AwaitHosts)
	e.ints(n.AwaitUnits)
}

func (d *decoder) address() addrs.Instance {
	at := addrs.Step{Module: addrs.Module(d.string()), Kind: d.string(), Name: d.string()}
	return addrs.Instance{Step: at, Key: d.string(), Keyed: d.Bool()}
}

func (d *decoder) instance() Instance {
	return Instance{At: d.address(), After: d.ints(d.r.len(secInstances), nil), Description: d.string(), Where: d.string(), Source: d.strings(), Level: d.small(), Retries: d.small(),
		Resources: decodeMap(d, d.small), Cache: d.string(), Explains: d.Bool(), Outputs: decodeMap(d, d.artifact),
		AwaitHosts: d.ints(d.r.len(secHosts), nil), AwaitUnits: d.ints(d.r.len(secUnits), nil)}
}

func (e *encoder) artifact(a action.Artifact) {
	e.Int(int(a.Class))
	e.inputs(a.Parts)
}

func (d *decoder) artifact() action.Artifact {
	return action.Artifact{Class: action.Class(d.Below(256)), Parts: d.inputs()}
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
		o := in.Artifact
		e.string(string(o.Module))
		e.string(o.Kind)
		e.string(o.Step.Name)
		e.string(o.Key)
		e.Bool(o.Keyed)
		e.string(o.Name)
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
	e.Int(len(s.OKExitCodes))
	for _, c := range s.OKExitCodes {
		e.Int(c)
	}
	e.Int(len(s.RetryExitCodes))
	for _, c := range s.RetryExitCodes {
		e.Int(c)
	}
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
	for range d.Count() {
		s.OKExitCodes = append(s.OKExitCodes, d.small())
	}
	for range d.Count() {
		s.RetryExitCodes = append(s.RetryExitCodes, d.small())
	}
	return s
}

func (e *encoder) output(x *Output) {
	e.string(x.Name)
	e.string(x.Show)
	e.string(x.ID)
	e.ints(x.Hosts)
	e.ints(x.Units)
	e.Bool(x.Values)
	e.Int(int(x.Class))
	e.input(&x.Artifact)
	e.string(x.Literal)
}

func (d *decoder) output() Output {
	x := d.outputLinks()
	x.Class, x.Artifact, x.Literal = action.Class(d.Below(256)), d.input(), d.string()
	return x
}

// outputLinks reads what tells whether an output has to be made again.
func (d *decoder) outputLinks() Output {
	return Output{Name: d.string(), Show: d.string(), ID: d.string(), Hosts: d.ints(d.r.len(secHosts), nil), Units: d.ints(d.r.len(secUnits), nil), Values: d.Bool()}
}

func (e *encoder) check(c *Check) {
	for _, s := range []string{c.At, c.Description, c.Where, c.Severity, c.Result, c.Message} {
		e.string(s)
	}
	e.ints(c.Hosts)
	e.ints(c.Units)
}

func (d *decoder) check() Check {
	return Check{At: d.string(), Description: d.string(), Where: d.string(), Severity: d.string(), Result: d.string(), Message: d.string(),
		Hosts: d.ints(d.r.len(secHosts), nil), Units: d.ints(d.r.len(secUnits), nil)}
}
