package compiler

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/aotconfig"
)

func config(t *testing.T) string {
	t.Helper()
	raw, err := aotconfig.Write(aotconfig.Target{Arch: "v79", SoC: "SM8750", VTCMMB: 8},
		aotconfig.Model{Type: "qwen3", Layers: 4, BlockSize: 16})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The compilers that write a fixed file do not accept -o.
func TestFlags(t *testing.T) {
	for program, want := range map[tool.Name[[]string]]string{
		Qwen3: "no such file", Qwen2: "not defined: -o", Llama: "not defined: -o"} {
		var out bytes.Buffer
		args := []string{"-m", "m", "--config", "c", "-aot_cfg", "a", "-qnn_env", "q/", "-o", "x"}
		code := New(program)(t.Context(), args, tool.Env{Stdout: &out, Stderr: &out})
		if code != aborted || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit code %d, %s", program, code, &out)
		}
	}
}

// Values and keys that QNN or its tools do not know give the tools' error texts.
func TestConfigWords(t *testing.T) {
	for _, x := range []struct{ old, new, want string }{
		{"", "", ""},
		{`"SM8750"`, `"618"`, "Unknown config socModel 618"},
		{`"htp_arch"`, `"htp_cores": 2, "htp_arch"`, "Invalid key: target_machine/htp_cores"},
		{`"V79"`, `"V80"`, "Unknown HTP architecture"},
	} {
		_, err := parseConfig([]byte(strings.Replace(config(t), x.old, x.new, 1)))
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", x.new, err)
		}
	}
}

// Values that an older library does not know give Qualcomm's error texts. A library without a list accepts all
// values.
func TestKnows(t *testing.T) {
	for name, c := range map[string]struct {
		says    string
		session string
		want    string
	}{
		"known":         {"open_socs=57,69;\x00open_device_options=0,1,2;", "HtpSignedPd", ""},
		"says nothing":  {"", "HtpSignedPd", ""},
		"SoC":           {"open_socs=57;", "", "SoC model (SnapdragonModel) is unknown (SM8750, soc_model 69)"},
		"signed domain": {"open_socs=69;\x00open_device_options=0,1;", "HtpSignedPd", "Unsupported config option 2"},
		"unsigned":      {"open_socs=69;\x00open_device_options=0,1;", "", ""},
	} {
		err := knows([]byte(c.says), aotconfig.Machine{Chipset: "SM8750", Session: c.session}, 69)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
