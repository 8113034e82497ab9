//go:build linux

package faults_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/execute/sandbox"
)

// hunted is the pipeline of TestHunt. All that its outputs are follows from two files of the workspace: src/common.h,
// which has the number of an epoch, and src/a.c, of which there are two. Each action holds a lock of its own from its
// start until the last of its processes that has not closed it is gone: a second execution of it at the same time
// fails, and says TWICE, unless what takes the lock was killed. What the hostile ones do, they do after they have
// read what their output is made from.
const hunted = `
locals {
  epoch = trimspace(file("src/common.h"))
  variant = trimspace(file("src/a.c"))
  locks = "LOCKS/${local.epoch}"
  lock  = "exec 9< \"$LOCK\"; flock -n -E 99 9 || { [ $? != 99 ] || echo TWI''CE $LOCK >&2; exit 99; }; "
  hostile = HOSTILE
  programs = [for name in split(" ", "NAMES") : "${local.locks}/${name}-${local.epoch}"] // all have all, so that one can have the place of another
}
step "exec" "compile" {
  for_each = toset(["a", "b", "c", "d", "e", "f"])
  argv     = ["sh", "-ec", "${local.lock} cat src/common.h src/${each.value}.c > o; sleep 0.01"]
  inputs   = ["src/common.h", "src/${each.value}.c"]
  env      = { LOCK = "${local.locks}/compile-${each.value}${each.value == "a" ? local.variant : ""}-${local.epoch}" }
  programs = local.programs
  output "o" { file = "o" }
}
step "exec" "link" {
  argv     = concat(["sh", "-ec", "${local.lock} cat \"$@\" > prog; chmod +x prog", "link"], [for k, s in step.exec.compile : s.outputs.o])
  env      = { LOCK = "${local.locks}/link${local.variant}-${local.epoch}" }
  programs = local.programs
  output "prog" { file = "prog" }
}
step "exec" "tree" {
  for_each = toset(["x", "y"])
  argv     = ["sh", "-ec", "${local.lock} mkdir -p t/sub/deep t/empty; for i in 1 2 3 4; do (echo ${each.value} $i; cat src/common.h) > t/sub/$i; done; cp t/sub/1 t/sub/deep/run; chmod +x t/sub/deep/run; ln -s sub/deep t/link"]
  inputs   = ["src/common.h"]
  env      = { LOCK = "${local.locks}/tree-${each.value}-${local.epoch}" }
  programs = local.programs
  output "t" { tree = "t" }
}
step "exec" "flat" {
  argv     = ["sh", "-ec", "${local.lock} mkdir t; read e < src/common.h; i=100; while [ $i -lt 640 ]; do if [ $((i % 8)) = 0 ]; then echo $i $e; else echo $i; fi > t/f$i; i=$((i + 1)); done"]
  inputs   = ["src/common.h"]
  env      = { LOCK = "${local.locks}/flat-${local.epoch}" }
  programs = local.programs
  output "t" { tree = "t" }
}
step "exec" "sum" {
  for_each = toset(["1", "2"])
  argv     = ["sh", "-ec", "${local.lock} cat $0/f* > o; echo ${each.value} >> o; [ $(ls $0 | wc -l) = 540 ]", step.exec.flat.outputs.t]
  env      = { LOCK = "${local.locks}/sum-${each.value}-${local.epoch}" }
  programs = local.programs
  output "o" { file = "o" }
}
step "exec" "big" {
  argv     = ["sh", "-ec", "${local.lock} cat src/common.h src/common.h > x; n=18; while [ $n -lt 1200000 ]; do cat x x > y; mv y x; n=$((2*n)); done; mv x big"]
  inputs   = ["src/common.h"]
  env      = { LOCK = "${local.locks}/big-${local.epoch}" }
  programs = local.programs
  output "big" { file = "big" }
}
step "exec" "count" {
  argv     = ["sh", "-ec", "${local.lock} wc -c < $0 > n", step.exec.big.outputs.big]
  env      = { LOCK = "${local.locks}/count-${local.epoch}" }
  programs = local.programs
  output "n" { value = "n" }
}
step "exec" "deferred" {
  argv     = ["sh", "-ec", "${local.lock} (echo $0; cat \"$1\"/sub/deep/run) > d", "n ${step.exec.count.outputs.n}", step.exec.tree["y"].outputs.t]
  env      = { LOCK = "${local.locks}/deferred-${local.epoch}" }
  programs = local.programs
  output "d" { file = "d" }
}
step "exec" "hostile" {
  for_each = local.hostile
  argv     = ["sh", "-ec", "${local.lock} in=$0; v=$(cat $in); w=$(wc -c < $1); mkdir -p out; (${each.value}) > /dev/null 2>&1 || true; echo \"$v\" > own; echo ${each.key} $w >> own", step.exec.compile["b"].outputs.o, step.exec.big.outputs.big]
  inputs   = ["src/common.h"]
  env      = { LOCK = "${local.locks}/hostile-${each.key}-${local.epoch}" }
  programs = local.programs
  output "h" { file = "own" }
}
step "exec" "after" {
  for_each = local.hostile
  argv     = ["sh", "-ec", "${local.lock} sleep 0.1; (cat $0 src/common.h; stat -L -c %a $0 src/common.h) > h; sleep 0.1", step.exec.hostile[each.key].outputs.h]
  inputs   = ["src/common.h"]
  env      = { LOCK = "${local.locks}/after-${each.key}-${local.epoch}" }
  programs = local.programs
  output "h" { file = "h" }
}
output "prog" { value = step.exec.link.outputs.prog }
output "trees" { value = { for k, s in step.exec.tree : k => s.outputs.t } }
output "sums" { value = { for k, s in step.exec.sum : k => s.outputs.o } }
output "big" { value = step.exec.big.outputs.big }
output "deferred" { value = step.exec.deferred.outputs.d }
output "hostile" { value = { for k, s in step.exec.hostile : k => s.outputs.h } }
output "after" { value = { for k, s in step.exec.after : k => s.outputs.h } }
`

