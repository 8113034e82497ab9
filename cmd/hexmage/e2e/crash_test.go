//go:build linux

package e2e_test

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
)

// kill starts the run and kills hexmage and its process group, without warning: so long after the first event that has the
// text. It returns the process's id, or 0 when the run ended before.
func kill(t *testing.T, w *world, pipeline, after string, wait time.Duration) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := w.command(ctx, "--json", "run", pipeline)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen, last := make(chan struct{}), ""
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		found := false
		for s := bufio.NewScanner(stdout); s.Scan(); {
			if last = s.Text(); !found && strings.Contains(last, after) {
				found = true
				close(seen)
			}
		}
	}()
	select {
	case <-seen:
		time.Sleep(wait)
	case <-ended:
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	<-ended
	_ = cmd.Wait()
	if left := running(w); len(left) > 0 {
		t.Errorf("killed %v after %s; still running: %q", wait, after, left)
	}
	if cmd.ProcessState.ExitCode() > 0 {
		t.Fatalf("before it was to be killed it failed: %s\n%s", last, stderr.String())
	}
	t.Logf("killed %v after %s, at %.100s", wait, after, last)
	if cmd.ProcessState.Exited() {
		return 0
	}
	return cmd.Process.Pid
}

// digests returns the digest of every file that the run put out. Of those that hold measured times it is that of what must
// not vary: the words and the counts.
func digests(t *testing.T, w *world) map[string]string {
	t.Helper()
	steady := map[string]*regexp.Regexp{
		"metrics":              regexp.MustCompile(`"(title|profile|name)": .*|"value": "?[0-9]+( of [0-9]+)?"?,\n *"unit": "tokens"`),
		"samples/samples.csv":  regexp.MustCompile(`[a-z]\w*_(s|bytes|percent|MHz|C|mA|V)\b|processes|threads`),
		"samples/samples.json": regexp.MustCompile(`"(version|interval_ms|unit)": .*`),
		"samples.svg":          regexp.MustCompile(`<svg xmlns|font-weight="bold">.*|">(temperature of|memory (of|that)) [^<]*`),
		"stdout.txt":           regexp.MustCompile(`(?m)^.*(Build Id|num_tokens).*$|^ [^\x1b]+$|(Prefill|Decode) tokens.*`),
	}
	sums := map[string]string{}
	root := w.out("")
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

// completes runs the command again after kills: it ends well, with what a run that nobody killed puts out, and all of it
// is known from then on.
func completes(t *testing.T, w *world) {
	t.Helper()
	clean, _ := firstRun(t)
	o := w.run(t, "run", pipeline)
	if o.code != 0 {
		t.Fatalf("after the kills: %s", o)
	}
	if diff := cmp.Diff(digests(t, clean), digests(t, w)); diff != "" {
		t.Errorf("outputs (-clean +killed):\n%s", diff)
	}
	if r := w.runJSON(t, pipeline); r.executed != 0 {
		t.Errorf("and once more: executed %d: %q", r.executed, r.names)
	}
	if left := running(w); len(left) > 0 {
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
	firstRun(t)
	w := newWorld(t).withDownloads(t)
	w.runJSON(t, pipeline, aot+"toolchain.llvm", aot+"toolchain.qemu", aot+"toolchain.adb", aot+"toolchain.busybox")
	r := random(t)
	for range 4 {
		kill(t, w, pipeline, started, time.Duration(50+r.IntN(1500))*time.Millisecond)
	}
	for range 2 { // while the phone runs: adb's server, the emulator, qemu
		kill(t, w, pipeline, `"step":"module.aot.run.llm","name":"run"`, time.Duration(r.IntN(900))*time.Millisecond)
	}
	for i := range 6 { // while outputs are put in place
		if pid := kill(t, w, pipeline, `"step":"module.aot.run.llm","name":"metrics"`, time.Duration(5*i)*time.Millisecond); pid > 0 && w.interruptedExport(t) {
			w.write(t, fmt.Sprintf("out/%s/.hexmage-%d-1/new", pipeline, pid), "what it leaves when it is just then")
		}
	}
	w.write(t, "out/"+pipeline+"/mine-4194303", "not hexmage's")
	defer func() { read(t, w.out("mine-4194303")) }()
	completes(t, w)
}

// interruptedExport leaves the mark of a run that was killed while it put outputs in place. It returns false where no run has
// come as far as that yet.
func (w *world) interruptedExport(t *testing.T) bool {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(w.cache, "state", "exports", "????????????????"))
	if err != nil || len(found) > 1 {
		t.Fatalf("%q, %v", found, err)
	}
	if len(found) == 0 {
		return false
	}
	if err := os.WriteFile(found[0]+".writing", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return true
}

// TestKilledCold: the same while toolchains are fetched and unpacked.
func TestKilledCold(t *testing.T) {
	w := newWorld(t).withDownloads(t)
	r := random(t)
	for range 3 {
		kill(t, w, pipeline, started, time.Duration(300+r.IntN(4000))*time.Millisecond)
	}
	completes(t, w)
}

// TestKilledCommand: a command that would go on for long does not, when hexmage is killed.
func TestKilledCommand(t *testing.T) {
	w := newWorld(t)
	w.write(t, pipelineFile, `step "exec" "slow" { argv = ["sleep", "1000"] }`)
	if kill(t, w, pipeline, `"event":"node_started"`, 300*time.Millisecond) == 0 {
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

// TestEnded: the first Ctrl-C ends the commands, too, and is told by the exit code; so does what kills hexmage. Both hold
// for a first build, and for one after which nothing but a source has changed.
func TestEnded(t *testing.T) {
	for _, which := range []string{"first", "next"} {
		for name, end := range map[string]syscall.Signal{"interrupted": syscall.SIGINT, "killed": syscall.SIGKILL} {
			t.Run(which+" "+name, func(t *testing.T) {
				w := newWorld(t)
				w.write(t, "pipelines/p.hcl", slowStep)
				if which == "next" {
					w.write(t, "text", "go\n")
					w.runJSON(t, "p")
				}
				w.write(t, "text", "wait\n")
				ctx, cancel := context.WithTimeout(t.Context(), runLimit)
				defer cancel()
				cmd := w.command(ctx, "--json", "run", "p")
				stdout, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				for s := bufio.NewScanner(stdout); s.Scan(); {
					if !strings.Contains(s.Text(), `"event":"node_started"`) {
						continue
					}
					_ = cmd.Process.Signal(end)
				}
				_ = cmd.Wait()
				if code := cmd.ProcessState.ExitCode(); end == syscall.SIGINT && code != 130 {
					t.Errorf("exit code %d, want 130", code)
				}
				if left := running(w); len(left) > 0 {
					t.Errorf("still running: %q", left)
				}
				w.write(t, "text", "on\n")
				if w.runJSON(t, "p"); read(t, filepath.Join(w.dir, "out/p/o")) != "on\n" {
					t.Error("it does not go on")
				}
				w.clean(t)
			})
		}
	}
}

// TestTwoAtOnce: two people's builds share a cache, and do nothing twice.
func TestTwoAtOnce(t *testing.T) {
	w := newWorld(t)
	w.env = []string{"HEXMAGE_SANDBOX=staged"} // the actions note elsewhere that they ran
	count := filepath.Join(t.TempDir(), "count")
	w.write(t, "pipelines/p.hcl", `step "exec" "slow" {
  for_each = toset(["a", "b"])
  argv     = ["sh", "-c", "echo x >> `+count+`; sleep 1; echo ${each.value} > o"]
  output "o" { file = "o" }
}
output "a" { value = step.exec.slow["a"].outputs.o }
`)
	other := newWorld(t)
	other.cache, other.env = w.cache, w.env
	other.write(t, "pipelines/p.hcl", read(t, filepath.Join(w.dir, "pipelines/p.hcl")))
	done := make(chan *outcome)
	for _, one := range []*world{w, other} {
		go func() { done <- one.run(t, "run", "p") }()
	}
	for range 2 {
		if o := <-done; o.code != exitOK {
			t.Errorf("one of two: %s", o)
		}
	}
	if ran := read(t, count); ran != "x\nx\n" {
		t.Errorf("two actions ran %d times", len(ran)/2)
	}
	for _, one := range []*world{w, other} {
		if text := read(t, filepath.Join(one.dir, "out/p/a")); text != "a\n" {
			t.Errorf("output %q", text)
		}
	}
}
