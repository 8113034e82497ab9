package steps

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/measure"
	"github.com/hexmage/hexmage/runner/sample"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/runner/thermal"
	"github.com/hexmage/hexmage/steps/metrics"
)

// Run holds the arguments of a run step.
type Run struct {
	Push     map[string]step.Path `arg:"push,required"`
	Argv     []string             `arg:"argv,required"`
	Stdin    string               `arg:"stdin"`
	Pull     []string             `arg:"pull"`
	Device   step.Path            `arg:"device"`
	Serial   string               `arg:"serial"`
	SoC      string               `arg:"soc"`
	Expect   step.Path            `arg:"expect"`
	Title    string               `arg:"title"`
	Repeat   int                  `arg:"repeat" default:"1" range:"1..1000"`
	Warmup   int                  `arg:"warmup" default:"0" range:"0..1000"`
	Logcat   bool                 `arg:"logcat"`
	SampleMS float64              `arg:"sample_ms" default:"100"`
	Matrix   map[string][]string  `arg:"matrix"`
	Cooldown *thermal.Cooldown    `block:"cooldown"`

	Facts    map[string]string `arg:"facts"` // numbers; may contain ${matrix.AXIS}
	Shipped  []string          `arg:"baselines"`
	Previous step.Path         `arg:"previous"`
	measure.Spec
}

func runSchema() step.Schema {
	return step.Schema{
		Summary: "Pushes files to a device, runs a program there, pulls the results and measures the run.",
		ArgDocs: map[string]string{
			"push": "Files to push: name in the run's folder on the device → output or workspace path. A name " +
				"that ends in / takes a folder's files.",
			"argv":   "Command on the device. It starts in the run's folder.",
			"stdin":  "Text for standard input.",
			"pull":   "Files to pull, relative to the run's folder.",
			"device": "Image of `simulated_phone`. Without it the step needs a real device.",
			"serial": "Real device, if several are attached: its serial number, a board's address " +
				"(`ssh://USER@HOST:PORT`), or the name of either in devices.hcl.",
			"soc": "SoC of the real device, such as \"SM8750\", if several are attached. Default: any phone of " +
				"devices.hcl with the target's SoC.",
			"expect": "tokens.json of a reference. The device's results/tokens.json must contain equal tokens.",
			"title":  "Title of the metrics table. With ${matrix.AXIS} in it, it names each variant.",
			"repeat": "Number of measurements of each variant.",
			"warmup": "Number of unmeasured runs before each measured one, on the same phone. If one fails, the " +
				"run fails.",
			"logcat": "Whether to add the device's log of the NPU to the results, as logcat.txt. A failed run " +
				"always has it.",
			"sample_ms": "Milliseconds between two samples while the program runs; 0 disables sampling.",
			"matrix": "Variants: every combination of the axes' values, such as { seq = [\"64\", \"256\"] }. " +
				"${matrix.seq} stands for the value in argv, env, stdin, push, pull, expect, serial, facts and " +
				"title. The axis `serial` chooses phones.",
			"cooldown": "Waits before each run until the phone's hottest chip sensor is below `celsius` (40), for " +
				"at most `timeout` (\"10m\"). After the timeout the run continues with a warning, or fails with " +
				"`required = true`. `zones` selects sensors, such as [\"cpu-*\"].",
			"metric": "Pattern of a metric in the program's output, in addition to those of known runners. The " +
				"first group of `pattern` (RE2) is the number; {number} and {time} are such groups. `unit` is such " +
				"as ms, tokens/s or MB. `better` is more, less or neither for other units. Files metrics/*.hcl have " +
				"such blocks for all steps.",
			"facts": "Metrics that the program does not print, such as { prefill_tokens = 256 }, from which " +
				"hexmage computes speeds.",
			"columns": "Metrics in the table of several variants, such as [\"prefill_tokens_per_s\"]. Default: the " +
				"most important ones.",
			"baselines": "Tables to compare with: shipped (llm.npu-paper, llm.npu-reproduction) or of metrics/*.hcl. " +
				"hexmage compares runs on simulated phones with tables of profile simulated only.",
			"baseline": "Table of the step. `source` names who measured. `row \"METRIC\"` has a `value`, optionally " +
				"a `spread`, and with `when` values of other metrics. `profile` limits the table to runs of that " +
				"profile.",
			"previous": "metrics.json of an earlier run, as baseline `previous`.",
			"tolerance": "Relative difference from a baseline that counts as noise (0.05). Twice the spread always " +
				"counts as noise.",
			"limit": "Bound on a metric: `min`, `max`, or a `baseline` and `regression`, the largest relative " +
				"loss against it. `when` has values of other metrics. A value outside the bound fails the step.",
		},
		Outputs: []step.OutputSpec{
			step.File("metrics", "All metrics as a table (JSON)."),
			step.Value("measured", "Metrics for checks and other steps: { NAME = { median, min, max, spread, runs, "+
				"unit } }. With a matrix, one such object per variant, such as \"seq=64\"."),
			step.File("stdout", "The program's standard output. With several runs: one after another."),
			step.Tree("results", "The pulled files. With several runs: a folder VARIANT/REPETITION for each, with its "+
				"stdout.txt and run.json."),
			step.Tree("samples", "samples.csv and samples.json: memory, processors, clocks, temperatures and battery "+
				"over time. With several runs: a folder VARIANT/REPETITION for each."),
		},
		Matrix:     "matrix",
		InVariants: inVariants(),
		Toolchains: []string{"adb"},
		Example: `step "run" "qwen3" {
  push = {
    "model.bin" = step.context.qwen3.outputs.context
    "lib/"      = step.oppackage.llama.outputs.device
  }
  argv   = ["./runner", "-m", "model.bin"]
  pull   = ["results/tokens.json"]
  repeat = 3
}`,
	}
}

