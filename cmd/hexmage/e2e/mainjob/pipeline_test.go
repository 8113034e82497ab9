//go:build linux

package mainjob_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// TestFromNothing: an empty home, an empty cache, a PATH with no compiler, emulator or adb; one command, and a table
// that says where its numbers come from, with every token as the reference has it.
func TestFromNothing(t *testing.T) {
	for _, name := range []string{"clang", "clang++", "qemu-aarch64", "qemu-hexagon", "adb", "make", "cmake"} {
		if _, err := os.Stat(filepath.Join(Path(), name)); err == nil {
			t.Fatalf("%s is in the PATH of the test", name)
		}
	}
	w, o := FirstRun(t)
	t.Logf("from nothing in %v", o.Took)
	for _, want := range []string{`SM8750, Hexagon v79 +profile: simulated\n`, `\n +prefill speed +[0-9.]+ tokens/s\n`,
		`\n +decode speed +[0-9.]+ tokens/s\n`,
		`simulated phone.*not a phone's speed`} {
		if !regexp.MustCompile(want).MatchString(o.Stdout) {
			t.Errorf("standard output does not have %q:\n%s", want, o.Stdout)
		}
	}
	if m := regexp.MustCompile(`\n +tokens as the reference +(\d+) of (\d+)\n`).
		FindStringSubmatch(o.Stdout); m == nil || m[1] != m[2] || m[1] == "0" {
		t.Errorf("not all tokens are the reference's: %q in\n%s", m, o.Stdout)
	}
	entries, err := os.ReadDir(w.Home)
	if err != nil || len(entries) > 0 {
		t.Errorf("the home folder was written to: %v, %v", entries, err)
	}
	if left := Running(w); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
	if entries, err := os.ReadDir(filepath.Join(w.Cache, "tmp")); err != nil || len(entries) > 0 {
		t.Errorf("left in tmp: %v, %v", entries, err)
	}
}

// TestMachines: the libraries are for the machines that they say they are for.
func TestMachines(t *testing.T) {
	w, _ := FirstRun(t)
	for target, want := range map[string]struct {
		machine elf.Machine
		class   elf.Class
		arch    uint32 // low byte of the flags
		readelf []string
	}{
		"htp_aarch64": {elf.EM_AARCH64, elf.ELFCLASS64, 0, []string{"AArch64"}},
		"htp_v79":     {elf.EM_QDSP6, elf.ELFCLASS32, 0x79, []string{"QUALCOMM DSP6", "0x79"}},
	} {
		path := w.Out("oppackage/" + target + "/" + Library)
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		raw := []byte(Read(t, path))
		at := 36 // e_flags
		if f.Class == elf.ELFCLASS64 {
			at = 48
		}
		flags := binary.LittleEndian.Uint32(raw[at:])
		if f.Machine != want.machine || f.Class != want.class || flags != want.arch || f.Type != elf.ET_DYN {
			t.Errorf("%s: machine %v, %v, flags %#x, type %v", target, f.Machine, f.Class, flags, f.Type)
		}
		readelf, err := exec.LookPath("readelf")
		if err != nil {
			t.Log("readelf is not on this machine: its words are not compared")
			continue
		}
		out, err := exec.Command(readelf, "-h", path).Output()
		for _, text := range want.readelf {
			if err != nil || !bytes.Contains(out, []byte(text)) {
				t.Errorf("readelf -h does not say %q of %s: %v\n%s", text, target, err, out)
			}
		}
	}
}

// TestAgain: the second time nothing runs.
func TestAgain(t *testing.T) {
	w, _ := FirstRun(t)
	r := w.RunJSON(t, Simulated, Pipeline)
	if r.Executed != 0 || r.Cached == 0 || len(r.Names) > 0 {
		t.Errorf("executed %d %q, cached %d", r.Executed, r.Names, r.Cached)
	}
	t.Logf("again in %v", r.Took)
}

