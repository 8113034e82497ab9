package snapshot

import (
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
)

func (e *encoder) title(t Title) {
	e.string(t.Pipeline)
	e.string(t.Profile)
	e.bool(t.Always)
	e.digest(t.Exports)
}

func (d *decoder) title() Title {
	return Title{Pipeline: d.string(), Profile: d.string(), Always: d.bool(), Exports: d.digest()}
}

func (e *encoder) read(r Read) {
	e.string(r.Path)
	e.stamp(r.Stamp)
	e.digest(r.Digest)
}

func (d *decoder) read() Read { return Read{Path: d.string(), Stamp: d.stamp(), Digest: d.digest()} }

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
	e.digest(l.Value)
}

func (d *decoder) lookup() Lookup { return Lookup{Name: d.string(), Value: d.digest()} }

func (e *encoder) host(h Host) {
	e.string(h.Path)
	e.strings(h.Globs)
	e.bool(h.Dir)
	e.bool(h.Executable)
	e.digest(h.Digest)
	e.int(len(h.Files))
	for _, f := range h.Files {
		e.string(f.Path)
		e.stamp(f.Stamp)
		e.bool(f.Clean)
		e.bool(f.Other)
	}
}

func (d *decoder) host() Host {
	h := Host{Path: d.string(), Globs: d.strings(), Dir: d.bool(), Executable: d.bool(), Digest: d.digest()}
	n := d.count()
	h.Files = make([]File, 0, n)
	for range n {
		h.Files = append(h.Files, d.file())
	}
	return h
}

func (d *decoder) file() File {
	return File{Path: d.string(), Stamp: d.stamp(), Clean: d.bool(), Other: d.bool()}
}

// skipHost reads what stands before a Host's files.
func (d *decoder) skipHost() {
	d.string()
	for range d.count() {
		d.string()
	}
	d.bool()
	d.bool()
	d.digest()
}

func (e *encoder) node(n Node) {
	e.string(n.At.Kind)
	e.string(n.At.Name)
	e.string(n.At.Key)
	e.bool(n.At.Keyed)
	e.string(n.Description)
	e.string(n.Where)
	e.strings(n.Source)
	e.int(n.Level)
	e.int(n.Retries)
	encodeMap(e, n.Resources, e.int)
	e.string(n.Cache)
	e.bool(n.Explains)
	encodeMap(e, n.Outputs, e.artifact)
	e.ints(n.AwaitHosts)
	e.ints(n.AwaitUnits)
}

func (d *decoder) instance() addrs.Instance {
	kind, name, key := d.string(), d.string(), d.string()
	return addrs.Instance{Step: addrs.Step{Kind: kind, Name: name}, Key: key, Keyed: d.bool()}
}

func (d *decoder) node() Node {
	return Node{At: d.instance(), Description: d.string(), Where: d.string(), Source: d.strings(), Level: d.small(), Retries: d.small(),
		Resources: decodeMap(d, d.small), Cache: d.string(), Explains: d.bool(), Outputs: decodeMap(d, d.artifact),
		AwaitHosts: d.ints(d.r.len(secHosts), nil), AwaitUnits: d.ints(d.r.len(secUnits), nil)}
}

func (e *encoder) artifact(a action.Artifact) {
	e.int(int(a.Class))
	e.inputs(a.Parts)
}

func (d *decoder) artifact() action.Artifact {
	return action.Artifact{Class: action.Class(d.index(256)), Parts: d.inputs()}
}

func (e *encoder) inputs(l []action.Input) {
	e.int(len(l))
	for i := range l {
		e.input(&l[i])
	}
}

func (d *decoder) inputs() []action.Input {
	n := d.count()
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
	e.bool(in.Shared)
	e.bool(in.Whole)
	switch {
	case in.Artifact != nil:
		e.uint(fromArtifact)
		o := in.Artifact
		e.string(o.Kind)
		e.string(o.Step.Name)
		e.string(o.Key)
		e.bool(o.Keyed)
		e.string(o.Name)
	case in.Spec != nil:
		e.uint(fromSpec)
		e.string(in.Spec.Spec)
		e.string(in.Spec.Path)
	case in.Host != nil:
		e.uint(fromHost)
		e.string(in.Host.Path)
		e.strings(in.Host.Globs)
	case in.Content != nil:
		e.uint(fromContent)
		e.bytes(in.Content.Data)
		e.bool(in.Content.Executable)
	default:
		e.uint(fromNowhere)
	}
}

