package steps

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
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
	SampleMS float64              `arg:"sample_ms" default:"100"` // 10 a second: enough to see a prompt being processed, and little beside what is measured
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
			"push":      "What the device needs: name in the run's folder on the device → artifact or workspace path. A name ending in / takes a folder's files.",
			"argv":      "The command on the device; it starts in the run's folder.",
			"stdin":     "Text for its standard input.",
			"pull":      "Files to bring back, relative to the run's folder.",
			"device":    "Image of an emulator step; without it a real device is used.",
			"serial":    "Serial number of the real device, the address of a board (`ssh://USER@HOST:PORT`), or the name of either in devices.hcl; needed when several are attached.",
			"soc":       "SoC of the real device, such as \"SM8750\", when several are attached. Of devices.hcl any phone with the target's SoC is used without it.",
			"expect":    "tokens.json of a reference: the device's results/tokens.json must hold the same tokens.",
			"title":     "Title of the metrics table; with ${matrix.AXIS} in it, what a variant is called there.",
			"repeat":    "How often every variant is measured.",
			"warmup":    "Runs before each measured one, on the same phone: nothing of them counts, but their failure is the run's.",
			"logcat":    "Whether to have what the device's log said of the NPU during the run among the results, as logcat.txt. A failure has it in any case.",
			"sample_ms": "Milliseconds between two samples of memory, processors, clocks, temperatures and battery while the program runs; 0: no samples.",
			"matrix":    "Variants: every combination of the axes' values, such as { seq = [\"64\", \"256\"] }. ${matrix.seq} in argv, env, stdin, push, pull, expect, serial, facts and title stands for the value; the axis `serial` chooses phones.",
			"cooldown":  "Before each run, wait until the phone's hottest chip sensor is below `celsius` (40), for at most `timeout` (\"10m\"). Still hot: a warning in the results, or a failure with `required = true`. `zones` names the sensors that count, such as [\"cpu-*\"].",
			"metric":    "A line to look for beside those of known runners: `pattern` (RE2) has the number in its first group ({number} and {time} are such groups), `unit` is such as ms, tokens/s or MB, `better` is more, less or neither where the unit does not say. Files metrics/*.hcl of the workspace have such blocks for all its steps.",
			"facts":     "Metrics that are known and not printed, such as { prefill_tokens = 256 }; speeds are worked out from them.",
			"columns":   "Metrics that the table of several variants shows, such as [\"prefill_tokens_per_s\"]; by default those that matter most of what was printed.",
			"baselines": "Tables to compare with, shipped (llm.npu-paper, llm.npu-reproduction) or of the workspace's metrics/*.hcl. Runs on simulated phones are compared with none of them.",
			"baseline":  "A table of one's own: `source` says who measured; `row \"METRIC\"` has a `value`, perhaps a `spread`, and `when` the values of other metrics that it is for. With `profile` it is for runs of that profile.",
			"previous":  "metrics.json of an earlier run, as a baseline of the name previous.",
			"tolerance": "Part of a baseline by which a value may differ and be within noise (0.05); twice the spread is noise in any case.",
			"limit":     "A bound on a metric, whose breach fails the step: `min`, `max`, or a `baseline` and by which part of it the value may be worse (`regression = 0.1`); `when` the values of other metrics that it is for.",
		},
		Outputs: []step.OutputSpec{
			step.File("metrics", "What was measured, as a table (JSON)."),
			step.Value("measured", "The same for checks and other steps: { NAME = { median, min, max, spread, runs, unit } }; of a matrix one of those for each variant, such as \"seq=64\"."),
			step.File("stdout", "The program's standard output; of several runs, one after another."),
			step.Tree("results", "The pulled files; of several runs, each in a folder VARIANT/REPETITION, with its stdout.txt and run.json."),
			step.Tree("samples", "samples.csv and samples.json: memory, processors, clocks, temperatures and battery over time; of several runs, each in a folder VARIANT/REPETITION."),
			step.File("plot", "Temperature and memory over the time of the runs, drawn (SVG)."),
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

// Plan plans an action on the device for every run, then one on the host that reads what was measured and compares the tokens. So a better reading
// of the same runs does not need the device again. known are metrics and baselines, asked for only here.
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
			stdout = one.output(stdoutFile)
		}
		results, samples = append(results, one.results...), append(samples, one.samples...)
		spec.Runs, read = append(spec.Runs, one.reading()), append(read, one.read...)
	}
	if spec.Title = r.Title; spec.Title == "" || r.titled() {
		spec.Title = p.At.Title()
	}
	if spec.Profile, spec.Out, spec.Measured, spec.Plot = p.Profile, "metrics.json", "measured.json", "samples.svg"; r.several() {
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
	p.File("plot", table.Out(spec.Plot))
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
			"sample_ms is %v: use a whole number of milliseconds from %d to %d, or 0 for no samples.", r.SampleMS, least, most)
	}
	texts, in := "", r.texts(p.Env)
	for _, arg := range inVariants() {
		texts += strings.Join(in[arg], "\n") + "\n"
	}
	n := r.Repeat
	for _, a := range slices.Sorted(maps.Keys(r.Matrix)) {
		values := r.Matrix[a]
		switch dup := repeated(values); {
		case !measure.IsName(a):
			p.Fail("matrix", "Not a name for an axis", "%q: use small letters, digits and '_'.", a)
		case len(values) == 0:
			p.Fail("matrix", "An axis without values", "Axis %q of the matrix has no values, so nothing would run. Give it some, or leave it out.", a)
		case dup != "":
			p.Fail("matrix", "The same value twice", "Axis %q of the matrix has %q twice. To measure it several times, set repeat.", a, dup)
		}
		switch {
		case measure.Has(texts, a):
		case a != serialAxis:
			p.Fail("matrix", "An axis that changes nothing",
				"Nothing of the step has ${matrix.%s}, so all its values would measure the same. Write ${matrix.%s} where the value belongs: in %s.", a, a, strings.Join(inVariants(), ", "))
		case r.Serial != "":
			p.Fail("serial", "Two ways to choose a phone", "The matrix has the axis serial, and serial is %q. Leave one out.", r.Serial)
		case r.Device.IsSet():
			p.Fail("matrix", "The simulated phone has no serial", "The axis serial chooses real phones, and the step has a device, which is the simulated one.")
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

// texts are what is in those arguments.
func (r Run) texts(env map[string]string) map[string][]string {
	all := map[string][]string{"argv": r.Argv, "pull": r.Pull, "stdin": {r.Stdin}, "title": {r.Title}, "expect": {r.Expect.String()}, "serial": {r.Serial},
		"env": slices.Collect(maps.Values(env))}
	for name, v := range r.Push {
		all["push"] = append(all["push"], name, v.String())
	}
	for name, v := range r.Facts {
		all["facts"] = append(all["facts"], name, v)
	}
	return all
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
	push, facts := map[string]step.Path{}, map[string]string{}
	twice := func(arg, name string, there bool) {
		if there {
			p.Fail("matrix", "Two entries of a variant with one name", "%s: %s: two entries have the name %q in the variant.", c.Label, arg, name)
		}
	}
	for k, v := range r.Push {
		name := c.Fill(k)
		_, there := push[name]
		twice("push", name, there)
		push[name] = p.Path("push", c.Fill(v.String()))
	}
	for k, v := range r.Facts {
		name := c.Fill(k)
		_, there := facts[name]
		twice("facts", name, there)
		facts[name] = c.Fill(v)
	}
	r.Argv, r.Pull, r.Push, r.Facts = fill(r.Argv), fill(r.Pull), push, facts
	r.Stdin, r.Title, r.Serial, r.Expect = c.Fill(r.Stdin), c.Fill(r.Title), c.Fill(r.Serial), p.Path("expect", c.Fill(r.Expect.String()))
	if s, ok := c.Values[serialAxis]; ok && r.Serial == "" {
		r.Serial = s
	}
	return r
}

// oneRun is a run being planned.
type oneRun struct {
	Run     // as the variant has it
	p       *step.Plan
	cell    measure.Cell
	titled  bool // its title tells it from other variants
	action  *step.Action
	results []action.Input // what of it is among the step's results
	samples []action.Input // likewise
	read    []action.Input // what of it the tool metrics reads
}

// output is a file that the run writes.
func (o *oneRun) output(name string) action.Input { return o.action.Out(name) }

// plan plans the run on the device.
func (o *oneRun) plan(adb *step.Toolchain) {
	o.action = o.p.Action(o.cell.Name, "run "+path.Base(o.Argv[0])+" on the device", o.Argv...)
	if adb != nil {
		o.action.In(adb.Input()).Set(runner.PropertyADB, adb.Output.Path())
	}
	o.action.In(o.pushed()...)
	env := make(map[string]string, len(o.p.Env))
	for k, v := range o.p.Env {
		env[k] = o.cell.Fill(v)
	}
	o.action.SetEnv(env)
	if v := env["ADSP_LIBRARY_PATH"]; strings.Contains(v, ":") {
		o.p.Fail("env", "ADSP_LIBRARY_PATH has a colon",
			"The DSP's loader takes %q for one folder and finds no library in it. Separate folders with ';': %q.", v, strings.ReplaceAll(v, ":", ";"))
	}
	t, diags := step.Decode[struct {
		SoC   string `arg:"soc"`
		Arch  string `arg:"arch"`
		Model string `arg:"soc_model"`
		VTCM  string `arg:"vtcm_mb"`
	}](o.p.Target)
	o.p.Report(diags...)
	for property, value := range map[string]string{
		action.PropertyExecutor: runner.Executor, action.PropertyPool: "device=1", action.PropertyStdin: "stdin.txt", action.PropertyStdout: stdoutFile,
		runner.PropertySoC: t.SoC, runner.PropertyArch: t.Arch, runner.PropertySoCModel: t.Model, runner.PropertyVTCM: t.VTCM,
	} {
		o.action.Set(property, value)
	}
	o.on()
	o.action.In(action.Input{Path: "stdin.txt", Content: &action.Content{Data: []byte(o.Stdin)}})
	o.action.Out(stdoutFile)
	o.measures()
	o.pulled()
	if o.SampleMS > 0 {
		o.action.Set(session.PropertySampleMS, strconv.FormatInt(int64(o.SampleMS), 10))
		for _, name := range []string{session.SamplesCSV, session.SamplesJSON} {
			o.samples = append(o.samples, o.output(name).As(path.Join(o.cell.Dir, path.Base(name))))
		}
	}
}

// on says which device it is.
func (o *oneRun) on() {
	pool := o.action.Platform[action.PropertyPool]
	if o.Device.IsSet() {
		o.action.In(o.Device.Input()).Set(runner.PropertyImage, o.Device.InRoot()).Set(action.PropertyPool, pool+",simulated=1")
		return
	}
	if o.SoC != "" {
		o.action.Set(runner.PropertySelect, o.SoC)
	}
	if o.Serial == "" {
		return
	}
	o.action.Set(runner.PropertySerial, o.Serial)
	if !strings.ContainsAny(o.Serial, ",=") { // who waits for one phone keeps nobody from the others
		o.action.Set(action.PropertyPool, pool+",device "+o.Serial+"=1")
	}
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

// pushed are the inputs below push/, which is what goes to the device.
func (o *oneRun) pushed() (in []action.Input) {
	taken := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(o.Push)) {
		to := path.Clean(name)
		if other, ok := taken[to]; ok {
			o.p.Fail("push", "Two files at one place", "%q and %q of push are the same place on the device.", other, name)
		}
		if !below(to) && to != "." {
			o.p.Fail("push", "Path leads out of the run's folder", "push has %q; give names relative to the run's folder.", name)
		}
		taken[to] = name
		in = append(in, o.Push[name].As(path.Join("push", to)))
	}
	return in
}

// below tells whether the clean slash path names something in the folder it is relative to.
func below(p string) bool {
	return p != "." && p != ".." && !strings.HasPrefix(p, "../") && !path.IsAbs(p)
}

// pulled settles what is among the results.
func (o *oneRun) pulled() {
	names := map[string]string{} // what is among the results, by its name there
	add := func(file, what string) {
		names[path.Base(file)] = what
		o.results = append(o.results, o.output(file).As(path.Join(o.cell.Dir, path.Base(file))))
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
		if !below(clean) {
			o.p.Fail("pull", "Path leads out of the run's folder", "pull has %q; give paths relative to the run's folder.", name)
			continue
		}
		base := path.Base(clean)
		other, ok := names[base]
		switch {
		case clean == stdoutFile:
			other, ok = "the standard output", true
		case clean == recordFile && o.recorded():
			other, ok = "the record of the run", true
		}
		if ok {
			o.p.Fail("pull", "Two results have the same name", "%q and %q would both be %s among the results. Have the program write one of them under another name.", other, name, base)
		}
		add(clean, name)
	}
	if o.Expect.IsSet() && !slices.ContainsFunc(o.Pull, func(name string) bool { return path.Clean(name) == resultTokens }) {
		o.p.Fail("expect", "Nothing to compare", "expect compares the run's %s, which pull does not bring back. Add it to pull.", resultTokens)
	}
}

// reading says where the tool metrics finds what it has to know of the run.
func (o *oneRun) reading() measure.Run {
	at := func(name string) string { return path.Join("runs", o.cell.Dir, name) }
	m := measure.Run{Repetition: o.cell.Repetition, Facts: o.known()}
	if o.recorded() {
		m.Variant, m.Record = o.cell.Values, at(recordFile)
		if m.Name = o.cell.Label; o.titled {
			m.Name = o.Title
		}
		o.read = append(o.read, o.output(recordFile).As(m.Record))
	} else {
		m.Phone = at("phone.json")
		o.read = append(o.read, o.output(session.PhoneJSON).As(m.Phone))
	}
	m.Stdout = at(stdoutFile)
	o.read = append(o.read, o.output(stdoutFile).As(m.Stdout))
	if o.SampleMS > 0 {
		m.Samples = at("samples.json")
		o.read = append(o.read, o.output(session.SamplesJSON).As(m.Samples))
	}
	if o.Expect.IsSet() {
		m.Tokens, m.Expect = at("tokens.json"), path.Join("expected", o.cell.Label, "tokens.json")
		o.read = append(o.read, o.Expect.As(m.Expect), o.output(resultTokens).As(m.Tokens))
	}
	return m
}

// known are metrics that nobody prints.
func (o *oneRun) known() map[string]float64 {
	var out map[string]float64
	for name, text := range o.Facts {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			o.p.Fail("facts", "A fact that is no number", "%s is %q.", name, text)
		}
		if out == nil {
			out = map[string]float64{}
		}
		out[name] = v
	}
	return out
}
