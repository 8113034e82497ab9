// Package aotconfig is the config of mllm's ahead-of-time compiler: which keys it must have, which values mllm's program takes, and
// how one is written for a target and a model. One enters it with Write and Parse.
//
// What mllm believes is mllm's: its table of chips is here as it has it, whatever is true of them. The package does not know how a
// context is compiled, nor which sizes of models a simulation can do.
package aotconfig

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Target is the device that a context is compiled for.
type Target struct {
	Arch     string `json:"arch"`                // "v79"
	SoC      string `json:"soc"`                 // "SM8750"
	VTCMMB   int    `json:"vtcm_mb"`             // megabytes
	SignedPD bool   `json:"signed_pd,omitempty"` // needs a signed op package; old QNN versions answer "Unsupported config option 2"
}

// Config is mllm's qnn_aot_cfg_*.json. Fields keep the order of the shipped files.
type Config struct {
	Machine    Machine  `json:"target_machine"`
	GraphOnQNN []string `json:"graph_on_qnn"`
	OpOnQNN    []string `json:"op_on_qnn"`
	SplitGraph int      `json:"split_graph"`
	Recipe     Recipe   `json:"quant_recipe"`
}

// Machine is what to compile for.
type Machine struct {
	Arch        string `json:"htp_arch"`
	Chipset     string `json:"htp_chipset"`
	Performance string `json:"htp_try_best_performance"`
	Session     string `json:"htp_security_pd_session"`
	VTCM        int    `json:"htp_vtcm_capability_in_mb"`
}

// MachineKeys are all keys of a Machine, which are mandatory.
func MachineKeys() []string {
	return []string{"htp_arch", "htp_chipset", "htp_try_best_performance", "htp_security_pd_session", "htp_vtcm_capability_in_mb"}
}

// Recipe is how the model is quantised.
type Recipe struct {
	LLM    bool `json:"llm_recipe"`
	Layers int  `json:"layers"`
	Pass   Pass `json:"builtin_llm_pass"`
}

// Pass says it of each sort of operation. mllm's passes read Linear alone, also for the head.
type Pass struct {
	Model   string            `json:"model"`
	LMHead  map[string]Method `json:"lm_head"`
	Linear  map[string]Method `json:"linear"` // by a pattern of the operation's name, else "fallback"
	KVCache map[string]Method `json:"kv_cache"`
}

// Method is one way to quantise.
type Method struct {
	Method    string `json:"method"`
	Sym       bool   `json:"sym"`
	Precision string `json:"precision"`
	BlockSize int    `json:"block_size,omitempty"`
}

// The sessions of Machine.
const (
	unsignedPD = "HtpUnsignedPd"
	signedPD   = "HtpSignedPd"
)

// Signed tells whether a signed protection domain is asked for.
func (m Machine) Signed() bool { return m.Session == signedPD }

// Write writes the config for a target and a model, which Parse accepts.
func Write(t Target, m Model) ([]byte, error) {
	session := unsignedPD
	if t.SignedPD {
		session = signedPD
	}
	kv := Method{Method: "per-tensor", Sym: true, Precision: "w8a8"}
	linear := map[string]Method{"fallback": {Method: "LPBQ", Sym: true, Precision: "w4a16", BlockSize: m.BlockSize}}
	raw, err := json.MarshalIndent(Config{
		Machine:    Machine{strings.ToUpper(t.Arch), t.SoC, "HtpBurst", session, t.VTCMMB},
		GraphOnQNN: []string{"model"}, OpOnQNN: []string{"lm_head"}, SplitGraph: 1,
		Recipe: Recipe{LLM: true, Layers: m.Layers,
			Pass: Pass{Model: m.Type, LMHead: linear, Linear: linear, KVCache: map[string]Method{"key": kv, "value": kv}}},
	}, "", "    ")
	if err != nil {
		return nil, err
	}
	if _, err := Parse(raw); err != nil {
		return nil, err
	}
	return append(raw, '\n'), nil
}

// Parse reads a config and refuses what mllm's program cannot do, which it often overlooks.
func Parse(raw []byte) (Config, error) {
	var c Config
	var keys struct {
		Machine map[string]json.RawMessage `json:"target_machine"`
	}
	if err := json.Unmarshal(raw, &keys); err != nil {
		return c, err
	}
	for _, k := range MachineKeys() {
		if _, ok := keys.Machine[k]; !ok {
			return c, fmt.Errorf("target_machine.%s is missing; all five keys of target_machine are mandatory", k)
		}
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, err
	}
	m := c.Machine
	_, notName := strconv.Atoi(m.Chipset)
	switch {
	case !slices.Contains([]string{"V68", "V69", "V73", "V75", "V79", "V81"}, m.Arch):
		// "Unknown HTP architecture" is mllm's message, which log rules look for.
		return c, fmt.Errorf("target_machine.htp_arch: Unknown HTP architecture %q; choose V68, V69, V73, V75, V79 or V81", m.Arch)
	case notName == nil: // QNN's wording for what is no soc_model
		return c, fmt.Errorf("target_machine.htp_chipset: Unknown config socModel %s: want the SoC's name, such as SM8750", m.Chipset)
	case SoCModels()[m.Chipset] == 0:
		return c, fmt.Errorf("target_machine.htp_chipset %q is unknown; an example is SM8750", m.Chipset)
	case !slices.Contains([]string{"HtpDefault", "HtpSustainedHighPerformance", "HtpBurst", "HtpHighPerformance", "HtpPowerSaver",
		"HtpLowPowerSaver", "HtpHighPowerSaver", "HtpLowBalanced", "HtpBalanced"}, m.Performance):
		return c, fmt.Errorf("target_machine.htp_try_best_performance %q is unknown; an example is HtpBurst", m.Performance)
	case m.Session != signedPD && m.Session != unsignedPD:
		return c, fmt.Errorf("target_machine.htp_security_pd_session %q is neither HtpSignedPd nor HtpUnsignedPd", m.Session)
	case m.VTCM < 1 || m.VTCM > 64:
		return c, fmt.Errorf("target_machine.htp_vtcm_capability_in_mb is %d, not in 1..64", m.VTCM)
	case c.SplitGraph != 1:
		return c, fmt.Errorf("split_graph is %d; the compiler knows only 1", c.SplitGraph)
	case !c.Recipe.LLM:
		return c, fmt.Errorf("quant_recipe.llm_recipe must be true; without it no pass would run")
	}
	if _, ok := c.Recipe.Pass.Linear["fallback"]; !ok {
		return c, fmt.Errorf("quant_recipe.builtin_llm_pass.linear.fallback is missing")
	}
	return c, nil
}

// SoCModels is mllm's table of chips: what mllm believes, which is not always true (of SM8350, QNN's number is 30). The rules of
// what goes together say where it contradicts the facts.
func SoCModels() map[string]uint32 {
	return map[string]uint32{
		"UNKNOWN_SM": 0, "SA8295": 39, "SM8350": 35, "SM8450": 36, "SM8475": 42, "SM8550": 43, "SM8650": 57, "SM8750": 69, "SM8850": 87,
		"SM8845": 97, "SSG2115P": 46, "SSG2125P": 58, "SXR1230P": 45, "SXR2230P": 53, "SXR2330P": 75, "QCS9100": 77, "SAR2230P": 95,
		"SA8255": 52, "SW6100": 96,
	}
}
