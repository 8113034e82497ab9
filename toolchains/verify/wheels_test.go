package verify_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/toolchains/toolchaintest"
	"github.com/hexmage/hexmage/toolchains/verify"
)

var update = flag.Bool("update", false, "write the golden file")

// TestWheelsMixed mixes the libraries of releases of the vendor's Python packages on purpose. What is said of each mix is in the golden file.
func TestWheelsMixed(t *testing.T) {
	const what = "whether mixed libraries of the vendor are found"
	newX86 := toolchaintest.Wheel(t, what, "onnxruntime_qnn-2.7.0-cp311-*_x86_64.whl")
	oldX86 := toolchaintest.Wheel(t, what, "onnxruntime_qnn-2.4.0-cp311-*_x86_64.whl")
	newARM := toolchaintest.Wheel(t, what, "onnxruntime_qnn-2.7.0-cp311-*_aarch64.whl")
	oldARM := toolchaintest.Wheel(t, what, "qnnruntime-2.48.0.2-cp311-*_aarch64.whl")
	const libs, oldLibs = "onnxruntime_qnn/", "qnnruntime/.libs/"
	type mix struct {
		name, base string
		from       map[string]string // the file there, and what takes its place; "" is nothing
		change     func([]byte) []byte
		norecord   bool
	}
	foreign := func(name string) map[string]string {
		return map[string]string{libs + name: filepath.Join(oldX86, libs+name)}
	}
	var out strings.Builder
	for _, m := range []mix{
		{name: "whole, x86-64", base: newX86},
		{name: "whole, arm64", base: newARM},
		{name: "foreign libQnnSystem", base: newX86, from: foreign("libQnnSystem.so")},
		{name: "foreign libQnnIr", base: newX86, from: foreign("libQnnIr.so")},
		{name: "foreign libQnnGpu", base: newX86, from: foreign("libQnnGpu.so")},
		{name: "foreign libGenie", base: newX86, from: foreign("libGenie.so")},
		{name: "foreign libHtpPrepare", base: newX86, from: foreign("libHtpPrepare.so")},
		{name: "one flipped bit", base: newX86, from: map[string]string{libs + "libQnnSaver.so": filepath.Join(newX86, libs+"libQnnSaver.so")},
			change: func(b []byte) []byte { b[len(b)/2] ^= 1; return b }},
		{name: "foreign stub", base: newARM, from: map[string]string{libs + "libQnnHtpV79Stub.so": filepath.Join(oldARM, oldLibs+"libQnnHtpV79Stub.so")}},
		{name: "foreign skel", base: newARM, from: map[string]string{libs + "libQnnHtpV79Skel.so": filepath.Join(oldARM, oldLibs+"hexagon-v79/unsigned/libQnnHtpV79Skel.so")}},
		{name: "V73's skel as V79's", base: newARM, from: map[string]string{libs + "libQnnHtpV79Skel.so": filepath.Join(newARM, libs+"libQnnHtpV73Skel.so")}},
		{name: "cut off", base: newARM, from: map[string]string{libs + "libQnnHtpPrepare.so": filepath.Join(newARM, libs+"libQnnHtpPrepare.so")},
			change: func(b []byte) []byte { return b[:len(b)/3] }},
		{name: "no skel", base: newARM, from: map[string]string{libs + "libQnnHtpV81Skel.so": ""}},
		{name: "the host's libQnnHtp on arm64", base: newARM, from: map[string]string{libs + "libQnnHtp.so": filepath.Join(newX86, libs+"libQnnHtp.so")}},
		{name: "foreign libQnnIr, without RECORD", base: newX86, from: foreign("libQnnIr.so"), norecord: true},
		{name: "foreign libQnnSystem, without RECORD: nothing in it says which release it is of", base: newX86, from: foreign("libQnnSystem.so"), norecord: true},
	} {
		dir := t.TempDir()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(os.CopyFS(dir, os.DirFS(m.base)))
		for name, other := range m.from {
			must(os.Remove(filepath.Join(dir, name)))
			if other == "" {
				continue
			}
			b, err := os.ReadFile(other)
			must(err)
			if m.change != nil {
				b = m.change(b)
			}
			must(os.WriteFile(filepath.Join(dir, name), b, 0o644))
		}
		if m.norecord {
			records, err := filepath.Glob(filepath.Join(dir, "*.dist-info"))
			must(err)
			must(os.RemoveAll(records[0]))
		}
		checks, id := verify.Libraries(dir)
		r, err := verify.Examine(t.Context(), dir, checks)
		must(err)
		n := r.Checked
		fmt.Fprintf(&out, "%s: %s, %d ELF files, %d build ids, %d silent, %d recorded\n", m.name, id, n.ELF, n.BuildIDs, n.Silent, n.Recorded)
		for _, p := range r.Problems {
			fmt.Fprintf(&out, "  %s\n", p.Error())
		}
	}
	const golden = "testdata/wheels_mixed.golden"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != out.String() {
		t.Errorf("%v; run it with -update when that is right:\n%s", err, out.String())
	}
}
