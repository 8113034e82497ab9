package check

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// maxConfig is the largest file that is looked into for settings of the backend.
const maxConfig = 1 << 20

// config checks the settings in a JSON file that must be the target's: those of QNN's backend extensions (devices[].soc_model, dsp_arch, graphs[].vtcm_mb)
// and of mllm's compiler (target_machine.htp_arch, htp_chipset, htp_vtcm_capability_in_mb). A file that is no JSON, or another one, is none
// of our business.
func (c *checker) config(p string, r io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(r, maxConfig))
	if err != nil {
		return err
	}
	var v any
	if json.Unmarshal(b, &v) != nil {
		return nil
	}
	c.settings(p, "", v)
	return nil
}

// settings walks through a value. The decoder has bounded how deep it is.
func (c *checker) settings(p, at string, v any) {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			c.settings(p, fmt.Sprintf("%s[%d]", at, i), e)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			name := strings.TrimPrefix(at+"."+key, ".")
			c.setting(p, name, key, v[key])
			c.settings(p, name, v[key])
		}
	}
}

// setting checks one of them.
func (c *checker) setting(p, name, key string, v any) {
	text, _ := v.(string)
	number, isNumber := v.(float64)
	switch key {
	case "dsp_arch", "htp_arch":
		if arch := strings.ToLower(text); c.want.Arch != "" && strings.HasPrefix(arch, "v") && arch != c.want.Arch {
			c.mismatch(p, fmt.Sprintf("set it to %q, or choose the target that the file is for", c.want.Arch), "%s is %q, the target has Hexagon %s", name, text, c.want.Arch)
		}
	case "htp_chipset":
		if soc := strings.ToUpper(text); c.want.SoC != "" && strings.HasPrefix(soc, "S") && soc != strings.ToUpper(c.want.SoC) {
			c.mismatch(p, fmt.Sprintf("set it to %q, or choose the target that the file is for", c.want.SoC), "%s is %q, the target is %s", name, text, c.want.SoC)
		}
	case "soc_model", "soc_id":
		if model := float64(c.want.SoCModel); isNumber && model > 0 && number != model && number != 0 {
			c.mismatch(p, fmt.Sprintf("set it to %d, which is QNN's number for %s; Android's soc_id is another", c.want.SoCModel, c.want.SoC), "%s is %v, the target's soc_model is %d", name, number, c.want.SoCModel)
		}
	case "vtcm_mb", "htp_vtcm_capability_in_mb":
		if most := float64(c.want.VTCMMB); isNumber && most > 0 && number > most {
			c.mismatch(p, fmt.Sprintf("set it to %d or less", c.want.VTCMMB), "%s is %v, the target has %d MB of VTCM", name, number, c.want.VTCMMB)
		}
	}
}