// TestOneOp: what an edit of one op runs, and what it leaves alone.
func TestOneOp(t *testing.T) {
	w := Warmed(t)
	sources := []string{AOT + "oppackage.llama htp_aarch64/ops/SiLU.o", AOT + "oppackage.llama htp_v79/ops/SiLU.o",
		AOT + "oppackage.llama listed"}
	libraries := []string{AOT + "oppackage.llama htp_aarch64/" + Library, AOT + "oppackage.llama htp_v79/" + Library}
	checks := []string{AOT + "oppackage.llama htp_aarch64/check", AOT + "oppackage.llama htp_v79/check"}
	sorted := func(lists ...[]string) []string {
		all := slices.Concat(lists...)
		slices.Sort(all)
		return all
	}
	const op = "oppackage/example/LLaMAPackage/src/ops/SiLU.cpp"
	for _, c := range []struct {
		what, old, new string
		ran            []string
	}{
		{"nothing", "", "", nil},
		// An object for each target, and a look whether the interface lists the op; as they come out the same,
		// nothing is linked.
		{"a comment", "// SiLU:", "// Sigmoid linear unit:", sorted([]string{AOT + "patch.ops"}, sources)},
		// The model is neither made, converted nor compiled again.
		{"a constant", "BEGIN_PKG_OP_DEFINITION(PKG_SiLU);",
			`extern "C" int constant() { return 42; } BEGIN_PKG_OP_DEFINITION(PKG_SiLU);`,
			sorted([]string{AOT + "patch.ops", AOT + "run.llm run", AOT + "run.llm metrics"}, sources, libraries,
				checks)},
		{"the constant back", `extern "C" int constant() { return 42; } `, "", nil},
	} {
		w.Edit(t, op, c.old, c.new)
		r := w.RunJSON(t, Simulated, Pipeline)
		if diff := cmp.Diff(c.ran, r.Names); diff != "" || r.Executed != len(c.ran) {
			t.Errorf("%s: executed %d (-want +ran):\n%s", c.what, r.Executed, diff)
		}
		t.Logf("%s: %v", c.what, r.Took)
	}
	// A wrong number in an op is one on the phone: what runs there is what was built.
	w.Edit(t, "oppackage/example/LLaMAPackage/src/ops/RMSNorm.cpp", "divide(1.0f,", "divide(1.75f,")
	Wants(t, w.Run(t, "run", Simulated, Pipeline), 1, AOT+"run.llm", "tokens differ from the reference")
	if left := Running(w); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
}

// TestMakeByHand: the exported Makefile builds the same libraries, byte for byte, with the SDKs from `hexmage env`.
func TestMakeByHand(t *testing.T) {
	w, _ := FirstRun(t)
	maker := toolchaintest.Path(t, "make", "usr/bin/make")
	// `env` puts the SDKs before it
	shell := &World{Dir: w.Dir, Home: w.Home, Cache: w.Cache, Env: []string{"PATH=/usr/bin:/bin"}}
	o := shell.Run(t, "env", Simulated, Pipeline)
	if o.Code != 0 || !strings.Contains(o.Stdout, "export QAIRT_SDK_ROOT=") {
		t.Fatalf("hexmage env: %s", o)
	}
	dir := filepath.Join(t.TempDir(), "package")
	if err := os.CopyFS(dir, os.DirFS(w.Out("makefile"))); err != nil {
		t.Fatal(err)
	}
	// The lines go through a shell, as `eval "$(hexmage env …)"` has it.
	script := o.Stdout + "\nunset LD_LIBRARY_PATH\nexec " + maker + " -j2 htp_aarch64 htp_v79\n"
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = dir, []string{"LC_ALL=C", "HOME=" + w.Home}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make: %v\n%s", err, out)
	}
	for _, target := range []string{"htp_aarch64", "htp_v79"} {
		var found []string
		err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			folder := map[string]string{"htp_aarch64": "aarch64", "htp_v79": "v79"}[target]
			if err == nil && d.Name() == Library && strings.Contains(filepath.Dir(p), folder) {
				found = append(found, p)
			}
			return err
		})
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: make left %q, %v", target, found, err)
		}
		if Read(t, found[0]) != Read(t, w.Out("oppackage/"+target+"/"+Library)) {
			t.Errorf("%s: make's library is another than the pipeline's", target)
		}
	}
}

// TestUnpatched: without the patch the package is refused when it is planned; with that rule off it does not compile,
// and the failure names the rename rule.
func TestUnpatched(t *testing.T) {
	w := Warmed(t)
	const step = `step "oppackage" "llama" {
  source  = `
	w.Edit(t, ModuleFile, step+"step.patch.ops.outputs.dir", step+`"oppackage/example/LLaMAPackage"`)
	Wants(t, w.Run(t, "run", Simulated, Pipeline), ExitUsage, "op-renamed; observed", `rename rule "interface_scale"`, ModuleFile)
	if err := os.Mkdir(filepath.Join(w.Dir, "toolchains"), 0o755); err != nil {
		t.Fatal(err)
	}
	off := "compat \"op-renamed\" {\n  severity = \"off\"\n}\n"
	if err := os.WriteFile(filepath.Join(w.Dir, "toolchains", "ours.hcl"), []byte(off), 0o644); err != nil {
		t.Fatal(err)
	}
	o := w.Run(t, "run", Simulated, Pipeline)
	Wants(t, o, 1, "no member named 'get_interface_scale'", `rename rule "interface_scale"`, AOT+"oppackage.llama",
		ModuleFile+":")
	if strings.Contains(o.Stdout, "tokens_per_s") {
		t.Errorf("it ran on the device all the same: %s", o)
	}
}
