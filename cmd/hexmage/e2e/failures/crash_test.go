//go:build linux

package failures_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// digests returns the digest of every file that the run put out. Of those that hold measured times it is that of what
// must not vary: the words and the counts.
func digests(t *testing.T, w *World) map[string]string {
	t.Helper()
	steady := map[string]*regexp.Regexp{
		"metrics": regexp.MustCompile(
			`"(title|profile|name)": .*|"value": "?[0-9]+( of [0-9]+)?"?,\n *"unit": "tokens"`),
		"samples/samples.csv":  regexp.MustCompile(`[a-z]\w*_(s|bytes|percent|MHz|C|mA|V)\b|processes|threads`),
		"samples/samples.json": regexp.MustCompile(`"(version|interval_ms|unit)": .*`),
		"stdout.txt":           regexp.MustCompile(`(?m)^.*(Build Id|num_tokens).*$|^[^\x1b=\n][^\x1b\n]*$|(Prefill|Decode) tokens.*`),
	}
	sums := map[string]string{}
	root := w.Out("")
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(root, p)
		if rel == "mine-4194303" { // larger than Linux gives its processes
			return err
		}
		if only := steady[rel]; only != nil {
			found := only.FindAll(b, -1)
			if len(found) < 5 {
				t.Errorf("%s has little in it: %q", rel, found)
			}
			b = bytes.Join(found, nil)
		}
		sum := sha256.Sum256(b)
		sums[rel] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil || len(sums) < 10 {
		t.Fatalf("outputs %v: %v", sums, err)
	}
	return sums
}

// completes runs the command again after kills: it ends well, with what a run that nobody killed puts out, and all of
// it is known from then on.
func completes(t *testing.T, w *World) {
	t.Helper()
	clean, _ := FirstRun(t)
	o := w.Run(t, "run", Simulated, Pipeline)
	if o.Code != 0 {
		t.Fatalf("after the kills: %s", o)
	}
	if diff := cmp.Diff(digests(t, clean), digests(t, w)); diff != "" {
		t.Errorf("outputs (-clean +killed):\n%s", diff)
	}
	if r := w.RunJSON(t, Simulated, Pipeline); r.Executed != 0 {
		t.Errorf("and once more: executed %d: %q", r.Executed, r.Names)
	}
	if left := Running(w); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
}

const started = `"event":"build_started"`

