// Package olive reads recipes of Olive, Microsoft's optimiser of models: which passes there are, in which order, and which of them can run here.
//
// One enters it with Read. A recipe says more than its passes: whatever is about how Olive itself runs, such as its folders, its cache and its Python environments, does
// not count, since each pass is an action of its own. The package does not know what the passes compute: Olive does.
package olive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/nearest"
)

// MaxSize is how many bytes a recipe may have.
const MaxSize = 1 << 20

// Recipe is what there is to do.
type Recipe struct {
	InputModel   json.RawMessage // as it is written there
	Accelerators json.RawMessage // what the passes make the model for
	Passes       []Pass          // that Olive runs
	Compile      *Pass           // which stands behind them, nil where there is none: Olive's does not find the vendor's provider on Linux
	Left         []Pass          // that follow, and have nothing to do behind another compiler
}

// Pass is one of the recipe's. Its Data are those of the recipe's data_configs that it uses, by name.
type Pass struct {
	Name, Type string
	Config     json.RawMessage
	Data       map[string]Data
}

// Data is where a pass has its samples from.
type Data struct {
	Config json.RawMessage
	Made   bool // by Olive; otherwise there must be a file or folder of them
}

const (
	compiles = "EPContextBinaryGenerator"
	composes = "ComposeOnnxModels"
	cuda     = "CUDAExecutionProvider"
)

// can has the passes of Olive 0.13.0 by type: "" for those that run on a CPU, without network, with the packages of the environment; else why one cannot, and what to do.
func can() map[string]string {
	const (
		gpu   = "it wants a CUDA GPU: quantise with a pass that runs on a CPU, such as Gptq, Rtn or OnnxStaticQuantization"
		sdk   = "it calls the vendor's SDK: end the recipe with " + compiles + ", in whose place htp_context compiles"
		other = "it is for other hardware than the vendor's: take it out of the recipe"
		lacks = "it wants packages that are not in the environment olive: make an environment of your own with them, and run Olive in it in a step of kind python"
		train = "it trains adapters: do that before, and give what came out as model"
	)
	types := map[string]string{}
	for why, names := range map[string]string{
		"": "AddOliveMetadata CaptureSplitInfo CaptureLayerAnnotations " + composes + " DynamicToFixedShape " + compiles + " ExtractAdapters Gptq GraphSurgeries InputNCHWtoNHWC KQuant MatMulNBitsToQDQ " +
			"MixedPrecisionOverrides ModelBuilder OnnxBlockWiseRtnQuantization OnnxConversion OnnxDynamicQuantization OnnxFloatToFloat16 OnnxHqqQuantization OnnxIODataTypeConverter OnnxKQuantQuantization " +
			"OnnxOpVersionConversion OnnxPeepholeOptimizer OnnxQuantization OnnxQuantizationPreprocess OnnxScriptFusion OnnxStaticQuantization OrtTransformersOptimization QNNPreprocess QuaRot Rtn " +
			"SelectiveMixedPrecision SliceGPT SparseGPT SpinQuant SplitModel StaticLLM",
		gpu: "AutoAWQQuantizer AutoClip GptqModel GptqQuantizer NVModelOptGraphSurgery NVModelOptQuantization OnnxBnb4Quantization OrtMixedPrecision TorchTRTConversion",
		sdk: "QNNContextBinaryGenerator QNNConversion QNNModelLibGenerator QairtEncapsulation QairtGenAIBuilder QairtMHA2SHA QairtPipelinePass QairtPreparation",
		other: "OpenVINOConversion OpenVINOEncapsulation OpenVINOIoUpdate OpenVINOOptimumConversion OpenVINOQuantization OpenVINOQuantizationWithAccuracy OpenVINOWeightCompression VitisAIAddMetaData " +
			"VitisGenerateModelLLM VitisGenerateModelSD",
		lacks: "AimetQuantization IncDynamicQuantization IncQuantization IncStaticQuantization MobiusBuilder OnnxDiscrepancyCheck OptimumConversion OptimumMerging OrtSessionParamsTuning QuarkQuantization",
		train: "DoRA LoHa LoKr LoRA LoftQ MergeAdapterWeights QLoRA SDLoRA",
	} {
		for _, n := range strings.Fields(names) {
			types[n] = why
		}
	}
	return types
}

