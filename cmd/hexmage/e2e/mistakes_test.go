//go:build linux

package e2e_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Exit codes, as people's scripts know them.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitEngine = 3
	exitCheck  = 5
)

// TestMistakes: an error names the place and the remedy, and has the promised exit code.
func TestMistakes(t *testing.T) {
	w := newWorld(t)
	good := w.shipped(t)
	for _, c := range []struct {
		what, old, new string
		code           int
		says           []string
	}{
		{"unknown step", "= step.patch.ops.outputs.dir\n    package = \"LLaMAPackage\"\n    targets", "= step.patch.opz.outputs.dir\n    package = \"LLaMAPackage\"\n    targets", exitUsage,
			[]string{openFile, "step.patch.opz", "step.patch.ops"}},
		{"unknown output", "step.convert.llm.outputs.model", "step.convert.llm.outputs.modl", exitUsage, []string{moduleFile, "modl", "model"}},
		{"unknown argument", `  name  = var.architecture`, `  nome  = var.architecture`, exitUsage, []string{moduleFile, "nome"}},
		{"unknown series", `= "mllm"` + "\n  }", `= "llama"` + "\n  }", exitUsage, []string{openFile, `no patch series "llama"`}},
		{"unknown SoC", `"SM8750"`, `"SM9999"`, exitUsage, []string{pipelineFile, "SM9999", "`hexmage compat` lists"}},
		{"unknown release", `"2.41.0.251128"`, `"2.41.0.251129"`, exitUsage, []string{pipelineFile, "2.41.0.251129", "2.41.0.251128"}},
		{"syntax", `step "convert" "llm" {`, `step "convert" "llm" {{`, exitUsage, []string{moduleFile}},
		{"cycle", `model        = local.model`, `model        = step.convert.llm.outputs.model`, exitUsage,
			[]string{moduleFile, "step.quantize.llm", "step.convert.llm"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			w.writeShipped(t, good.with(t, c.old, c.new))
			o := w.run(t, "run", pipeline)
			wants(t, o, c.code, c.says...)
			if o.stdout != "" {
				t.Errorf("standard output: %s", o.stdout)
			}
			for _, dir := range []string{filepath.Join(w.dir, "out"), filepath.Join(w.cache, "trees")} {
				if _, err := os.Stat(dir); err == nil {
					t.Errorf("%s was made", dir)
				}
			}
		})
	}
}

// TestSteps: what goes wrong while steps run, and the exit codes.
func TestSteps(t *testing.T) {
	w := newWorld(t)
	const text = `
variable "do" { type = string }
step "exec" "it" {
  argv = ["sh", "-c", var.do]
  output "o" { file = "o.txt" }
}
output "o.txt" { value = step.exec.it.outputs.o }
`
	w.write(t, "pipelines/p.hcl", text)
	for _, c := range []struct {
		what, do string
		code     int
		says     []string
	}{
		{"missing output", "true", exitFailed, []string{"pipelines/p.hcl:3", "did not write its output o.txt", "hint: "}},
		{"folder for a file", "mkdir o.txt", exitFailed, []string{"pipelines/p.hcl:3", "should be a file"}},
		{"failure", "echo hm > o.txt; echo broken >&2; exit 7", exitFailed, []string{"pipelines/p.hcl:3", "exit code 7", "broken"}},
		{"killed", "kill -9 $$", exitFailed, []string{"pipelines/p.hcl:3", "exit code 137"}},
		{"well", "echo fine > o.txt", exitOK, []string{"out/p/o.txt"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			wants(t, w.run(t, "run", "--var", "do="+c.do, "p"), c.code, c.says...)
			_, err := os.Stat(filepath.Join(w.dir, "out", "p", "o.txt"))
			if (err == nil) != (c.code == exitOK) {
				t.Errorf("output: %v", err)
			}
			w.clean(t)
		})
	}
	w.write(t, "pipelines/p.hcl", strings.Replace(text, `["sh", "-c", var.do]`, `["no-such-program"]`, 1))
	wants(t, w.run(t, "run", "--var", "do=", "p"), exitEngine, "no-such-program", "pipelines/p.hcl:3")
	w.clean(t)
}

