package steps

import (
	"fmt"
	"math"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/measure"
)

type runKind struct{}

// Schema of kind run.
func (runKind) Schema() step.Schema {
	attr := func(name string, t cty.Type, required bool) hcldec.Spec {
		return &hcldec.AttrSpec{Name: name, Type: t, Required: required}
	}
	return step.Schema{
		Summary: "pushes files to a device, runs a program there, pulls its results and measures it",
		Args: sampleArgs(measureArgs(hcldec.ObjectSpec{
			"push":   attr("push", cty.Map(cty.String), true),
			"argv":   attr("argv", cty.List(cty.String), true),
			"stdin":  attr("stdin", cty.String, false),
			"pull":   attr("pull", cty.List(cty.String), false),
			"device": attr("device", cty.String, false),
			"serial": attr("serial", cty.String, false),
			"soc":    attr("soc", cty.String, false),
			"expect": attr("expect", cty.String, false),
			"title":  attr("title", cty.String, false),
			"repeat": attr("repeat", cty.Number, false),
			"warmup": attr("warmup", cty.Number, false),
			"logcat": attr("logcat", cty.Bool, false),
			"matrix": attr("matrix", cty.Map(cty.List(cty.String)), false),
			"cooldown": &hcldec.BlockSpec{TypeName: "cooldown", Nested: hcldec.ObjectSpec{
				"celsius": attr("celsius", cty.Number, false), "timeout": attr("timeout", cty.String, false),
				"zones": attr("zones", cty.List(cty.String), false), "required": attr("required", cty.Bool, false),
			}},
		})),
		ArgDocs: sampleDocs(measureDocs(map[string]string{
			"push":     "what the device needs: name in the run's folder on the device → artifact or workspace path. A name ending in / takes a folder's files",
			"argv":     "the command on the device; it starts in the run's folder",
			"stdin":    "text for its standard input",
			"pull":     "files to bring back, relative to the run's folder",
			"device":   "image of an emulator step; without it a real device is used",
			"serial":   "serial number of the real device, or its name in devices.hcl, needed when several are attached",
			"soc":      "SoC of the real device, such as \"SM8750\", when several are attached. Of devices.hcl any phone with the target's SoC is used without it",
			"expect":   "tokens.json of a reference: the device's results/tokens.json must hold the same tokens",
			"title":    "title of the metrics table; with {axis} in it, what a variant is called there",
			"repeat":   "how often every variant is measured (1)",
			"warmup":   "runs before each measured one, on the same phone: nothing of them counts, but their failure is the run's (0)",
			"logcat":   "have what the device's log said of the NPU during the run among the results, as logcat.txt. A failure has it in any case",
			"matrix":   "Variants: every combination of the axes' values, such as { seq = [\"64\", \"256\"] }. {seq} in argv, env, stdin, push, pull, expect, serial, facts and title stands for the value; the axis `serial` chooses phones",
			"cooldown": "Before each run, wait until the phone's hottest chip sensor is below `celsius` (40), for at most `timeout` (\"10m\"). Still hot: a warning in the results, or a failure with `required = true`. `zones` names the sensors that count, such as [\"cpu-*\"]",
		})),
		Outputs: []step.OutputSpec{
			{Name: "metrics", Class: action.File, Doc: "what was measured, as a table (JSON)"},
			{Name: "stdout", Class: action.File, Doc: "the program's standard output; of several runs, one after another"},
			{Name: "results", Class: action.Tree, Doc: "the pulled files; of several runs, each in a folder VARIANT/REPETITION, with its stdout.txt and run.json"},
			sampleOutput(),
		},
		Toolchains: []string{"adb"},
	}
}

