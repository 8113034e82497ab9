package runstep

import (
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/runtool"
)

type runKind struct{}

// Schema of kind run.
func (runKind) Schema() step.Schema {
	attr := func(name string, t cty.Type, required bool) hcldec.Spec {
		return &hcldec.AttrSpec{Name: name, Type: t, Required: required}
	}
	return step.Schema{
		Summary: "pushes files to a device, runs a program there, pulls its results and measures it",
		Args: measureArgs(hcldec.ObjectSpec{
			"push":   attr("push", cty.Map(cty.String), true),
			"argv":   attr("argv", cty.List(cty.String), true),
			"stdin":  attr("stdin", cty.String, false),
			"pull":   attr("pull", cty.List(cty.String), false),
			"device": attr("device", cty.String, false),
			"serial": attr("serial", cty.String, false),
			"expect": attr("expect", cty.String, false),
			"title":  attr("title", cty.String, false),
		}),
		ArgDocs: measureDocs(map[string]string{
			"push":   "what the device needs: name in the run's folder on the device → artifact or workspace path. A name ending in / takes a folder's files",
			"argv":   "the command on the device; it starts in the run's folder",
			"stdin":  "text for its standard input",
			"pull":   "files to bring back, relative to the run's folder",
			"device": "image of an emulator step; without it a real device is used",
			"serial": "serial number of the real device, needed when several are attached",
			"expect": "tokens.json of a reference: the device's results/tokens.json must hold the same tokens",
			"title":  "title of the metrics table",
		}),
		Outputs: []step.OutputSpec{
			{Name: "metrics", Class: action.File, Doc: "what was measured, as a table (JSON)"},
			{Name: "stdout", Class: action.File, Doc: "the program's standard output"},
			{Name: "results", Class: action.Tree, Doc: "the pulled files"},
		},
		Toolchains: []string{"adb"},
	}
}

// Plan of kind run: one action on the device, then one on the host that reads what was measured and compares the tokens.
// So a better reading of the same run does not need the device again.
func (runKind) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	adb, diag := r.Toolchain("adb")
	if diag != nil {
		return step.Planned{}, hcl.Diagnostics{diag}
	}
	if len(r.Strings("argv")) == 0 {
		return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("argv", "An empty command", "argv is empty. Its first element is the program.")}
	}
	in := []action.Input{adb.Input()}
	push, diags := pushed(r)
	if diags.HasErrors() {
		return step.Planned{}, diags
	}
	in = append(in, push...)
	if v := r.Env["ADSP_LIBRARY_PATH"]; strings.Contains(v, ":") {
		return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("env", "ADSP_LIBRARY_PATH has a colon",
			"The DSP's loader takes %q for one folder and finds no library in it. Separate folders with ';': %q.", v, strings.ReplaceAll(v, ":", ";"))}
	}
	t := step.Request{Args: r.Target}
	platform := map[string]string{
		action.PropertyExecutor: "device",
		action.PropertyPool:     "device=1",
		action.PropertyStdin:    "stdin.txt",
		action.PropertyStdout:   "stdout.txt",
		runner.PropertySoC:      t.String("soc"),
		runner.PropertyArch:     t.String("arch"),
		runner.PropertyADB:      adb.Output.Path(),
	}
	if image, imageIn := r.Place("device"); image != "" {
		platform[runner.PropertyImage] = image
		in = append(in, imageIn...)
	} else if s := r.String("serial"); s != "" {
		platform[runner.PropertySerial] = s
	}
	in = append(in, action.Input{Path: "stdin.txt", Content: &action.Content{Data: []byte(r.String("stdin"))}})
	run := action.Spec{
		Name: "run", Description: "run " + path.Base(r.Strings("argv")[0]) + " on the device",
		Args: r.Strings("argv"), Env: r.Env, Platform: platform, Inputs: in,
		Outputs: []action.Output{{Path: "stdout.txt"}},
	}
	results := action.Artifact{Class: action.Tree}
	names := map[string]string{} // what is pulled, by its name among the results
	for _, p := range r.Strings("pull") {
		clean := path.Clean(p)
		if !below(clean) {
			return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("pull", "Path leads out of the run's folder", "pull has %q; give paths relative to the run's folder.", p)}
		}
		name := path.Base(clean)
		if other, ok := names[name]; ok || clean == "stdout.txt" {
			if !ok {
				other = "the standard output"
			}
			return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("pull", "Two results have the same name", "%q and %q would both be %s among the results. Have the program write one of them under another name.", other, p, name)}
		}
		names[name] = p
		run.Outputs = append(run.Outputs, action.Output{Path: clean})
		results.Parts = append(results.Parts, action.Input{Path: name, Spec: &action.SpecOutput{Spec: run.Name, Path: clean}})
	}
	if r.String("expect") != "" && !slices.ContainsFunc(run.Outputs, func(o action.Output) bool { return o.Path == resultTokens }) {
		return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("expect", "Nothing to compare", "expect compares the run's %s, which pull does not bring back. Add it to pull.", resultTokens)}
	}
	metrics, diags := metrics(r, run)
	if diags.HasErrors() {
		return step.Planned{}, diags
	}
	return step.Planned{
		Specs: []action.Spec{run, metrics},
		Outputs: map[string]action.Artifact{
			"metrics": {Class: action.File, Parts: []action.Input{{Spec: &action.SpecOutput{Spec: metrics.Name, Path: "metrics.json"}}}},
			"stdout":  {Class: action.File, Parts: []action.Input{{Spec: &action.SpecOutput{Spec: run.Name, Path: "stdout.txt"}}}},
			"results": results,
		},
	}, nil
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

// metrics is the action that reads what the run printed and compares its tokens with the expected ones.
func metrics(r step.Request, run action.Spec) (action.Spec, hcl.Diagnostics) {
	spec, diags := measureSpec(r)
	more, inputs, err := measureInputs(r, spec)
	if err != nil {
		diags = append(diags, r.Errorf("Metrics", "%s.", err))
	}
	if diags.HasErrors() {
		return action.Spec{}, diags
	}
	title := r.String("title")
	if title == "" {
		title = r.At.Name
	}
	flags := []string{"--stdout", "stdout.txt", "--title", title, "--profile", r.Profile, "--out", "metrics.json"}
	in := []action.Input{{Path: "stdout.txt", Spec: &action.SpecOutput{Spec: run.Name, Path: "stdout.txt"}}}
	if want := r.String("expect"); want != "" {
		flags = append(flags, "--tokens", "tokens.json", "--expect", "expected.json")
		in = append(in, r.Input("expect", want, "expected.json"),
			action.Input{Path: "tokens.json", Spec: &action.SpecOutput{Spec: run.Name, Path: resultTokens}})
	}
	flags, in = append(flags, more...), append(in, inputs...)
	args, platform := step.Tool("metrics", runtool.MetricsVersion, flags...)
	return action.Spec{
		Name: "metrics", Description: "read what was measured", Args: args, Platform: platform, Inputs: in,
		Outputs: []action.Output{{Path: "metrics.json"}},
	}, nil
}
