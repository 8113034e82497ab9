//go:build linux

package failures_test

import (
	"archive/tar"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestMistakes: an error names the place and the remedy, and has the promised exit code.
func TestMistakes(t *testing.T) {
	w := NewWorld(t)
	good := w.Shipped(t)
	for _, c := range []struct {
		what, old, new string
		code           int
		says           []string
	}{
		{"unknown step", "= step.patch.ops.outputs.dir\n  package = \"LLaMAPackage\"\n  targets",
			"= step.patch.opz.outputs.dir\n  package = \"LLaMAPackage\"\n  targets", ExitUsage,
			[]string{ModuleFile, "step.patch.opz", "step.patch.ops"}},
		{"unknown output", "step.convert.toy.outputs.model", "step.convert.toy.outputs.modl", ExitUsage,
			[]string{SimulatedFile, "modl", "model"}},
		{"unknown argument", `toy.outputs.dir` + "\n  name", `toy.outputs.dir` + "\n  nome", ExitUsage,
			[]string{SimulatedFile, "nome"}},
		{"unknown series", `= "mllm"` + "\n}", `= "llama"` + "\n}", ExitUsage,
			[]string{ModuleFile, `unknown patch series "llama"`}},
		{"unknown SoC", `"SM8750"`, `"SM9999"`, ExitUsage, []string{PipelineFile, "SM9999", "`hexmage compat` lists"}},
		{"unknown release", `"2.41.0.251128"`, `"2.41.0.251129"`, ExitUsage,
			[]string{PipelineFile, "2.41.0.251129", "2.41.0.251128"}},
		{"syntax", `step "convert" "toy" {`, `step "convert" "toy" {{`, ExitUsage, []string{SimulatedFile}},
		{"cycle", `model = step.toy_model.toy.outputs.dir`, `model = step.context.toy.outputs.context`, ExitUsage,
			[]string{SimulatedFile, "step.context.toy", "step.convert.toy"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			w.WriteShipped(t, good.With(t, c.old, c.new))
			o := w.Run(t, "run", Simulated, Pipeline)
			Wants(t, o, c.code, c.says...)
			if o.Stdout != "" {
				t.Errorf("standard output: %s", o.Stdout)
			}
			for _, dir := range []string{filepath.Join(w.Dir, "out"), filepath.Join(w.Cache, "trees")} {
				if _, err := os.Stat(dir); err == nil {
					t.Errorf("%s was made", dir)
				}
			}
		})
	}
}

// TestSteps: what goes wrong while steps run, and the exit codes.
func TestSteps(t *testing.T) {
	w := NewWorld(t)
	const text = `
variable "do" { type = string }
step "exec" "it" {
  argv = ["sh", "-c", var.do]
  output "o" { file = "o.txt" }
}
output "o.txt" { value = step.exec.it.outputs.o }
`
	w.Write(t, "pipelines/p.hcl", text)
	for _, c := range []struct {
		what, do string
		code     int
		says     []string
	}{
		{"missing output", "true", ExitFailed,
			[]string{"pipelines/p.hcl:3", "did not write its output o.txt", "hint: "}},
		{"folder for a file", "mkdir o.txt", ExitFailed, []string{"pipelines/p.hcl:3", "must be a file"}},
		{"failure", "echo hm > o.txt; echo broken >&2; exit 7", ExitFailed,
			[]string{"pipelines/p.hcl:3", "exit code 7", "broken"}},
		{"killed", "kill -9 $$", ExitFailed, []string{"pipelines/p.hcl:3", "exit code 137"}},
		{"well", "echo fine > o.txt", ExitOK, []string{"out/p/o.txt"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			Wants(t, w.Run(t, "run", "--var", "do="+c.do, "p"), c.code, c.says...)
			_, err := os.Stat(filepath.Join(w.Dir, "out", "p", "o.txt"))
			if (err == nil) != (c.code == ExitOK) {
				t.Errorf("output: %v", err)
			}
			w.Clean(t)
		})
	}
	w.Write(t, "pipelines/p.hcl", strings.Replace(text, `["sh", "-c", var.do]`, `["no-such-program"]`, 1))
	Wants(t, w.Run(t, "run", "--var", "do=", "p"), ExitEngine, "no-such-program", "pipelines/p.hcl:3")
	w.Clean(t)
}

// TestArchives: an SDK that is not what it should be is not taken, and nothing of it stays; the right one is, after it.
func TestArchives(t *testing.T) {
	program := Member{Name: "box-1/bin/box", Text: "#!/bin/sh\necho a box\n"}
	big := program
	big.Text += strings.Repeat("# filler\n", 50_000)
	good := Archive(t, program)
	evil := filepath.Join(t.TempDir(), "evil")
	whole := Archive(t, big)
	for _, c := range []struct {
		what   string
		data   []byte
		sha256 string // "" is that of data
		says   []string
	}{
		{"wrong digest", good, DigestOf([]byte("another")),
			[]string{"sha256", DigestOf(good), DigestOf([]byte("another")), "`hexmage lock` pins it"}},
		{"truncated, digest of the whole", whole[:len(whole)/2], DigestOf(whole), []string{"sha256"}},
		{"truncated", whole[:len(whole)-20], "", []string{"box"}},
		{"no archive", []byte("<html>please log in</html>"), "", []string{"box"}},
		{"path out", Archive(t, program, Member{Name: "box-1/../../../evil", Text: "evil"}), "", []string{"../"}},
		{"absolute path", Archive(t, program, Member{Name: evil, Text: "evil"}), "", []string{"evil"}},
		{"absolute link", Archive(t, program,
			Member{Name: "box-1/out", Kind: tar.TypeSymlink, Link: filepath.Dir(evil)},
			Member{Name: "box-1/out/evil", Text: "evil"}), "", []string{"box-1/out"}},
		{"link out", Archive(t, program, Member{Name: "box-1/out", Kind: tar.TypeSymlink, Link: "../../../.."}), "",
			[]string{"out"}},
		{"hard link out", Archive(t, program, Member{Name: "box-1/passwd", Kind: tar.TypeLink, Link: "/etc/passwd"}),
			"", []string{"passwd"}},
		{"device", Archive(t, program, Member{Name: "box-1/null", Kind: tar.TypeChar}), "", []string{"null"}},
		{"not the SDK", Archive(t, Member{Name: "box-1/README", Text: "read me"}), "", []string{"bin/box"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := NewWorld(t)
			if c.sha256 == "" {
				c.sha256 = DigestOf(c.data)
			}
			writeBox(t, w, c.data, c.sha256)
			o := w.Run(t, "run", "p")
			Wants(t, o, ExitFailed, append(c.says, "toolchain.box", "pipelines/p.hcl:1")...)
			w.Clean(t)
			if entries, _ := os.ReadDir(filepath.Join(w.Cache, "trees")); len(entries) > 0 {
				t.Errorf("half installed: %v", entries)
			}
			for _, dir := range []string{filepath.Dir(evil), w.Cache, filepath.Dir(w.Cache), filepath.Dir(w.Home)} {
				if _, err := os.Lstat(filepath.Join(dir, "evil")); err == nil {
					t.Fatalf("it wrote to %s", dir)
				}
			}
			writeBox(t, w, good, DigestOf(good))
			if o := w.Run(t, "run", "p"); o.Code != ExitOK {
				t.Fatalf("the right one: %s", o)
			}
			if text := Read(t, filepath.Join(w.Dir, "out", "p", "said")); text != "a box\n" {
				t.Errorf("it said %q", text)
			}
			w.Clean(t)
		})
	}
}

// TestBrokenLock: a digest that is none is a mistake in the lock file, found before anything is fetched.
func TestBrokenLock(t *testing.T) {
	w := NewWorld(t)
	writeBox(t, w, []byte("whatever"), "abc")
	Wants(t, w.Run(t, "run", "p"), ExitUsage, "hexmage.lock.hcl", "abc", "box 1")
	writeBox(t, w, []byte("whatever"), "abc")
	w.Write(t, "hexmage.lock.hcl", "")
	Wants(t, w.Run(t, "run", "p"), ExitUsage, "Toolchain not available", "hexmage.lock.hcl",
		"run `hexmage lock box\n1` to download and pin it", "pipelines/p.hcl")
	if _, err := os.Stat(filepath.Join(w.Cache, "downloads")); err == nil {
		t.Error("something was downloaded")
	}
}

// TestWrongSimulated: a wrong digest in the lock stops a simulated SDK, as it stops a download. The right one lets it
// through afterwards.
func TestWrongSimulated(t *testing.T) {
	w := NewWorld(t)
	lock, err := os.ReadFile(filepath.Join(Repo(), "hexmage.lock.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(
		`(?s)locked "hexagon" "6.4.0.2" \{\s+source = "embedded".*?sha256 = "([0-9a-f]{64})"`).FindSubmatch(lock)
	if found == nil {
		t.Fatal("the lock does not pin the simulation of the Hexagon SDK")
	}
	right, wrong := string(found[1]), DigestOf([]byte("another"))
	w.Write(t, "hexmage.lock.hcl", strings.ReplaceAll(string(lock), right, wrong))
	Wants(t, w.Run(t, "run", Simulated, Pipeline, "toolchain.hexagon"), 1, "toolchain.hexagon", right, wrong,
		"`hexmage lock` pins it")
	if left, _ := filepath.Glob(filepath.Join(w.Cache, "trees", "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	w.Write(t, "hexmage.lock.hcl", string(lock))
	Wants(t, w.Run(t, "run", Simulated, Pipeline, "toolchain.hexagon"), 0)
}

// writeBox gives the workspace a catalog with a toolchain, a lock, and a pipeline that uses it.
func writeBox(t *testing.T, w *World, data []byte, sha256 string) {
	t.Helper()
	w.Write(t, "box.tar.gz", string(data))
	w.Write(t, "toolchains/box.hcl", fmt.Sprintf(`toolchain "box" {
  description = "a box"
  default     = "1"
  verify { layout = ["bin/box"] }
  release "1" {
    source "archive" {
      urls         = ["file://%s/box.tar.gz"]
      strip_prefix = "box-1"
    }
  }
}
`, w.Dir))
	w.Write(t, "hexmage.lock.hcl",
		fmt.Sprintf("locked \"box\" \"1\" {\n  source = \"archive\"\n  size = %d\n  sha256 = %q\n}\n", len(data),
			sha256))
	w.Write(t, "pipelines/p.hcl", `toolchain "box" { source = "archive" }
step "exec" "say" {
  argv = ["sh", "-c", "${toolchain.box.dir}/bin/box > said"]
  output "said" { file = "said" }
}
output "said" { value = step.exec.say.outputs.said }
`)
}