// hostilities are what the hostile actions of TestHunt do, in the words of a shell: $in and src/common.h are small
// inputs, $1 a large one. MARK is told from all other texts on the machine. What writes WRONG later does so under the
// names of what others make, wherever they make it.
var hostilities = map[string]string{ // never changed
	"mode": "chmod 777 $in src/common.h $1",
	"write": "for f in $in src/common.h $1; do touch -r $f $TMPDIR/t; chmod u+w $f && printf WRONG | dd of=$f " +
		"bs=1 conv=notrunc; touch -r $TMPDIR/t $f; chmod a-w $f; done",
	"cut": "chmod 666 $in $1; : > $in; : > $1; touch -d 2001-01-01 src/common.h",
	"rename": "echo WRONG > $TMPDIR/x; cp $TMPDIR/x out/x; mv -f $TMPDIR/x $in; mv -f out/x src/common.h; mv $1 " +
		"out/moved",
	"links": "for f in $in $1; do ln $f $TMPDIR/l; ln $f out/l; chmod 777 $TMPDIR/l out/l; echo WRONG > out/l; " +
		"rm -f $TMPDIR/l out/l; done",
	"leftovers": "mkdir -p $TMPDIR/x/y $HOME/z t/sub; echo WRONG > o; echo WRONG > prog; echo WRONG > t/sub/9; " +
		"chmod 0 $TMPDIR/x; chmod 555 t",
	"child":     "sh -c 'while sleep 0.05; do echo WRONG >> h; done' MARK &",
	"session":   "setsid sh -c 'while sleep 0.05; do echo WRONG >> h; done' MARK &",
	"daemon":    "(" + later("env -i") + ")",
	"disguised": "(" + later("env -i HEXMAGE_ROOT=/nowhere") + ")",
	"all":       "chmod -R 777 . ; find . -type f | xargs touch -d 2001-01-01",
}

