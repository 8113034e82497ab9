//go:build linux

package mainjob_test

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

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestSHA256: with the digest function that every remote cache knows, blobs and results are where Bazel's disk cache
// has them, and each blob is named by what `sha256sum` says of it.
func TestSHA256(t *testing.T) {
	w := NewWorld(t)
	w.Env = []string{"HEXMAGE_DIGEST=sha256"}
	w.Write(t, "pipelines/p.hcl", `step "exec" "hello" {
  argv = ["sh", "-c", "echo hello > o"]
  output "o" { file = "o" }
}
output "o" { value = step.exec.hello.outputs.o }
`)
	if r := w.RunJSON(t, "p"); r.Executed != 1 {
		t.Errorf("executed %q", r.Names)
	}
	if r := w.RunJSON(t, "p"); r.Executed != 0 || r.Cached != 1 {
		t.Errorf("again: executed %q", r.Names)
	}
	found := 0
	err := filepath.WalkDir(filepath.Join(w.Cache, "cas"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found++
		name := d.Name()
		if filepath.Base(filepath.Dir(p)) != name[:2] || len(name) != 64 {
			t.Errorf("%s: not Bazel's layout", p)
		}
		if sum := sha256.Sum256([]byte(Read(t, p))); hex.EncodeToString(sum[:]) != name {
			t.Errorf("%s: its content has the digest %x", p, sum)
		}
		return nil
	})
	if err != nil || found < 1 {
		t.Fatalf("%d files, %v", found, err)
	}
	const hello = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03" // of "hello\n"
	if text := Read(t, filepath.Join(w.Cache, "cas", hello[:2], hello)); text != "hello\n" {
		t.Errorf("the output's blob is %q", text)
	}
	if _, err := os.Stat(filepath.Join(w.Cache, "blake3")); err == nil {
		t.Error("there is a store of BLAKE3 digests, too")
	}
	w.Env = []string{"HEXMAGE_DIGEST=md5"}
	Wants(t, w.Run(t, "run", "p"), ExitUsage, "HEXMAGE_DIGEST", "md5", "sha256")
}

// TestDevicePlan: on a machine without SDKs and without a phone, the plan of the real thing shows every command, says
// what is missing and how to get it, and runs nothing; to run it is refused, for the same reasons.
func TestDevicePlan(t *testing.T) {
	w := NewWorld(t)
	o := w.RunWithout(t, "cmake", "plan", "-v", Pipeline, "--profile", "device")
	Wants(t, o, ExitUsage, "mllm-qwen3-aot-sha-c", "--ar_len 32", "cmake -B", "mllm's arithmetic", "adb",
		"android.toolchain.cmake", "-mv79", "libQnnLLaMAPackage.so",
		"github.com/UbiquitousLearning/mllm")
	says := []string{`(?m)^ *missing: .*hexagon.*hexmage lock hexagon 6\.4\.0\.2`, `(?m)^ *missing: .*--var model=`,
		`(?m)^ *missing: .*cmake.*apt-get install cmake`}
	if c, err := net.Dial("tcp", "127.0.0.1:5037"); err == nil {
		t.Log("an adb server runs on this machine: it may have a phone")
		c.Close()
	} else {
		says = append(says, `(?m)^ *missing: .*No phone is attached; connect one .*adb connect HOST:PORT`)
	}
	for _, want := range says {
		if !regexp.MustCompile(want).MatchString(o.Stdout) {
			t.Errorf("the plan does not have %q:\n%s", want, o.Stdout)
		}
	}
	if strings.Contains(o.Stdout, "simulation") || strings.Contains(o.Stdout, "emulator") {
		t.Errorf("there is something of the simulation in it:\n%s", o.Stdout)
	}
	for _, dir := range []string{filepath.Join(w.Dir, "out"), filepath.Join(w.Cache, "trees"),
		filepath.Join(w.Cache, "downloads")} {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("to plan has made %s", dir)
		}
	}
	refused := w.RunWithout(t, "cmake", "run", Pipeline, "--profile", "device")
	Wants(t, refused, ExitUsage, "hexmage lock hexagon 6.4.0.2", "--var model=", "apt-get install cmake")
}

// TestNoClone: a folder that is no clone of mllm is refused by name.
func TestNoClone(t *testing.T) {
	w := NewWorld(t)
	Wants(t, w.Run(t, "run", "--var", "mllm="+t.TempDir(), Simulated, Pipeline), ExitUsage, "mllm", "one clone of mllm",
		ModuleFile)
}
