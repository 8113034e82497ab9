package quantizer

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/host"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/standin/mllm/openmodel"
)

// tensors quantises a small seeded model and returns the bytes of each tensor.
func tensors(t *testing.T, architecture string, block int) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	if err := openmodel.RunMake(t.Context(), openmodel.MakeSpec{Seed: 79, Layers: 2, Architecture: architecture, BlockSize: block, Out: filepath.Join(dir, "in")}, tool.Env{Stdout: io.Discard}); err != nil {
		t.Fatal(err)
	}
	text, err := host.Text("mllm.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "text"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	s := UpstreamSpec{Model: filepath.Join(dir, "in"), Architecture: architecture, BlockSize: block, Calibration: filepath.Join(dir, "text"), Samples: 2, MaxLength: 64, Out: filepath.Join(dir, "out")}
	if _, err := QuantiseUpstream(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	m, err := safetensors.Open(filepath.Join(s.Out, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	out := map[string][]byte{}
	for _, x := range m.Tensors() {
		data, err := io.ReadAll(x.Data())
		if err != nil {
			t.Fatal(err)
		}
		out[x.Name] = data
	}
	return out
}

// TestUpstreamsNumbers holds our quantiser to what upstream's train.py of each architecture (b9c30702, PyTorch 2.6.0 on a CPU) wrote for the same model and text:
// what comes from weights and all zero points to the bit, scales of activations to eight parts of ten million, the tables within one step.
func TestUpstreamsNumbers(t *testing.T) {
	for architecture, block := range map[string]int{"qwen3": 16, "qwen2": 32, "llama": 32} {
		t.Run(architecture, func(t *testing.T) { upstreamsNumbers(t, architecture, block) })
	}
}

func upstreamsNumbers(t *testing.T, architecture string, block int) {
	raw, err := os.ReadFile("testdata/upstream-" + architecture + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		SHA256 map[string]string  `json:"sha256"`
		Scales map[string]float64 `json:"scales"`
		Tables map[string][]byte  `json:"tables"` // base64
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	got := tensors(t, architecture, block)
	if n := len(want.SHA256) + len(want.Scales) + len(want.Tables); n != len(got) || len(want.Scales) < 70 || len(want.Tables) != 2 {
		t.Errorf("%d tensors, upstream has %d", len(got), n)
	}
	for name, digest := range want.SHA256 {
		if d := fmt.Sprintf("%x", sha256.Sum256(got[name])); d != digest {
			t.Errorf("%s is another than upstream's", name)
		}
	}
	for name, scale := range want.Scales {
		if len(got[name]) != 4 {
			t.Errorf("%s has %d bytes", name, len(got[name]))
			continue
		}
		if s := float64(math.Float32frombits(binary.LittleEndian.Uint32(got[name]))); math.Abs(s-scale) > 8e-7*scale {
			t.Errorf("%s is %v, upstream's %v", name, s, scale)
		}
	}
	for name, table := range want.Tables {
		if len(got[name]) != len(table) {
			t.Errorf("%s has %d bytes, upstream's %d", name, len(got[name]), len(table))
			continue
		}
		for i := 0; i < len(table); i += 2 {
			a, b := binary.LittleEndian.Uint16(got[name][i:]), binary.LittleEndian.Uint16(table[i:])
			if max(a, b)-min(a, b) > 1 {
				t.Errorf("%s[%d] is %d, upstream's %d", name, i/2, a, b)
			}
		}
	}
}

// TestAnotherArchitecture: a model of one architecture is not quantised as one of another.
func TestAnotherArchitecture(t *testing.T) {
	dir := t.TempDir()
	make := func(architecture string, block int) error {
		return openmodel.RunMake(t.Context(), openmodel.MakeSpec{Seed: 1, Layers: 1, Architecture: architecture, BlockSize: block, Out: dir}, tool.Env{Stdout: io.Discard})
	}
	if err := make("llama", 16); err == nil || !strings.Contains(err.Error(), "fixed at 32 for llama") {
		t.Errorf("blocks of 16: %v", err)
	}
	if err := make("llama", 32); err != nil {
		t.Fatal(err)
	}
	if _, err := QuantiseUpstream(t.Context(), UpstreamSpec{Model: dir, Architecture: "qwen2", BlockSize: 32, Out: filepath.Join(dir, "out")}); err == nil || !strings.Contains(err.Error(), `write architecture = "llama"`) {
		t.Errorf("a llama as a qwen2: %v", err)
	}
	if _, err := Quantise(t.Context(), Spec{Model: dir, Architecture: "qwen3", Out: filepath.Join(dir, "out")}); err == nil || !strings.Contains(err.Error(), `write architecture = "llama"`) {
		t.Errorf("a llama as a qwen3: %v", err)
	}
}

// TestParagraphs: what is too short is passed over, as upstream does.
func TestParagraphs(t *testing.T) {
	long := strings.Repeat("größer ", 150)
	got, err := paragraphs(long+"\n"+long+"\n\nshort\n\n"+long+"\n\n"+long, 2)
	if err != nil || len(got) != 2 || len(got[0]) < 2*len(got[1]) || strings.Contains(got[0], "\n") {
		t.Errorf("%d texts, %v", len(got), err)
	}
	if _, err := paragraphs(strings.Repeat("ß", leastText-1), 2); err == nil || !strings.Contains(err.Error(), "1024") {
		t.Errorf("a text of many bytes and few characters: %v", err)
	}
}

// TestTheCalibrationText: the text that is read by default has samples.
func TestTheCalibrationText(t *testing.T) {
	text, err := host.Text("mllm.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := paragraphs(string(text), 100); err != nil || len(got) != bytes.Count(text, []byte("\n\n"))+1 {
		t.Errorf("%d samples, %v", len(got), err)
	}
}

// TestEpsilon: upstream's quantiser computes norms with the model's own epsilon, and so does ours; the stand-in's op has one of its own, and its
// quantiser refuses any other.
func TestEpsilon(t *testing.T) {
	dir := t.TempDir()
	if err := openmodel.RunMake(t.Context(), openmodel.MakeSpec{Seed: 1, Layers: 1, Architecture: "llama", BlockSize: 32, Out: dir}, tool.Env{Stdout: io.Discard}); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "config.json")
	raw, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(raw), `"rms_norm_eps": 0.000001`, `"rms_norm_eps": 0.25`, 1)
	if other == string(raw) {
		t.Fatalf("no rms_norm_eps in\n%s", raw)
	}
	if err := os.WriteFile(at, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := openmodel.ParseHub([]byte(other), 0)
	if err != nil {
		t.Fatal(err)
	}
	m, err := loadFloat(filepath.Join(dir, "model.safetensors"), c)
	if err != nil {
		t.Fatal(err)
	}
	const name = "model.norm"
	x := make([]float64, len(m.weights[name+".weight"]))
	for i := range x {
		x[i] = 3
	}
	got := m.newPass(func(string, []float64) {}).norm(name, x)
	for i, w := range m.weights[name+".weight"] {
		if want := float64(w) * 3 / math.Sqrt(9.25); math.Abs(got[i]-want) > 1e-12 {
			t.Fatalf("value %d is %v, not %v", i, got[i], want)
		}
	}
	if _, err := Quantise(t.Context(), Spec{Model: dir, Architecture: "llama", Out: filepath.Join(dir, "out")}); err == nil || !strings.Contains(err.Error(), "only 1e-06") {
		t.Errorf("the stand-in's quantiser: %v", err)
	}
}
