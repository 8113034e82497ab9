//go:build linux

package e2e_test

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

	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// casd is a remote cache that others wrote: buildbox-casd, on this machine.
type casd struct {
	program, dir, address string
	more                  []string  // arguments
	path                  string    // where it finds programs; "": where this process does
	cmd                   *exec.Cmd // nil: it does not run
	log                   bytes.Buffer
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
	c := &casd{program: toolchaintest.Casd(t), dir: dir, address: l.Addr().String()}
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
	c.cmd = exec.Command(c.program, slices.Concat([]string{"--bind=" + c.address, "--log-level=warning", "--reserved=1M"}, c.more, []string{c.dir})...)
	if c.path != "" {
		c.cmd.Env = append(os.Environ(), "PATH="+c.path)
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

// kill ends it, and what it runs, as kill -9 does. What it has mounted for that goes, too: once nobody is left who could be in the middle of mounting.
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

// killSession ends all processes of a session, and returns when none of them runs. What casd runs has groups of its own, and its session.
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

// use has the world share results by the server, in the clear if its address does not say otherwise. more are lines of the block.
func (w *world) use(t *testing.T, address string, more ...string) {
	t.Helper()
	file := filepath.Join(w.home, ".config", "hexmage", "config.hcl")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(address, "://") {
		address = "grpc://" + address
	}
	text := fmt.Sprintf("remote \"team\" {\n  cache   = \"%s\"\n  timeout = \"2s\"\n  %s\n}\n", address, strings.Join(more, "\n  "))
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
func largeWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.write(t, "pipelines/p.hcl", largePipeline)
	w.write(t, "extra", "extra\n")
	return w
}

// sameOut reports when two worlds have other outputs there.
func sameOut(t *testing.T, a, b *world, path string) {
	t.Helper()
	if out, err := exec.Command("diff", "-r", filepath.Join(a.dir, "out", path), filepath.Join(b.dir, "out", path)).CombinedOutput(); err != nil {
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

// TestRemotePipeline: what one machine made the next one has, byte by byte, without executing anything or fetching what nobody opens; and after an edit it executes
// what the edit reaches, with inputs that only the remote has.
func TestRemotePipeline(t *testing.T) {
	c := startCasd(t)
	one := newWorld(t).withDownloads(t)
	one.use(t, c.address, uploads)
	first := one.runJSON(t, pipeline)
	if first.executed == 0 || !strings.Contains(first.stderr, "sha256 only") {
		t.Fatalf("the first machine: %s", first)
	}
	two := newWorld(t)
	two.use(t, c.address)
	all := first.executed + first.cached
	if o := two.run(t, "plan", pipeline); o.code != 0 || !strings.Contains(o.stdout, fmt.Sprintf("%d actions: %d cached", all, all)) {
		t.Errorf("the plan does not know what the remote has: %s", o)
	}
	second := two.runJSON(t, pipeline)
	if second.executed != 0 || second.cached != all {
		t.Errorf("the second machine executed %q", second.names)
	}
	sameOut(t, one, two, pipeline)
	was := bytesIn(t, two.cache)
	t.Logf("the first machine %v, the second %v, with %d bytes in its cache where that has %d", first.took, second.took, was, bytesIn(t, one.cache))
	if was > 32<<20 {
		t.Errorf("%d bytes were fetched: toolchains too", was)
	}
	time.Sleep(2500 * time.Millisecond) // files that are as young as these were when it was planned are not known for sure, and so there is no snapshot
	if again := two.runJSON(t, pipeline); again.executed != 0 {
		t.Errorf("again the second machine executed %q", again.names)
	}
	c.kill() // a run without work asks nobody
	began := time.Now()
	if o := two.run(t, "run", pipeline); o.code != 0 || strings.Contains(o.stderr, "remote") || !strings.Contains(o.stderr, " 0 executed") || time.Since(began) > 2*time.Second {
		t.Errorf("nothing is to be done, and the remote is gone: %s", o)
	}
	c.start(t)
	source := "oppackage/example/LLaMAPackage/src/ops/RMSNorm.cpp"
	for _, w := range []*world{one, two} {
		w.write(t, source, read(t, filepath.Join(w.dir, source))+"\nint edited;\n")
		w.env = append(w.env, "HEXMAGE_REMOTE=team")
	}
	edited := two.runJSON(t, pipeline)
	if edited.executed == 0 || edited.executed >= first.executed/2 {
		t.Errorf("after an edit %d of %d actions were executed: %q", edited.executed, first.executed, edited.names)
	}
	one.env = append(one.env, "HEXMAGE_REMOTE=off")
	if alone := one.runJSON(t, pipeline); !slices.Equal(alone.names, edited.names) {
		t.Errorf("with the remote after an edit %q were executed, without it %q", edited.names, alone.names)
	}
	for _, out := range []string{"oppackage", "makefile", "model.mllm", "context.bin"} { // the rest is of two runs on a device
		sameOut(t, one, two, filepath.Join(pipeline, out))
	}
}

// TestRemoteTinyORT: what one machine took through the vendor's compiler and emulator the next one has, without fetching a toolchain. The first machine makes it all, as
// nothing that was made by BLAKE3 counts at casd.
func TestRemoteTinyORT(t *testing.T) {
	c := startCasd(t)
	one := newWorld(t).withHostDownloads(t)
	one.use(t, c.address, uploads, `upload_wait = "5m"`)
	first := one.runJSON(t, tinyORT)
	two := newWorld(t)
	two.use(t, c.address)
	second := two.runJSON(t, tinyORT)
	if first.executed == 0 || second.executed != 0 || second.cached != first.executed+first.cached {
		t.Errorf("the first machine executed %d actions, and the second %q", first.executed, second.names)
	}
	sameOut(t, one, two, tinyORT)
	sent, was := bytesIn(t, filepath.Join(c.dir, "cas")), bytesIn(t, two.cache)
	t.Logf("%d actions; the first machine %v, the second %v; %d bytes in the first cache, %d at the server, %d in the second", second.cached, first.took, second.took, bytesIn(t, one.cache), sent, was)
	if was > 32<<20 {
		t.Errorf("%d bytes were fetched: toolchains too", was)
	}
	if strings.Contains(first.stderr, "left out") || second.stderr != "" && !strings.Contains(second.stderr, "sha256 only") {
		t.Errorf("the first machine says %q, the second %q", first.stderr, second.stderr)
	}
}

// TestRemotePreflight: preflight and doctor say what the server answers, and what it lacks of what the block counts on.
func TestRemotePreflight(t *testing.T) {
	c := startCasd(t)
	w := largeWorld(t)
	w.use(t, c.address, uploads)
	if o := w.run(t, "preflight", "p"); !strings.Contains(strings.Join(strings.Fields(o.stdout), " "), "remote team grpc://"+c.address+" answers: sha256; batches of ") {
		t.Errorf("%s", o)
	}
	if o := w.run(t, "doctor", "p"); !strings.Contains(strings.Join(strings.Fields(o.stdout), " "), "grpc://"+c.address+" answers: sha256; ") {
		t.Errorf("%s", o)
	}
	w.use(t, c.address, "execute = true")
	if o := w.run(t, "preflight", "p"); o.code != 0 || !strings.Contains(strings.Join(strings.Fields(o.stdout), " "), "warning remote team grpc://"+c.address+" answers, but it runs no actions") {
		t.Errorf("%s", o)
	}
}

// TestRemoteFaults: whatever becomes of the server, outputs are right, and there is one sentence about it.
func TestRemoteFaults(t *testing.T) {
	c := startCasd(t)
	one := largeWorld(t)
	one.use(t, c.address, uploads)
	if r := one.runJSON(t, "p"); r.executed != 3 {
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
		harm     func(t *testing.T, w *world) // casd is stopped before, and has what the first machine sent
		executed int                          // at most
		says     []string                     // in one line of what is said
	}{
		{"nothing", func(t *testing.T, w *world) { c.start(t) }, 0, nil},
		{"dead port", func(t *testing.T, w *world) {}, 3, []string{"remote team is out", "refused"}},
		{"black hole", func(t *testing.T, w *world) {
			l, err := net.Listen("tcp", c.address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
		}, 3, []string{"remote team is out", "nothing came"}},
		{"flipped byte", func(t *testing.T, w *world) {
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
		}, 1, []string{"remote team said that it has", "building again"}},
		{"evicted", func(t *testing.T, w *world) {
			for _, p := range c.blobs(t, large) {
				if err := os.Remove(p); err != nil {
					t.Fatal(err)
				}
			}
			c.start(t)
		}, 1, nil},
		{"all evicted", func(t *testing.T, w *world) {
			if err := os.RemoveAll(filepath.Join(c.dir, "cas", "objects")); err != nil {
				t.Fatal(err)
			}
			c.start(t)
		}, 3, nil},
		{"nonsense for results", func(t *testing.T, w *world) {
			err := filepath.WalkDir(filepath.Join(c.dir, "actioncache", "objects"), func(p string, d fs.DirEntry, err error) error {
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
			two.use(t, c.address)
			two.env = []string{"HEXMAGE_DIGEST=sha256"}
			f.harm(t, two)
			r := two.runJSON(t, "p")
			if r.executed > f.executed {
				t.Errorf("executed %q", r.names)
			}
			if r.took > 20*time.Second {
				t.Errorf("it took %v", r.took)
			}
			sameOut(t, one, two, "p")
			saysOnce(t, r.outcome, f.says...)
			if r := two.runJSON(t, "p"); r.executed != 0 {
				t.Errorf("again: executed %q", r.names)
			}
		})
	}
}

// saysOnce reports when the command's standard error is not one line with the words, or nothing where there are none.
func saysOnce(t *testing.T, o *outcome, words ...string) {
	t.Helper()
	if n := strings.Count(o.stderr, "\n"); n != min(1, len(words)) {
		t.Errorf("%d lines are said: %s", n, o.stderr)
	}
	for _, w := range words {
		if !strings.Contains(o.stderr, w) {
			t.Errorf("nothing says %q: %s", w, o.stderr)
		}
	}
}

// TestRemoteKilled: casd is killed with -9 at many moments of a download and of an upload, and comes back or does not. Outputs are right, and what it has then is whole.
func TestRemoteKilled(t *testing.T) {
	c := startCasd(t)
	one := largeWorld(t)
	one.use(t, c.address, uploads)
	one.env = []string{"HEXMAGE_DIGEST=sha256"}
	if r := one.runJSON(t, "p"); r.executed != 3 {
		t.Fatalf("the first machine: %s", r)
	}
	for i, after := range []time.Duration{0, 10, 30, 60, 100, 150} {
		for _, back := range []bool{false, true} {
			t.Run(fmt.Sprintf("download %dms %v", after, back), func(t *testing.T) {
				c.restart(t)
				two := largeWorld(t)
				two.use(t, c.address)
				two.env = []string{"HEXMAGE_DIGEST=sha256"}
				killed := c.killAfter(t, after*time.Millisecond, back)
				r := two.runJSON(t, "p")
				<-killed
				sameOut(t, one, two, "p")
				t.Logf("executed %q, said %s", r.names, r.stderr)
				if n := strings.Count(r.stderr, "\n"); n > 1 {
					t.Errorf("%d lines are said: %s", n, r.stderr)
				}
			})
			t.Run(fmt.Sprintf("upload %dms %v", after, back), func(t *testing.T) {
				c.restart(t)
				two := largeWorld(t)
				two.write(t, "extra", fmt.Sprintf("%d %v\n", i, back)) // what nobody made yet
				two.write(t, "pipelines/p.hcl", strings.Replace(largePipeline, "3000000", strconv.Itoa(3000100+10*i+map[bool]int{true: 1}[back]), 1))
				two.use(t, c.address, uploads)
				two.env = []string{"HEXMAGE_DIGEST=sha256"}
				killed := c.killAfter(t, 300*time.Millisecond+after*time.Millisecond, back)
				r := two.runJSON(t, "p")
				<-killed
				if r.executed == 0 || r.took > 20*time.Second {
					t.Errorf("executed %q, in %v", r.names, r.took)
				}
				t.Logf("said %s", r.stderr)
				c.restart(t)
				three := largeWorld(t)
				for _, name := range []string{"extra", "pipelines/p.hcl"} {
					three.write(t, name, read(t, filepath.Join(two.dir, name)))
				}
				three.use(t, c.address)
				three.env = two.env
				after := three.runJSON(t, "p")
				sameOut(t, two, three, "p")
				saysOnce(t, after.outcome)
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
	one.use(t, c.address, uploads)
	one.env = []string{"HEXMAGE_DIGEST=sha256"}
	if r := one.runJSON(t, "p"); r.executed != 3 {
		t.Fatalf("the first machine: %s", r)
	}
	for _, way := range []string{"download", "upload"} {
		for n, back := range []bool{false, true} {
			t.Run(fmt.Sprint(way, " ", back), func(t *testing.T) {
				c.restart(t)
				two := largeWorld(t)
				two.env = []string{"HEXMAGE_DIGEST=sha256"}
				two.use(t, c.address, patience(back))
				grows := two.cache
				if way == "upload" {
					two.use(t, c.address, uploads, patience(back))
					two.write(t, "pipelines/p.hcl", strings.Replace(largePipeline, "3000000", itoa(2_999_000+n), 1)) // what nobody made yet
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
				r := two.runJSON(t, "p")
				t.Logf("%v: executed %q, said %s", r.took, r.names, r.stderr)
				if was := <-hit; !was || r.took > 10*time.Second {
					t.Errorf("it was killed in the middle: %v; it took %v", was, r.took)
				}
				r.stderr = regexp.MustCompile(`(?m)^hexmage: sending to remote team.*\n`).ReplaceAllString(r.stderr, "") // said of what takes longer than a second
				if back {
					saysOnce(t, r.outcome)
				} else {
					saysOnce(t, r.outcome, "remote team is out", "is not reached")
				}
				if way == "download" {
					sameOut(t, one, two, "p")
					if back && r.executed != 0 {
						t.Errorf("executed %q", r.names)
					}
					return
				}
				c.restart(t)
				three := largeWorld(t)
				three.env = two.env
				three.use(t, c.address)
				three.write(t, "pipelines/p.hcl", read(t, filepath.Join(two.dir, "pipelines/p.hcl")))
				after := three.runJSON(t, "p")
				saysOnce(t, after.outcome)
				sameOut(t, two, three, "p")
				if back && after.executed != 0 {
					t.Errorf("executed %q", after.names)
				}
			})
		}
	}
}

// TestRemoteExecutionKilledMidway: casd is killed with -9, and what it runs, when an action runs there that is not done for a second.
func TestRemoteExecutionKilledMidway(t *testing.T) {
	c := startWorkers(t)
	one := farWorld(t)
	one.runJSON(t, "p")
	for _, back := range []bool{false, true} {
		t.Run(fmt.Sprint(back), func(t *testing.T) {
			c.restart(t)
			two := farWorld(t)
			two.use(t, c.address, executes, patience(back))
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
			o := two.run(t, "--json", "run", "p")
			if was := <-hit; !was || o.code != 0 || o.took > 30*time.Second {
				t.Fatalf("it was killed in the middle: %v; %s", was, o)
			}
			t.Logf("%v: %s", o.took, o.stderr)
			there, _ := counted(t, o)
			said := strings.Count(o.stderr, "\n") - 1 // how many ran where
			if back && (there != 3 || said != 0) || !back && (there > 1 || said != 1 || !strings.Contains(o.stderr, "remote team is out")) {
				t.Errorf("%d actions ran there: %s", there, o.stderr)
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

// TestRemoteFunction: a server that knows SHA-256 only has the workspace use that, which is said once and stays, also without the server; HEXMAGE_DIGEST has the last word.
func TestRemoteFunction(t *testing.T) {
	c := startCasd(t)
	w := largeWorld(t)
	if r := w.runJSON(t, "p"); r.executed != 3 {
		t.Fatalf("by BLAKE3: %s", r)
	}
	w.use(t, c.address, uploads)
	w.write(t, "extra", "1\n")
	if r := w.runJSON(t, "p"); r.executed != 3 || strings.Count(r.stderr, "sha256 only: content of this workspace is named by it from now on") != 1 {
		t.Errorf("with the remote: %s", r)
	}
	for _, args := range [][]string{{"p"}, {"p", "--remote", "off"}} {
		w.write(t, "extra", strings.Join(args, " "))
		if r := w.runJSON(t, args...); !slices.Equal(r.names, []string{"exec.count"}) || r.stderr != "" {
			t.Errorf("%q: executed %q, said %s", args, r.names, r.stderr)
		}
	}
	for _, name := range []string{"functions", "remotes"} { // what is damaged there counts as not there
		files, err := filepath.Glob(filepath.Join(w.cache, "state", name, "*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: %q, %v", name, files, err)
		}
		if err := os.WriteFile(files[0], []byte("\xff nonsense"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.write(t, "extra", "3\n")
	if r := w.runJSON(t, "p"); !slices.Equal(r.names, []string{"exec.count"}) || strings.Count(r.stderr, "sha256 only") != 1 {
		t.Errorf("with damage: executed %q, said %s", r.names, r.stderr)
	}
	w.env = []string{"HEXMAGE_DIGEST=blake3"}
	w.write(t, "extra", "2\n")
	if r := w.runJSON(t, "p"); !slices.Equal(r.names, []string{"exec.count"}) || !strings.Contains(r.stderr, "remote team is not used") {
		t.Errorf("by BLAKE3 again: executed %q, said %s", r.names, r.stderr)
	}
	w.use(t, c.address, executes, `fallback = "fail"`)
	w.write(t, "extra", "4\n")
	wants(t, w.run(t, "run", "p"), exitUsage, "remote team can run nothing: content is named by blake3")
}

// TestRemotePolicies: nothing is sent but by who says so, and never what was made without a sandbox, or is of this machine alone.
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
		{more: []string{uploads}, env: []string{"HEXMAGE_SANDBOX=staged"}, says: "nothing is sent to remote team"},
		{more: []string{`upload = "ci"`}, env: []string{"CI=true"}, sends: true},
		{more: []string{uploads}, sends: true},
		{more: []string{uploads}, env: []string{"local"}},
	} {
		w := newWorld(t)
		text := strings.Replace(largePipeline, "3000000", strconv.Itoa(1000+i), 1)
		if len(p.env) > 0 && p.env[0] == "local" {
			p.env, text = nil, strings.ReplaceAll(text, "  argv", "  cache = \"local\"\n  argv")
		}
		w.write(t, "pipelines/p.hcl", text)
		w.write(t, "extra", strconv.Itoa(i))
		w.use(t, c.address, p.more...)
		w.env = append(p.env, "HEXMAGE_DIGEST=sha256")
		before := sent()
		r := w.runJSON(t, append([]string{"p"}, p.args...)...)
		if n := sent() - before; (n > 0) != p.sends {
			t.Errorf("%d: %d blobs were sent", i, n)
		}
		if !strings.Contains(r.stderr, p.says) || p.says == "" && r.stderr != "" {
			t.Errorf("%d: it says %q", i, r.stderr)
		}
	}
}

// TestRemoteCredentials: what stands in headers is nowhere: not in the cache, its logs and events, on the server, in the outputs, nor in what is said.
func TestRemoteCredentials(t *testing.T) {
	const token = "s3cr3t-t0ken-of-the-team"
	c := startCasd(t)
	w := largeWorld(t)
	w.use(t, c.address, uploads, `headers = { authorization = "Bearer ${env.TEAM_TOKEN}" }`)
	wants(t, w.run(t, "run", "p"), exitUsage, "TEAM_TOKEN", "config.hcl", "--remote off")
	w.env = []string{"TEAM_TOKEN=" + token}
	trace := filepath.Join(w.dir, "trace.json")
	r := w.runJSON(t, "p", "--trace", trace)
	c.kill()
	w.write(t, "extra", "other\n")
	gone := w.runJSON(t, "p", "-v")
	wants(t, gone.outcome, 0)
	wants(t, w.run(t, "plan", "p", "--remote", "temm"), exitUsage, "Did you mean team?")
	for _, o := range []*outcome{r.outcome, gone.outcome} {
		if strings.Contains(o.String(), token) {
			t.Errorf("the token is shown: %s", o)
		}
	}
	exported := w.run(t, "runs", "--export", "@2")
	wants(t, exported, exitOK, "hexmage-run/1")
	w.write(t, "run.json", exported.stdout)
	nowhere(t, []string{token}, append(foldersOf([]*world{w}), c.dir)...)
}

// foldersOf are the folders that the worlds have.
func foldersOf(worlds []*world) (dirs []string) {
	for _, w := range worlds {
		dirs = append(dirs, w.dir, w.cache, w.home)
	}
	return dirs
}

// nowhere reports the files below the folders that have one of the secrets, or a part that says as much. That it finds them it tries first.
func nowhere(t *testing.T, secrets []string, dirs ...string) {
	t.Helper()
	for _, secret := range secrets {
		for what, text := range map[string]string{"the secret": secret, "its end": secret[len(secret)-16:], "the secret in base64": base64.StdEncoding.EncodeToString([]byte(secret))} {
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