// Outputs of every run. resultTokens is the program's output that expect compares.
const (
	stdoutFile   = "stdout.txt"
	recordFile   = "run.json"
	logFile      = "logcat.txt"
	resultTokens = "results/tokens.json"
)

// maxRuns is the limit on variants × repetitions of a step. serialAxis is the axis of a matrix that chooses phones.
const (
	maxRuns    = 4096
	serialAxis = "serial"
)

// Plan plans a device action for every run. A host action reads the measurements and compares the tokens. The function
// known loads metrics and baselines. The user's device, chosen, is part of the cache keys, because results differ
// between devices.
func (r Run) Plan(p *step.Plan, known func() (metrics.Set, hcl.Diagnostics), chosen string) {
	var adb *step.Toolchain // nil for a board, which needs no adb
	if !ssh.Is(r.Serial) {
		t := p.Toolchain("adb")
		adb = &t
	}
	if len(r.Argv) == 0 {
		p.Fail("argv", "Empty command", "argv: empty. Add the program as its first element.")
	}
	r.check(p)
	set, diags := known()
	p.Report(diags...)
	spec := r.measured(p, set)
	if p.Failed() {
		return
	}
	var results, samples, read []action.Input
	var stdout action.Input
	for _, c := range measure.Cells(r.Matrix, r.Repeat) {
		one := oneRun{Run: r.variant(p, c), p: p, cell: c, titled: r.titled(), chosen: chosen}
		if one.plan(adb); p.Failed() {
			return
		}
		if len(spec.Runs) == 0 {
			stdout = one.action.Out(stdoutFile)
		}
		results, samples = append(results, one.results...), append(samples, one.samples...)
		spec.Runs, read = append(spec.Runs, one.reading()), append(read, one.read...)
	}
	if spec.Title = r.Title; spec.Title == "" || r.titled() {
		spec.Title = p.At.Title()
	}
	spec.Profile, spec.Out, spec.Measured = p.Profile, "metrics.json", "measured.json"
	if r.several() {
		spec.Printed = stdoutFile
	}
	if r.recorded() {
		spec.Axes, spec.Titled = slices.Sorted(maps.Keys(r.Matrix)), r.titled()
	}
	if r.Previous.IsSet() {
		spec.Previous = "previous.json"
		read = append(read, r.Previous.As(spec.Previous))
	}
	table := step.Tool(p, "metrics", "read the measurements", measure.Tool, spec).In(read...)
	p.File("metrics", table.Out(spec.Out))
	p.Output("measured", action.Value, table.Out(spec.Measured))
	if r.several() {
		stdout = table.Out(stdoutFile)
	}
	p.File("stdout", stdout)
	p.Tree("results", results...)
	p.Tree("samples", samples...)
}

