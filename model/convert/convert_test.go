package convert_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/model/convert"
	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/qnn"
)

func le16(v ...uint16) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint16(b, x)
	}
	return b
}

func write(t *testing.T, path string, sources ...safetensors.Source) {
	t.Helper()
	var b bytes.Buffer
	if err := safetensors.Write(&b, nil, sources); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func tensors() []safetensors.Source {
	return []safetensors.Source{
		safetensors.Bytes("z.f16", safetensors.F16, []int64{6}, le16(0x3c00, 0xc000, 0x0001, 0x83ff, 0x7c00, 0x7bff)),
		safetensors.Bytes("a.bf16", safetensors.BF16, []int64{2}, le16(0x3f80, 0xc040)),
		safetensors.Bytes("m.u16", safetensors.U16, []int64{1, 2}, le16(0, 65535)),
		safetensors.Bytes("k.i8", safetensors.I8, []int64{2}, []byte{255, 1}),
		safetensors.Bytes("k.bool", safetensors.Bool, []int64{1}, []byte{1}),
		safetensors.Bytes("s", safetensors.F32, nil, []byte{0, 0, 128, 63}),
	}
}

func convertTo(t *testing.T, in, format string) (*mllm.File, []byte) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "sub", "m.mllm")
	if _, msg, code := tooltest.Run(t, convert.Tool, convert.Run, convert.Spec{Input: in, Output: out, Format: format, Name: "tiny"}); code != 0 {
		t.Fatal(msg)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	f, err := mllm.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return f, raw
}

func TestV2KeepsTypesAndOrdersByName(t *testing.T) {
	in := filepath.Join(t.TempDir(), "model.safetensors")
	write(t, in, tensors()...)
	f, _ := convertTo(t, in, "v2")
	var got []string
	for _, p := range f.Params() {
		got = append(got, fmt.Sprint(p.Name, " ", p.DType, " ", p.Shape))
	}
	want := []string{"a.bf16 BFloat16 [2]", "k.bool UInt8 [1]", "k.i8 Int8 [2]", "m.u16 UInt16 [1 2]", "s Float32 []", "z.f16 Float16 [6]"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if f.ModelName != "tiny" {
		t.Errorf("model name %q", f.ModelName)
	}
	p, _ := f.Lookup("m.u16")
	if data, err := io.ReadAll(f.Data(p)); err != nil || !bytes.Equal(data, le16(0, 65535)) {
		t.Errorf("data %v %v", data, err)
	}
}

func TestV1CastsToFloat(t *testing.T) {
	in := filepath.Join(t.TempDir(), "model.safetensors")
	write(t, in, tensors()...)
	f, _ := convertTo(t, in, "v1")
	cases := map[string][]float32{
		"z.f16":  {1, -2, 0x1p-24, -0x3ffp-24, float32(math.Inf(1)), 65504},
		"a.bf16": {1, -3},
		"m.u16":  {0, 65535},
	}
	for name, want := range cases {
		p, _ := f.Lookup(name)
		data, err := io.ReadAll(f.Data(p))
		if err != nil || p.DType != mllm.Float32 || len(data) != 4*len(want) {
			t.Fatalf("%s: %v, %d bytes, %v", name, p.DType, len(data), err)
		}
		for i, w := range want {
			if g := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])); g != w {
				t.Errorf("%s[%d] = %v, want %v", name, i, g, w)
			}
		}
	}
}

