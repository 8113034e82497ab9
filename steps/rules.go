package steps

import (
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/toolchains"
)

// question is what the rules of what goes together are asked about a step: what a kind says of it, which is the object `step` of the rules:
//
//	kind, name     of the step
//	arches         Hexagon archs that an op package is to be built for
//	tools_version  version of the Hexagon tools that the step asks for; "": the SDK's
//	tools_wanted   versions of the Hexagon tools that the step, or a Makefile that it runs, looks for by name
//	unset_roots    variables such as HEXAGON_SDK_ROOT_V79 that a Makefile needs and nothing sets
//	renamed        calls in op sources that the SDK's headers no longer declare: {at, from, to, receiver, rule, series}
//	signed_pd      whether a signed protection domain is asked for
//	soc_models     numbers that a command passes as soc_model
//	vendor_first   a folder of the phone that LD_LIBRARY_PATH has before the pushed QNN libraries; "" when none is
//	aot_arch, aot_soc  what a config of upstream's compiler is for
//	context_mb     lower bound of the largest context, in MiB; 0: not known
//	process_mb     lower bound of what a process on the DSP maps: all contexts and the cache, in MiB
//
// and what is wrong by rules that are code.
type question struct {
	p     *step.Plan
	w     Workspace
	said  map[string]cty.Value
	found []qnn.Finding
}

// asked is plan, before which the rules are asked: what they forbid is not planned. facts says what they have to know of the step; false is that
// there is nothing that a rule could be about.
func asked[A any](w Workspace, facts func(A, *question) bool, plan func(A, *step.Plan)) func(A, *step.Plan) {
	if w.Catalogue == nil {
		return plan
	}
	return func(a A, p *step.Plan) {
		q := question{p: p, w: w}
		if facts(a, &q) {
			q.ask()
		}
		if !p.Failed() {
			plan(a, p)
		}
	}
}

func (q *question) ask() {
	empty := facts.List(nil)
	about := map[string]cty.Value{
		"kind": cty.StringVal(q.p.At.Kind), "name": cty.StringVal(q.p.At.Name), "arches": empty, "tools_version": cty.StringVal(""), "tools_wanted": empty,
		"unset_roots": empty, "renamed": cty.EmptyTupleVal, "signed_pd": cty.False, "soc_models": empty, "vendor_first": cty.StringVal(""),
		"aot_arch": cty.StringVal(""), "aot_soc": cty.StringVal(""), "context_mb": cty.Zero, "process_mb": cty.Zero,
	}
	for name, v := range q.said {
		about[name] = v
	}
	var used []qnn.Known
	for name := range q.p.Toolchains {
		if k, ok := q.known(name); ok {
			used = append(used, k)
		}
	}
	found, diags := q.w.Catalogue().Ask(facts.Subject{Target: facts.TargetOf(q.p.Target), Toolchains: used, Step: about}, "step")
	q.p.Report(diags...)
	found = append(found, q.w.Catalogue().Judge(q.found)...)
	var distinct []qnn.Finding
	for _, f := range found {
		if !slices.Contains(distinct, f) {
			distinct = append(distinct, f)
		}
	}
	q.p.Report(q.w.Catalogue().Diagnostics(distinct, q.p.ArgRange)...)
}

// askToolchain asks the rules about one toolchain and the target, also when it cannot be had on this machine. attrs are what is known of it.
func (w Workspace) askToolchain(p *step.Plan, version string, attrs map[string]cty.Value) {
	have := cty.NilVal
	if len(attrs) > 0 {
		have = cty.ObjectVal(attrs)
	}
	known := knownRelease(w.Catalogue(), p.At.Name, version, have)
	if known.Version == "" {
		return
	}
	found, diags := w.Catalogue().Ask(facts.Subject{Target: facts.TargetOf(p.Target), Toolchains: []qnn.Known{known}}, p.At.Name)
	p.Report(append(diags, w.Catalogue().Diagnostics(found, p.ArgRange)...)...)
}

// say says a fact of the step.
func (q *question) say(name string, v cty.Value) {
	if q.said == nil {
		q.said = map[string]cty.Value{}
	}
	q.said[name] = v
}

func (q *question) text(name, text string)            { q.say(name, cty.StringVal(text)) }
func (q *question) texts(name string, texts []string) { q.say(name, facts.List(texts)) }

// known returns what is known of a toolchain that the step uses.
func (q *question) known(name string) (qnn.Known, bool) {
	attrs := q.p.Toolchains[name].Attrs
	var said qnn.Known
	if learn(&said, attrs); said.Version == "" {
		return qnn.Known{}, false
	}
	return knownRelease(q.w.Catalogue(), name, said.Version, attrs), true
}

// knownRelease is what is known of the release that a toolchain block names ("": the default one): what its record says, and on top what the block has
// found out. An installed copy may have other compilers than the release came with, which know other archs.
func knownRelease(c *toolchains.Catalogue, name, version string, attrs cty.Value) qnn.Known {
	k := qnn.Known{Name: name}
	t, release, err := c.Find(name, version)
	if err == nil {
		k = t.Known(release.Release)
	}
	came := k.ToolsVersion
	if learn(&k, attrs); err == nil && k.ToolsVersion != came {
		if arches, exact := c.ToolsArches(k.ToolsVersion); len(arches) > 0 {
			k.Arches, k.Exact = arches, exact
		}
	}
	return k
}

// learn takes over what a toolchain block has found out of the release.
func learn(k *qnn.Known, attrs cty.Value) {
	found, _ := step.Decode[struct {
		Version string `arg:"version"`
		BuildID string `arg:"build_id"`
		Tools   string `arg:"tools_version"`
		Source  string `arg:"source"`
	}](attrs)
	for to, v := range map[*string]string{&k.Version: found.Version, &k.BuildID: found.BuildID, &k.ToolsVersion: found.Tools} {
		if v != "" {
			*to = v
		}
	}
	if found.Source != "" {
		k.Installed, k.Simulated = found.Source == "installed", found.Source == "embedded"
	}
}

// file opens a file of this machine to look into it; nil when there is none.
func (q *question) file(name string) (fs.File, int64) {
	f, err := q.p.Open(name)
	if err != nil {
		return nil, 0
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, 0
	}
	return f, info.Size()
}

// read reads a file of at most so many bytes; nil when there is none, or it is larger.
func (q *question) read(name string, limit int64) []byte {
	f, size := q.file(name)
	if f == nil {
		return nil
	}
	defer f.Close()
	if size > limit {
		return nil
	}
	b, err := boundedfile.ReadAll(f, name, limit)
	if err != nil {
		return nil
	}
	return b
}

// list returns the names of the files in a folder, sorted; none when there is no folder, or there are more than so many.
func (q *question) list(dir string, most int) (names []string) {
	f, err := q.p.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil
	}
	entries, err := d.ReadDir(most + 1)
	if err != nil && err != io.EOF || len(entries) > most {
		return nil
	}
	for _, e := range entries {
		names = append(names, path.Join(dir, e.Name()))
	}
	slices.Sort(names)
	return names
}

// target is what the step is built for; that there is none is an error, which says why it is needed.
func target(p *step.Plan, why string) *qnn.Target {
	t := facts.TargetOf(p.Target)
	if t == nil {
		p.NoTarget("%s Add a block `target \"SM8750\" {}` to the pipeline, or say --soc SM8750. Where there are several, the step or the call of its module says which: target = target.SM8750.", why)
	}
	return t
}
