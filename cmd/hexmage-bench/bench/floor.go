package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statefile"
)

// floorGraph is the file in which the floor is told what there is to do: names, one a line, and after an empty line
// the actions, each a line with the numbers of its output, its program and its inputs. An empty line is before those
// that need what is made above it.
const floorGraph = "graph"

// floorRun is the least that a build can do that promises what hexmage's do: content decides what runs, nothing runs
// twice, and what is done survives a crash. It looks at each source and output once, hashes what goes into an action
// and what comes out, starts the process, has the store and out/ share what it made, and flushes once. It has no
// language, no sandbox, no log, and nothing to say.
type floorRun struct {
	names []string
	made  []made // of each name; none in the first build
	dirty []bool // what is not as the last build left it
	other []bool // what has other content than it had then
	null  *os.File
	ran   atomic.Bool
	roots chan *floorRoot // free ones; nil: actions run in the workspace, and out/ shares files with the store
}

// made is a source, or what an action made.
type made struct {
	stamp stat.Stamp    // of a source, and of an output in out/
	sum   digest.Digest // of the content
	key   digest.Digest // of the action, by which the store has it; of a source none
}

// buildFloor builds the graph of the working directory. If isolated, it promises of actions what hexmage does, too
// (see floorRoot).
func buildFloor(jobs int, isolated bool) error {
	text, err := os.ReadFile(floorGraph)
	if err != nil {
		return err
	}
	head, actions, _ := strings.Cut(strings.TrimSpace(string(text)), "\n\n")
	f := floorRun{names: strings.Split(head, "\n")}
	n := len(f.names)
	f.made, f.dirty, f.other = make([]made, n), make([]bool, n), make([]bool, n)
	known := f.load()
	sources, same, err := f.check(jobs)
	if err != nil || same && known {
		return err
	}
	if f.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll("out", 0o755), os.MkdirAll("store", 0o755), os.MkdirAll("new", 0o755)); err != nil {
		return err
	}
	if isolated {
		if err := f.isolate(jobs); err != nil {
			return err
		}
	}
	if err := parallel(jobs, len(sources), func(k int) error { return f.source(sources[k]) }); err != nil {
		return err
	}
	for level := range strings.SplitSeq(actions, "\n\n") {
		todo := f.todo(level)
		if err := parallel(jobs, len(todo), func(k int) error { return f.action(todo[k]) }); err != nil {
			return err
		}
	}
	if f.ran.Load() { // else all is from the store
		if err := atomicfile.SyncTree("."); err != nil {
			return err
		}
	}
	return f.save()
}

// check finds out what is dirty, and which sources are.
func (f *floorRun) check(jobs int) (sources []int, same bool, err error) {
	var numbers []int
	var paths []string
	for i, name := range f.names {
		if !strings.HasPrefix(name, "obj/") { // which only the store has
			numbers, paths = append(numbers, i), append(paths, name)
		}
	}
	stamps, err := stat.Lstats(".", paths, jobs)
	same = true
	for k, i := range numbers {
		if stamps[k] == f.made[i].stamp {
			continue
		}
		same, f.dirty[i] = false, true
		if !strings.HasPrefix(paths[k], "out/") {
			sources = append(sources, i)
			if f.made[i].stamp = stamps[k]; stamps[k].Racy(time.Now()) {
				f.made[i].stamp = stat.Stamp{Mode: stamps[k].Mode} // of no file: it is read again the next time
			}
		}
	}
	return sources, same, err
}

func (f *floorRun) source(i int) error {
	sum, err := hashFile(f.names[i])
	f.other[i], f.made[i].sum = sum != f.made[i].sum, sum
	return err
}

