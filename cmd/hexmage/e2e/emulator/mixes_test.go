//go:build linux

package emulator_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/qnn/qnnctx/qnnctxtest"
)

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if Update() {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != text {
		t.Errorf("%s is another (%v); run the test with -update when this is right:\n%s", file, err, text)
	}
}

const stub79, skel79, skels79 = "libQnnHtpV79Stub.so", "libQnnHtpV79Skel.so", "hexagon-v79/unsigned/libQnnHtpV79Skel.so"

// TestVendorMixes mixes Qualcomm's libraries of two releases on purpose, beside contexts that its compiler made
// here, and asks each command what it sees.
func TestVendorMixes(t *testing.T) {
	t.Run("toolchain verify", verifyMixes)
	t.Run("compat", compatMixes)
	t.Run("plan", planMixes)
	t.Run("inspect", inspectContexts)
	t.Run("diagnose", diagnoseLogs)
}

func verifyMixes(t *testing.T) {
	newX86, oldX86, newARM, oldARM := Vendor(t)
	w := NewWorld(t)
	const libs = "onnxruntime_qnn/"
	flip := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	third := func(b []byte) []byte { return b[:len(b)/3] }
	mixes := []struct {
		name   string
		as     string              // what it must be
		base   string              // a whole package's libraries
		file   string              // the one that is another
		from   string              // what takes its place; "" is nothing
		change func([]byte) []byte // of that
	}{
		{name: "whole, x86-64", as: "htp_host", base: newX86},
		{name: "whole, x86-64, the older release", as: "htp_host@2.4.0", base: oldX86},
		{name: "whole, arm64", as: "htp_linux_arm64", base: newARM},
		{name: "whole, arm64, of a third party", as: "qnnruntime", base: filepath.Dir(oldARM)},
		{name: "foreign libQnnSystem, which has no build id", as: "htp_host", base: newX86,
			file: "libQnnSystem.so", from: oldX86 + "/libQnnSystem.so"},
		{name: "foreign libQnnIr", as: "htp_host", base: newX86, file: "libQnnIr.so", from: oldX86 + "/libQnnIr.so"},
		{name: "foreign libQnnGpu", as: "htp_host", base: newX86, file: "libQnnGpu.so", from: oldX86 + "/libQnnGpu.so"},
		{name: "foreign libGenie", as: "htp_host", base: newX86, file: "libGenie.so", from: oldX86 + "/libGenie.so"},
		{name: "foreign libHtpPrepare", as: "htp_host@2.7.0", base: newX86,
			file: "libHtpPrepare.so", from: oldX86 + "/libHtpPrepare.so"},
		{name: "the whole other release", as: "htp_host@2.4.0", base: newX86},
		{name: "one flipped bit", as: "htp_host", base: newX86, file: "libQnnSaver.so",
			from: newX86 + "/libQnnSaver.so", change: flip},
		{name: "foreign stub", as: "htp_linux_arm64", base: newARM, file: stub79, from: oldARM + "/" + stub79},
		{name: "foreign skel", as: "htp_linux_arm64", base: newARM, file: skel79, from: oldARM + "/" + skels79},
		{name: "foreign skel of a third party", as: "qnnruntime", base: filepath.Dir(oldARM),
			file: ".libs/" + strings.ReplaceAll(skels79, "79", "81"), from: newARM + "/libQnnHtpV81Skel.so"},
		{name: "V73's skel as V79's", as: "htp_linux_arm64", base: newARM, file: skel79,
			from: newARM + "/libQnnHtpV73Skel.so"},
		{name: "cut off", as: "htp_linux_arm64", base: newARM, file: "libQnnHtpPrepare.so",
			from: newARM + "/libQnnHtpPrepare.so", change: third},
		{name: "no skel", as: "htp_linux_arm64", base: newARM, file: "libQnnHtpV81Skel.so"},
		{name: "the host's libQnnHtp on arm64", as: "htp_linux_arm64", base: newARM, file: "libQnnHtp.so",
			from: newX86 + "/libQnnHtp.so"},
	}
	said := make([]string, len(mixes))
	t.Run("mixes", func(t *testing.T) {
		for i, m := range mixes {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(filepath.Dir(w.Dir), fmt.Sprint("mix", i))
				below := filepath.Base(m.base)
				if err := Link(filepath.Dir(m.base), dir, func(p string) bool {
					return p != filepath.Join(below, m.file)
				}); err != nil {
					t.Fatal(err)
				}
				if m.from != "" {
					put(t, m.from, filepath.Join(dir, below, m.file), m.change)
				}
				o := w.Run(t, "toolchain", "verify", "--json", dir, "--as", m.as)
				said[i] = verified(t, m.name, o)
				if err := os.RemoveAll(dir); err != nil {
					t.Error(err)
				}
			})
		}
	})
	golden(t, "verify_mixes", strings.ReplaceAll(strings.Join(said, ""), libs, ""))
}