// clean wants nothing half done in the cache.
func (w *world) clean(t *testing.T) {
	t.Helper()
	if entries, err := os.ReadDir(filepath.Join(w.cache, "tmp")); err != nil || len(entries) > 0 {
		t.Errorf("left in tmp: %v, %v", entries, err)
	}
	kept, err := filepath.Glob(filepath.Join(w.cache, "downloads", "*"))
	for _, p := range kept {
		if name := filepath.Base(p); len(name) == 64 && digestOf([]byte(read(t, p))) != name {
			t.Errorf("download %s is kept and is not what its name says", name)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// member is one member of an archive.
type member struct {
	name, text, link string
	kind             byte
}

func archive(t *testing.T, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	a := tar.NewWriter(z)
	for _, m := range members {
		if m.kind == 0 {
			m.kind = tar.TypeReg
		}
		if err := a.WriteHeader(&tar.Header{Name: m.name, Linkname: m.link, Typeflag: m.kind, Size: int64(len(m.text)), Mode: 0o755}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Write([]byte(m.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestArchives: an SDK that is not what it should be is not taken, and nothing of it stays; the right one is, after it.
func TestArchives(t *testing.T) {
	program := member{name: "box-1/bin/box", text: "#!/bin/sh\necho a box\n"}
	big := program
	big.text += strings.Repeat("# filler\n", 50_000)
	good := archive(t, program)
	evil := filepath.Join(t.TempDir(), "evil")
	whole := archive(t, big)
	for _, c := range []struct {
		what   string
		data   []byte
		sha256 string // "" is that of data
		says   []string
	}{
		{"wrong digest", good, digestOf([]byte("another")), []string{"sha256", digestOf(good), digestOf([]byte("another")), "`hexmage lock` pins it"}},
		{"truncated, digest of the whole", whole[:len(whole)/2], digestOf(whole), []string{"sha256"}},
		{"truncated", whole[:len(whole)-20], "", []string{"box"}},
		{"no archive", []byte("<html>please log in</html>"), "", []string{"box"}},
		{"path out", archive(t, program, member{name: "box-1/../../../evil", text: "evil"}), "", []string{"../"}},
		{"absolute path", archive(t, program, member{name: evil, text: "evil"}), "", []string{"evil"}},
		{"absolute link", archive(t, program, member{name: "box-1/out", kind: tar.TypeSymlink, link: filepath.Dir(evil)},
			member{name: "box-1/out/evil", text: "evil"}), "", []string{"box-1/out"}},
		{"link out", archive(t, program, member{name: "box-1/out", kind: tar.TypeSymlink, link: "../../../.."}), "", []string{"out"}},
		{"hard link out", archive(t, program, member{name: "box-1/passwd", kind: tar.TypeLink, link: "/etc/passwd"}), "", []string{"passwd"}},
		{"device", archive(t, program, member{name: "box-1/null", kind: tar.TypeChar}), "", []string{"null"}},
		{"not the SDK", archive(t, member{name: "box-1/README", text: "read me"}), "", []string{"bin/box"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := newWorld(t)
			if c.sha256 == "" {
				c.sha256 = digestOf(c.data)
			}
			w.box(t, c.data, c.sha256)
			o := w.run(t, "run", "p")
			wants(t, o, exitFailed, append(c.says, "toolchain.box", "pipelines/p.hcl:1")...)
			w.clean(t)
			if entries, _ := os.ReadDir(filepath.Join(w.cache, "trees")); len(entries) > 0 {
				t.Errorf("half installed: %v", entries)
			}
			for _, dir := range []string{filepath.Dir(evil), w.cache, filepath.Dir(w.cache)} {
				if _, err := os.Lstat(filepath.Join(dir, "evil")); err == nil {
					t.Fatalf("it wrote to %s", dir)
				}
			}
			w.box(t, good, digestOf(good))
			if o := w.run(t, "run", "p"); o.code != exitOK {
				t.Fatalf("the right one: %s", o)
			}
			if text := read(t, filepath.Join(w.dir, "out", "p", "said")); text != "a box\n" {
				t.Errorf("it said %q", text)
			}
			w.clean(t)
		})
	}
}

// TestBrokenLock: a digest that is none is a mistake in the lock file, found before anything is fetched.
func TestBrokenLock(t *testing.T) {
	w := newWorld(t)
	w.box(t, []byte("whatever"), "abc")
	wants(t, w.run(t, "run", "p"), exitUsage, "hexmage.lock.hcl", "abc", "box 1")
	w.box(t, []byte("whatever"), "abc")
	w.write(t, "hexmage.lock.hcl", "")
	wants(t, w.run(t, "run", "p"), exitUsage, "Toolchain not available", "hexmage.lock.hcl", "hexmage lock box 1", "pipelines/p.hcl")
	if _, err := os.Stat(filepath.Join(w.cache, "downloads")); err == nil {
		t.Error("something was downloaded")
	}
}

// TestWrongStandIn: the shipped stand-ins go the way of a download, so a wrong digest in the lock stops them too, and the
// right one lets them through afterwards.
func TestWrongStandIn(t *testing.T) {
	w := newWorld(t)
	lock, err := os.ReadFile(filepath.Join(shared.repo, "hexmage.lock.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)locked "hexagon" "6.4.0.2" \{\s+source = "embedded".*?sha256 = "([0-9a-f]{64})"`).FindSubmatch(lock)
	if found == nil {
		t.Fatal("the lock does not pin the stand-in of the Hexagon SDK")
	}
	right, wrong := string(found[1]), digestOf([]byte("another"))
	w.write(t, "hexmage.lock.hcl", strings.ReplaceAll(string(lock), right, wrong))
	wants(t, w.run(t, "run", pipeline, "toolchain.hexagon"), 1, "toolchain.hexagon", right, wrong, "`hexmage lock` pins it")
	if left, _ := filepath.Glob(filepath.Join(w.cache, "trees", "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	w.write(t, "hexmage.lock.hcl", string(lock))
	wants(t, w.run(t, "run", pipeline, "toolchain.hexagon"), 0)
}

// box gives the workspace a catalogue with a toolchain, a lock, and a pipeline that uses it.
func (w *world) box(t *testing.T, data []byte, sha256 string) {
	t.Helper()
	w.write(t, "box.tar.gz", string(data))
	w.write(t, "toolchains/box.hcl", fmt.Sprintf(`toolchain "box" {
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
`, w.dir))
	w.write(t, "hexmage.lock.hcl", fmt.Sprintf("locked \"box\" \"1\" {\n  source = \"archive\"\n  size = %d\n  sha256 = %q\n}\n", len(data), sha256))
	w.write(t, "pipelines/p.hcl", `toolchain "box" { use = "archive" }
step "exec" "say" {
  argv = ["sh", "-c", "${toolchain.box.dir}/bin/box > said"]
  output "said" { file = "said" }
}
output "said" { value = step.exec.say.outputs.said }
`)
}