// Read reads a recipe. Its error has a line for all that stands against running it here, each with the pass and what to do.
func Read(text []byte) (Recipe, error) {
	var doc struct {
		InputModel     json.RawMessage   `json:"input_model"`
		Systems        map[string]system `json:"systems"`
		Target         json.RawMessage   `json:"target"`
		DataConfigs    []json.RawMessage `json:"data_configs"`
		SearchStrategy json.RawMessage   `json:"search_strategy"`
		Passes         json.RawMessage   `json:"passes"`
	}
	if len(text) > MaxSize {
		return Recipe{}, fmt.Errorf("it has %d bytes; a recipe has %d at most", len(text), MaxSize)
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return Recipe{}, fmt.Errorf("it is no JSON of Olive's: %w. A recipe in YAML has to be written as JSON", err)
	}
	r := Recipe{InputModel: doc.InputModel}
	var wrong []error
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if s := string(bytes.TrimSpace(doc.SearchStrategy)); s != "" && s != "null" && s != "false" {
		fail("search_strategy: a search runs passes several times, and what it finds depends on measured times: take it out, and say for each pass what it is to do")
	}
	checkModel(doc.InputModel, fail)
	var err error
	if r.Accelerators, err = accelerators(doc.Target, doc.Systems); err != nil {
		fail("%w", err)
	}
	data, err := named(doc.DataConfigs)
	if err != nil {
		fail("%w", err)
	}
	passes, err := ordered(doc.Passes)
	if err != nil {
		fail("%w", err)
	}
	for i := range passes {
		p := &passes[i]
		p.check(data, func(format string, args ...any) {
			fail("pass %s (%s): %w", p.Name, p.Type, fmt.Errorf(format, args...))
		})
		switch {
		case r.Compile != nil && p.Type != composes:
			fail("pass %s (%s): it stands behind %s, which is the last one here: take it out of the recipe", p.Name, p.Type, r.Compile.Name)
		case r.Compile != nil:
			r.Left = append(r.Left, *p)
		case p.Type == compiles:
			r.Compile = p
		default:
			r.Passes = append(r.Passes, *p)
		}
	}
	if err == nil && len(r.Passes) == 0 {
		fail("passes: there is none that Olive would run. Compile the model with htp_context alone")
	}
	return r, errors.Join(wrong...)
}

type system struct {
	Accelerators json.RawMessage `json:"accelerators"`
	Config       struct {
		Accelerators json.RawMessage `json:"accelerators"`
	} `json:"config"`
}

// accelerators are those of the target, which is a system or the name of one; a CPU where there is none. Of which Python or container it is does not count.
func accelerators(target json.RawMessage, systems map[string]system) (json.RawMessage, error) {
	var s system
	var name string
	switch {
	case len(target) == 0:
	case json.Unmarshal(target, &name) == nil:
		known := false
		if s, known = systems[name]; !known {
			return nil, fmt.Errorf("target: there is no system %q among systems: %s", name, strings.Join(slices.Sorted(maps.Keys(systems)), ", "))
		}
	case json.Unmarshal(target, &s) != nil:
		return nil, errors.New("target: it is neither a system nor the name of one")
	}
	for _, a := range []json.RawMessage{s.Accelerators, s.Config.Accelerators} {
		if len(a) > 0 {
			return a, nil
		}
	}
	return json.RawMessage(`[{"device": "cpu", "execution_providers": ["CPUExecutionProvider"]}]`), nil
}