func (d *decoder) input() action.Input {
	in := action.Input{Path: d.string(), Sub: d.string(), Shared: d.bool(), Whole: d.bool()}
	switch d.uint() {
	case fromArtifact:
		at := d.instance()
		in.Artifact = &addrs.Output{Instance: at, Name: d.string()}
	case fromSpec:
		in.Spec = &action.SpecOutput{Spec: d.string(), Path: d.string()}
	case fromHost:
		in.Host = &action.HostPath{Path: d.string(), Globs: d.strings()}
	case fromContent:
		data := d.bytes()
		if data == nil {
			data = []byte{}
		}
		in.Content = &action.Content{Data: data, Executable: d.bool()}
	}
	return in
}

// links are the parts of a unit that tell what has to be looked at again when something changed.
func (e *encoder) links(u *Unit) {
	e.int(u.Node)
	e.bool(u.Always)
	e.ints(u.Hosts)
	e.ints(u.Needs)
}

func (e *encoder) unit(u *Unit) {
	e.links(u)
	e.spec(&u.Spec)
}

func (e *encoder) result(u *Unit) {
	e.digest(u.Key)
	e.digest(u.Root)
	e.int(len(u.Outs))
	for _, o := range u.Outs {
		e.string(o.Path)
		e.bool(o.Dir)
		e.bool(o.Executable)
		e.digest(o.Digest)
	}
}

func (d *decoder) links(u *Unit) {
	u.Node = d.index(d.r.len(secNodes))
	u.Always = d.bool()
	u.Hosts = d.ints(d.r.len(secHosts), u.Hosts)
	u.Needs = d.ints(d.r.len(secUnits), u.Needs)
}

// result reads what came of the unit.
func (d *decoder) result(u *Unit) {
	u.Key = d.digest()
	u.Root = d.digest()
	n := d.count()
	u.Outs = make([]Out, 0, n)
	for range n {
		u.Outs = append(u.Outs, Out{Path: d.string(), Dir: d.bool(), Executable: d.bool(), Digest: d.digest()})
	}
}

func (e *encoder) spec(s *action.Spec) {
	e.string(s.Name)
	e.string(s.Description)
	e.strings(s.Args)
	encodeMap(e, s.Env, e.string)
	e.string(s.Stdin)
	e.inputs(s.Inputs)
	e.int(len(s.Outputs))
	for _, o := range s.Outputs {
		e.string(o.Path)
		e.bool(o.Tree)
	}
	encodeMap(e, s.Platform, e.string)
	e.string(s.Depfile)
	e.strings(s.Programs)
	e.uint(uint64(s.Timeout))
	e.bool(s.NoCache)
	e.int(len(s.OKExitCodes))
	for _, c := range s.OKExitCodes {
		e.int(c)
	}
	e.int(len(s.RetryExitCodes))
	for _, c := range s.RetryExitCodes {
		e.int(c)
	}
}

func (d *decoder) spec() action.Spec {
	s := action.Spec{Name: d.string(), Description: d.string(), Args: d.strings(), Env: decodeMap(d, d.string), Stdin: d.string(), Inputs: d.inputs()}
	for range d.count() {
		s.Outputs = append(s.Outputs, action.Output{Path: d.string(), Tree: d.bool()})
	}
	s.Platform = decodeMap(d, d.string)
	s.Depfile = d.string()
	s.Programs = d.strings()
	s.Timeout = time.Duration(d.uint())
	s.NoCache = d.bool()
	for range d.count() {
		s.OKExitCodes = append(s.OKExitCodes, d.small())
	}
	for range d.count() {
		s.RetryExitCodes = append(s.RetryExitCodes, d.small())
	}
	return s
}

func (e *encoder) export(x *Export) {
	e.string(x.Name)
	e.string(x.Show)
	e.string(x.ID)
	e.ints(x.Hosts)
	e.ints(x.Units)
	e.bool(x.Values)
	e.int(int(x.Class))
	e.input(&x.Artifact)
	e.string(x.Literal)
}

func (d *decoder) export() Export {
	x := d.exportLinks()
	x.Class, x.Artifact, x.Literal = action.Class(d.index(256)), d.input(), d.string()
	return x
}

// exportLinks reads what tells whether an export has to be made again.
func (d *decoder) exportLinks() Export {
	return Export{Name: d.string(), Show: d.string(), ID: d.string(), Hosts: d.ints(d.r.len(secHosts), nil), Units: d.ints(d.r.len(secUnits), nil), Values: d.bool()}
}