// later starts what outlives its action for as long as it is let, and writes to all that somebody may take for an
// output.
func later(env string) string {
	return env + " /usr/bin/setsid /bin/sh -c ': > up; i=0; while [ $i -lt 400 ]; do sleep 0.02; i=$((i+1)); for f " +
		"in o h d n prog big t/sub/1 t/f104; do [ ! -e $f ] || echo WRONG >> $f; done; done' MARK <&- >&- 2>&- 9<&- " +
		"& i=0; while [ ! -e up ] && [ $i -lt 100 ]; do sleep 0.01; i=$((i+1)); done"
}

// epoch is what the outputs of TestHunt follow from.
type epoch struct{ number, variant int }

func (e epoch) common() string { return fmt.Sprintf("%08d\n", e.number) }

// source is what a source has beside src/common.h.
func (e epoch) source(name string) string {
	if name == "a" {
		return fmt.Sprintf("-%d\n", e.variant)
	}
	return "source " + name + "\n"
}

// want is what the outputs have to be, as snapshot returns it.
func (e epoch) want(hostile []string) map[string]string {
	all := map[string]string{}
	dir := func(p string) { all[p] = (fs.ModeDir | 0o755).String() }
	file := func(p, text string, mode fs.FileMode) {
		all[p] = mode.String() + fmt.Sprintf(" %x", sha256.Sum256([]byte(text)))
	}
	common := e.common()
	prog := ""
	for _, s := range []string{"a", "b", "c", "d", "e", "f"} {
		prog += common + e.source(s)
	}
	dir(".")
	file("prog", prog, 0o755)
	for _, t := range []string{"x", "y"} {
		at := "trees." + t
		for _, d := range []string{"", "/sub", "/sub/deep", "/empty"} {
			dir(at + d)
		}
		for i := range 4 {
			file(fmt.Sprintf("%s/sub/%d", at, i+1), fmt.Sprintf("%s %d\n%s", t, i+1, common), 0o644)
		}
		file(at+"/sub/deep/run", t+" 1\n"+common, 0o755)
		all[at+"/link"] = "symlink to sub/deep"
	}
	var sum strings.Builder
	for i := 100; i < 640; i++ {
		fmt.Fprint(&sum, i)
		if i%8 == 0 {
			sum.WriteString(" " + strings.TrimSpace(common))
		}
		sum.WriteString("\n")
	}
	file("sums.1", sum.String()+"1\n", 0o644)
	file("sums.2", sum.String()+"2\n", 0o644)
	big := common + common
	for n := len(big); n < 1200000; n *= 2 {
		big += big
	}
	file("big", big, 0o644)
	file("deferred", fmt.Sprintf("n %d\ny 1\n%s", len(big), common), 0o644)
	for _, h := range hostile {
		text := common + e.source("b") + fmt.Sprintf("%s %d\n", h, len(big))
		file("hostile."+h, text, 0o644)
		file("after."+h, text+common+"444\n444\n", 0o644)
	}
	return all
}

// hunt is many processes on one cache, and what is known of them.
type hunt struct {
	base, cache, locks string
	mark               string
	hostile            []string
	wants              sync.Map // epoch → what it has to come to
	now                atomic.Int64
	journal            *os.File
	mu                 sync.Mutex // of the journal
	failed             atomic.Bool

	runs, edits, kills, flips, cares, again, found atomic.Int64
}