// several reports whether the step has several runs, or could have with other values in the matrix.
func (r Run) several() bool { return r.Repeat > 1 || len(r.Matrix) > 0 }

// recorded reports whether the runs write records.
func (r Run) recorded() bool { return r.several() || r.Warmup > 0 || r.Cooldown != nil }

// titled reports whether the step's title differs between variants.
func (r Run) titled() bool {
	for a := range r.Matrix {
		if measure.Has(r.Title, a) {
			return true
		}
	}
	return false
}

// check reports invalid arguments for measuring.
func (r Run) check(p *step.Plan) {
	if r.Cooldown != nil {
		if err := r.Cooldown.Check(); err != nil {
			p.Fail("cooldown", "Invalid cooldown", "%s.", err)
		}
	}
	least, most := sample.MinInterval.Milliseconds(), sample.MaxInterval.Milliseconds()
	if ms := int64(r.SampleMS); float64(ms) != r.SampleMS || ms != 0 && (ms < least || ms > most) {
		p.Fail("sample_ms", "Invalid sampling interval",
			"sample_ms: invalid value %v. Use a whole number of milliseconds from %d to %d, or 0 to disable sampling.",
			r.SampleMS, least, most)
	}
	texts := fmt.Sprint(r.Argv, p.Env, r.Stdin, r.Push, r.Pull, r.Expect, r.Serial, r.Facts, r.Title)
	n := r.Repeat
	for _, a := range slices.Sorted(maps.Keys(r.Matrix)) {
		values := r.Matrix[a]
		switch dup := repeated(values); {
		case !measure.IsName(a):
			p.Fail("matrix", "Invalid axis name", "matrix: invalid axis name %q. Use small letters, digits and '_'.", a)
		case len(values) == 0:
			p.Fail("matrix", "Axis without values", "matrix: axis %q has no values, so no run would start. Add "+
				"values, or remove the axis.", a)
		case dup != "":
			p.Fail("matrix", "Duplicate value", "matrix: axis %q has %q twice. To measure a value several times, set "+
				"repeat.", a, dup)
		}
		switch {
		case measure.Has(texts, a):
		case a != serialAxis:
			p.Fail("matrix", "Unused axis", "matrix: axis %s has no effect. Write ${matrix.%s} in one of %s.",
				a, a, strings.Join(inVariants(), ", "))
		case r.Serial != "":
			p.Fail("serial", "Conflicting choice of phone", "serial is %q, but the matrix also has an axis serial. "+
				"Remove one of the two.",
				r.Serial)
		case r.Device.IsSet():
			p.Fail("matrix", "Serial of a simulated phone", "matrix: axis serial chooses real phones, but the step's "+
				"device is simulated. Remove device or the axis.")
		}
		if n *= max(1, len(values)); n > maxRuns {
			p.Fail("matrix", "Too many runs", "matrix and repeat give more than %d runs. Remove values or lower "+
				"repeat.", maxRuns)
			return
		}
	}
}

func repeated(list []string) string {
	for i, s := range list {
		if slices.Contains(list[:i], s) {
			return s
		}
	}
	return ""
}

// inVariants returns the arguments that may contain ${matrix.AXIS}.
func inVariants() []string {
	return []string{"argv", "env", "stdin", "push", "pull", "expect", "serial", "facts", "title"}
}

// variant returns the arguments of a variant.
func (r Run) variant(p *step.Plan, c measure.Cell) Run {
	if len(c.Values) == 0 {
		return r
	}
	fill := func(list []string) (out []string) {
		for _, s := range list {
			out = append(out, c.Fill(s))
		}
		return out
	}
	pathIn := func(arg string) func(step.Path) step.Path {
		return func(v step.Path) step.Path { return p.Path(arg, c.Fill(v.String())) }
	}
	r.Argv, r.Pull, r.Expect = fill(r.Argv), fill(r.Pull), pathIn("expect")(r.Expect)
	r.Push, r.Facts = filled(p, c, "push", r.Push, pathIn("push")), filled(p, c, "facts", r.Facts, c.Fill)
	r.Stdin, r.Title = c.Fill(r.Stdin), c.Fill(r.Title)
	r.Serial = cmp.Or(c.Fill(r.Serial), c.Values[serialAxis])
	return r
}

