package compiler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/standin/mllm/qwen3"
)

// Target is the device that a context is compiled for.
type Target struct {
	Arch     string `json:"arch"`                                // "v79"
	SoC      string `json:"soc"`                                 // "SM8750"
	VTCMMB   int    `json:"vtcm_mb"`                             // megabytes
	SignedPD bool   `arg:"signed_pd" json:"signed_pd,omitempty"` // needs a signed op package; old QNN versions answer "Unsupported config option 2"
}

// aotConfig is upstream's qnn_aot_cfg_*.json. Fields keep the order of the shipped files.
type aotConfig struct {
	Machine    machine  `json:"target_machine"`
	GraphOnQNN []string `json:"graph_on_qnn"`
	OpOnQNN    []string `json:"op_on_qnn"`
	SplitGraph int      `json:"split_graph"`
	Recipe     recipe   `json:"quant_recipe"`
}

type machine struct {
	Arch        string `json:"htp_arch"`
	Chipset     string `json:"htp_chipset"`
	Performance string `json:"htp_try_best_performance"`
	Session     string `json:"htp_security_pd_session"`
	VTCM        int    `json:"htp_vtcm_capability_in_mb"`
}

type recipe struct {
	LLM    bool `json:"llm_recipe"`
	Layers int  `json:"layers"`
	Pass   pass `json:"builtin_llm_pass"`
}

type pass struct {
	Model   string            `json:"model"`
	LMHead  map[string]method `json:"lm_head"`
	Linear  map[string]method `json:"linear"`
	KVCache map[string]method `json:"kv_cache"`
}

type method struct {
	Method    string `json:"method"`
	Sym       bool   `json:"sym"`
	Precision string `json:"precision"`
	BlockSize int    `json:"block_size,omitempty"`
}

// AOTConfig writes the compiler's config for a target and a model. The result always passes the compiler's own checks.
func AOTConfig(t Target, c qwen3.Config) ([]byte, error) {
	session := "HtpUnsignedPd"
	if t.SignedPD {
		session = "HtpSignedPd"
	}
	kv := method{Method: "per-tensor", Sym: true, Precision: "w8a8"}
	linear := map[string]method{"fallback": {Method: "LPBQ", Sym: true, Precision: "w4a16", BlockSize: c.LinearBlockSize}}
	a := aotConfig{
		Machine:    machine{strings.ToUpper(t.Arch), t.SoC, "HtpBurst", session, t.VTCMMB},
		GraphOnQNN: []string{"model"}, OpOnQNN: []string{"lm_head"}, SplitGraph: 1,
		Recipe: recipe{LLM: true, Layers: c.NumHiddenLayers,
			Pass: pass{Model: "qwen3", LMHead: linear, Linear: linear, KVCache: map[string]method{"key": kv, "value": kv}}},
	}
	raw, err := json.MarshalIndent(a, "", "    ")
	if err != nil {
		return nil, err
	}
	if _, err := parseAOT(raw, c); err != nil {
		return nil, err
	}
	return append(raw, '\n'), nil
}

// aim is what a checked config asks for, in the numbers a context binary carries.
type aim struct {
	arch, soc uint32
	chipset   string
	vtcmMB    int
	signed    bool // protection domain
}

func machineKeys() []string {
	return []string{"htp_arch", "htp_chipset", "htp_try_best_performance", "htp_security_pd_session", "htp_vtcm_capability_in_mb"}
}

