package qnnctx_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/qnn/qnnctx/qnnctxtest"
)

// envHTP names a folder with an environment of Python, python/, that has the vendor's libraries: docs/fidelity.md says how to make it.
const envHTP = "HEXMAGE_TEST_HTP"

// system asks libQnnSystem of the environment what is in the files that it is given.
const system = `
import ctypes as C, json, os, sys, onnxruntime_qnn as q
u32, u64, text, ptr = C.c_uint32, C.c_uint64, C.c_char_p, C.c_void_p
def struct(*fields): return type("S", (C.Structure,), {"_fields_": list(fields)})
V = struct(("a", u32), ("b", u32), ("c", u32))
G = struct(("version", u32), ("pad", u32), ("name", text), ("ins", u32), ("in_", ptr), ("outs", u32), ("out", ptr), ("ups", u32), ("up", ptr), ("size", u32), ("blob", ptr), ("s", u32), ("e", u32))
I = struct(("version", u32), ("pad", u32), ("backend", u32), ("build", text), ("core", V), ("api", V), ("soc", text), ("blob", V), ("size", u64), ("tensors", u32), ("t", ptr),
    ("graphs", u32), ("g", C.POINTER(G)), ("platform", ptr), ("msize", u32), ("meta", ptr), ("model", u32))
P = struct(("backend", u32), ("name", text), ("v", V), ("create", ptr), ("info", ptr))
lib = C.CDLL(os.path.join(q.LIB_DIR_FULL_PATH, "libQnnSystem.so"))
pp, n, h = C.POINTER(C.POINTER(P))(), u32(), ptr()
assert lib.QnnSystemInterface_getProviders(C.byref(pp), C.byref(n)) == 0
assert C.CFUNCTYPE(u64, C.POINTER(ptr))(pp[0].contents.create)(C.byref(h)) == 0
for name in sys.argv[1:]:
    d = open(name, "rb").read()
    b, o, s = C.create_string_buffer(d, len(d)), ptr(), u64()
    rc = C.CFUNCTYPE(u64, ptr, ptr, u64, C.POINTER(ptr), C.POINTER(u64))(pp[0].contents.info)(h, b, len(d), C.byref(o), C.byref(s))
    if rc: print(json.dumps({"error": rc})); continue
    i = C.cast(o, C.POINTER(I))[0]
    v = lambda x: "%d.%d.%d" % (x.a, x.b, x.c)
    print(json.dumps({"build": i.build.decode(), "backend": i.backend, "core": v(i.core), "api": v(i.api), "blob": v(i.blob), "size": i.size, "model": i.model,
        "graphs": ["%s %d %d" % (i.g[k].name.decode(), i.g[k].ins, i.g[k].outs) for k in range(i.graphs)]}))
`

// TestSystemLibrary holds what is read of contexts to what the vendor's own library says of the same files; one that was cut off both refuse.
func TestSystemLibrary(t *testing.T) {
	env := os.Getenv(envHTP)
	if env == "" {
		t.Skip("NOT TESTED: whether contexts are read as the vendor's libQnnSystem reads them. " + envHTP + " names no environment with it (docs/fidelity.md).")
	}
	dir := t.TempDir()
	var names, files []string
	add := func(name string, raw []byte) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		names, files = append(names, name), append(files, path)
	}
	for _, name := range qnnctxtest.Names(t) {
		if strings.HasSuffix(name, ".bin") {
			add(name, qnnctxtest.Real(t, name))
		}
	}
	cut := qnnctxtest.Real(t, "2.51-SM8750.bin")
	add("cut", cut[:200])
	cmd := exec.CommandContext(t.Context(), filepath.Join(env, "python", "bin", "python"), append([]string{"-c", system}, files...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type says struct {
		Build, Core, API, Blob string
		Backend, Model         uint32
		Size, Error            int64
		Graphs                 []string
	}
	var answers []says
	for d := json.NewDecoder(bytes.NewReader(out[bytes.IndexByte(out, '{'):])); d.More(); {
		var a says
		if err := d.Decode(&a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if len(answers) != len(files) {
		t.Fatalf("%d answers for %d files:\n%s", len(answers), len(files), out)
	}
	for k, want := range answers {
		raw, err := os.ReadFile(files[k])
		if err != nil {
			t.Fatal(err)
		}
		i, err := qnnctx.Parse(bytes.NewReader(raw), int64(len(raw)))
		if (err != nil) != (want.Error != 0) {
			t.Errorf("%s: we say %v, the vendor %d", names[k], err, want.Error)
		}
		if err != nil {
			continue
		}
		got := says{Build: i.BuildID, Core: i.CoreAPI.String(), API: i.BackendAPI.String(), Blob: i.BlobVersion.String(), Backend: i.Backend, Model: i.SoCModel, Size: i.BlobSize}
		for _, g := range i.Graphs {
			got.Graphs = append(got.Graphs, fmt.Sprintf("%s %d %d", g.Name, len(g.Inputs), len(g.Outputs)))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-vendor +ours):\n%s", names[k], d)
		}
	}
	t.Logf("%d contexts", len(answers)-1)
}
