package inspect_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/model/inspect"
	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/qnn/qnnctx/qnnctxtest"
	"github.com/hexmage/hexmage/simulated/mllm/blob"
	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
)

// libraries unpacks libraries of the simulation's QAIRT: real ELF files of several machines.
func libraries(t testing.TB) (dir string, buildID string) {
	t.Helper()
	r, err := sdk.Find("qairt", "")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := sdktest.Archive(&b, "qairt", ""); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.CopyFS(dir, z); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, filepath.FromSlash(r.Prefix), "lib"), r.BuildID
}

func TestELF(t *testing.T) {
	lib, id := libraries(t)
	cases := map[string]inspect.ELF{
		"hexagon-v79/unsigned/libQnnHtpV79Skel.so": {Class: "ELFCLASS32", Machine: "EM_HEXAGON", Arch: "v79", SOName: "libQnnHtpV79Skel.so"},
		"hexagon-v73/unsigned/libQnnHtpV73Skel.so": {Class: "ELFCLASS32", Machine: "EM_HEXAGON", Arch: "v73", SOName: "libQnnHtpV73Skel.so"},
		"aarch64-android/libQnnHtp.so":             {Class: "ELFCLASS64", Machine: "EM_AARCH64", SOName: "libQnnHtp.so"},
		"x86_64-linux-clang/libQnnHtp.so":          {Class: "ELFCLASS64", Machine: "EM_X86_64", SOName: "libQnnHtp.so"},
	}
	for path, want := range cases {
		d, err := inspect.Describe(filepath.Join(lib, path))
		if err != nil {
			t.Fatal(err)
		}
		e := d.ELF
		if d.Format != "elf" || e == nil || e.Class != want.Class || e.Machine != want.Machine || e.Arch != want.Arch || e.SOName != want.SOName ||
			e.Type != "ET_DYN" || len(e.BuildIDs) != 1 || e.BuildIDs[0] != id {
			t.Errorf("%s: %+v", path, e)
		}
	}
}

// The test's own program is an ELF that another linker made.
func TestOwnProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d, err := inspect.Describe(self)
	if err != nil || d.ELF == nil || d.ELF.Class != "ELFCLASS64" || d.ELF.Type == "" {
		t.Fatalf("%+v, %v", d.ELF, err)
	}
}

func samples(t testing.TB) map[string][]byte {
	t.Helper()
	var st, m1, m2, c bytes.Buffer
	write := func(w io.Writer) error { _, err := w.Write([]byte{1, 2}); return err }
	ms := []mllm.Source{{Name: "w", DType: mllm.Uint8, Shape: []int64{2}, Size: 2, Write: write}}
	err := errors.Join(
		safetensors.Write(&st, map[string]string{"format": "pt"}, []safetensors.Source{safetensors.Bytes("w", safetensors.U8, []int64{2}, []byte{1, 2})}),
		mllm.Write(&m1, mllm.V1, "", ms), mllm.Write(&m2, mllm.V2, "tiny", ms),
		blob.Write(&c, qnnctx.Info{BuildID: "v2.41.0.251128145156_191518", Arch: 79, SoC: "SM8750", SoCModel: 69, VTCM: 8 << 20}, &blob.Blob{}))
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"safetensors": st.Bytes(), "mllm-v1": m1.Bytes(), "mllm-v2": m2.Bytes(), "qnn-context": c.Bytes()}
}

func TestFormats(t *testing.T) {
	for format, raw := range samples(t) {
		path := filepath.Join(t.TempDir(), "file.bin") // the name says nothing
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		d, err := inspect.Describe(path)
		if err != nil {
			t.Fatal(err)
		}
		if d.Format != format || d.Size != int64(len(raw)) {
			t.Errorf("%s: %+v", format, d)
		}
		if d.Tensors != nil && (d.Tensors.Count != 1 || d.Tensors.List[0].Name != "w" || d.Tensors.List[0].Size != 2) {
			t.Errorf("%s: %+v", format, d.Tensors)
		}
		if format == "qnn-context" && (d.Context == nil || d.Context.Arch != 79 || d.Context.SoC != "SM8750") {
			t.Errorf("%s: %+v", format, d.Context)
		}
	}
}