func random(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// TestKilled: kill -9 at moments nobody chose, each time later in the run, and the same command completes.
func TestKilled(t *testing.T) {
	FirstRun(t)
	w := NewWorld(t).WithDownloads(t)
	w.RunJSON(t, Simulated, Pipeline,
		AOT+"toolchain.llvm", AOT+"module.toy.toolchain.qemu", AOT+"toolchain.adb",
		AOT+"module.toy.toolchain.busybox")
	r := random(t)
	for range 4 {
		Kill(t, w, Simulated+" "+Pipeline, started, time.Duration(50+r.IntN(1500))*time.Millisecond)
	}
	for range 2 { // while the phone runs: adb's server, the emulator, qemu
		Kill(t, w, Simulated+" "+Pipeline, `"step":"module.aot.run.llm","name":"run"`, time.Duration(r.IntN(900))*time.Millisecond)
	}
	for i := range 6 { // while outputs are put in place
		if pid := Kill(t, w, Simulated+" "+Pipeline, `"step":"module.aot.run.llm","name":"metrics"`,
			time.Duration(5*i)*time.Millisecond); pid > 0 {
			w.Write(t, fmt.Sprintf("out/%s/.hexmage-%d-1/new", Pipeline, pid), "what it leaves when it is just then")
		}
	}
	w.Write(t, "out/"+Pipeline+"/mine-4194303", "not hexmage's")
	defer func() { Read(t, w.Out("mine-4194303")) }()
	completes(t, w)
}

// TestKilledCold: the same while toolchains are fetched and unpacked.
func TestKilledCold(t *testing.T) {
	w := NewWorld(t).WithDownloads(t)
	r := random(t)
	for range 3 {
		Kill(t, w, Simulated+" "+Pipeline, started, time.Duration(300+r.IntN(4000))*time.Millisecond)
	}
	completes(t, w)
}

// TestKilledCommand: a command that would go on for long does not, when hexmage is killed.
func TestKilledCommand(t *testing.T) {
	w := NewWorld(t)
	w.Write(t, PipelineFile, `step "exec" "slow" { argv = ["sleep", "1000"] }`)
	if Kill(t, w, Pipeline, `"event":"action_started"`, 300*time.Millisecond) == 0 {
		t.Error("it had ended before")
	}
}

// slowStep waits while its source says so.
const slowStep = `
step "exec" "slow" {
  argv   = ["sh", "-c", "if grep -q wait text; then sleep 1000; fi; cp text o"]
  inputs = ["text"]
  output "o" { file = "o" }
}
output "o" { value = step.exec.slow.outputs.o }
`

// TestEnded: the first Ctrl-C ends the commands, too, and is told by the exit code; so does what kills hexmage. Both
// hold for a first build, and for one after which nothing but a source has changed.
func TestEnded(t *testing.T) {
	for _, which := range []string{"first", "next"} {
		for name, end := range map[string]syscall.Signal{"interrupted": syscall.SIGINT, "killed": syscall.SIGKILL} {
			t.Run(which+" "+name, func(t *testing.T) {
				w := NewWorld(t)
				w.Write(t, "pipelines/p.hcl", slowStep)
				if which == "next" {
					w.Write(t, "text", "go\n")
					w.RunJSON(t, "p")
				}
				w.Write(t, "text", "wait\n")
				ctx, cancel := context.WithTimeout(t.Context(), RunLimit)
				defer cancel()
				cmd := w.Command(ctx, "--json", "run", "p")
				stdout, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				for s := bufio.NewScanner(stdout); s.Scan(); {
					if !strings.Contains(s.Text(), `"event":"action_started"`) {
						continue
					}
					_ = cmd.Process.Signal(end)
				}
				_ = cmd.Wait()
				if code := cmd.ProcessState.ExitCode(); end == syscall.SIGINT && code != 130 {
					t.Errorf("exit code %d, want 130", code)
				}
				if left := Running(w); len(left) > 0 {
					t.Errorf("still running: %q", left)
				}
				w.Write(t, "text", "on\n")
				if w.RunJSON(t, "p"); Read(t, filepath.Join(w.Dir, "out/p/o")) != "on\n" {
					t.Error("it does not go on")
				}
				w.Clean(t)
			})
		}
	}
}

// TestTwoAtOnce: two people's builds share a cache, and do nothing twice.
func TestTwoAtOnce(t *testing.T) {
	w := NewWorld(t)
	w.Env = []string{"HEXMAGE_SANDBOX=staged"} // the actions note elsewhere that they ran
	count := filepath.Join(t.TempDir(), "count")
	w.Write(t, "pipelines/p.hcl", `step "exec" "slow" {
  for_each = toset(["a", "b"])
  argv     = ["sh", "-c", "echo x >> `+count+`; sleep 1; echo ${each.value} > o"]
  output "o" { file = "o" }
}
output "a" { value = step.exec.slow["a"].outputs.o }
`)
	other := NewWorld(t)
	other.Cache, other.Env = w.Cache, w.Env
	other.Write(t, "pipelines/p.hcl", Read(t, filepath.Join(w.Dir, "pipelines/p.hcl")))
	done := make(chan *Outcome)
	for _, one := range []*World{w, other} {
		go func() { done <- one.Run(t, "run", "p") }()
	}
	for range 2 {
		if o := <-done; o.Code != ExitOK {
			t.Errorf("one of two: %s", o)
		}
	}
	if ran := Read(t, count); ran != "x\nx\n" {
		t.Errorf("two actions ran %d times", len(ran)/2)
	}
	for _, one := range []*World{w, other} {
		if text := Read(t, filepath.Join(one.Dir, "out/p/a")); text != "a\n" {
			t.Errorf("output %q", text)
		}
	}
}
