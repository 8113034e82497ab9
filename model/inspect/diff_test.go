package inspect_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/model/inspect"
	"github.com/hexmage/hexmage/qnn/qnnctx/qnnctxtest"
)

func placed(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func safetensorsOf(header string, data ...byte) []byte {
	b := append([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}, header...)
	return append(b, data...)
}

// TestCompare: files of each kind beside themselves and beside others.
func TestCompare(t *testing.T) {
	const two = `{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}`
	dir := placed(t, map[string][]byte{
		"one.onnx": qnnctxtest.Real(t, "prefill.onnx"), "two.onnx": qnnctxtest.Real(t, "points.onnx"),
		"a.bin": qnnctxtest.Real(t, "2.51-SM8750.bin"), "b.bin": qnnctxtest.Real(t, "2.51-SM8650.bin"), "multi.dlc": qnnctxtest.Real(t, "2.51-multi.dlc"),
		"one.safetensors": safetensorsOf(two, 1, 2, 3), "two.safetensors": safetensorsOf(two, 1, 9, 3),
		"three.safetensors": safetensorsOf(`{"__metadata__":{"by":"me"},"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"c":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 3, 1, 2),
		"junk":              []byte("hello, world, nothing that anybody knows"),
	})
	for _, c := range []struct {
		a, b string
		want []string // of what it says
		err  string
	}{
		{"one.onnx", "one.onnx", []string{"--- one.onnx\n+++ one.onnx\nthe same\n"}, ""},
		{"one.onnx", "two.onnx", []string{"nodes: 3 removed, 1 changed, 0 the same\n", "  - yf = MatMul(xf, w)\n", ": y = QuantizeLinear(yf, ys, yz) → y = com.microsoft.EPContext(x, embed_mode=0, "}, ""},
		{"a.bin", "a.bin", []string{"the same"}, ""},
		{"a.bin", "b.bin", []string{"facts: ", "~ context.arch: 79 → 75", "~ context.soc_model: 69 → 57"}, ""},
		{"one.safetensors", "one.safetensors", []string{"the same"}, ""},
		{"one.safetensors", "two.safetensors", []string{"tensors: 1 changed, 1 the same\n  ~ a: U8[2] a12871fee210 → U8[2] "}, ""},
		{"one.safetensors", "three.safetensors", []string{"tensors: 1 added, 1 removed, 1 the same\n  - a  U8[2]\n  + c  U8[2]\n", "metadata: 1 added, 0 the same\n  + by = me\n"}, ""},
		{"one.onnx", "a.bin", nil, "one.onnx is onnx, and a.bin is qnn-context: only files of one format are compared"},
		{"one.onnx", "junk", nil, "junk: neither a model"},
		{"none", "one.onnx", nil, "none: no such file or directory"},
		{".", "one.onnx", nil, "folders are not compared"},
	} {
		var out bytes.Buffer
		p := inspect.Printer{Out: &out, Dir: dir}
		differ, err := p.Difference(c.a, c.b)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s, %s: %v, want %s", c.a, c.b, err, c.err)
			}
			continue
		}
		if err != nil || differ == strings.HasSuffix(out.String(), "the same\n") && c.a == c.b {
			t.Errorf("%s, %s: %v, %v", c.a, c.b, differ, err)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s, %s: no %q in\n%s", c.a, c.b, want, out.String())
			}
		}
		out.Reset()
		p.JSON = true
		if _, err := p.Difference(c.a, c.b); err != nil {
			t.Error(err)
		}
		var d inspect.Differences
		if err := json.Unmarshal(out.Bytes(), &d); err != nil || d.Same == differ || d.A != c.a || d.Format == "" {
			t.Errorf("%s, %s: %v, %s", c.a, c.b, err, out.String())
		}
	}
}

// TestCompareOutside: weights that a model says are outside of its folder, or no file, are not opened.
func TestCompareOutside(t *testing.T) {
	model := func(location string) []byte { // one constant that is elsewhere
		m := []byte{8, 8}
		place := append([]byte{10, 8}, "location"...)
		place = append(append(place, 18, byte(len(location))), location...)
		tensor := append([]byte{8, 1, 16, 1, 66, 1, 'w', 112, 1, 106, byte(len(place))}, place...)
		node := []byte{10, 1, 'w', 18, 1, 'y', 34, 3, 'N', 'e', 'g'}
		graph := append([]byte{10, byte(len(node))}, node...)
		graph = append(append(graph, 42, byte(len(tensor))), tensor...)
		m = append(append(m, 58, byte(len(graph))), graph...)
		return append(m, 66, 2, 16, 21)
	}
	dir := placed(t, map[string][]byte{"good.onnx": model("w.bin"), "up.onnx": model("../secret"), "link.onnx": model("link"), "pipe.onnx": model("."), "w.bin": {0, 0, 0, 0}})
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "secret"), []byte{1, 2, 3, 4}, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../secret", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"good.onnx": "", "up.onnx": "it is no file beside the model", "link.onnx": "path escapes", "pipe.onnx": "it is no file"} {
		d, err := inspect.Compare(dir, name, name)
		if err != nil {
			t.Error(err)
		}
		if got := strings.Join(d.Warnings, "\n"); (want == "") != d.Same || !strings.Contains(got, want) || strings.Count(got, "\n") != map[bool]int{false: 1}[want == ""] {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func FuzzCompare(f *testing.F) {
	f.Add(qnnctxtest.Real(f, "prefill.onnx"), qnnctxtest.Real(f, "points.onnx"))
	f.Add(safetensorsOf(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 1, 2), safetensorsOf(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 1, 3))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		dir := placed(t, map[string][]byte{"a": a, "b": b})
		d, err := inspect.Compare(dir, "a", "b")
		if err == nil && d.Same && d.String() != "--- a\n+++ b\nthe same\n" {
			t.Error(d.String())
		}
		if d, err := inspect.Compare(dir, "a", "a"); err == nil && !d.Same && len(d.Warnings) == 0 {
			t.Errorf("a differs from itself:\n%s", d)
		}
	})
}