func TestPrinter(t *testing.T) {
	dir := t.TempDir()
	path, junk := filepath.Join(dir, "ctx"), filepath.Join(dir, "junk")
	if err := errors.Join(os.WriteFile(path, samples(t)["qnn-context"], 0o644), os.WriteFile(junk, []byte("hello, world"), 0o644)); err != nil {
		t.Fatal(err)
	}
	run := func(p inspect.Printer, paths ...string) (string, string, bool) {
		var o, e bytes.Buffer
		p.Out, p.Err = &o, &e
		err := p.Print(t.Context(), paths...)
		return o.String(), e.String(), err == nil
	}
	text, asJSON := inspect.Printer{}, inspect.Printer{JSON: true}
	out, _, ok := run(asJSON, path)
	var d inspect.Description
	if err := json.Unmarshal([]byte(out), &d); !ok || err != nil || d.Context.BuildID != "v2.41.0.251128145156_191518" {
		t.Errorf("%v, %v, %s", ok, err, out)
	}
	if out, _, ok := run(text, path); !ok || !strings.Contains(out, "SM8750 (model 69)") || !strings.Contains(out, "v79") {
		t.Errorf("%v, %s", ok, out)
	}
	for name, says := range map[string]string{"SM9950": "SM8750 (model 69, which is SM9950)", "sm8750": "SM8750 (model 69)\n", "": "SM8750 (model 69)\n"} {
		if out, _, ok := run(inspect.Printer{SoC: func(int) string { return name }}, path); !ok || !strings.Contains(out, says) {
			t.Errorf("%q: %v, %s", name, ok, out)
		}
	}
	if out, msg, ok := run(inspect.Printer{Dir: dir}, "ctx", "none"); ok || !strings.HasPrefix(out, "ctx\n") || msg != "inspect: none: no such file or directory: correct the path\n" {
		t.Errorf("%v, %s%s", ok, out, msg)
	}
	if _, msg, ok := run(text, junk); ok || !strings.Contains(msg, inspect.ErrUnknown.Error()) {
		t.Errorf("%v, %s", ok, msg)
	}
	if out, _, ok := run(text, dir); !ok || !strings.Contains(out, "without a known SDK, 2 files") || !strings.Contains(out, "SM8750") {
		t.Errorf("a folder: %v: %s", ok, out)
	}
	out, _, ok = run(asJSON, filepath.Join(dir, "none"), junk, path)
	if l := strings.Split(out, "\n"); ok || len(l) != 4 || !strings.Contains(l[0], `none: no such file or directory: correct the path"`) || !strings.Contains(l[1], `"error":`) || !strings.Contains(l[2], "SM8750") {
		t.Errorf("%v: %s", ok, out)
	}
}

// TestHuggingFaceFolder: a folder with a config.json is described as a model, with what it lacks.
func TestHuggingFaceFolder(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"config.json":    `{"model_type": "qwen3", "num_hidden_layers": 2, "hidden_size": 128, "vocab_size": 512}`,
		"tokenizer.json": "{}",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text := mustDescribe(t, dir).String()
	for _, want := range []string{"Hugging Face model qwen3 in a folder, 2 files", "layers        2", "hidden size   128",
		"vocabulary    512", "weights are missing"} {
		if !strings.Contains(text, want) || strings.Contains(text, "tokenizer.json") {
			t.Errorf("%s\nwant %q, and no word of tokenizer.json", text, want)
		}
	}
	if err := os.Remove(filepath.Join(dir, "tokenizer.json")); err != nil {
		t.Fatal(err)
	}
	if text := mustDescribe(t, dir).String(); !strings.Contains(text, "tokenizer.json is missing") {
		t.Error(text)
	}
}

func FuzzDescribe(f *testing.F) {
	for _, raw := range samples(f) {
		f.Add(raw)
	}
	lib, _ := libraries(f)
	for _, name := range []string{"hexagon-v79/unsigned/libQnnHtpV79Skel.so", "aarch64-android/libQnnHtp.so"} {
		raw, err := os.ReadFile(filepath.Join(lib, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	for _, name := range []string{"2.51-SM8750.bin", "prefill.dlc", "points.onnx", "prefill.onnx"} {
		f.Add(qnnctxtest.Real(f, name))
	}
	f.Add([]byte("\x7fELF\x01\x01\x01"))
	var z bytes.Buffer
	w := zip.NewWriter(&z)
	for name, text := range map[string]string{"qairt/1/sdk.yaml": "version: 2.41.0\nbuild_id: 251128145156_191518\n", "qairt/1/lib/hexagon-v79/unsigned/libQnnHtpV79Skel.so": "x"} {
		if e, err := w.Create(name); err != nil {
			f.Fatal(err)
		} else if _, err := io.WriteString(e, text); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(z.Bytes())
	path := filepath.Join(f.TempDir(), "f")
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		d, err := inspect.Describe(path)
		if err == nil && d.String() == "" {
			t.Fatal("described as nothing")
		}
	})
}
