// Package aotconfig reads and writes the config of mllm's ahead-of-time compiler. It knows the config's mandatory keys,
// the valid values, and the content for a target and a model.
//
// Its table of chips equals mllm's, including mllm's errors. The package does not know how a context is compiled, or
// which model sizes a simulation supports.
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
	VTCMMB   int    `json:"vtcm_mb"`             // VTCM size in megabytes
	SignedPD bool   `json:"signed_pd,omitempty"` // needs a signed op package; old QNN versions reject it with "Unsupported config option 2"
}

// Config is the content of mllm's qnn_aot_cfg_*.json. Its fields are in the order of mllm's own files.
type Config struct {
	Machine    Machine  `json:"target_machine"`
	GraphOnQNN []string `json:"graph_on_qnn"`
	OpOnQNN    []string `json:"op_on_qnn"`
	SplitGraph int      `json:"split_graph"`
	Recipe     Recipe   `json:"quant_recipe"`
}

// Machine is the target in a Config.
type Machine struct {
	Arch        string `json:"htp_arch"`
	Chipset     string `json:"htp_chipset"`
	Performance string `json:"htp_try_best_performance"`
	Session     string `json:"htp_security_pd_session"`
	VTCM        int    `json:"htp_vtcm_capability_in_mb"`
}

// MachineKeys returns the JSON keys of a Machine. All keys are mandatory.
func MachineKeys() []string {
	return []string{"htp_arch", "htp_chipset", "htp_try_best_performance", "htp_security_pd_session", "htp_vtcm_capability_in_mb"}
}

// Recipe describes the model's quantization.
type Recipe struct {
	LLM    bool `json:"llm_recipe"`
	Layers int  `json:"layers"`
	Pass   Pass `json:"builtin_llm_pass"`
}

// Pass maps each group of operations to its quantization. mllm reads only Linear, even for the head.
type Pass struct {
	Model   string            `json:"model"`
	LMHead  map[string]Method `json:"lm_head"`
	Linear  map[string]Method `json:"linear"` // key: pattern of the operation's name, or "fallback"
	KVCache map[string]Method `json:"kv_cache"`
}

// Method is a quantization method.
type Method struct {
	Method    string `json:"method"`
	Sym       bool   `json:"sym"`
	Precision string `json:"precision"`
	BlockSize int    `json:"block_size,omitempty"`
}

// Values of Machine.Session.
const (
	unsignedPD = "HtpUnsignedPd"
	signedPD   = "HtpSignedPd"
)

// Signed reports whether the config requests a signed protection domain.
func (m Machine) Signed() bool { return m.Session == signedPD }

// Write writes a config for a target and a model. Parse accepts the result.
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

// Parse reads a config. It rejects unsupported values, which mllm's programs often ignore.
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
			return c, fmt.Errorf("target_machine.%s is missing: set all five keys of target_machine", k)
		}
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, err
	}
	m := c.Machine
	_, notName := strconv.Atoi(m.Chipset)
	switch {
	case !slices.Contains([]string{"V68", "V69", "V73", "V75", "V79", "V81"}, m.Arch):
		// mllm's own message, which log rules match.
		return c, fmt.Errorf("target_machine.htp_arch: Unknown HTP architecture %q: choose V68, V69, V73, V75, V79 or V81", m.Arch)
	case notName == nil: // QNN's own message for an invalid soc_model
		return c, fmt.Errorf("target_machine.htp_chipset: QNN says \"Unknown config socModel %s\"; use a SoC name, such as SM8750", m.Chipset)
	case SoCModels()[m.Chipset] == 0:
		return c, fmt.Errorf("target_machine.htp_chipset: unknown SoC %q: use a name such as SM8750", m.Chipset)
	case !slices.Contains([]string{"HtpDefault", "HtpSustainedHighPerformance", "HtpBurst", "HtpHighPerformance", "HtpPowerSaver",
		"HtpLowPowerSaver", "HtpHighPowerSaver", "HtpLowBalanced", "HtpBalanced"}, m.Performance):
		return c, fmt.Errorf("target_machine.htp_try_best_performance: unknown mode %q: use a mode such as HtpBurst", m.Performance)
	case m.Session != signedPD && m.Session != unsignedPD:
		return c, fmt.Errorf("target_machine.htp_security_pd_session: unknown session %q: use HtpSignedPd or HtpUnsignedPd", m.Session)
	case m.VTCM < 1 || m.VTCM > 64:
		return c, fmt.Errorf("target_machine.htp_vtcm_capability_in_mb is %d, but must be from 1 to 64", m.VTCM)
	case c.SplitGraph != 1:
		return c, fmt.Errorf("split_graph is %d: the compiler supports only 1", c.SplitGraph)
	case !c.Recipe.LLM:
		return c, fmt.Errorf("quant_recipe.llm_recipe must be true: otherwise the compiler skips all passes")
	}
	if _, ok := c.Recipe.Pass.Linear["fallback"]; !ok {
		return c, fmt.Errorf("quant_recipe.builtin_llm_pass.linear.fallback is missing")
	}
	return c, nil
}

// SoCModels returns mllm's chip numbers, including wrong ones: SM8350 is 35 in mllm, but 30 in QNN. The compatibility
// rules report contradictions.
func SoCModels() map[string]uint32 {
	return map[string]uint32{
		"UNKNOWN_SM": 0, "SA8295": 39, "SM8350": 35, "SM8450": 36, "SM8475": 42, "SM8550": 43, "SM8650": 57, "SM8750": 69, "SM8850": 87,
		"SM8845": 97, "SSG2115P": 46, "SSG2125P": 58, "SXR1230P": 45, "SXR2230P": 53, "SXR2330P": 75, "QCS9100": 77, "SAR2230P": 95,
		"SA8255": 52, "SW6100": 96,
	}
}