// Plan of kind run: an action on the device for every run, then one on the host that reads what was measured and compares the tokens.
// So a better reading of the same runs does not need the device again.
func (runKind) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	adb, diag := r.Toolchain("adb")
	if diag != nil {
		return step.Planned{}, hcl.Diagnostics{diag}
	}
	if len(r.Strings("argv")) == 0 {
		return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("argv", "An empty command", "argv is empty. Its first element is the program.")}
	}
	b, diags := benchOf(r)
	if diags.HasErrors() {
		return step.Planned{}, diags
	}
	var specs []action.Spec
	var runs []measured
	results, samples := action.Artifact{Class: action.Tree}, action.Artifact{Class: action.Tree}
	for _, c := range b.cells() {
		run, parts, diags := b.plan(r, adb, c)
		if diags.HasErrors() {
			return step.Planned{}, diags
		}
		specs, results.Parts = append(specs, run.spec), append(results.Parts, parts...)
		samples.Parts = append(samples.Parts, run.samples...)
		runs = append(runs, run)
	}
	metrics, diags := metrics(r, b, runs)
	if diags.HasErrors() {
		return step.Planned{}, diags
	}
	printed := action.SpecOutput{Spec: specs[0].Name, Path: stdoutFile}
	if b.several() {
		printed.Spec = metrics.Name
	}
	return step.Planned{
		Specs: append(specs, metrics),
		Outputs: map[string]action.Artifact{
			"metrics": {Class: action.File, Parts: []action.Input{{Spec: &action.SpecOutput{Spec: metrics.Name, Path: "metrics.json"}}}},
			"stdout":  {Class: action.File, Parts: []action.Input{{Spec: &printed}}},
			"results": results,
			"samples": samples,
		},
	}, nil
}

// Outputs of every run.
const (
	stdoutFile = "stdout.txt"
	recordFile = "run.json"
	logFile    = "logcat.txt"
)

// measured is a planned run, with what the reading of it needs to know.
type measured struct {
	cell
	request step.Request // as the variant has it
	spec    action.Spec
	samples []action.Input // the parts of the output samples
}

// plan plans one run, and says what of it is among the step's results.
func (b bench) plan(r step.Request, adb step.Toolchain, c cell) (m measured, results []action.Input, diags hcl.Diagnostics) {
	r, err := c.request(r)
	if err != nil {
		return m, nil, hcl.Diagnostics{r.ArgErrorf("matrix", "Variants that cannot be", "%s: %s.", c.label, err)}
	}
	in := []action.Input{adb.Input()}
	push, diags := pushed(r)
	if diags.HasErrors() {
		return m, nil, diags
	}
	in = append(in, push...)
	if v := r.Env["ADSP_LIBRARY_PATH"]; strings.Contains(v, ":") {
		return m, nil, hcl.Diagnostics{r.ArgErrorf("env", "ADSP_LIBRARY_PATH has a colon",
			"The DSP's loader takes %q for one folder and finds no library in it. Separate folders with ';': %q.", v, strings.ReplaceAll(v, ":", ";"))}
	}
	t := step.Request{Args: r.Target}
	platform := map[string]string{
		action.PropertyExecutor: runner.Executor,
		action.PropertyPool:     "device=1",
		action.PropertyStdin:    "stdin.txt",
		action.PropertyStdout:   stdoutFile,
		runner.PropertySoC:      t.String("soc"),
		runner.PropertyArch:     t.String("arch"),
		runner.PropertySoCModel: t.String("soc_model"),
		runner.PropertyVTCM:     t.String("vtcm_mb"),
		runner.PropertyADB:      adb.Output.Path(),
	}
	if image, imageIn := r.Place("device"); image != "" {
		platform[runner.PropertyImage] = image
		platform[action.PropertyPool] += ",emulated=1"
		in = append(in, imageIn...)
	} else {
		for property, arg := range map[string]string{runner.PropertySerial: "serial", runner.PropertySelect: "soc"} {
			if s := r.String(arg); s != "" {
				platform[property] = s
			}
		}
		if s := r.String("serial"); s != "" && !strings.ContainsAny(s, ",=") { // who waits for one phone keeps nobody from the others
			platform[action.PropertyPool] += ",device " + s + "=1"
		}
	}
	in = append(in, action.Input{Path: "stdin.txt", Content: &action.Content{Data: []byte(r.String("stdin"))}})
	run := action.Spec{
		Name: c.name, Description: "run " + path.Base(r.Strings("argv")[0]) + " on the device",
		Args: r.Strings("argv"), Env: r.Env, Platform: platform, Inputs: in,
		Outputs: []action.Output{{Path: stdoutFile}},
	}
	b.measure(&run, c)
	names := map[string]string{} // what is among the results, by its name there
	if b.several() {
		for _, p := range []string{stdoutFile, recordFile} {
			names[p] = p
			results = append(results, action.Input{Path: path.Join(c.dir, p), Spec: &action.SpecOutput{Spec: run.Name, Path: p}})
		}
	}
	if r.Bool("logcat") {
		names[logFile] = "the log"
		run.Platform[runner.PropertyLog] = logFile
		run.Outputs = append(run.Outputs, action.Output{Path: logFile})
		results = append(results, action.Input{Path: path.Join(c.dir, logFile), Spec: &action.SpecOutput{Spec: run.Name, Path: logFile}})
	}
	for _, p := range r.Strings("pull") {
		clean := path.Clean(p)
		if !below(clean) {
			return m, nil, hcl.Diagnostics{r.ArgErrorf("pull", "Path leads out of the run's folder", "pull has %q; give paths relative to the run's folder.", p)}
		}
		name := path.Base(clean)
		other, ok := names[name]
		switch {
		case clean == stdoutFile:
			other, ok = "the standard output", true
		case clean == recordFile && b.recorded():
			other, ok = "the record of the run", true
		}
		if ok {
			return m, nil, hcl.Diagnostics{r.ArgErrorf("pull", "Two results have the same name", "%q and %q would both be %s among the results. Have the program write one of them under another name.", other, p, name)}
		}
		names[name] = p
		run.Outputs = append(run.Outputs, action.Output{Path: clean})
		results = append(results, action.Input{Path: path.Join(c.dir, name), Spec: &action.SpecOutput{Spec: run.Name, Path: clean}})
	}
	if r.String("expect") != "" && !slices.ContainsFunc(run.Outputs, func(o action.Output) bool { return o.Path == resultTokens }) {
		return m, nil, hcl.Diagnostics{r.ArgErrorf("expect", "Nothing to compare", "expect compares the run's %s, which pull does not bring back. Add it to pull.", resultTokens)}
	}
	samples, diags := sampleOutputs(r, &run, c.dir)
	return measured{c, r, run, samples}, results, diags
}