// TestHunt has processes build at once, in workspaces of their own, on one cache: what nearly all have in common,
// with hostile actions among it, while some are killed, sources are edited, and others look after the cache. From
// time to time all stop, and files of the cache are damaged. No output is wrong, no action is executed twice at the
// same time, and no process is left.
//
// It goes on until at least one was killed and one file damaged: how much of that comes is chance.
// With HEXMAGE_HUNT=2h it goes on for so long, and in any case until 500 were killed; with -long until then.
func TestHunt(t *testing.T) {
	if _, err := exec.LookPath("flock"); err != nil {
		t.Skip(err)
	}
	processes, limit, kills := 4, 6*time.Second, int64(1)
	if *options.long {
		processes, kills = 8, 500
	}
	if text := os.Getenv("HEXMAGE_HUNT"); text != "" {
		var err error
		if limit, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		processes, kills = 8, 500
	}
	r := chance(t)
	base, err := os.MkdirTemp("", "hexmage-hunt-") // not in /dev/shm, where actions may write
	if err != nil {
		t.Fatal(err)
	}
	h := &hunt{base: base, cache: filepath.Join(base, "cache", "v3"), locks: filepath.Join(base, "locks"),
		mark: fmt.Sprintf("hunt-%d", r.Uint64())}
	if h.journal, err = os.Create(filepath.Join(base, "journal")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.journal.Close()
		if t.Failed() {
			t.Logf("what it came to is kept at %s: cache, workspaces and a journal", base)
			return
		}
		remove(base)
	})
	if base, err := sandbox.Open(); err != nil {
		t.Logf("without hostile actions: %v", err) // elsewhere nothing is promised of them
	} else if err := base.Unsupervised(); err != nil {
		t.Logf("without hostile actions: %v", err)
	} else {
		h.hostile = slices.Sorted(maps.Keys(hostilities))
	}
	var worlds []*world
	for i := range processes {
		w := &world{base: base, dir: filepath.Join(base, fmt.Sprintf("workspace-%d", i)), cache: h.cache}
		w.write(t, "pipelines/p.hcl", h.pipeline())
		for _, s := range []string{"b", "c", "d", "e", "f"} {
			w.write(t, "src/"+s+".c", epoch{}.source(s))
		}
		worlds = append(worlds, w)
	}
	h.next(t)
	phases := 0
	for start := time.Now(); !h.failed.Load() &&
		(time.Since(start) < limit || h.kills.Load() < kills || h.flips.Load() == 0); phases++ {
		h.phase(t, worlds, r, min(10*time.Second, limit))
		h.quiet(t, worlds[0], r)
	}
	if !h.failed.Load() { // and all of it once more, of which nobody is killed
		worlds[0].hexmage(t, "cache", "verify", "--repair")
		worlds[0].hexmage(t, "cache", "gc") // of results that name what was moved away
		for _, w := range worlds {
			w.builds(t, h.want(h.edit(t, w, r)))
		}
		worlds[0].sound(t)
		worlds[0].tidy(t)
	}
	t.Logf("%d phases of %d processes: %d runs to their ends, %d edits, %d kills, %d files damaged; %d builds began "+
		"again; looked after the cache %d times, with findings %d times",
		phases, processes, h.runs.Load(), h.edits.Load(), h.kills.Load(), h.flips.Load(), h.again.Load(),
		h.cares.Load(), h.found.Load())
}

func (h *hunt) pipeline() string {
	var list strings.Builder
	list.WriteString("{\n")
	for _, name := range h.hostile {
		script := strings.NewReplacer("MARK", h.mark, `\`, `\\`, `"`, `\"`).Replace(hostilities[name])
		fmt.Fprintf(&list, "    %q = \"%s\"\n", name, script)
	}
	list.WriteString("  }")
	return strings.NewReplacer("HOSTILE", list.String(), "LOCKS", h.locks, "NAMES",
		strings.Join(h.names(), " ")).Replace(hunted)
}

// names are those of the locks of an epoch.
func (h *hunt) names() []string {
	names := strings.Fields("compile-a-0 compile-a-1 compile-b compile-c compile-d compile-e compile-f link-0 " +
		"link-1 tree-x tree-y flat sum-1 sum-2 big count deferred")
	for _, s := range h.hostile {
		names = append(names, "hostile-"+s, "after-"+s)
	}
	return names
}

// next begins an epoch: all that depends on src/common.h has to be made anew. The locks are there before anybody
// wants them.
func (h *hunt) next(t *testing.T) {
	t.Helper()
	n := h.now.Load() + 1
	dir := filepath.Join(h.locks, fmt.Sprintf("%08d", n))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Error(err)
	}
	for _, name := range h.names() {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%08d", name, n)), []byte("#!/bin/sh\n"),
			0o755); err != nil {
			t.Error(err)
		}
	}
	h.now.Store(n)
	if n > 50 {
		remove(filepath.Join(h.locks, fmt.Sprintf("%08d", n-50)))
	}
}