// filled returns a map argument of a variant.
func filled[V any](p *step.Plan, c measure.Cell, arg string, all map[string]V, fill func(V) V) map[string]V {
	out := map[string]V{}
	for k, v := range all {
		name := c.Fill(k)
		if _, ok := out[name]; ok {
			p.Fail("matrix", "Duplicate name in a variant", "%s: %s: two entries have the name %q in the "+
				"variant.",
				c.Label, arg, name)
		}
		out[name] = fill(v)
	}
	return out
}

// oneRun plans one run.
type oneRun struct {
	Run     // the variant's arguments
	p       *step.Plan
	cell    measure.Cell
	titled  bool   // whether its title differs from other variants'
	chosen  string // the user's device
	action  *step.Action
	results []action.Input // part of the step's results
	samples []action.Input // part of the step's samples
	read    []action.Input // files for the tool metrics
}

// plan plans the device action.
func (o *oneRun) plan(adb *step.Toolchain) {
	o.action = o.p.Action(o.cell.Name, "run "+path.Base(o.Argv[0])+" on the device", o.Argv...)
	if adb != nil {
		o.action.In(adb.Input()).Set(runner.PropertyADB, adb.Output.Path())
	}
	o.push()
	env := make(map[string]string, len(o.p.Env))
	for k, v := range o.p.Env {
		env[k] = o.cell.Fill(v)
	}
	o.action.SetEnv(env)
	if v := env["ADSP_LIBRARY_PATH"]; strings.Contains(v, ":") {
		o.p.Fail("env", "ADSP_LIBRARY_PATH has a colon", "ADSP_LIBRARY_PATH: the DSP's loader reads %q as one "+
			"folder. Separate folders with ';': %q.", v, strings.ReplaceAll(v, ":", ";"))
	}
	if t := facts.TargetOf(o.p.Target); t != nil {
		o.action.Set(runner.PropertySoC, t.SoC).Set(runner.PropertyArch, t.Arch)
		o.action.Set(runner.PropertySoCModel, strconv.Itoa(t.SoCModel)).Set(runner.PropertyVTCM, strconv.Itoa(t.VTCMMB))
	}
	o.action.Set(action.PropertyExecutor, runner.Executor)
	o.action.Set(action.PropertyStdin, "stdin.txt").Set(action.PropertyStdout, stdoutFile)
	o.action.In(action.Input{Path: "stdin.txt", Content: &action.Content{Data: []byte(o.Stdin)}})
	o.device()
	o.action.Out(stdoutFile)
	o.measures()
	o.pull()
	if o.SampleMS > 0 {
		o.action.Set(session.PropertySampleMS, strconv.FormatInt(int64(o.SampleMS), 10))
		for _, name := range []string{session.SamplesCSV, session.SamplesJSON} {
			o.samples = append(o.samples, o.action.Out(name).As(path.Join(o.cell.Dir, path.Base(name))))
		}
	}
}

// device sets the device of the action, and its share of the machine's pools.
func (o *oneRun) device() {
	pool := "device=1"
	if o.Device.IsSet() {
		o.action.In(o.Device.Input()).Set(runner.PropertyImage, o.Device.InRoot())
		pool += ",simulated=1"
	} else if o.Serial != "" {
		o.action.Set(runner.PropertySerial, o.Serial)
		if !strings.ContainsAny(o.Serial, ",=") { // a run that waits for one phone does not block the others
			pool += ",device " + o.Serial + "=1"
		}
	}
	if o.SoC != "" {
		o.action.Set(runner.PropertySelect, o.SoC)
	}
	if o.chosen != "" {
		o.action.Set(runner.PropertySerial, o.chosen)
	}
	o.action.Set(action.PropertyPool, pool)
}