// measure has the action of a run do what the step says of measuring.
func (b bench) measure(run *action.Spec, c cell) {
	if !b.recorded() {
		return
	}
	run.Platform[runner.PropertyRecord] = recordFile
	run.Outputs = append(run.Outputs, action.Output{Path: recordFile})
	if b.several() {
		run.Platform[runner.PropertyRepetition] = strconv.Itoa(c.repetition)
		run.Description += ", " + strings.TrimPrefix(c.label+fmt.Sprintf(" #%d", c.repetition), " ")
	}
	if b.warmup > 0 {
		run.Platform[runner.PropertyWarmup] = strconv.Itoa(b.warmup)
	}
	if b.cooldown != nil {
		run.Platform[runner.PropertyCooldown] = b.cooldown.String()
	}
}

// resultTokens is where a program writes the tokens it made, for expect.
const resultTokens = "results/tokens.json"

// below tells whether the clean slash path names something in the folder it is relative to.
func below(p string) bool {
	return p != "." && p != ".." && !strings.HasPrefix(p, "../") && !path.IsAbs(p)
}

// pushed are the inputs below push/, which is what goes to the device.
func pushed(r step.Request) ([]action.Input, hcl.Diagnostics) {
	files := r.Map("push")
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	taken := map[string]string{}
	var in []action.Input
	for _, name := range names {
		to := path.Clean(name)
		if !below(to) && to != "." {
			return nil, hcl.Diagnostics{r.ArgErrorf("push", "Path leads out of the run's folder", "push has %q; give names relative to the run's folder.", name)}
		}
		if other, ok := taken[to]; ok {
			return nil, hcl.Diagnostics{r.ArgErrorf("push", "Two files at one place", "%q and %q of push are the same place on the device.", other, name)}
		}
		taken[to] = name
		in = append(in, r.Input("push", files[name], path.Join("push", to)))
	}
	return in, nil
}