func (h *hunt) want(e epoch) map[string]string {
	if w, ok := h.wants.Load(e); ok {
		return w.(map[string]string)
	}
	w := e.want(h.hostile)
	h.wants.Store(e, w)
	return w
}

// edit gives the workspace sources of the present epoch or one of the last.
func (h *hunt) edit(t *testing.T, w *world, r *rand.Rand) epoch {
	t.Helper()
	e := epoch{int(h.now.Load()), r.IntN(2)}
	if r.IntN(4) == 0 {
		e.number = max(1, e.number-r.IntN(4))
	}
	for name, text := range map[string]string{"src/common.h": e.common(), "src/a.c": e.source("a")} {
		if is, err := os.ReadFile(filepath.Join(w.dir, name)); err != nil || string(is) != text {
			w.write(t, name, text)
			h.edits.Add(1)
		}
	}
	return e
}

func (h *hunt) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Fprintf(h.journal, "%s %s\n", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...))
}

// wrong notes what must not be; the processes that run stay, and end as they do.
func (h *hunt) wrong(t *testing.T, format string, args ...any) {
	t.Helper()
	h.failed.Store(true)
	h.note("WRONG: "+format, args...)
	t.Errorf(format, args...)
}

// phase lets all work for a while.
func (h *hunt) phase(t *testing.T, worlds []*world, r *rand.Rand, limit time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var wg sync.WaitGroup
	for i, w := range worlds {
		r := rand.New(rand.NewPCG(r.Uint64(), 0))
		wg.Go(func() {
			e := h.edit(t, w, r)
			for n := 0; ctx.Err() == nil && !h.failed.Load(); n++ {
				if r.IntN(3) > 0 {
					e = h.edit(t, w, r)
				}
				if r.IntN(8) == 0 {
					remove(filepath.Join(w.dir, "out"))
				}
				h.once(t, i, w, e, r)
				if r.IntN(2*len(worlds)) == 0 {
					h.next(t)
				}
			}
		})
	}
	cares := rand.New(rand.NewPCG(r.Uint64(), 0))
	wg.Go(func() {
		for ctx.Err() == nil && !h.failed.Load() {
			h.care(t, worlds[0], cares)
			time.Sleep(time.Duration(cares.IntN(2000)) * time.Millisecond)
		}
	})
	wg.Wait()
}

// files are those of the store.
func (h *hunt) files() (files []string) {
	_ = filepath.WalkDir(filepath.Join(h.cache, "blake3"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, p)
		}
		return nil
	})
	return files
}

// once builds in a workspace, and kills that or not.
func (h *hunt) once(t *testing.T, i int, w *world, e epoch, r *rand.Rand) {
	what := [...]string{"hexmage", "hexmage", "group", "command", "", "", ""}[r.IntN(7)]
	ctx, cancel := context.WithTimeout(t.Context(), 2*runLimit)
	defer cancel()
	cmd := w.command(ctx, "run", "p", "--jobs", fmt.Sprint(1+r.IntN(6)))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		h.wrong(t, "%v", err)
		return
	}
	pid := cmd.Process.Pid
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	after := time.Duration(r.ExpFloat64() * float64(400*time.Millisecond))
	killed := false
	if what != "" {
		select {
		case <-time.After(after):
			killed = true
		case err := <-ended:
			ended <- err
		}
	}
	if killed {
		h.kills.Add(1)
		switch what {
		case "hexmage":
			_ = cmd.Process.Kill()
		case "group":
			_ = syscall.Kill(-pid, syscall.SIGKILL)
		default:
			spare := hexmages(pid)
			children := slices.DeleteFunc(descendants(pid),
				func(child int) bool { return slices.Contains(spare, child) })
			if len(children) == 0 {
				what = "no command"
				break
			}
			_ = syscall.Kill(children[r.IntN(len(children))], syscall.SIGKILL)
		}
	}
	<-ended
	code := cmd.ProcessState.ExitCode()
	text := out.String()
	h.note("%d: process %d, epoch %v: killed %q %v after %v, exit code %d", i, pid, e, what, killed, after, code)
	if strings.Contains(text, "builds again") {
		h.again.Add(1)
	}
	whole := code == exitOK
	switch {
	case strings.Contains(text, "TWICE"):
		h.wrong(t, "process %d: an action was executed twice at the same time:\n%s", i, text)
	case strings.Contains(text, "panic: ") || strings.Contains(text, "goroutine "):
		h.wrong(t, "process %d crashed:\n%s", i, text)
	case killed && (what == "hexmage" || what == "group"):
		whole = false
		h.gone(t, pid)
	case whole: // also if a command was killed and did without
	case !killed || code != exitFailed || what == "no command":
		h.wrong(t, "process %d (%s was killed: %v): exit code %d\n%s", i, what, killed, code, text)
	}
	if !whole {
		return
	}
	h.runs.Add(1)
	if is, err := snapshot(w.out()); err != nil {
		h.wrong(t, "process %d: %v\n%s", i, err, text)
	} else if d := differ(h.want(e), is); d != "" {
		h.wrong(t, "process %d, epoch %v: wrong outputs:\n%s\n%s", i, e, d, text)
	}
}

