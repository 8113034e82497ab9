package olive_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/model/olive"
)

// recipe is one with the given passes, its samples and its model.
func recipe(passes, more string) []byte {
	return []byte(`{"input_model": {"type": "ONNXModel", "model_path": "net.onnx"},
"systems": {"npu": {"type": "PythonEnvironment", "python_environment_path": "/none", "accelerators": [{"execution_providers": ["QNNExecutionProvider"]}]}},
"target": "npu", "data_configs": [{"name": "seen", "type": "HuggingfaceContainer"}, {"name": "ones", "type": "DummyDataContainer"}],
"passes": {` + passes + `}` + more + `}`)
}

func names(passes []olive.Pass) (all []string) {
	for _, p := range passes {
		all = append(all, p.Name+" "+p.Type)
	}
	return all
}

// TestRead: passes in the order of the text, whatever their names, and what becomes of each.
func TestRead(t *testing.T) {
	t.Parallel()
	r, err := olive.Read(recipe(`"z": {"type": "OnnxPeepholeOptimizer"}, "a": {"type": "OnnxStaticQuantization", "data_config": "seen"},
"m": {"type": "OnnxQuantization", "config": {"data_config": "ones"}}, "cb": {"type": "EPContextBinaryGenerator", "provider_options": {"soc_model": "60"}}, "cp": {"type": "ComposeOnnxModels"}`, ""))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"z OnnxPeepholeOptimizer", "a OnnxStaticQuantization", "m OnnxQuantization"}, names(r.Passes)); d != "" {
		t.Error(d)
	}
	if r.Compile == nil || r.Compile.Name != "cb" || len(r.Left) != 1 || r.Left[0].Name != "cp" {
		t.Errorf("%+v, %+v", r.Compile, r.Left)
	}
	if s, ok := r.Passes[1].Data["seen"]; !ok || s.Made {
		t.Errorf("%+v", r.Passes[1].Data)
	}
	if s, ok := r.Passes[2].Data["ones"]; !ok || !s.Made {
		t.Errorf("%+v", r.Passes[2].Data)
	}
	if string(r.Accelerators) != `[{"execution_providers": ["QNNExecutionProvider"]}]` {
		t.Errorf("%s", r.Accelerators)
	}
}

// TestReadShipped: the example is a recipe as Olive has them, and nothing stands against it.
func TestReadShipped(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../modules/olive/recipe.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := olive.Read(text)
	if err != nil || len(r.Passes) != 3 || r.Compile == nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestReadRefuses: what cannot run here is said with the pass and what to do, all of it at once.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	const runs = `"p": {"type": "OnnxPeepholeOptimizer"}`
	for name, x := range map[string]struct {
		text []byte
		want []string
	}{
		"no JSON":        {[]byte("passes:\n  q: 1"), []string{"no JSON", "YAML"}},
		"no passes":      {[]byte(`{"input_model": {"type": "HfModel"}}`), []string{"passes: it is no object"}},
		"only a compile": {recipe(`"cb": {"type": "EPContextBinaryGenerator"}`, ""), []string{"htp_context alone"}},
		"an unknown one": {recipe(`"q": {"type": "OnnxStaticQuantisation"}`, ""), []string{"pass q (OnnxStaticQuantisation)", "no such pass", "OnnxStaticQuantization"}},
		"a GPU": {recipe(`"g": {"type": "GptqModel", "device": "cuda"}, "s": {"type": "OnnxStaticQuantization", "calibration_providers": ["CUDAExecutionProvider"]}`, ""),
			[]string{"pass g (GptqModel): it wants a CUDA GPU", "pass g (GptqModel): device is cuda", "say cpu", "pass s (OnnxStaticQuantization): calibration_providers names CUDAExecutionProvider", "say CPUExecutionProvider"}},
		"the SDK":         {recipe(`"c": {"type": "QNNConversion"}`, ""), []string{"pass c (QNNConversion)", "the vendor's SDK", "EPContextBinaryGenerator"}},
		"packages":        {recipe(`"a": {"type": "AimetQuantization"}`, ""), []string{"pass a (AimetQuantization)", "kind python"}},
		"a script":        {recipe(`"q": {"type": "OnnxStaticQuantization", "user_script": "mine.py"}`, ""), []string{"pass q (OnnxStaticQuantization): user_script", "kind python"}},
		"unnamed samples": {recipe(`"q": {"type": "OnnxStaticQuantization", "data_config": "sene"}`, ""), []string{"pass q (OnnxStaticQuantization): data_config", "no sene among data_configs"}},
		"several":         {recipe(`"q": [{"type": "OnnxQuantization"}, {"type": "OnnxPeepholeOptimizer"}]`, ""), []string{"pass q", "take one"}},
		"twice":           {recipe(runs+","+runs, ""), []string{"pass p: it is there twice"}},
		"a name":          {recipe(`"../p": {"type": "OnnxPeepholeOptimizer"}`, ""), []string{"pass ../p", "letters, digits"}},
		"behind":          {recipe(runs+`, "cb": {"type": "EPContextBinaryGenerator"}, "q": {"type": "OnnxQuantization"}`, ""), []string{"pass q (OnnxQuantization): it stands behind cb"}},
		"a search":        {recipe(runs, `, "search_strategy": {"execution_order": "joint"}`), []string{"search_strategy"}},
		"a model":         {[]byte(`{"input_model": {"type": "PyTorchModel", "model_script": "m.py"}, "passes": {` + runs + `}}`), []string{`of type "PyTorchModel"`, "model_script"}},
		"a target":        {[]byte(`{"input_model": {"type": "HfModel"}, "target": "phone", "passes": {` + runs + `}}`), []string{`no system "phone"`}},
		"too large":       {make([]byte, olive.MaxSize+1), []string{"has 1048577 bytes"}},
	} {
		_, err := olive.Read(x.text)
		if err == nil {
			t.Errorf("%s: taken", name)
			continue
		}
		for _, w := range x.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v\nwant %q", name, err, w)
			}
		}
	}
}

// FuzzRead: whatever the text is, what is read is the text's, and passes have names that can be those of actions.
func FuzzRead(f *testing.F) {
	f.Add(recipe(`"q": {"type": "OnnxQuantization", "data_config": "ones"}, "cb": {"type": "EPContextBinaryGenerator"}`, ""))
	f.Add([]byte(`{"passes": {"a": {"type": "Rtn"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := olive.Read(text)
		if err != nil {
			return
		}
		for _, p := range r.Passes {
			if p.Name == "" || strings.ContainsAny(p.Name, "/\\. ") || !json.Valid(p.Config) {
				t.Errorf("%+v", p)
			}
		}
	})
}
