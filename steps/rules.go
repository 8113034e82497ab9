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

// question collects the input of the compatibility rules for a step: facts from its kind, which form the rules' object
// `step` (defaults lists them), and findings of rules written in Go.
type question struct {
	p     *step.Plan
	w     Workspace
	said  map[string]cty.Value
	found []qnn.Finding
}

// defaults returns the object `step` of a step without facts.
func defaults(p *step.Plan) map[string]cty.Value {
	none := facts.List(nil)
	return map[string]cty.Value{
		"kind": cty.StringVal(p.At.Kind),
		"name": cty.StringVal(p.At.Name),
		// Hexagon archs that an op package is built for
		"arches": none,
		// version of the Hexagon tools that the step requests; "": the SDK's
		"tools_version": cty.StringVal(""),
		// versions of the Hexagon tools whose names occur in the step, or in a Makefile that it runs
		"tools_wanted": none,
		// variables such as HEXAGON_SDK_ROOT_V79 that a Makefile needs and the step does not set
		"unset_roots": none,
		// calls in op sources that the SDK's headers no longer declare: {at, from, to, receiver, rule, series}
		"renamed": cty.EmptyTupleVal,
		// whether the step requests a signed protection domain
		"signed_pd": cty.False,
		// numbers that a command passes as soc_model
		"soc_models": none,
		// folder of the phone's own libraries that precedes the pushed QNN libraries in LD_LIBRARY_PATH; "": none
		"vendor_first": cty.StringVal(""),
		// arch and SoC in a config of mllm's compiler
		"aot_arch": cty.StringVal(""),
		"aot_soc":  cty.StringVal(""),
		// lower bounds in MiB, 0 if unknown: of the largest context, and of all that a process on the DSP maps
		"context_mb": cty.Zero,
		"process_mb": cty.Zero,
	}
}

// asked wraps plan: it checks the rules first, and does not plan a step that they forbid. facts adds the step's facts,
// and returns false if no rule applies to the step.
func asked[A any](w Workspace, facts func(A, *question) bool, plan func(A, *step.Plan)) func(A, *step.Plan) {
	if w.Catalog == nil {
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
	c := q.w.Catalog()
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

// askToolchain checks the rules for one toolchain and the target, even if this machine cannot get the toolchain. attrs
// are the known attributes of the toolchain.
func (w Workspace) askToolchain(p *step.Plan, version string, attrs map[string]cty.Value) {
	known := knownRelease(w.Catalog(), p.At.Name, version, cty.ObjectVal(attrs))
	if known.Version == "" {
		return
	}
	subject := facts.Subject{Target: facts.TargetOf(p.Target), Toolchains: []qnn.Known{known}}
	found, diags := w.Catalog().Ask(subject, p.At.Name)
	p.Report(append(diags, w.Catalog().Diagnostics(found, p.ArgRange)...)...)
}

// say adds a fact of the step.
func (q *question) say(name string, v cty.Value) { q.said[name] = v }

func (q *question) text(name, text string)            { q.say(name, cty.StringVal(text)) }
func (q *question) texts(name string, texts []string) { q.say(name, facts.List(texts)) }

// known returns the record of a toolchain that the step uses.
func (q *question) known(name string) (qnn.Known, bool) {
	t := q.p.Toolchains[name]
	found := knownOf(t)
	if found.Version == "" {
		return found, false
	}
	return knownRelease(q.w.Catalog(), name, found.Version, t.Attrs), true
}

// knownRelease returns the record of a release ("": the default one), with the attributes that the toolchain block
// found. An installed copy may have other compilers than the release, which support other archs.
func knownRelease(c *toolchains.Catalog, name, version string, attrs cty.Value) qnn.Known {
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

// knownOf returns the record that a toolchain block found for its release.
func knownOf(t step.Toolchain) (k qnn.Known) {
	learn(&k, t.Attrs)
	return k
}

// learn copies the attributes that a toolchain block found into the record.
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

// file opens a file of this machine, and returns nil if it does not exist.
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

// read reads a file up to a size limit, and returns nil if the file is missing or larger.
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

// list returns the sorted paths of the files in a folder, or nil if the folder is missing or has more files than most.
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

// target returns the target of the step. Without one the plan fails, and why is the reason.
func target(p *step.Plan, why string) *qnn.Target {
	t := facts.TargetOf(p.Target)
	if t == nil {
		p.NoTarget("%s Add a block `target \"SM8750\" {}` to the pipeline, or use --soc SM8750. If the pipeline has "+
			"several targets, set one in the step or module call: target = target.SM8750.", why)
	}
	return t
}