// gone waits until the processes of a hexmage that was killed are, as far as those know whose they are.
func (h *hunt) gone(t *testing.T, pid int) {
	t.Helper()
	of := fmt.Sprintf("HEXMAGE_ROOT=%s/tmp/run-%d-", h.cache, pid)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := h.processes(of)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			h.wrong(t, "hexmage %d was killed; still there: %q", pid, left)
			return
		}
	}
}

// processes are those that run with the text in their arguments or environment.
func (h *hunt) processes(text string) (found []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		args, _ := os.ReadFile(dir + "/cmdline")
		env, _ := os.ReadFile(dir + "/environ")
		if bytes.Contains(append(append(args, 0), env...), []byte(text)) {
			found = append(found, filepath.Base(dir)+": "+strings.ReplaceAll(string(args), "\x00", " "))
		}
	}
	return found
}

// care looks after the cache, beside builds or not.
func (h *hunt) care(t *testing.T, w *world, r *rand.Rand) {
	t.Helper()
	commands := []string{"cache verify", "cache verify --repair", "cache gc --max-age 30d", "cache stats",
		"cache gc --max-size 60MB", "cache gc --max-size 8MB"}
	command := commands[r.IntN(len(commands))]
	o := w.hexmage(t, strings.Fields(command)...)
	h.cares.Add(1)
	h.note("%s: exit code %d", command, o.code)
	inUse := strings.Contains(o.stderr, "in use")
	switch {
	case o.code == exitFailed && strings.HasPrefix(command, "cache verify"):
		h.found.Add(1)
	case o.code != exitOK && !inUse:
		h.wrong(t, "%s: %s", command, o)
	}
}

// quiet waits until nothing is left of what ran, damages some files of the cache, and may look after it.
func (h *hunt) quiet(t *testing.T, w *world, r *rand.Rand) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		left := append(h.processes(h.mark), h.processes(h.base+"/cache")...)
		if len(left) == 0 {
			break
		}
		if time.Now().After(deadline) {
			h.wrong(t, "still there: %q", left)
			return
		}
	}
	if h.failed.Load() {
		return
	}
	files := h.files()
	for range min(len(files), r.IntN(20)) {
		p, d := files[r.IntN(len(files))], damages[r.IntN(len(damages))]
		rel, _ := filepath.Rel(h.cache, p)
		info, err := os.Stat(p)
		if err != nil || info.Size() == 0 || d.sly && trustedByTime(kindOf(rel)) {
			continue
		}
		alter(t, p, d.sly, func(b []byte) []byte { return d.do(r, b) })
		h.flips.Add(1)
		h.note("%s: %s", p, d.name)
	}
	if r.IntN(3) == 0 {
		h.care(t, w, r)
	}
}
