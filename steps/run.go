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

// Run are the arguments of kind run.
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

	Facts    map[string]string `arg:"facts"` // numbers, once axes have their values
	Shipped  []string          `arg:"baselines"`
	Previous step.Path         `arg:"previous"`
	measure.Spec
}

func runSchema() step.Schema {
	return step.Schema{
		Summary: "Pushes files to a device, runs a program there, pulls its results and measures it.",
		ArgDocs: map[string]string{
			"push": "Name in the run's folder on the device → artifact or workspace path. A name that ends in / " +
				"takes a folder's files.",
			"argv":   "The command on the device; it starts in the run's folder.",
			"stdin":  "Text for its standard input.",
			"pull":   "Files to bring back, relative to the run's folder.",
			"device": "Image of `simulated_phone`; without it the step needs a real device.",
			"serial": "Serial number of the real device, address of a board (`ssh://USER@HOST:PORT`), or the name of " +
				"either in devices.hcl; needed when several are attached.",
			"soc": "SoC of the real device, such as \"SM8750\", when several are attached. Of devices.hcl any phone " +
				"with the target's SoC is used without it.",
			"expect": "tokens.json of a reference: the device's results/tokens.json must hold the same tokens.",
			"title":  "Title of the metrics table; with ${matrix.AXIS} in it, the name of a variant there.",
			"repeat": "Number of measurements of each variant.",
			"warmup": "Runs before each measured one, on the same phone, which are not measured. If one fails, the " +
				"run fails.",
			"logcat": "Adds the device's log of the NPU to the results, as logcat.txt. A failed run has it in any " +
				"case.",
			"sample_ms": "Milliseconds between two samples while the program runs; 0: no samples.",
			"matrix": "Variants: every combination of the axes' values, such as { seq = [\"64\", \"256\"] }. " +
				"${matrix.seq} in argv, env, stdin, push, pull, expect, serial, facts and title stands for the " +
				"value; the axis `serial` chooses phones.",
			"cooldown": "Before each run, wait until the phone's hottest chip sensor is below `celsius` (40), for at " +
				"most `timeout` (\"10m\"). After that: a warning, or a failure with `required = true`. `zones` names " +
				"the sensors that count, such as [\"cpu-*\"].",
			"metric": "A line to look for beside those of known runners: the first group of `pattern` (RE2) is the " +
				"number ({number} and {time} are such groups), `unit` is such as ms, tokens/s or MB, `better` is " +
				"more, less or neither for other units. Files metrics/*.hcl have such blocks for all steps.",
			"facts": "Metrics that the program does not print, such as { prefill_tokens = 256 }, for speeds.",
			"columns": "Metrics in the table of several variants, such as [\"prefill_tokens_per_s\"]; by default the " +
				"most important ones.",
			"baselines": "Tables to compare with, shipped (llm.npu-paper, llm.npu-reproduction) or of metrics/*.hcl. " +
				"Runs on simulated phones are compared with none.",
			"baseline": "A table of the step: `source` says who measured; `row \"METRIC\"` has a `value`, perhaps a " +
				"`spread`, and with `when` values of other metrics. With `profile` it is for runs of that profile.",
			"previous": "metrics.json of an earlier run, the baseline `previous`.",
			"tolerance": "Part of a baseline by which a value may differ within noise (0.05); twice the spread is " +
				"noise in any case.",
			"limit": "A bound on a metric: `min`, `max`, or a `baseline` and `regression`, the part of it by which " +
				"the value may be worse; `when` has values of other metrics. A value outside fails the step.",
		},
		Outputs: []step.OutputSpec{
			step.File("metrics", "All metrics as a table (JSON)."),
			step.Value("measured", "The same for checks and other steps: { NAME = { median, min, max, spread, runs, "+
				"unit } }; of a matrix one of those for each variant, such as \"seq=64\"."),
			step.File("stdout", "The program's standard output; of several runs, one after another."),
			step.Tree("results", "The pulled files; of several runs, each in a folder VARIANT/REPETITION, with its "+
				"stdout.txt and run.json."),
			step.Tree("samples", "samples.csv and samples.json: memory, processors, clocks, temperatures and battery "+
				"over time; of several runs, each in a folder VARIANT/REPETITION."),
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

// Outputs of every run, and where a program writes the tokens it made, for expect.
const (
	stdoutFile   = "stdout.txt"
	recordFile   = "run.json"
	logFile      = "logcat.txt"
	resultTokens = "results/tokens.json"
)

// maxRuns bounds the variants × repetitions of a step, and serialAxis is the axis of a matrix that chooses phones.
const (
	maxRuns    = 4096
	serialAxis = "serial"
)

// Plan plans an action on the device for every run, then one on the host that reads what was measured and compares the
// tokens. So a better reading of the same runs does not need the device again. known are metrics and baselines, asked
// for only here.
func (r Run) Plan(p *step.Plan, known func() (metrics.Set, hcl.Diagnostics)) {
	var adb *step.Toolchain // nil: a board does without
	if !ssh.Is(r.Serial) {
		t := p.Toolchain("adb")
		adb = &t
	}
	if len(r.Argv) == 0 {
		p.Fail("argv", "An empty command", "argv is empty. Its first element is the program.")
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
		one := oneRun{Run: r.variant(p, c), p: p, cell: c, titled: r.titled()}
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
	table := step.Tool(p, "metrics", "read what was measured", measure.Tool, spec).In(read...)
	p.File("metrics", table.Out(spec.Out))
	p.Output("measured", action.Value, table.Out(spec.Measured))
	if r.several() {
		stdout = table.Out(stdoutFile)
	}
	p.File("stdout", stdout)
	p.Tree("results", results...)
	p.Tree("samples", samples...)
}

// several tells whether there is more than one run, or could be if the matrix had another value.
func (r Run) several() bool { return r.Repeat > 1 || len(r.Matrix) > 0 }

// recorded tells whether the runs have records.
func (r Run) recorded() bool { return r.several() || r.Warmup > 0 || r.Cooldown != nil }

// titled tells whether the step's title tells the variants apart.
func (r Run) titled() bool {
	for a := range r.Matrix {
		if measure.Has(r.Title, a) {
			return true
		}
	}
	return false
}

// check says what is wrong with how often, and how, the step measures.
func (r Run) check(p *step.Plan) {
	if r.Cooldown != nil {
		if err := r.Cooldown.Check(); err != nil {
			p.Fail("cooldown", "Cannot cool down", "%s.", err)
		}
	}
	least, most := sample.MinInterval.Milliseconds(), sample.MaxInterval.Milliseconds()
	if ms := int64(r.SampleMS); float64(ms) != r.SampleMS || ms != 0 && (ms < least || ms > most) {
		p.Fail("sample_ms", "Cannot take samples",
			"sample_ms is %v: use a whole number of milliseconds from %d to %d, or 0 for no samples.",
			r.SampleMS, least, most)
	}
	texts := fmt.Sprint(r.Argv, p.Env, r.Stdin, r.Push, r.Pull, r.Expect, r.Serial, r.Facts, r.Title)
	n := r.Repeat
	for _, a := range slices.Sorted(maps.Keys(r.Matrix)) {
		values := r.Matrix[a]
		switch dup := repeated(values); {
		case !measure.IsName(a):
			p.Fail("matrix", "Not a name for an axis", "%q: use small letters, digits and '_'.", a)
		case len(values) == 0:
			p.Fail("matrix", "An axis without values", "Axis %q of the matrix has no values, so nothing would run. "+
				"Give it some, or leave it out.", a)
		case dup != "":
			p.Fail("matrix", "The same value twice", "Axis %q of the matrix has %q twice. To measure it several "+
				"times, set repeat.", a, dup)
		}
		switch {
		case measure.Has(texts, a):
		case a != serialAxis:
			p.Fail("matrix", "An axis that changes nothing", "Nothing of the step has ${matrix.%s}, so all its "+
				"values would measure the same. Write ${matrix.%s} where the value belongs: in %s.",
				a, a, strings.Join(inVariants(), ", "))
		case r.Serial != "":
			p.Fail("serial", "Two ways to choose a phone", "The matrix has the axis serial, and serial is %q. Leave "+
				"one out.",
				r.Serial)
		case r.Device.IsSet():
			p.Fail("matrix", "The simulated phone has no serial", "The axis serial chooses real phones, and the step "+
				"has a device, which is the simulated one.")
		}
		if n *= max(1, len(values)); n > maxRuns {
			p.Fail("matrix", "Too many runs", "The matrix and repeat make more than %d runs.", maxRuns)
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

// inVariants are the arguments in which an axis stands for the variant's value.
func inVariants() []string {
	return []string{"argv", "env", "stdin", "push", "pull", "expect", "serial", "facts", "title"}
}

// variant are the arguments as a variant has them.
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

// filled is an argument of names and values as a variant has it.
func filled[V any](p *step.Plan, c measure.Cell, arg string, all map[string]V, fill func(V) V) map[string]V {
	out := map[string]V{}
	for k, v := range all {
		name := c.Fill(k)
		if _, ok := out[name]; ok {
			p.Fail("matrix", "Two entries of a variant with one name", "%s: %s: two entries have the name %q in the "+
				"variant.",
				c.Label, arg, name)
		}
		out[name] = fill(v)
	}
	return out
}

// oneRun is a run being planned.
type oneRun struct {
	Run     // as the variant has it
	p       *step.Plan
	cell    measure.Cell
	titled  bool // its title tells it from other variants
	action  *step.Action
	results []action.Input // its part of the step's results
	samples []action.Input // its part of the step's samples
	read    []action.Input // its files for the tool metrics
}

// plan plans the run on the device.
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
		o.p.Fail("env", "ADSP_LIBRARY_PATH has a colon", "The DSP's loader takes %q for one folder and finds no "+
			"library in it. Separate folders with ';': %q.", v, strings.ReplaceAll(v, ":", ";"))
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

// device says which device it is, and what of the machine's pools it takes.
func (o *oneRun) device() {
	pool := "device=1"
	if o.Device.IsSet() {
		o.action.In(o.Device.Input()).Set(runner.PropertyImage, o.Device.InRoot())
		pool += ",simulated=1"
	} else if o.Serial != "" {
		o.action.Set(runner.PropertySerial, o.Serial)
		if !strings.ContainsAny(o.Serial, ",=") { // a run that waits for one phone leaves the others to other runs
			pool += ",device " + o.Serial + "=1"
		}
	}
	if o.SoC != "" {
		o.action.Set(runner.PropertySelect, o.SoC)
	}
	o.action.Set(action.PropertyPool, pool)
}

// measures has the run do what the step says of measuring.
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

// push makes inputs below push/, which is what goes to the device.
func (o *oneRun) push() {
	taken := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(o.Push)) {
		to := path.Clean(name)
		if other, ok := taken[to]; ok {
			o.p.Fail("push", "Two files at one place", "%q and %q of push are the same place on the device.",
				other, name)
		}
		if !filepath.IsLocal(to) {
			o.p.Fail("push", "Path leads out of the run's folder", "push has %q; give names relative to the run's "+
				"folder.",
				name)
		}
		taken[to] = name
		o.action.In(o.Push[name].As(path.Join("push", to)))
	}
}

// pull settles what is among the results.
func (o *oneRun) pull() {
	names := map[string]string{} // by the name among the results
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
			o.p.Fail("pull", "Path leads out of the run's folder", "pull has %q; give paths relative to the run's "+
				"folder.",
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
			o.p.Fail("pull", "Two results have the same name", "%q and %q would both be %s among the results. Have "+
				"the program write one of them under another name.", other, name, base)
		}
		add(clean, name)
	}
	isTokens := func(name string) bool { return path.Clean(name) == resultTokens }
	if o.Expect.IsSet() && !slices.ContainsFunc(o.Pull, isTokens) {
		o.p.Fail("expect", "Nothing to compare", "expect compares the run's %s, which pull does not bring back. Add "+
			"it to pull.", resultTokens)
	}
}

// reading says where the tool metrics finds what it has to know of the run.
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
			o.p.Fail("facts", "A fact that is no number", "%s is %q.", name, text)
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
