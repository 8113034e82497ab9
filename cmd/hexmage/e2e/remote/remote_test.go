//go:build linux

package remote_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// casd is a remote cache that others wrote: buildbox-casd, on this machine.
type casd struct {
	program, dir, tmp, address string
	more                       []string  // arguments
	path                       string    // where it finds programs; "": where this process does
	cmd                        *exec.Cmd // nil: it does not run
	log                        bytes.Buffer
}

func startCasd(t *testing.T) *casd {
	t.Helper()
	c := newCasd(t)
	c.start(t)
	return c
}

func newCasd(t *testing.T) *casd {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir()) // as the kernel names mounts
	if err != nil {
		t.Fatal(err)
	}
	c := &casd{program: toolchaintest.Casd(t), dir: dir, tmp: t.TempDir(), address: l.Addr().String()}
	l.Close()
	t.Cleanup(func() {
		c.kill()
		if left := mountsBelow(c.dir); len(left) > 0 {
			t.Errorf("casd left mounts: %q", left)
		}
	})
	return c
}

func (c *casd) start(t *testing.T) {
	t.Helper()
	c.cmd = exec.Command(c.program,
		slices.Concat([]string{"--bind=" + c.address, "--log-level=warning", "--reserved=1M"}, c.more,
			[]string{c.dir})...)
	c.cmd.Env = append(os.Environ(), "TMPDIR="+c.tmp) // who is killed clears nothing away
	if c.path != "" {
		c.cmd.Env = append(c.cmd.Env, "PATH="+c.path)
	}
	c.cmd.Stdout, c.cmd.Stderr = &c.log, &c.log
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	c.cmd.WaitDelay = 100 * time.Millisecond // what it runs may outlive it, with its standard output
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if conn, err := net.Dial("tcp", c.address); err == nil {
			conn.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.kill()
	t.Fatalf("casd does not listen at %s: %s", c.address, c.log.Bytes())
}

// kill ends it, and what it runs, as kill -9 does. What it has mounted for that goes, too: once nobody is left who
// could be in the middle of mounting.
func (c *casd) kill() {
	if c.cmd == nil {
		return
	}
	killSession(c.cmd.Process.Pid)
	_ = c.cmd.Wait()
	c.cmd = nil
	for _, at := range mountsBelow(c.dir) {
		_ = syscall.Unmount(at, syscall.MNT_DETACH)
	}
}

// killSession ends all processes of a session, and returns when none of them runs. What casd runs has groups of its
// own, and its session.
func killSession(session int) {
	for alive := inSession(session); len(alive) > 0; alive = inSession(session) {
		for _, pid := range alive {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// inSession are the processes of a session that still run.
func inSession(session int) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		stat, _ := os.ReadFile(file) // of a process that is gone: nothing
		_, rest, _ := strings.Cut(string(stat[max(0, bytes.LastIndexByte(stat, ')')):]), " ")
		if f := strings.Fields(rest); len(f) > 3 && f[0] != "Z" && f[0] != "X" && f[3] == strconv.Itoa(session) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// mountsBelow are the mounts of this machine below a folder.
func mountsBelow(dir string) (found []string) {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 4 && strings.HasPrefix(f[4], dir+"/") {
			found = append(found, f[4])
		}
	}
	return found
}

// blobs are the files of its blobs that keep wants.
func (c *casd) blobs(t *testing.T, keep func(size int64) bool) (files []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(c.dir, "cas", "objects"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil && keep(info.Size()) {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// share has the world share results by the server, in the clear if its address does not say otherwise. more are lines
// of the block.
func share(t *testing.T, w *World, address string, more ...string) {
	t.Helper()
	file := filepath.Join(w.Home, ".config", "hexmage", "config.hcl")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(address, "://") {
		address = "grpc://" + address
	}
	text := fmt.Sprintf("remote \"team\" {\n  cache   = \"%s\"\n  idle_timeout = \"2s\"\n  %s\n}\n", address,
		strings.Join(more, "\n  "))
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const uploads = `upload = "always"`

// largePipeline makes a file of 24 MB, counts it, and makes small files in a folder: three steps.
const largePipeline = `step "exec" "large" {
  argv = ["sh", "-c", "seq 1 3000000 > large"]
  output "large" { file = "large" }
}
step "exec" "tree" {
  argv = ["sh", "-c", "mkdir -p d/e && for i in $(seq 1 40); do echo $i > d/e/$i; done"]
  output "d" { tree = "d" }
}
step "exec" "count" {
  argv = ["sh", "-c", "echo said; cat $1 $2/e/7 | cksum > n; cat extra >> n", "count", step.exec.large.outputs.large, step.exec.tree.outputs.d]
  inputs = ["extra"]
  output "n" { value = "n" }
}
output "large" { value = step.exec.large.outputs.large }
output "d" { value = step.exec.tree.outputs.d }
output "n" { value = step.exec.count.outputs.n }
`

// largeWorld is a world with that pipeline, p.
func largeWorld(t *testing.T) *World {
	t.Helper()
	w := NewWorld(t)
	w.Write(t, "pipelines/p.hcl", largePipeline)
	w.Write(t, "extra", "extra\n")
	return w
}

// sameOut reports when two worlds have other outputs there.
func sameOut(t *testing.T, a, b *World, path string) {
	t.Helper()
	if out, err := exec.Command("diff", "-r", filepath.Join(a.Dir, "out", path),
		filepath.Join(b.Dir, "out", path)).CombinedOutput(); err != nil {
		t.Errorf("outputs differ: %v\n%s", err, out)
	}
}

// bytesIn is how many bytes the files below the folder have.
func bytesIn(t *testing.T, dir string) (n int64) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// TestRemotePipeline: what one machine made the next one has, byte by byte, without executing anything or fetching
// what nobody opens; and after an edit it executes what the edit reaches, with inputs that only the remote has.
func TestRemotePipeline(t *testing.T) {
	c := startCasd(t)
	one := NewWorld(t).WithDownloads(t)
	share(t, one, c.address, uploads)
	first := one.RunJSON(t, Simulated, Pipeline)
	if first.Executed == 0 || !strings.Contains(first.Stderr, "supports only sha256 digests") {
		t.Fatalf("the first machine: %s", first)
	}
	two := NewWorld(t)
	share(t, two, c.address)
	all := first.Executed + first.Cached
	if o := two.Run(t, "plan", Simulated, Pipeline); o.Code != 0 ||
		!strings.Contains(o.Stdout, fmt.Sprintf("%d actions: %d cached", all, all)) {
		t.Errorf("the plan does not know what the remote has: %s", o)
	}
	second := two.RunJSON(t, Simulated, Pipeline)
	if second.Executed != 0 || second.Cached != all {
		t.Errorf("the second machine executed %q", second.Names)
	}
	sameOut(t, one, two, Pipeline)
	was := bytesIn(t, two.Cache)
	t.Logf("the first machine %v, the second %v, with %d bytes in its cache where that has %d", first.Took,
		second.Took, was, bytesIn(t, one.Cache))
	if was > 32<<20 {
		t.Errorf("%d bytes were fetched: toolchains too", was)
	}
	// files that are as young as these were when it was planned are not known for sure, and so there is no snapshot
	time.Sleep(2500 * time.Millisecond)
	if again := two.RunJSON(t, Simulated, Pipeline); again.Executed != 0 {
		t.Errorf("again the second machine executed %q", again.Names)
	}
	c.kill() // a run without work asks nobody
	began := time.Now()
	if o := two.Run(t, "run", Simulated, Pipeline); o.Code != 0 || strings.Contains(o.Stderr, "remote") ||
		!strings.Contains(o.Stderr, " 0 executed") || time.Since(began) > 2*time.Second {
		t.Errorf("nothing is to be done, and the remote is gone: %s", o)
	}
	c.start(t)
	source := "oppackage/example/LLaMAPackage/src/ops/RMSNorm.cpp"
	for _, w := range []*World{one, two} {
		w.Write(t, source, Read(t, filepath.Join(w.Dir, source))+"\nint edited;\n")
		w.Env = append(w.Env, "HEXMAGE_REMOTE=team")
	}
	edited := two.RunJSON(t, Simulated, Pipeline)
	if edited.Executed == 0 || edited.Executed >= first.Executed/2 {
		t.Errorf("after an edit %d of %d actions were executed: %q", edited.Executed, first.Executed, edited.Names)
	}
	one.Env = append(one.Env, "HEXMAGE_REMOTE=off")
	if alone := one.RunJSON(t, Simulated, Pipeline); !slices.Equal(alone.Names, edited.Names) {
		t.Errorf("with the remote after an edit %q were executed, without it %q", edited.Names, alone.Names)
	}
	// the rest is of two runs on a device
	for _, out := range []string{"oppackage", "makefile", "model.mllm", "context.bin"} {
		sameOut(t, one, two, filepath.Join(Pipeline, out))
	}
}

// TestRemoteONNXHTP: what one machine took through Qualcomm's compiler and emulator the next one has, without
// fetching a toolchain. The first machine makes it all, as nothing that was made by BLAKE3 counts at casd.
func TestRemoteONNXHTP(t *testing.T) {
	c := startCasd(t)
	one := NewWorld(t).WithEmulatorDownloads(t)
	share(t, one, c.address, uploads, `upload_wait = "5m"`)
	first := one.RunJSON(t, ONNXHTP)
	two := NewWorld(t)
	share(t, two, c.address)
	second := two.RunJSON(t, ONNXHTP)
	if first.Executed == 0 || second.Executed != 0 || second.Cached != first.Executed+first.Cached {
		t.Errorf("the first machine executed %d actions, and the second %q", first.Executed, second.Names)
	}
	sameOut(t, one, two, ONNXHTP)
	sent, was := bytesIn(t, filepath.Join(c.dir, "cas")), bytesIn(t, two.Cache)
	t.Logf("%d actions; the first machine %v, the second %v; %d bytes in the first cache, %d at the server, %d in "+
		"the second", second.Cached, first.Took, second.Took, bytesIn(t, one.Cache), sent, was)
	if was > 32<<20 {
		t.Errorf("%d bytes were fetched: toolchains too", was)
	}
	if strings.Contains(first.Stderr, "left out") || second.Stderr != "" &&
		!strings.Contains(second.Stderr, "supports only sha256 digests") {
		t.Errorf("the first machine says %q, the second %q", first.Stderr, second.Stderr)
	}
}

// TestRemoteDoctor: doctor prints what the server answers, and what it lacks that the block needs.
func TestRemoteDoctor(t *testing.T) {
	c := startCasd(t)
	w := largeWorld(t)
	share(t, w, c.address, uploads)
	if o := w.Run(t, "doctor", "p"); !strings.Contains(strings.Join(strings.Fields(o.Stdout), " "),
		"ok team grpc://"+c.address+" answers: sha256; batches of ") {
		t.Errorf("%s", o)
	}
	share(t, w, c.address, "execute = true")
	if o := w.Run(t, "doctor", "p"); !strings.Contains(strings.Join(strings.Fields(o.Stdout), " "),
		"optional team grpc://"+c.address+" answers, but runs no actions, although the block sets execute = true") {
		t.Errorf("%s", o)
	}
}

// TestRemoteFaults: whatever becomes of the server, outputs are right, and there is one sentence about it.
func TestRemoteFaults(t *testing.T) {
	c := startCasd(t)
	one := largeWorld(t)
	share(t, one, c.address, uploads)
	if r := one.RunJSON(t, "p"); r.Executed != 3 {
		t.Fatalf("the first machine: %s", r)
	}
	kept := t.TempDir()
	keep := func(from, to string) {
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	c.kill()
	keep(c.dir, kept)
	large := func(size int64) bool { return size > 20<<20 }
	for _, f := range []struct {
		name     string
		harm     func(t *testing.T, w *World) // casd is stopped before, and has what the first machine sent
		executed int                          // at most
		says     []string                     // in one line of what is said
	}{
		{"nothing", func(t *testing.T, w *World) { c.start(t) }, 0, nil},
		{"dead port", func(t *testing.T, w *World) {}, 3, []string{"remote team is disabled", "refused"}},
		{"black hole", func(t *testing.T, w *World) {
			l, err := net.Listen("tcp", c.address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
		}, 3, []string{"remote team is disabled", "no data from"}},
		{"flipped byte", func(t *testing.T, w *World) {
			for _, p := range c.blobs(t, large) {
				if err := os.Chmod(p, 0o644); err != nil {
					t.Fatal(err)
				}
				file, err := os.OpenFile(p, os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := file.WriteAt([]byte("X"), 10<<20); err != nil {
					t.Fatal(err)
				}
				file.Close()
			}
			c.start(t)
		}, 1, []string{"remote team reported", "builds again"}},
		{"evicted", func(t *testing.T, w *World) {
			for _, p := range c.blobs(t, large) {
				if err := os.Remove(p); err != nil {
					t.Fatal(err)
				}
			}
			c.start(t)
		}, 1, nil},
		{"all evicted", func(t *testing.T, w *World) {
			if err := os.RemoveAll(filepath.Join(c.dir, "cas", "objects")); err != nil {
				t.Fatal(err)
			}
			c.start(t)
		}, 3, nil},
		{"nonsense for results", func(t *testing.T, w *World) {
			err := filepath.WalkDir(filepath.Join(c.dir, "actioncache", "objects"),
				func(p string, d fs.DirEntry, err error) error {
					if err != nil || !d.Type().IsRegular() {
						return err
					}
					return os.WriteFile(p, []byte("\xff\xff nonsense"), 0o644)
				})
			if err != nil {
				t.Fatal(err)
			}
			c.start(t)
		}, 3, nil},
	} {
		t.Run(f.name, func(t *testing.T) {
			c.kill()
			keep(kept, c.dir)
			two := largeWorld(t)
			share(t, two, c.address)
			two.Env = []string{"HEXMAGE_DIGEST=sha256"}
			f.harm(t, two)
			r := two.RunJSON(t, "p")
			if r.Executed > f.executed {
				t.Errorf("executed %q", r.Names)
			}
			if r.Took > 20*time.Second {
				t.Errorf("it took %v", r.Took)
			}
			sameOut(t, one, two, "p")
			saysOnce(t, r.Outcome, f.says...)
			if r := two.RunJSON(t, "p"); r.Executed != 0 {
				t.Errorf("again: executed %q", r.Names)
			}
		})
	}
}

// saysOnce reports when the command's standard error is not one line with the words, or nothing where there are none.
func saysOnce(t *testing.T, o *Outcome, words ...string) {
	t.Helper()
	if n := strings.Count(o.Stderr, "\n"); n != min(1, len(words)) {
		t.Errorf("%d lines are said: %s", n, o.Stderr)
	}
	for _, w := range words {
		if !strings.Contains(o.Stderr, w) {
			t.Errorf("nothing says %q: %s", w, o.Stderr)
		}
	}
}

// TestRemoteKilled: casd is killed with -9 at many moments of a download and of an upload, and comes back or does
// not. Outputs are right, and what it has then is whole.
func TestRemoteKilled(t *testing.T) {
	c := startCasd(t)
	one := largeWorld(t)
	share(t, one, c.address, uploads)
	one.Env = []string{"HEXMAGE_DIGEST=sha256"}
	if r := one.RunJSON(t, "p"); r.Executed != 3 {
		t.Fatalf("the first machine: %s", r)
	}
	for i, after := range []time.Duration{0, 10, 30, 60, 100, 150} {
		for _, back := range []bool{false, true} {
			t.Run(fmt.Sprintf("download %dms %v", after, back), func(t *testing.T) {
				c.restart(t)
				two := largeWorld(t)
				share(t, two, c.address)
				two.Env = []string{"HEXMAGE_DIGEST=sha256"}
				killed := c.killAfter(t, after*time.Millisecond, back)
				r := two.RunJSON(t, "p")
				<-killed
				sameOut(t, one, two, "p")
				t.Logf("executed %q, said %s", r.Names, r.Stderr)
				if n := strings.Count(r.Stderr, "\n"); n > 1 {
					t.Errorf("%d lines are said: %s", n, r.Stderr)
				}
			})
			t.Run(fmt.Sprintf("upload %dms %v", after, back), func(t *testing.T) {
				c.restart(t)
				two := largeWorld(t)
				two.Write(t, "extra", fmt.Sprintf("%d %v\n", i, back)) // what nobody made yet
				two.Write(t, "pipelines/p.hcl",
					strings.Replace(largePipeline, "3000000", strconv.Itoa(3000100+10*i+map[bool]int{true: 1}[back]),
						1))
				share(t, two, c.address, uploads)
				two.Env = []string{"HEXMAGE_DIGEST=sha256"}
				killed := c.killAfter(t, 300*time.Millisecond+after*time.Millisecond, back)
				r := two.RunJSON(t, "p")
				<-killed
				if r.Executed == 0 || r.Took > 20*time.Second {
					t.Errorf("executed %q, in %v", r.Names, r.Took)
				}
				t.Logf("said %s", r.Stderr)
				c.restart(t)
				three := largeWorld(t)
				for _, name := range []string{"extra", "pipelines/p.hcl"} {
					three.Write(t, name, Read(t, filepath.Join(two.Dir, name)))
				}
				share(t, three, c.address)
				three.Env = two.Env
				after := three.RunJSON(t, "p")
				sameOut(t, two, three, "p")
				saysOnce(t, after.Outcome)
			})
		}
	}
}

// patience has a server that comes back be asked again until it is there, also on a busy machine.
func patience(back bool) string {
	return fmt.Sprintf("retries = %d", map[bool]int{false: 2, true: 5}[back])
}

// TestRemoteKilledMidway: casd is killed with -9 when a part of a large file has come, there or here.
func TestRemoteKilledMidway(t *testing.T) {
	c := startCasd(t)
	one := largeWorld(t)
	share(t, one, c.address, uploads)
	one.Env = []string{"HEXMAGE_DIGEST=sha256"}
	if r := one.RunJSON(t, "p"); r.Executed != 3 {
		t.Fatalf("the first machine: %s", r)
	}
	for _, way := range []string{"download", "upload"} {
		for n, back := range []bool{false, true} {
			t.Run(fmt.Sprint(way, " ", back), func(t *testing.T) {
				c.restart(t)
				two := largeWorld(t)
				two.Env = []string{"HEXMAGE_DIGEST=sha256"}
				share(t, two, c.address, patience(back))
				grows := two.Cache
				if way == "upload" {
					share(t, two, c.address, uploads, patience(back))
					// what nobody made yet
					other := strings.Replace(largePipeline, "3000000", strconv.Itoa(2_999_000+n), 1)
					two.Write(t, "pipelines/p.hcl", other)
					grows = c.dir
				}
				hit, before := make(chan bool), parts(grows) // what casd had received when it was killed stays
				go func() {
					defer close(hit)
					for begin := time.Now(); time.Since(begin) < 10*time.Second; time.Sleep(time.Millisecond) {
						if parts(grows) > before {
							c.kill()
							if back {
								c.start(t)
							}
							hit <- true
							return
						}
					}
				}()
				r := two.RunJSON(t, "p")
				t.Logf("%v: executed %q, said %s", r.Took, r.Names, r.Stderr)
				if was := <-hit; !was || r.Took > 10*time.Second {
					t.Errorf("it was killed in the middle: %v; it took %v", was, r.Took)
				}
				// said of what takes longer than a second
				r.Stderr = regexp.MustCompile(`(?m)^hexmage: uploading results to remote team.*\n`).ReplaceAllString(r.Stderr, "")
				if back {
					saysOnce(t, r.Outcome)
				} else {
					saysOnce(t, r.Outcome, "remote team is disabled", "is unreachable")
				}
				if way == "download" {
					sameOut(t, one, two, "p")
					if back && r.Executed != 0 {
						t.Errorf("executed %q", r.Names)
					}
					return
				}
				c.restart(t)
				three := largeWorld(t)
				three.Env = two.Env
				share(t, three, c.address)
				three.Write(t, "pipelines/p.hcl", Read(t, filepath.Join(two.Dir, "pipelines/p.hcl")))
				after := three.RunJSON(t, "p")
				saysOnce(t, after.Outcome)
				sameOut(t, two, three, "p")
				if back && after.Executed != 0 {
					t.Errorf("executed %q", after.Names)
				}
			})
		}
	}
}

// TestRemoteExecutionKilledMidway: casd is killed with -9, and what it runs, when an action runs there that is not
// done for a second.
func TestRemoteExecutionKilledMidway(t *testing.T) {
	c := startWorkers(t)
	one := farWorld(t)
	one.RunJSON(t, "p")
	for _, back := range []bool{false, true} {
		t.Run(fmt.Sprint(back), func(t *testing.T) {
			c.restart(t)
			two := farWorld(t)
			share(t, two, c.address, executes, patience(back))
			staged := func() []string { // folders with the inputs of actions, also of those that were killed
				dirs, _ := filepath.Glob(filepath.Join(c.dir, "cas/staging/*"))
				return dirs
			}
			hit, before := make(chan bool), staged()
			go func() {
				defer close(hit)
				for begin := time.Now(); time.Since(begin) < 20*time.Second; time.Sleep(time.Millisecond) {
					if slices.ContainsFunc(staged(), func(dir string) bool { return !slices.Contains(before, dir) }) {
						time.Sleep(300 * time.Millisecond)
						c.kill()
						if back {
							c.start(t)
						}
						hit <- true
						return
					}
				}
			}()
			o := two.Run(t, "--json", "run", "p")
			if was := <-hit; !was || o.Code != 0 || o.Took > 30*time.Second {
				t.Fatalf("it was killed in the middle: %v; %s", was, o)
			}
			t.Logf("%v: %s", o.Took, o.Stderr)
			there, _ := counted(t, o)
			said := strings.Count(o.Stderr, "\n") - 1 // how many ran where
			if back && (there != 3 || said != 0) ||
				!back && (there > 1 || said != 1 || !strings.Contains(o.Stderr, "remote team is disabled")) {
				t.Errorf("%d actions ran there: %s", there, o.Stderr)
			}
			sameOut(t, one, two, "p")
		})
	}
}

// parts is how many files below the folder have a part of the large file, and not all.
func parts(dir string) (n int) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Size() > 1<<20 && info.Size() < 20<<20 {
			n++
		}
		return nil
	})
	return n
}

func (c *casd) restart(t *testing.T) {
	t.Helper()
	c.kill()
	c.start(t)
}

// killAfter kills it then, and starts it again at once if it is to come back.
func (c *casd) killAfter(t *testing.T, after time.Duration, back bool) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(after)
		c.kill()
		if back {
			c.start(t)
		}
	}()
	return done
}

// TestRemoteFunction: a server that knows SHA-256 only has the workspace use that, which is said once and stays, also
// without the server; HEXMAGE_DIGEST has the last word.
func TestRemoteFunction(t *testing.T) {
	c := startCasd(t)
	w := largeWorld(t)
	if r := w.RunJSON(t, "p"); r.Executed != 3 {
		t.Fatalf("by BLAKE3: %s", r)
	}
	share(t, w, c.address, uploads)
	w.Write(t, "extra", "1\n")
	if r := w.RunJSON(t, "p"); r.Executed != 3 ||
		strings.Count(r.Stderr, "supports only sha256 digests, so this workspace now uses them") != 1 {
		t.Errorf("with the remote: %s", r)
	}
	for _, args := range [][]string{{"p"}, {"p", "--remote", "off"}} {
		w.Write(t, "extra", strings.Join(args, " "))
		if r := w.RunJSON(t, args...); !slices.Equal(r.Names, []string{"exec.count"}) || r.Stderr != "" {
			t.Errorf("%q: executed %q, said %s", args, r.Names, r.Stderr)
		}
	}
	// a damaged file counts as missing
	files, err := filepath.Glob(filepath.Join(w.Cache, "state", "functions", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("\xff nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.Write(t, "extra", "3\n")
	if r := w.RunJSON(t, "p"); !slices.Equal(r.Names, []string{"exec.count"}) ||
		strings.Count(r.Stderr, "supports only sha256 digests") != 1 {
		t.Errorf("with damage: executed %q, said %s", r.Names, r.Stderr)
	}
	w.Env = []string{"HEXMAGE_DIGEST=blake3"}
	w.Write(t, "extra", "2\n")
	if r := w.RunJSON(t, "p"); !slices.Equal(r.Names, []string{"exec.count"}) ||
		!strings.Contains(r.Stderr, "hexmage does not use remote team: ") {
		t.Errorf("by BLAKE3 again: executed %q, said %s", r.Names, r.Stderr)
	}
	share(t, w, c.address, executes, `fallback = "fail"`)
	w.Write(t, "extra", "4\n")
	Wants(t, w.Run(t, "run", "p"), ExitUsage, "remote team cannot run actions: this workspace uses blake3")
}

// TestRemotePolicies: nothing is sent but by who says so, and never what was made without a sandbox, or is of this
// machine alone.
func TestRemotePolicies(t *testing.T) {
	c := startCasd(t)
	sent := func() int { return len(c.blobs(t, func(size int64) bool { return size > 0 })) }
	for i, p := range []struct {
		more, env []string
		args      []string
		sends     bool
		says      string
	}{
		{},
		{more: []string{`upload = "never"`}},
		{more: []string{`upload = "ci"`}},
		{more: []string{uploads}, args: []string{"--remote", "off"}},
		{more: []string{uploads}, args: []string{"--offline"}},
		{more: []string{uploads}, env: []string{"HEXMAGE_REMOTE=off"}},
		{more: []string{uploads}, env: []string{"HEXMAGE_SANDBOX=staged"},
			says: "hexmage uploads nothing to remote team"},
		{more: []string{`upload = "ci"`}, env: []string{"CI=true"}, sends: true},
		{more: []string{uploads}, sends: true},
		{more: []string{uploads}, env: []string{"local"}},
	} {
		w := NewWorld(t)
		text := strings.Replace(largePipeline, "3000000", strconv.Itoa(1000+i), 1)
		if len(p.env) > 0 && p.env[0] == "local" {
			p.env, text = nil, strings.ReplaceAll(text, "  argv", "  cache = \"local\"\n  argv")
		}
		w.Write(t, "pipelines/p.hcl", text)
		w.Write(t, "extra", strconv.Itoa(i))
		share(t, w, c.address, p.more...)
		w.Env = append(p.env, "HEXMAGE_DIGEST=sha256")
		before := sent()
		r := w.RunJSON(t, append([]string{"p"}, p.args...)...)
		if n := sent() - before; (n > 0) != p.sends {
			t.Errorf("%d: %d blobs were sent", i, n)
		}
		if !strings.Contains(r.Stderr, p.says) || p.says == "" && r.Stderr != "" {
			t.Errorf("%d: it says %q", i, r.Stderr)
		}
	}
}

// TestRemoteCredentials: what stands in headers is nowhere: not in the cache, its logs and events, on the server, in
// the outputs, nor in what is said.
func TestRemoteCredentials(t *testing.T) {
	const token = "s3cr3t-t0ken-of-the-team"
	c := startCasd(t)
	w := largeWorld(t)
	share(t, w, c.address, uploads, `headers = { authorization = "Bearer ${env.TEAM_TOKEN}" }`)
	Wants(t, w.Run(t, "run", "p"), ExitUsage, "TEAM_TOKEN", "config.hcl", "--remote off")
	w.Env = []string{"TEAM_TOKEN=" + token}
	trace := filepath.Join(w.Dir, "trace.json")
	r := w.RunJSON(t, "p", "--trace", trace)
	c.kill()
	w.Write(t, "extra", "other\n")
	gone := w.RunJSON(t, "p", "-v")
	Wants(t, gone.Outcome, 0)
	Wants(t, w.Run(t, "plan", "p", "--remote", "temm"), ExitUsage, "Did you mean team?")
	for _, o := range []*Outcome{r.Outcome, gone.Outcome} {
		if strings.Contains(o.String(), token) {
			t.Errorf("the token is shown: %s", o)
		}
	}
	exported := w.Run(t, "runs", "--export", "@2")
	Wants(t, exported, ExitOK, "hexmage-run/1")
	w.Write(t, "run.json", exported.Stdout)
	nowhere(t, []string{token}, append(foldersOf([]*World{w}), c.dir)...)
}

// foldersOf are the folders that the worlds have.
func foldersOf(worlds []*World) (dirs []string) {
	for _, w := range worlds {
		dirs = append(dirs, w.Dir, w.Cache, w.Home)
	}
	return dirs
}

// nowhere reports the files below the folders that have one of the secrets, or a part that says as much. That it
// finds them it tries first.
func nowhere(t *testing.T, secrets []string, dirs ...string) {
	t.Helper()
	for _, secret := range secrets {
		for what, text := range map[string]string{"the secret": secret, "its end": secret[len(secret)-16:],
			"the secret in base64": base64.StdEncoding.EncodeToString([]byte(secret))} {
			text := text[:len(text)-len(text)%4]
			planted := filepath.Join(t.TempDir(), "planted")
			if err := os.WriteFile(planted, []byte("\x00 Bearer "+text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("grep", append([]string{"-rlaF", "-e", text, planted}, dirs...)...).Output()
			if found := strings.TrimSpace(string(out)); err != nil || found != planted {
				t.Errorf("%s is in %s (%v)", what, found, err)
			}
		}
	}
}