// measures sets the arguments for measuring.
func (o *oneRun) measures() {
	if !o.recorded() {
		o.action.Out(session.PhoneJSON)
		return
	}
	o.action.Set(runner.PropertyRecord, recordFile).Out(recordFile)
	if o.several() {
		o.action.Set(runner.PropertyRepetition, strconv.Itoa(o.cell.Repetition))
		o.action.Description += ", " + strings.TrimPrefix(fmt.Sprintf("%s #%d", o.cell.Label, o.cell.Repetition), " ")
	}
	if o.Warmup > 0 {
		o.action.Set(runner.PropertyWarmup, strconv.Itoa(o.Warmup))
	}
	if o.Cooldown != nil {
		o.action.Set(runner.PropertyCooldown, o.Cooldown.String())
	}
}

// push adds the pushed files as inputs below push/.
func (o *oneRun) push() {
	taken := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(o.Push)) {
		to := path.Clean(name)
		if other, ok := taken[to]; ok {
			o.p.Fail("push", "Two files at one place", "push: %q and %q would have the same path on the device. "+
				"Rename one of the two.",
				other, name)
		}
		if !filepath.IsLocal(to) {
			o.p.Fail("push", "Path outside the run's folder", "push: %q is not a path in the run's folder. Use a "+
				"relative name without \"..\".",
				name)
		}
		taken[to] = name
		o.action.In(o.Push[name].As(path.Join("push", to)))
	}
}

// pull sets the results.
func (o *oneRun) pull() {
	names := map[string]string{} // by name among the results
	add := func(file, called string) {
		names[path.Base(file)] = called
		o.results = append(o.results, o.action.Out(file).As(path.Join(o.cell.Dir, path.Base(file))))
	}
	if o.several() {
		add(stdoutFile, stdoutFile)
		add(recordFile, recordFile)
	}
	if o.Logcat {
		o.action.Set(runner.PropertyLog, logFile)
		add(logFile, "the log")
	}
	for _, name := range o.Pull {
		clean := path.Clean(name)
		if !filepath.IsLocal(clean) || clean == "." {
			o.p.Fail("pull", "Path outside the run's folder", "pull: %q is not a path in the run's folder. Use a "+
				"relative path without \"..\".",
				name)
			continue
		}
		base := path.Base(clean)
		other := names[base]
		switch {
		case clean == stdoutFile:
			other = "the standard output"
		case clean == recordFile && o.recorded():
			other = "the record of the run"
		}
		if other != "" {
			o.p.Fail("pull", "Two results with one name", "pull: %q and %q would both be stored as %s. Change the "+
				"name of one file.", other, name, base)
		}
		add(clean, name)
	}
	isTokens := func(name string) bool { return path.Clean(name) == resultTokens }
	if o.Expect.IsSet() && !slices.ContainsFunc(o.Pull, isTokens) {
		o.p.Fail("expect", "Nothing to compare", "expect: pull does not list the run's %s. Add it to "+
			"pull.", resultTokens)
	}
}

// reading returns the paths that the tool metrics reads for the run.
func (o *oneRun) reading() measure.Run {
	read := func(file string) string {
		at := path.Join("runs", o.cell.Dir, path.Base(file))
		o.read = append(o.read, o.action.Out(file).As(at))
		return at
	}
	m := measure.Run{Repetition: o.cell.Repetition, Facts: map[string]float64{}, Stdout: read(stdoutFile)}
	for name, text := range o.Facts {
		var err error
		if m.Facts[name], err = strconv.ParseFloat(text, 64); err != nil {
			o.p.Fail("facts", "Invalid fact", "facts: %s is %q, not a number. Use a number.", name, text)
		}
	}
	if o.recorded() {
		m.Variant, m.Record, m.Name = o.cell.Values, read(recordFile), o.cell.Label
		if o.titled {
			m.Name = o.Title
		}
	} else {
		m.Phone = read(session.PhoneJSON)
	}
	if o.SampleMS > 0 {
		m.Samples = read(session.SamplesJSON)
	}
	if o.Expect.IsSet() {
		m.Tokens, m.Expect = read(resultTokens), path.Join("expected", o.cell.Label, "tokens.json")
		o.read = append(o.read, o.Expect.As(m.Expect))
	}
	return m
}
