package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statefile"
)

// floorGraph is the file in which the floor is told what there is to do: a line for each action, with output, program and inputs; an
// empty line before those that need what stands above it.
const floorGraph = "graph"

// floorRun is the least that a build can do that promises what hexmage's do: content decides what runs, nothing runs twice, and what is
// done survives a crash. It looks at each source and output once, hashes what goes into an action and what comes out, starts the process,
// has the store and out/ share what it made, and flushes once. It has no language, no sandbox, no log, and nothing to say.
type floorRun struct {
	null  *os.File
	ran   atomic.Bool     // an action did
	known map[string]made // by name: what is as it was when the last build ended
	mu    sync.Mutex      // of now
	now   map[string]made
}

// made is a source, or what an action made.
type made struct {
	stamp stat.Stamp    // of a source, and of an output in out/
	sum   digest.Digest // of the content
	key   digest.Digest // of the action, by which the store has it; of a source none
}

// buildFloor builds the graph of the working directory.
func buildFloor(jobs int) error {
	f := floorRun{known: map[string]made{}, now: map[string]made{}}
	if f.load(jobs) {
		return nil
	}
	text, err := os.ReadFile(floorGraph)
	if err != nil {
		return err
	}
	if f.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll("out", 0o755), os.MkdirAll("store", 0o755), os.MkdirAll("new", 0o755)); err != nil {
		return err
	}
	for level := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		lines := strings.Split(level, "\n")
		if err := parallel(jobs, len(lines), func(i int) error { return f.action(strings.Fields(lines[i])) }); err != nil {
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

// action makes an output, unless there is what the same command made of the same inputs.
func (f *floorRun) action(line []string) error {
	out, argv := line[0], append([]string{line[1], ""}, line[2:]...)
	key := digest.BLAKE3.New()
	fmt.Fprintln(key, line)
	for i, name := range line[1:] {
		in, err := f.input(name)
		if err != nil {
			return err
		}
		if key.Write(in.sum.AppendHash(nil)); !in.key.IsZero() {
			argv[i+1] = stored(in.key)
		}
	}
	m := made{key: digest.BLAKE3.Sum(key, 0)}
	if old, ok := f.known[out]; ok && old.key == m.key {
		f.add(out, old)
		return nil
	}
	err := f.make(&m, argv)
	if err == nil && strings.HasPrefix(out, "out/") {
		if err = os.Link(stored(m.key), out); errors.Is(err, fs.ErrExist) {
			err = errors.Join(os.Remove(out), os.Link(stored(m.key), out))
		}
		if err == nil {
			m.stamp, err = stat.Lstat(out)
		}
	}
	f.add(out, m)
	return err
}

// make puts what a command makes into the store, if it is not there.
func (f *floorRun) make(m *made, argv []string) (err error) {
	if m.sum, err = hashFile(stored(m.key)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f.ran.Store(true)
	argv[1] = "new/" + m.key.Hex()
	p, err := os.StartProcess(argv[0], argv, &os.ProcAttr{Env: environment("/"), Files: []*os.File{f.null, f.null, f.null}})
	if err != nil {
		return err
	}
	if st, err := p.Wait(); err != nil || !st.Success() {
		return fmt.Errorf("%s: %v, %w", argv, st, err)
	}
	if m.sum, err = hashFile(argv[1]); err != nil {
		return err
	}
	return os.Rename(argv[1], stored(m.key))
}

// input is a source or what an earlier action made.
func (f *floorRun) input(name string) (made, error) {
	f.mu.Lock()
	m, ok := f.now[name]
	f.mu.Unlock()
	if ok {
		return m, nil
	}
	m, ok = f.known[name]
	if !ok {
		var err error
		if m.stamp, err = stat.Lstat(name); err != nil {
			return m, err
		}
		if m.stamp.Racy(time.Now()) {
			m.stamp = stat.Stamp{Mode: m.stamp.Mode} // of no file: it is read again the next time
		}
		if m.sum, err = hashFile(name); err != nil {
			return m, err
		}
	}
	f.add(name, m)
	return m, nil
}

func (f *floorRun) add(name string, m made) {
	f.mu.Lock()
	f.now[name] = m
	f.mu.Unlock()
}

func stored(key digest.Digest) string { return "store/" + key.Hex()[:32] }

func hashFile(path string) (digest.Digest, error) {
	f, err := os.Open(path)
	if err != nil {
		return digest.Digest{}, err
	}
	defer f.Close()
	return digest.BLAKE3.Reader(f)
}

// floorState is the file in which it is remembered what was made: a block of what is looked at, and one of what only the store has.
func floorState() (string, statefile.Kind) {
	return "state", statefile.Kind{Name: "floor", Version: 1, Max: 1 << 30, Shared: true}
}

// load reads what was made, and tells whether all of it is as it was.
func (f *floorRun) load(jobs int) bool {
	file, err := statefile.Read(floorState())
	if err != nil {
		return false // there is none
	}
	names, all := remembered(file.Blocks[0])
	stamps, err := stat.Lstats(".", names, jobs)
	if err == nil && slices.EqualFunc(stamps, all, func(s stat.Stamp, m made) bool { return s == m.stamp }) {
		return true
	}
	for i, name := range names {
		if stamps[i] == all[i].stamp {
			f.known[name] = all[i]
		}
	}
	names, all = remembered(file.Blocks[1])
	for i, name := range names {
		f.known[name] = all[i]
	}
	return false
}

func remembered(block []byte) (names []string, all []made) {
	for d := statefile.Decode(block); d.Len() > 0; {
		names, all = append(names, d.Text()), append(all, made{d.Stamp(), d.Digest(), d.Digest()})
	}
	return names, all
}

func (f *floorRun) save() error {
	var blocks [2]statefile.Encoder
	for name, m := range f.now {
		e := &blocks[0]
		if !m.stamp.Exists() {
			e = &blocks[1]
		}
		e.Text(name)
		e.Stamp(m.stamp)
		e.Digest(m.sum)
		e.Digest(m.key)
	}
	path, kind := floorState()
	return statefile.Write(path, kind, blocks[0].Block, blocks[1].Block)
}
