package steps

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/olive"
	"github.com/hexmage/hexmage/qnn/facts"
)

// oliveToolchain is the environment with Olive.
const oliveToolchain = "olive"

// Olive are the arguments of kind olive.
type Olive struct {
	Recipe step.Path            `arg:"recipe,required"`
	Model  step.Path            `arg:"model,required"`
	Data   map[string]step.Path `arg:"data"`
	Title  string               `arg:"title"`
}

func oliveSchema() step.Schema {
	return step.Schema{
		Summary: "Runs the passes of a recipe of Olive's, each as an action of its own, and looks into what each leaves. The pass that compiles for the NPU is left to `htp_context`.",
		ArgDocs: map[string]string{
			"recipe": "The recipe, a JSON file of the workspace. It is read when the step is planned: what cannot run here is an error then.",
			"model":  "The recipe's `input_model`: an ONNX graph or a folder with it, or a folder in the Hugging Face layout. Where the recipe has its model from does not count: no pass reaches the network.",
			"data":   "By the name of each of the recipe's `data_configs` that a pass uses, a file of samples (.txt, .csv, .json, .jsonl, .parquet), or for a RawDataContainer a folder. Those that Olive makes up need none.",
			"title":  "What stands over the table.",
		},
		Outputs: []step.OutputSpec{
			{Name: "dir", Class: action.Tree, Doc: "What the last pass of Olive's left: the model, model_config.json, and manifest.json: graphs with their nodes, inputs and outputs; size and SHA-256 of each file."},
			{Name: "table", Class: action.File, Doc: "Who ran each pass, what it left, and what of the recipe does not count here (JSON)."},
			{Name: "compile", Class: action.Value, Doc: "What the recipe says of the compiler, for `htp_context`: { optimization, sharing }; without an EPContextBinaryGenerator null and false."},
			{Name: "rows", Class: action.Value, Doc: "The same, for checks: { passes = [{ name, type, by, nodes, quantised, bytes, same }] }."},
		},
		Toolchains: []string{oliveToolchain},
		Example: `step "olive" "net" {
  recipe = "recipe.json"
  model  = "net.onnx"
  data   = { calibration = "samples" }
}`,
	}
}

// Plan plans an action for each pass, and one for the table.
func (o Olive) Plan(p *step.Plan) {
	r, ok := o.read(p)
	p.Toolchain(oliveToolchain)
	if !ok || p.Failed() {
		return
	}
	var last action.Input
	var manifests []action.Input
	report := map[string]any{"title": o.title(p), "table": "table.json", "rows": "rows.json", "options": "compile.json"}
	var made, others []map[string]any
	for i, pass := range r.Passes {
		a := o.pass(p, r, pass, i, last)
		last = a.OutTree("made/" + pass.Name)
		last.Path = last.Spec.Path
		manifests = append(manifests, last)
		made = append(made, map[string]any{"name": pass.Name, "type": pass.Type, "dir": last.Path})
	}
	if c := r.Compile; c != nil {
		others = append(others, map[string]any{"name": c.Name, "type": c.Type, "by": "htp_context"})
		report["compile"] = map[string]any{"name": c.Name, "config": c.Config}
		if t := facts.TargetOf(p.Target); t != nil {
			report["target"] = map[string]any{"soc": t.SoC, "soc_model": t.SoCModel}
		}
	}
	for _, pass := range r.Left {
		others = append(others, map[string]any{"name": pass.Name, "type": pass.Type, "by": "nobody"})
	}
	report["made"], report["others"] = made, append([]map[string]any{}, others...)
	t := programIn(p, oliveToolchain, "say who ran what", report, "olive_table").In(manifests...)
	t.Name = "table"
	last.Path = "" // it is the output itself
	p.Tree("dir", last)
	p.File("table", t.Out("table.json"))
	p.Output("rows", action.Value, t.Out("rows.json"))
	p.Output("compile", action.Value, t.Out("compile.json"))
}

func (o Olive) title(p *step.Plan) string {
	if o.Title != "" {
		return o.Title
	}
	return p.At.Name
}

// read reads the recipe, and says all that is wrong with it.
func (o Olive) read(p *step.Plan) (r olive.Recipe, ok bool) {
	name := o.Recipe.Host()
	if name == "" {
		p.Fail("recipe", "Not a recipe", "%s is made by a step, and which passes there are must be known before one runs. Give a file of the workspace.", o.Recipe)
		return r, false
	}
	f, err := p.Open(name)
	if err != nil {
		p.Fail("recipe", "Not a recipe", "%s cannot be read: %v.", name, err)
		return r, false
	}
	defer f.Close()
	text, err := boundedfile.ReadAll(f, name, olive.MaxSize)
	if err != nil {
		p.Fail("recipe", "Not a recipe", "%v.", err)
		return r, false
	}
	if r, err = olive.Read(text); err != nil {
		p.Fail("recipe", "A recipe that cannot run here", "%s:\n%s.", name, strings.ReplaceAll(err.Error(), "\n", ".\n"))
	}
	used := map[string]bool{}
	for _, pass := range r.Passes {
		for _, d := range slices.Sorted(maps.Keys(pass.Data)) {
			if used[d] = true; !pass.Data[d].Made && !o.Data[d].IsSet() {
				p.Fail("data", "Samples are missing", "%s: pass %s (%s) takes the data_config %s, which Olive would get from elsewhere, and no pass reaches the network. Give its samples: data = { %s = \"FILE\" }.", name, pass.Name, pass.Type, d, d)
			}
		}
	}
	for _, d := range slices.Sorted(maps.Keys(o.Data)) {
		if !used[d] {
			p.Fail("data", "Samples for nothing", "%s: no pass takes a data_config %s.", name, d)
		}
	}
	return r, true
}

// pass plans one pass; before is what the one before it left, nothing for the first, which takes the model.
func (o Olive) pass(p *step.Plan, r olive.Recipe, pass olive.Pass, i int, before action.Input) *step.Action {
	args := map[string]any{"name": pass.Name, "config": pass.Config, "accelerators": r.Accelerators, "out": "made/" + pass.Name}
	var in []action.Input
	if i == 0 {
		args["input_model"], args["model"] = r.InputModel, o.Model.InRoot()
		in = append(in, o.Model.Input())
	} else {
		args["model"] = before.Path
		in = append(in, before)
	}
	configs, data := []json.RawMessage{}, map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(pass.Data)) {
		configs = append(configs, pass.Data[name].Config)
		if from := o.Data[name]; from.IsSet() {
			data[name] = fmt.Sprintf("data/%d/%s", i, path.Base(path.Clean("/"+from.String())))
			in = append(in, from.As(data[name]))
		}
	}
	args["data_configs"], args["data"] = configs, data
	a := computes(p, programIn(p, oliveToolchain, fmt.Sprintf("run pass %s, %s", pass.Name, pass.Type), args, "olive_pass")).In(in...)
	a.Name = pass.Name
	// Olive says where it runs and on what before it looks whether it may, and lets alone what tells of an automatic run: so both are said.
	a.SetEnv(map[string]string{"OLIVE_DISABLE_TELEMETRY": "1", "CI": "1"})
	return a
}