// checkModel: where the model is says the step; what the recipe says beside that must need nothing else.
func checkModel(model json.RawMessage, fail func(string, ...any)) {
	var m struct{ Type string }
	if json.Unmarshal(model, &m) != nil || !slices.Contains([]string{"hfmodel", "onnxmodel"}, strings.ToLower(m.Type)) {
		fail("input_model: it is of type %q; HfModel and ONNXModel can be given as a folder or file. Export another one to ONNX first", m.Type)
	}
	for _, f := range []string{"adapter_path", "model_script", "script_dir", "model_loader"} {
		if bytes.Contains(model, []byte(`"`+f+`"`)) {
			fail("input_model: it has %s, a file that is not handed to the passes: give a model that needs none", f)
		}
	}
}

// named are the data_configs by name.
func named(configs []json.RawMessage) (map[string]Data, error) {
	found := map[string]Data{}
	for i, c := range configs {
		var of struct{ Name, Type string }
		if err := json.Unmarshal(c, &of); err != nil || of.Name == "" {
			return nil, fmt.Errorf("data_configs: number %d has no name", i+1)
		}
		found[of.Name] = Data{c, strings.Contains(of.Type, "DummyDataContainer")}
	}
	return found, nil
}

// ordered are the passes as they stand in the text, whose order counts.
func ordered(text json.RawMessage) ([]Pass, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New(`passes: it is no object of passes, such as {"q": {"type": "OnnxStaticQuantization"}}`)
	}
	var all []Pass
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("passes: %w", err)
		}
		p := Pass{Name: fmt.Sprint(key)}
		if err := d.Decode(&p.Config); err != nil {
			return nil, fmt.Errorf("passes: %w", err)
		}
		var of struct{ Type string }
		if err := json.Unmarshal(p.Config, &of); err != nil || of.Type == "" {
			return nil, fmt.Errorf("pass %s: it is no object with a type; of several to choose from take one", p.Name)
		}
		if slices.ContainsFunc(all, func(o Pass) bool { return o.Name == p.Name }) {
			return nil, fmt.Errorf("pass %s: it is there twice, and Olive takes the last one alone: give each a name of its own", p.Name)
		}
		p.Type = of.Type
		all = append(all, p)
	}
	return all, nil
}

// check says what stands against running a pass here, and finds its data.
func (p *Pass) check(data map[string]Data, fail func(string, ...any)) {
	if strings.Trim(p.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || p.Name == "" || len(p.Name) > 100 {
		fail("its name is to be letters, digits, _ and -: it becomes that of an action")
	}
	why, known := can()[p.Type]
	switch {
	case !known:
		all := slices.Sorted(maps.Keys(can()))
		hint := "it has " + strings.Join(all, ", ")
		if near := nearest.Name(p.Type, all); near != "" {
			hint = `did you mean "` + near + `"?`
		}
		fail("Olive 0.13.0 has no such pass: %s", hint)
	case why != "":
		fail("%s", why)
	}
	var config map[string]any
	if err := json.Unmarshal(p.Config, &config); err != nil {
		fail("%w", err)
		return
	}
	if below, ok := config["config"].(map[string]any); ok { // in which Olive has a pass's arguments, too
		config = below
	}
	p.Data = map[string]Data{}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		switch value := config[key]; {
		case key == "user_script" || key == "script_dir":
			fail("%s: its script is not handed to it; run Olive in a step of kind python, with the script among its inputs", key)
		case p.Type == compiles:
		case key == "device" && strings.HasPrefix(fmt.Sprint(value), "cuda"):
			fail("device is %v, and no GPU is used here: say cpu in the recipe", value)
		case strings.Contains(fmt.Sprint(value), cuda):
			fail("%s names %s, and no GPU is used here: say CPUExecutionProvider in the recipe", key, cuda)
		case strings.HasSuffix(key, "data_config"):
			name, ok := value.(string)
			if d, found := data[name]; ok && found {
				p.Data[name] = d
			} else if value != nil {
				fail("%s: there is no %v among data_configs, by name", key, value)
			}
		}
	}
}