// parseAOT reads a config and checks it against the model. The upstream compiler overlooks most of what is refused here.
func parseAOT(raw []byte, c qwen3.Config) (aim, error) {
	var keys struct {
		Machine map[string]json.RawMessage `json:"target_machine"`
	}
	if err := json.Unmarshal(raw, &keys); err != nil {
		return aim{}, err
	}
	for _, k := range machineKeys() {
		if _, ok := keys.Machine[k]; !ok {
			return aim{}, fmt.Errorf("target_machine.%s is missing; all five keys of target_machine are mandatory", k)
		}
	}
	for k := range keys.Machine {
		if !slices.Contains(machineKeys(), k) {
			// The words are those of QNN's own tools for a key that another release has.
			return aim{}, fmt.Errorf("schema: Invalid key: target_machine/%s; this compiler knows %s", k, strings.Join(machineKeys(), ", "))
		}
	}
	var a aotConfig
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&a); err != nil {
		return aim{}, err
	}
	m := a.Machine
	arch, known := archNumber(m.Arch)
	if !known || arch == 0 {
		// "Unknown HTP architecture" is upstream's message, which log rules look for.
		return aim{}, fmt.Errorf("target_machine.htp_arch: Unknown HTP architecture %q; choose V68, V69, V73, V75, V79 or V81", m.Arch)
	}
	soc, ok := chipset(m.Chipset)
	_, notName := strconv.Atoi(m.Chipset)
	switch {
	case notName == nil: // QNN's wording for what is no soc_model
		return aim{}, fmt.Errorf("target_machine.htp_chipset: Unknown config socModel %s: want the SoC's name, such as SM8750", m.Chipset)
	case !ok || soc == 0:
		return aim{}, fmt.Errorf("target_machine.htp_chipset %q is unknown; an example is SM8750", m.Chipset)
	case !knownPerformance(m.Performance):
		return aim{}, fmt.Errorf("target_machine.htp_try_best_performance %q is unknown; an example is HtpBurst", m.Performance)
	case m.Session != "HtpSignedPd" && m.Session != "HtpUnsignedPd":
		return aim{}, fmt.Errorf("target_machine.htp_security_pd_session %q is neither HtpSignedPd nor HtpUnsignedPd", m.Session)
	case m.VTCM < 1 || m.VTCM > 64:
		return aim{}, fmt.Errorf("target_machine.htp_vtcm_capability_in_mb is %d, not in 1..64", m.VTCM)
	case a.SplitGraph != 1:
		return aim{}, fmt.Errorf("split_graph is %d; the compiler knows only 1", a.SplitGraph)
	case !a.Recipe.LLM:
		return aim{}, fmt.Errorf("quant_recipe.llm_recipe must be true; without it no pass would run")
	case a.Recipe.Layers != c.NumHiddenLayers:
		return aim{}, fmt.Errorf("quant_recipe.layers is %d, the model has %d", a.Recipe.Layers, c.NumHiddenLayers)
	}
	return aim{arch, soc, m.Chipset, m.VTCM, m.Session == "HtpSignedPd"}, checkLinears(a.Recipe.Pass.Linear, c)
}

// checkLinears resolves each linear's method, as upstream does: the first pattern that matches its name, else "fallback".
func checkLinears(methods map[string]method, c qwen3.Config) error {
	if _, ok := methods["fallback"]; !ok {
		return fmt.Errorf("quant_recipe.builtin_llm_pass.linear.fallback is missing")
	}
	for pattern, m := range methods {
		if pattern != "fallback" {
			re, err := regexp.Compile(pattern)
			if err != nil {
				return fmt.Errorf("quant_recipe.builtin_llm_pass.linear: %w", err)
			}
			used := false
			for _, l := range c.Linears() {
				used = used || re.MatchString(l.Name)
			}
			if !used {
				continue
			}
		}
		if m.Method != "LPBQ" || !m.Sym || m.Precision != "w4a16" {
			return fmt.Errorf("quant_recipe.builtin_llm_pass.linear[%q]: %s %s, sym %v; only symmetric LPBQ w4a16 is compiled", pattern, m.Method, m.Precision, m.Sym)
		}
		if m.BlockSize != c.LinearBlockSize {
			return fmt.Errorf("quant_recipe.builtin_llm_pass.linear[%q].block_size is %d, the model's linear_block_size %d", pattern, m.BlockSize, c.LinearBlockSize)
		}
	}
	return nil
}