// What mllm's converter of branch v1 does with names and with types that have another one there (013e4cec).
func TestV1IsMllms(t *testing.T) {
	in := filepath.Join(t.TempDir(), "model.safetensors")
	one := []byte{1}
	write(t, in, safetensors.Bytes("layers.0.shadow", safetensors.Bool, []int64{1}, one), safetensors.Bytes("bytes", safetensors.U8, []int64{1}, one),
		safetensors.Bytes("conv_weight", safetensors.I8, []int64{1}, one), safetensors.Bytes("conv_bias", safetensors.I8, []int64{1}, one),
		safetensors.Bytes("_private", safetensors.I8, []int64{1}, one))
	f, _ := convertTo(t, in, "v1")
	var got []string
	for _, p := range f.Params() {
		got = append(got, fmt.Sprint(p.Name, " ", int(p.DType)))
	}
	if want := []string{"bytes 31", "conv.bias 16", "conv.weight 16", "layers.0.shadow 16"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	both := filepath.Join(t.TempDir(), "model.safetensors")
	write(t, both, safetensors.Bytes("a_bias", safetensors.I8, []int64{1}, one), safetensors.Bytes("a.bias", safetensors.I8, []int64{1}, one))
	if err := convert.Run(t.Context(), convert.Spec{Input: both, Output: both + ".mllm", Format: "v1"}, tool.Env{Stdout: io.Discard}); err == nil || !strings.Contains(err.Error(), "rename one") {
		t.Errorf("two of one name: %v", err)
	}
}

// A simulation's mark goes on into what is made of it.
func TestMarkStays(t *testing.T) {
	in := filepath.Join(t.TempDir(), "model.safetensors")
	fh, err := os.Create(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(safetensors.Write(fh, map[string]string{qnn.SimulatedKey: qnn.Simulated}, tensors()), fh.Close()); err != nil {
		t.Fatal(err)
	}
	if f, _ := convertTo(t, in, "v2"); f.ModelName != "hexmage simulated tiny" {
		t.Errorf("the model's name is %q", f.ModelName)
	}
}

func TestShardsDoNotMatter(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "model.safetensors")
	write(t, whole, tensors()...)
	dir := t.TempDir()
	all := tensors()
	write(t, filepath.Join(dir, "m-1.safetensors"), all[:2]...)
	write(t, filepath.Join(dir, "m-2.safetensors"), all[2:]...)
	index := `{"weight_map":{"z.f16":"m-1.safetensors","a.bf16":"m-1.safetensors"`
	for _, s := range all[2:] {
		index += `,"` + s.Name + `":"m-2.safetensors"`
	}
	path := filepath.Join(dir, "model.safetensors.index.json")
	if err := os.WriteFile(path, []byte(index+"}}"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, a := convertTo(t, whole, "v2")
	_, b := convertTo(t, path, "v2")
	if !bytes.Equal(a, b) {
		t.Fatal("the sharded model gave other bytes than the whole one")
	}
}

func TestGoldenDigest(t *testing.T) {
	in := filepath.Join(t.TempDir(), "model.safetensors")
	write(t, in, tensors()...)
	want := map[string]string{"v1": goldenV1, "v2": goldenV2}
	for format, digest := range want {
		_, raw := convertTo(t, in, format)
		if got := fmt.Sprintf("%x", sha256.Sum256(raw)); got != digest {
			t.Errorf("%s: output changed: bump convert.Tool (now %q) and set the digest to %s", format, string(convert.Tool), got)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "f64.safetensors")
	write(t, bad, safetensors.Bytes("d", safetensors.F64, []int64{1}, make([]byte, 8)))
	out := filepath.Join(dir, "out.mllm")
	parts := t.TempDir()
	write(t, filepath.Join(parts, "model-00001-of-00002.safetensors"), safetensors.Bytes("d", safetensors.F32, []int64{1}, make([]byte, 4)))
	cases := map[string]struct {
		spec convert.Spec
		want string
	}{
		"no index":  {convert.Spec{Input: parts, Output: out, Format: "v2"}, "model shards, such as model-00001-of-00002.safetensors, but lacks model.safetensors.index.json"},
		"no output": {convert.Spec{Input: bad, Format: "v2"}, "input or output is missing: set both"},
		"format":    {convert.Spec{Input: bad, Output: out, Format: "v3"}, "use v1 or v2"},
		"no file":   {convert.Spec{Input: filepath.Join(dir, "none"), Output: out, Format: "v2"}, "none"},
		"f64 in v2": {convert.Spec{Input: bad, Output: out, Format: "v2"}, "F64 is not supported in .mllm version 2"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, msg, code := tooltest.Run(t, convert.Tool, convert.Run, c.spec); code != 1 || !strings.Contains(msg, c.want) {
				t.Errorf("exit %d, %q; want 1 with %q", code, msg, c.want)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("an output file was left behind")
			}
		})
	}
}