// verified is what is the same on every machine of what verify says.
func verified(t *testing.T, name string, o *Outcome) string {
	var v struct {
		Name, Version string
		OK            bool
		Report        struct {
			Problems, Warnings []struct{ File, Found, Want, Remedy string }
			Checked            map[string]int
		}
	}
	if err := json.Unmarshal([]byte(o.Stdout), &v); err != nil {
		t.Fatalf("%v: %s", err, o)
	}
	c := v.Report.Checked
	s := fmt.Sprintf("%s: %s %s, %d paths, %d ELF files, %d build ids, %d silent; code %d\n", name, v.Name,
		v.Version, c["paths"], c["elf"], c["build_ids"], c["silent"], o.Code)
	for _, p := range v.Report.Problems {
		s += fmt.Sprintf("  %s: found %s, want %s: %s\n", p.File, p.Found, p.Want, p.Remedy)
	}
	for _, p := range v.Report.Warnings {
		s += fmt.Sprintf("  (%s: found %s, want %s)\n", p.File,
			regexp.MustCompile("[0-9a-f]{64}").ReplaceAllString(p.Found, "…"), p.Want)
	}
	if v.OK != (o.Code == ExitOK) {
		t.Errorf("ok %v: %s", v.OK, o)
	}
	return s
}

// put writes a file, changed.
func put(t *testing.T, from, to string, change func([]byte) []byte) {
	t.Helper()
	if change == nil && os.Link(from, to) == nil {
		return
	}
	b := []byte(Read(t, from))
	if change != nil {
		b = change(b)
	}
	if err := os.WriteFile(to, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func compatMixes(t *testing.T) {
	newX86, _, newARM, oldARM := Vendor(t)
	w := NewWorld(t)
	set := func(libs, skel string, more ...string) map[string]string {
		files := map[string]string{skel79: filepath.Join(libs, skel)}
		for _, name := range []string{"libQnnHtp.so", "libQnnSystem.so", stub79} {
			files[name] = filepath.Join(libs, name)
		}
		for i := 0; i+1 < len(more); i += 2 {
			if files[more[i]] = more[i+1]; more[i+1] == "" {
				delete(files, more[i])
			}
		}
		return files
	}
	var out strings.Builder
	for i, m := range []struct {
		name, soc string
		files     map[string]string // those with no path are contexts that were made here
	}{
		{"a right set, and a context of its release", "SM8750", set(newARM, skel79, "2.51-SM8750.bin", "context")},
		{"a right set, and contexts of older releases", "SM8750",
			set(newARM, skel79, "2.48-SM8750.bin", "context", "2.47-SM8750.bin", "context", "2.48-shared.bin",
				"context")},
		{"a context of 2.51 on the runtime of 2.48", "SM8750",
			set(oldARM, skels79, "2.51-SM8750.bin", "context", "2.48-SM8750.bin", "context")},
		{"a context for an older arch", "SM8750", set(newARM, skel79, "2.51-SM8650.bin", "context")},
		{"a context for a newer arch, with more VTCM", "SM8750", set(newARM, skel79, "2.51-SM8975.bin", "context")},
		{"a context for no SoC", "SM8750", set(newARM, skel79, "2.51-none.bin", "context")},
		{"stub of another build", "SM8750", set(newARM, skel79, stub79, oldARM+"/"+stub79)},
		{"skel of another build", "SM8750", set(newARM, skel79, skel79, oldARM+"/"+skels79)},
		{"skel of another arch under the name of the right one", "SM8750",
			set(newARM, skel79, skel79, newARM+"/libQnnHtpV81Skel.so")},
		{"no stub", "SM8750", set(newARM, skel79, stub79, "")},
		{"the set of another arch", "SM8850", set(newARM, skel79)},
		{"the host's libQnnHtp", "SM8750", set(newARM, skel79, "libQnnHtp.so", newX86+"/libQnnHtp.so")},
		{"no SoC is named", "", set(newARM, skel79, "2.51-SM8650.bin", "context")},
	} {
		dir := filepath.Join(w.Dir, fmt.Sprint("set", i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, from := range m.files {
			if from == "context" {
				if err := os.WriteFile(filepath.Join(dir, name), qnnctxtest.Real(t, name), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			put(t, from, filepath.Join(dir, name), nil)
		}
		args := []string{"compat", dir}
		if m.soc != "" {
			args = append(args, "--soc", m.soc)
		}
		o := w.Run(t, args...)
		fmt.Fprintf(&out, "%s: code %d\n%s%s\n", m.name, o.Code, o.Stdout, o.Stderr)
	}
	golden(t, "compat_mixes", out.String())
}

// planMixes has the same mixes in pipelines: plan judges the push sets of toolchains and the workspace before hexmage
// downloads anything.
func planMixes(t *testing.T) {
	_, _, _, oldARM := Vendor(t)
	w := NewWorld(t)
	for _, name := range []string{"2.51-SM8750.bin", "2.48-SM8750.bin", "2.51-SM8650.bin"} {
		if err := os.WriteFile(filepath.Join(w.Dir, name), qnnctxtest.Real(t, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(oldARM, stub79), filepath.Join(w.Dir, stub79), nil)
	var out strings.Builder
	for _, m := range []struct{ name, push string }{
		{"right", `toolchain.htp_linux_arm64.htp_runtime["v79"], { "c.bin" = "2.51-SM8750.bin" }`},
		{"older context", `toolchain.htp_linux_arm64.htp_runtime["v79"], { "c.bin" = "2.48-SM8750.bin" }`},
		{"newer context", `toolchain.qnnruntime.htp_runtime["v79"], { "c.bin" = "2.51-SM8750.bin" }`},
		{"context for another SoC", `toolchain.htp_linux_arm64.htp_runtime["v79"], { "c.bin" = "2.51-SM8650.bin" }`},
		{"stub of another build", `toolchain.htp_linux_arm64.htp_runtime["v79"], { "` + stub79 + `" = "` + stub79 +
			`" }`},
		{"skel of another release",
			`toolchain.htp_linux_arm64.htp_runtime["v79"], { "` + skel79 +
				`" = toolchain.qnnruntime.htp_runtime["v79"]["` + skel79 + `"] }`},
		{"set of another arch", `toolchain.htp_linux_arm64.htp_runtime["v75"]`},
		{"an arch that it does not have", `toolchain.htp_linux_arm64.htp_runtime["v85"]`},
	} {
		w.Write(t, "pipelines/mix.hcl", `profile "emulator" { default = true }
target "SM8750" {}
toolchain "htp_linux_arm64" {}
toolchain "qnnruntime" {}
toolchain "adb" {}
step "run" "x" {
  argv = ["/system/bin/true"]
  push = merge(`+m.push+`)
}
`)
		o := w.Run(t, "plan", "-v", "mix")
		if o.Code == ExitUsage && strings.Contains(o.Stdout, "missing: step.run.x: No phone is attached") {
			o.Code = ExitOK // that no phone is here says nothing of the mix
		}
		text := o.Stderr
		if _, pushed, ok := strings.Cut(o.Stdout, "push/"); ok {
			var lines []string
			for line := range strings.Lines("push/" + pushed) {
				if _, at, ok := strings.Cut(line, "push/"); ok && strings.Contains(line, " <- ") {
					lines = append(lines, "  "+at)
				}
			}
			text = strings.Join(slices.Compact(lines), "") + text
		}
		fmt.Fprintf(&out, "%s: code %d\n%s\n", m.name, o.Code, text)
	}
	golden(t, "plan_mixes", out.String())
}

// inspectContexts has all that is said of the contexts, and of the models beside them, that Qualcomm's compilers of
// 2.47 to 2.51 made here.
func inspectContexts(t *testing.T) {
	w := NewWorld(t)
	args := []string{"inspect", "--json"}
	for _, name := range qnnctxtest.Names(t) {
		if err := os.WriteFile(filepath.Join(w.Dir, name), qnnctxtest.Real(t, name), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	o := w.Run(t, args...)
	Wants(t, o, ExitOK)
	golden(t, "inspect_contexts", o.Stdout)
}

// diagnoseLogs has what is said of what Qualcomm's libraries printed when they were mixed like that.
func diagnoseLogs(t *testing.T) {
	w := NewWorld(t)
	logs, err := filepath.Glob(filepath.Join(Repo(), "steps/failures/testdata/vendor/*.log"))
	if err != nil || len(logs) < 10 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	var out strings.Builder
	for _, name := range logs {
		o := w.Run(t, "diagnose", name)
		fmt.Fprintf(&out, "%s: code %d\n%s%s\n", filepath.Base(name), o.Code, o.Stdout, o.Stderr)
	}
	golden(t, "diagnose_logs", out.String())
}