// metrics is the action that reads what the runs printed and compares their tokens with the expected ones.
func metrics(r step.Request, b bench, runs []measured) (action.Spec, hcl.Diagnostics) {
	spec, diags := measureSpec(r)
	title := r.String("title")
	if title == "" || b.varies(title) {
		title = r.At.Name
	}
	flags := []string{"--title", title, "--profile", r.Profile, "--out", "metrics.json"}
	outputs := []action.Output{{Path: "metrics.json"}}
	var in []action.Input
	if b.recorded() {
		spec.Axes, spec.Titled = b.axes, b.titled
		for _, run := range runs {
			t, more, ds := b.reading(run)
			diags = append(diags, ds...)
			spec.Runs, in = append(spec.Runs, t), append(in, more...)
		}
		if b.several() {
			flags = append(flags, "--printed", stdoutFile)
			outputs = append(outputs, action.Output{Path: stdoutFile})
		}
	} else {
		flags = append([]string{"--stdout", stdoutFile}, flags...)
		in = append(in, action.Input{Path: stdoutFile, Spec: &action.SpecOutput{Spec: runs[0].name, Path: stdoutFile}})
		if s, ok := sampleInput(runs[0].spec, "samples.json"); ok {
			flags, in = append(flags, "--samples", s.Path), append(in, s)
		}
		var ds hcl.Diagnostics
		spec.Facts, ds = known(r)
		diags = append(diags, ds...)
		if want := r.String("expect"); want != "" {
			flags = append(flags, "--tokens", "tokens.json", "--expect", "expected.json")
			in = append(in, r.Input("expect", want, "expected.json"),
				action.Input{Path: "tokens.json", Spec: &action.SpecOutput{Spec: runs[0].name, Path: resultTokens}})
		}
	}
	more, inputs, err := measureInputs(r, spec)
	if err != nil {
		diags = append(diags, r.Errorf("Metrics", "%s.", err))
	}
	if diags.HasErrors() {
		return action.Spec{}, diags
	}
	flags, in = append(flags, more...), append(in, inputs...)
	args, platform := step.FlagTool("metrics", measure.MetricsVersion, flags...)
	return action.Spec{
		Name: "metrics", Description: "read what was measured", Args: args, Platform: platform, Inputs: step.Unique(in), Outputs: outputs,
	}, nil
}

// reading says where the tool metrics finds what it has to know of a run.
func (b bench) reading(run measured) (measure.Run, []action.Input, hcl.Diagnostics) {
	r := run.request
	at := func(name string) string { return path.Join("runs", run.dir, name) }
	t := measure.Run{Variant: run.values, Repetition: run.repetition, Stdout: at(stdoutFile), Record: at(recordFile)}
	if t.Name = run.label; b.titled {
		t.Name = r.String("title")
	}
	facts, diags := known(r)
	t.Facts = facts
	in := []action.Input{
		{Path: t.Stdout, Spec: &action.SpecOutput{Spec: run.name, Path: stdoutFile}},
		{Path: t.Record, Spec: &action.SpecOutput{Spec: run.name, Path: recordFile}},
	}
	if s, ok := sampleInput(run.spec, at("samples.json")); ok {
		t.Samples, in = s.Path, append(in, s)
	}
	if want := r.String("expect"); want != "" {
		t.Tokens, t.Expect = at("tokens.json"), path.Join("expected", run.label, "tokens.json")
		in = append(in, r.Input("expect", want, t.Expect), action.Input{Path: t.Tokens, Spec: &action.SpecOutput{Spec: run.name, Path: resultTokens}})
	}
	return t, in, diags
}

// known are the facts of a step: metrics that nobody prints.
func known(r step.Request) (map[string]float64, hcl.Diagnostics) {
	var out map[string]float64
	for name, text := range r.Map("facts") {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, hcl.Diagnostics{r.ArgErrorf("facts", "A fact that is no number", "%s is %q.", name, text)}
		}
		if out == nil {
			out = map[string]float64{}
		}
		out[name] = v
	}
	return out, nil
}
