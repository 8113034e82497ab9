package compiler

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/model/aotconfig"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// aim is what a checked config asks for, in the numbers a context binary carries.
type aim struct {
	arch, soc uint32
	chipset   string
	vtcmMB    int
	signed    bool // protection domain
}

// parseAOT reads a config and checks it against the model: what upstream's compiler overlooks is refused here.
func parseAOT(raw []byte, c toymodel.Config) (aim, error) {
	a, err := aotconfig.Parse(raw)
	if err != nil {
		return aim{}, err
	}
	var keys struct {
		Machine map[string]json.RawMessage `json:"target_machine"`
	}
	if err := json.Unmarshal(raw, &keys); err != nil {
		return aim{}, err
	}
	for k := range keys.Machine {
		if known := aotconfig.MachineKeys(); !slices.Contains(known, k) {
			// The words are those of QNN's own tools for a key that another release has.
			return aim{}, fmt.Errorf("schema: Invalid key: target_machine/%s; this compiler knows %s", k, strings.Join(known, ", "))
		}
	}
	if a.Recipe.Layers != c.NumHiddenLayers {
		return aim{}, fmt.Errorf("quant_recipe.layers is %d, the model has %d", a.Recipe.Layers, c.NumHiddenLayers)
	}
	m := a.Machine
	arch, err := strconv.ParseUint(strings.TrimPrefix(m.Arch, "V"), 10, 32)
	if err != nil {
		return aim{}, fmt.Errorf("target_machine.htp_arch: %w", err)
	}
	soc, _ := aotconfig.SoCModel(m.Chipset)
	return aim{uint32(arch), soc, m.Chipset, m.VTCM, m.Signed()}, checkLinears(a.Recipe.Pass.Linear, c)
}

// checkLinears resolves each linear's method, as upstream does: the first pattern that matches its name, else "fallback".
func checkLinears(methods map[string]aotconfig.Method, c toymodel.Config) error {
	for pattern, m := range methods {
		if pattern != "fallback" {
			re, err := regexp.Compile(pattern)
			if err != nil {
				return fmt.Errorf("quant_recipe.builtin_llm_pass.linear: %w", err)
			}
			if !slices.ContainsFunc(c.Linears(), func(l toymodel.LinearSpec) bool { return re.MatchString(l.Name) }) {
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
