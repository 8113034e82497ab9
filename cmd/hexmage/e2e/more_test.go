//go:build linux

package e2e_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSHA256: with the digest function that every remote cache knows, blobs and results are where Bazel's disk cache has
// them, and each blob is named by what `sha256sum` says of it.
func TestSHA256(t *testing.T) {
	w := newWorld(t)
	w.env = []string{"HEXMAGE_DIGEST=sha256"}
	w.write(t, "pipelines/p.hcl", `step "exec" "hello" {
  argv = ["sh", "-c", "echo hello > o"]
  output "o" { file = "o" }
}
output "o" { value = step.exec.hello.outputs.o }
`)
	if r := w.runJSON(t, "p"); r.executed != 1 {
		t.Errorf("executed %q", r.names)
	}
	if r := w.runJSON(t, "p"); r.executed != 0 || r.cached != 1 {
		t.Errorf("again: executed %q", r.names)
	}
	found := 0
	err := filepath.WalkDir(filepath.Join(w.cache, "cas"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found++
		name := d.Name()
		if filepath.Base(filepath.Dir(p)) != name[:2] || len(name) != 64 {
			t.Errorf("%s: not Bazel's layout", p)
		}
		if sum := sha256.Sum256([]byte(read(t, p))); hex.EncodeToString(sum[:]) != name {
			t.Errorf("%s: its content has the digest %x", p, sum)
		}
		return nil
	})
	if err != nil || found < 1 {
		t.Fatalf("%d files, %v", found, err)
	}
	const hello = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03" // of "hello\n"
	if text := read(t, filepath.Join(w.cache, "cas", hello[:2], hello)); text != "hello\n" {
		t.Errorf("the output's blob is %q", text)
	}
	if _, err := os.Stat(filepath.Join(w.cache, "blake3")); err == nil {
		t.Error("there is a store of BLAKE3 digests, too")
	}
	w.env = []string{"HEXMAGE_DIGEST=md5"}
	wants(t, w.run(t, "run", "p"), exitUsage, "HEXMAGE_DIGEST", "md5", "sha256")
}

// TestDevicePlan: on a machine without SDKs and without a phone, the plan of the real thing shows every command, says what
// is missing and how to get it, and runs nothing; to run it is refused, for the same reasons.
func TestDevicePlan(t *testing.T) {
	w := newWorld(t)
	o := w.runWithout(t, "cmake", "plan", "-v", pipeline, "--profile", "device")
	wants(t, o, exitUsage, "mllm-qwen3-aot-sha-c", "--ar_len 32", "cmake -B", "train.py", "adb", "android.toolchain.cmake", "-mv79", "libQnnLLaMAPackage.so",
		"github.com/UbiquitousLearning/mllm")
	says := []string{`(?m)^ *missing: .*qairt.*hexmage lock qairt 2\.41\.0\.251128`, `(?m)^ *missing: .*--var model=`,
		`(?m)^ *missing: .*cmake.*apt-get install cmake`}
	if c, err := net.Dial("tcp", "127.0.0.1:5037"); err == nil {
		t.Log("an adb server runs on this machine: it may have a phone")
		c.Close()
	} else {
		says = append(says, `(?m)^ *missing: .*[Pp]hone.*adb devices`)
	}
	for _, want := range says {
		if !regexp.MustCompile(want).MatchString(o.stdout) {
			t.Errorf("the plan does not have %q:\n%s", want, o.stdout)
		}
	}
	if strings.Contains(o.stdout, "stand-in") || strings.Contains(o.stdout, "emulator") {
		t.Errorf("there is something of the stand-in in it:\n%s", o.stdout)
	}
	for _, dir := range []string{filepath.Join(w.dir, "out"), filepath.Join(w.cache, "trees"), filepath.Join(w.cache, "downloads")} {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("to plan has made %s", dir)
		}
	}
	refused := w.runWithout(t, "cmake", "run", pipeline, "--profile", "device")
	wants(t, refused, exitUsage, "hexmage lock qairt 2.41.0.251128", "--var model=", "apt-get install cmake")
}

// TestNoClone: a folder that is no clone of upstream is refused by name.
func TestNoClone(t *testing.T) {
	w := newWorld(t)
	wants(t, w.run(t, "run", "--var", "mllm="+t.TempDir(), pipeline), exitUsage, "mllm", "clone of upstream", moduleFile)
}

// TestUpstream: the whole op package of a clone of upstream, for both machines. Its sources are not ours to ship, so the
// clone is the caller's.
func TestUpstream(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of upstream")
	}
	w := warmed(t)
	r := w.runJSON(t, "--var", "mllm="+clone, pipeline)
	objects := 0
	for _, name := range r.names {
		if strings.HasSuffix(name, ".o") {
			objects++
		}
	}
	if objects < 2*18 {
		t.Errorf("%d objects: %q", objects, r.names)
	}
	for _, target := range []string{"htp_aarch64", "htp_v79"} {
		if text := read(t, w.out("oppackage/"+target+"/"+library)); !strings.HasPrefix(text, "\x7fELF") {
			t.Errorf("%s: no library", target)
		}
	}
	t.Logf("%d objects in %v", objects, r.took)
	t.Run("symbols", func(t *testing.T) { upstreamsSymbols(t, w, clone) })
}
