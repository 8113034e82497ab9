package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
// text. It returns false when the run ended before.
func kill(t *testing.T, w *world, after string, wait time.Duration) bool {
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
	return cmd.ProcessState.ExitCode() == -1
}

// digests returns the digest of every file that the run put out. Of those that hold measured times it is that of what must
// not vary: the words and the counts.
func digests(t *testing.T, w *world) map[string]string {
	t.Helper()
	steady := map[string]*regexp.Regexp{
		"metrics":    regexp.MustCompile(`"(title|profile|name)": .*|"value": "?[0-9]+( of [0-9]+)?"?,\n *"unit": "tokens"`),
		"stdout.txt": regexp.MustCompile(`(?m)^.*(Build Id|num_tokens).*$|^ [^\x1b]+$|(Prefill|Decode) tokens.*`),
	}
	sums := map[string]string{}
	root := w.out("")
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(root, p)
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
	w.runJSON(t, pipeline, "toolchain.llvm", "toolchain.qemu", "toolchain.adb", "toolchain.busybox")
	r := random(t)
	for range 4 {
		kill(t, w, started, time.Duration(50+r.IntN(1500))*time.Millisecond)
	}
	for range 2 { // while the phone runs: adb's server, the emulator, qemu
		kill(t, w, `"step":"run.qwen3","name":"run"`, time.Duration(r.IntN(900))*time.Millisecond)
	}
	completes(t, w)
}

// TestKilledCold: the same while toolchains are fetched and unpacked.
func TestKilledCold(t *testing.T) {
	w := newWorld(t).withDownloads(t)
	r := random(t)
	for range 3 {
		kill(t, w, started, time.Duration(300+r.IntN(4000))*time.Millisecond)
	}
	completes(t, w)
}

// TestKilledCommand: a command that would go on for long does not, when hexmage is killed.
func TestKilledCommand(t *testing.T) {
	w := newWorld(t)
	w.write(t, "pipelines/"+pipeline+".hcl", `step "exec" "slow" { argv = ["sleep", "1000"] }`)
	if !kill(t, w, `"event":"node_started"`, 300*time.Millisecond) {
		t.Error("it had ended before")
	}
}
