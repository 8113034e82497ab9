package steps

import (
	"cmp"
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

// question is what the rules of what goes together are asked about a step: what a kind says of it, which is the object
// `step` of the rules (defaults has all that there is), and what is wrong by rules that are code.
type question struct {
	p     *step.Plan
	w     Workspace
	said  map[string]cty.Value
	found []qnn.Finding
}

// defaults returns the object `step` of a step that says nothing.
func defaults(p *step.Plan) map[string]cty.Value {
	none := facts.List(nil)
	return map[string]cty.Value{
		"kind": cty.StringVal(p.At.Kind),
		"name": cty.StringVal(p.At.Name),
		// Hexagon archs that an op package is to be built for
		"arches": none,
		// version of the Hexagon tools that the step asks for; "": the SDK's
		"tools_version": cty.StringVal(""),
		// versions of the Hexagon tools that the step, or a Makefile that it runs, looks for by name
		"tools_wanted": none,
		// variables such as HEXAGON_SDK_ROOT_V79 that a Makefile needs and nothing sets
		"unset_roots": none,
		// calls in op sources that the SDK's headers no longer declare: {at, from, to, receiver, rule, series}
		"renamed": cty.EmptyTupleVal,
		// whether a signed protection domain is asked for
		"signed_pd": cty.False,
		// numbers that a command passes as soc_model
		"soc_models": none,
		// a folder of the phone that LD_LIBRARY_PATH has before the pushed QNN libraries; "" when none is
		"vendor_first": cty.StringVal(""),
		// what a config of mllm's compiler is for
		"aot_arch": cty.StringVal(""),
		"aot_soc":  cty.StringVal(""),
		// lower bounds in MiB, 0 if not known: of the largest context, and of what a process on the DSP maps
		"context_mb": cty.Zero,
		"process_mb": cty.Zero,
	}
}

// asked is plan, before which the rules are asked: what they forbid is not planned. facts says what they have to know of
// the step; false is that there is nothing that a rule could be about.
func asked[A any](w Workspace, facts func(A, *question) bool, plan func(A, *step.Plan)) func(A, *step.Plan) {
	if w.Catalogue == nil {
		return plan
	}
	return func(a A, p *step.Plan) {
		q := question{p: p, w: w, said: defaults(p)}
		if facts(a, &q) {
			q.ask()
		}
		if !p.Failed() {
			plan(a, p)
		}
	}
}

func (q *question) ask() {
	var used []qnn.Known
	for name := range q.p.Toolchains {
		if k, ok := q.known(name); ok {
			used = append(used, k)
		}
	}
	c := q.w.Catalogue()
	subject := facts.Subject{Target: facts.TargetOf(q.p.Target), Toolchains: used, Step: q.said}
	found, diags := c.Ask(subject, "step")
	q.p.Report(diags...)
	var distinct []qnn.Finding
	for _, f := range append(found, c.Judge(q.found)...) {
		if !slices.Contains(distinct, f) {
			distinct = append(distinct, f)
		}
	}
	q.p.Report(c.Diagnostics(distinct, q.p.ArgRange)...)
}

// askToolchain asks the rules about one toolchain and the target, also when it cannot be had on this machine. attrs are
// what is known of it.
func (w Workspace) askToolchain(p *step.Plan, version string, attrs map[string]cty.Value) {
	known := knownRelease(w.Catalogue(), p.At.Name, version, cty.ObjectVal(attrs))
	if known.Version == "" {
		return
	}
	subject := facts.Subject{Target: facts.TargetOf(p.Target), Toolchains: []qnn.Known{known}}
	found, diags := w.Catalogue().Ask(subject, p.At.Name)
	p.Report(append(diags, w.Catalogue().Diagnostics(found, p.ArgRange)...)...)
}

// say says a fact of the step.
func (q *question) say(name string, v cty.Value) { q.said[name] = v }

func (q *question) text(name, text string)            { q.say(name, cty.StringVal(text)) }
func (q *question) texts(name string, texts []string) { q.say(name, facts.List(texts)) }

// known returns what is known of a toolchain that the step uses.
func (q *question) known(name string) (qnn.Known, bool) {
	t := q.p.Toolchains[name]
	found := knownOf(t)
	if found.Version == "" {
		return found, false
	}
	return knownRelease(q.w.Catalogue(), name, found.Version, t.Attrs), true
}

// knownRelease is what is known of the release that a toolchain block names ("": the default one): what its record says,
// and on top what the block has found out. An installed copy may have other compilers than the release came with, which
// know other archs.
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

// knownOf returns what a toolchain block has found out of its release.
func knownOf(t step.Toolchain) (k qnn.Known) {
	learn(&k, t.Attrs)
	return k
}

// learn takes over what a toolchain block has found out of the release.
func learn(k *qnn.Known, attrs cty.Value) {
	found, _ := step.Decode[struct {
		Version   string `arg:"version"`
		BuildID   string `arg:"build_id"`
		Tools     string `arg:"tools_version"`
		Source    string `arg:"source"`
		Simulated bool   `arg:"simulated"`
	}](attrs)
	k.Version, k.BuildID = cmp.Or(found.Version, k.Version), cmp.Or(found.BuildID, k.BuildID)
	k.ToolsVersion = cmp.Or(found.Tools, k.ToolsVersion)
	k.Installed, k.Simulated = found.Source == "installed", found.Simulated
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
	f, _ := q.file(name)
	if f == nil {
		return nil
	}
	defer f.Close()
	b, err := boundedfile.ReadAll(f, name, limit)
	if err != nil {
		return nil
	}
	return b
}

// list returns the paths of the files in a folder, sorted; none when there is no folder, or there are more than so many.
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
		p.NoTarget("%s Add a block `target \"SM8750\" {}` to the pipeline, or say --soc SM8750. Where there are several, "+
			"the step or the call of its module says which: target = target.SM8750.", why)
	}
	return t
}