// todo returns those of some actions that have something to do.
func (f *floorRun) todo(lines string) (all [][]int) {
	for line := range strings.SplitSeq(lines, "\n") {
		var action []int
		do := false
		for field := range strings.FieldsSeq(line) {
			i, _ := strconv.Atoi(field)
			action = append(action, i)
			do = do || f.other[i]
		}
		if out := action[0]; do || f.dirty[out] || f.made[out].key.IsZero() {
			all = append(all, action)
		}
	}
	return all
}

// action sees to it that the store and out/ have what an action makes.
func (f *floorRun) action(numbers []int) error {
	out, argv, h := numbers[0], make([]string, len(numbers)), digest.BLAKE3.New()
	for k, i := range numbers {
		fmt.Fprintln(h, f.names[i])
		if argv[k] = f.names[i]; k == 0 {
			continue
		}
		if h.Write(f.made[i].sum.AppendHash(nil)); !f.made[i].key.IsZero() {
			argv[k] = stored(f.made[i].key)
		}
	}
	m := made{key: digest.BLAKE3.Sum(h, 0)}
	var err error
	if m.sum, err = hashFile(stored(m.key)); errors.Is(err, fs.ErrNotExist) {
		argv[0], argv[1] = argv[1], "new/"+m.key.Hex()
		if f.roots != nil {
			m.sum, err = f.apart(argv, numbers, stored(m.key))
		} else if m.sum, err = f.start("", argv); err == nil {
			err = os.Rename(argv[1], stored(m.key))
		}
	}
	if err == nil && strings.HasPrefix(f.names[out], "out/") {
		share := os.Link
		if f.roots != nil {
			share = copyTo // whoever writes to it changes nothing in the store
		}
		if err = share(stored(m.key), f.names[out]); errors.Is(err, fs.ErrExist) {
			err = errors.Join(os.Remove(f.names[out]), share(stored(m.key), f.names[out]))
		}
		if err == nil {
			m.stamp, err = stat.Lstat(f.names[out])
		}
	}
	f.other[out], f.dirty[out], f.made[out] = m.sum != f.made[out].sum, true, m
	return err
}

func stored(key digest.Digest) string { return "store/" + key.Hex()[:32] }

// start runs a command in a folder and returns the digest of what it made.
func (f *floorRun) start(dir string, argv []string) (digest.Digest, error) {
	f.ran.Store(true)
	p, err := os.StartProcess(filepath.Join(dir, argv[0]), argv, &os.ProcAttr{Dir: dir, Env: environment("/"), Files: []*os.File{f.null, f.null, f.null}})
	if err != nil {
		return digest.Digest{}, err
	}
	if st, err := p.Wait(); err != nil || !st.Success() {
		return digest.Digest{}, fmt.Errorf("%s: %v, %w", argv, st, err)
	}
	return hashFile(filepath.Join(dir, argv[1]))
}

func hashFile(path string) (digest.Digest, error) {
	f, err := os.Open(path)
	if err != nil {
		return digest.Digest{}, err
	}
	defer f.Close()
	return digest.BLAKE3.Reader(f)
}

// floorState is the file that has what was made.
func floorState() (string, statefile.Kind) {
	return "state", statefile.Kind{Name: "floor", Version: 2, Max: 1 << 30, Shared: true}
}

// savedMade is a made in the file.
type savedMade struct {
	Stamp    stat.Stamp
	Sum, Key string
}

func (f *floorRun) load() bool {
	var all []savedMade
	path, kind := floorState()
	if statefile.Read(path, kind, &all) != nil {
		return false // there is none
	}
	for i, s := range all[:min(len(all), len(f.made))] {
		sum, _ := digest.Parse(s.Sum)
		key, _ := digest.Parse(s.Key)
		f.made[i] = made{s.Stamp, sum, key}
	}
	return true
}

func (f *floorRun) save() error {
	all := make([]savedMade, len(f.made))
	for i, m := range f.made {
		all[i] = savedMade{m.stamp, m.sum.String(), m.key.String()}
	}
	path, kind := floorState()
	return statefile.Write(path, kind, all)
}
