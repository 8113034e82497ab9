//go:build linux

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProvoked makes mistakes that people make, and has the build and the emulated phone fail at them for real: what they then print comes out as one
// diagnosis with its remedy. The edits hit the device's step only, so all else is cached.
func TestProvoked(t *testing.T) {
	const libraries = `    ADSP_LIBRARY_PATH = "$HEXMAGE_ROOT;`
	w := warmed(t)
	file := "pipelines/" + pipeline + ".hcl"
	good := read(t, filepath.Join(w.dir, file))
	line := func(has string) string {
		for l := range strings.Lines(good) {
			if strings.Contains(l, has) {
				return l
			}
		}
		t.Fatalf("the pipeline has no line with %s", has)
		return ""
	}
	for _, c := range []struct {
		what, old, new string
		says           []string
	}{
		{"the runner's default length", `"--ar_len", "32"]`, `"--ar_len", "128"]`,
			[]string{"hint: The context binary has no graph model.0.s128.", "remedy: Give the runner the length that the context has, such as --ar_len 32"}},
		{"the DSP's search path", libraries, `    ADSP_LIBRARY_PATH = "/nowhere;`,
			[]string{"hint: The DSP could not load", "remedy: Push ", "0x80000406 is FastRPC AEE_EUNABLETOLOAD"}},
		{"the loader's search path", `    LD_LIBRARY_PATH   = "$HEXMAGE_ROOT"`, `    LD_LIBRARY_PATH   = "/nowhere"`,
			[]string{"hint: libQnnHtp.so or libQnnSystem.so was not found", "remedy: Push both from the SDK"}},
		{"a tokenizer that is not pushed", line(`"tokenizer.json"       `), "",
			[]string{"hint: A file that the command names is not on the device.", "remedy: Add it to what is pushed"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(w.dir, file), []byte(good), 0o644); err != nil {
				t.Fatal(err)
			}
			w.edit(t, file, c.old, c.new)
			o := w.run(t, "run", pipeline)
			wants(t, o, exitFailed, append(c.says, "run.qwen3")...)
			if n := strings.Count(o.stderr, "hint: "); n != 1 {
				t.Errorf("%d hints, want one clear one:\n%s", n, o)
			}
		})
	}
}
