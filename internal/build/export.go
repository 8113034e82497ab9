package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statefile"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// exporter puts a pipeline's outputs under Options.Out. Of processes that share a state folder, one does so at a time.
type exporter struct {
	*worker
	*exports
	stateFile string
	gone      map[string]bool // what is known ahead of it of outputs that do not stand as they were left; nil: nothing
	sweep     bool            // a killed run may have left files beside the outputs
	since     bool            // nothing was exported since the build that the outputs' lastID is of
}

// exportsFile is where it is remembered what stands in the folder of outputs.
func (o *Options) exportsFile() string {
	return layout.StateDir(o.State).Exports(o.Fn.Bytes([]byte(o.Out)).Hex()[:16])
}

// exportsID names what is remembered now of what stands there.
func (o *Options) exportsID() digest.Digest {
	id, _ := statefile.ReadID(o.exportsFile()) // none, if it cannot be read
	return id
}

// CheckOut refuses a folder of outputs to which a link leads from the folder in ("": the one that out is in): outputs would be written
// wherever somebody who gave the user a workspace wants them.
func CheckOut(in, out string) error {
	if in == "" {
		in = filepath.Dir(out)
	}
	rel, err := filepath.Rel(in, out)
	if err != nil {
		return err
	}
	at := in
	for _, name := range strings.Split(rel, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if err != nil {
			return nil // there is nothing yet; or whoever writes there will say what is wrong
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, _ := os.Readlink(at)
			return fmt.Errorf("%s is a link to %s, and outputs follow no link: remove it, or name with --out where they are to go", at, to)
		}
	}
	return nil
}

// output is an output of the pipeline on the way to its place.
type output struct {
	Name, Show string
	planned    *plan.Output // nil: it is read from the snapshot when it is wanted
	number     int          // among the snapshot's
	id         string       // what it is, as identity says; "" when that has to be found out
	lastID     string       // its id in the last build, where that is known
	name       string       // of its file in Out
	entry      *merkle.Entry
	inPlace    bool
	found      exported
	err        error
}

// plannedOutput returns an output as the plan has it.
func (w *worker) plannedOutput(out *output) (plan.Output, error) {
	if out.planned != nil {
		return *out.planned, nil
	}
	return w.savedOutput(out.number)
}

// export puts the pipeline's outputs in their place. It fills in what it finds out about each of outs.
func (w *worker) export(ctx context.Context, outs []output) (ready []event.OutputReady, err error) {
	if err := CheckOut(w.o.OutIn, w.o.Out); err != nil {
		return nil, err
	}
	x := &exporter{worker: w, stateFile: w.o.exportsFile()}
	if err := os.MkdirAll(filepath.Dir(x.stateFile), 0o755); err != nil {
		return nil, err
	}
	unlock, err := atomicfile.Lock(ctx, x.stateFile+".lock")
	if err != nil {
		return nil, fmt.Errorf("wait for another hexmage that writes to %s: %w", w.o.Out, err)
	}
	defer unlock()
	if w.exportCheck.settled(w.o.exportsID()) {
		x.gone = w.exportCheck.gone
		if x.since = w.exportCheck.id() == w.exported; x.since {
			x.exports = changesTo(w.exportCheck.file)
		} else if x.exports, err = exportsOf(w.exportCheck.file); err != nil {
			x.exports, x.gone = nil, nil
		}
	}
	if x.exports == nil {
		x.exports = knownExports(x.stateFile)
		x.sweep = x.file == nil // who wrote there last, and whether to the end, is not known
	}
	defer func() {
		if len(x.touch) > 0 { // also after an error: what was exported until then is known
			err = errors.Join(err, x.write(x.stateFile))
		}
	}()
	known, now, err := x.prepare(ctx, outs)
	if perr := x.put(ctx, known); perr != nil {
		err = perr // of an output before the one that could not be prepared
	}
	in := filepath.Clean(w.o.Out) + string(filepath.Separator)
	ready = make([]event.OutputReady, 0, len(outs))
	for i := range outs {
		out := &outs[i]
		if !out.inPlace {
			return ready, err
		}
		r := event.OutputReady{Name: out.Name, Path: in + out.name, Show: out.Show}
		w.o.Sink.Send(r)
		ready = append(ready, r)
	}
	if err == nil && w.o.Prune && !x.since { // the last build did
		err = x.prune(now)
	}
	return ready, err
}

// prepare finds out what the outputs are called and are. It returns those that have to be looked at, up to the first with which that
// fails, and all names with the outputs that have them, unless the last build had the same.
func (x *exporter) prepare(ctx context.Context, outs []output) ([]*output, map[string]string, error) {
	var known []*output
	var now map[string]string
	if !x.since {
		known, now = make([]*output, 0, len(outs)), make(map[string]string, len(outs))
	}
	for i := range outs {
		out := &outs[i]
		if err := out.prepare(ctx, x, now); err != nil {
			return known, now, fmt.Errorf("output %q: %w", out.Name, err)
		}
		if out.inPlace = x.since && out.id == out.lastID && !x.gone[out.name]; !out.inPlace {
			known = append(known, out)
		}
	}
	return known, now, nil
}

func (out *output) prepare(ctx context.Context, x *exporter, now map[string]string) (err error) {
	if out.name, err = plan.FileName(out.Name); err != nil {
		return err
	}
	if now != nil {
		if other, ok := now[out.name]; ok {
			return fmt.Errorf("its place is that of output %q too: rename one of them", other)
		}
		now[out.name] = out.Name
	}
	if out.id == "" {
		if err := out.find(ctx, x); err != nil {
			return err
		}
		out.id = x.identity(*out.entry)
	}
	return nil
}

// find finds out what the output is. Of a file that is what it was its id says that: no part of the plan has to be read.
func (out *output) find(ctx context.Context, x *exporter) error {
	if out.entry != nil {
		return nil
	}
	if f, ok := fileOf(out.id); ok {
		out.entry = &merkle.Entry{File: &f}
		return nil
	}
	full, err := x.plannedOutput(out)
	if err != nil {
		return err
	}
	if full.Waits != plan.ForNothing {
		if full, err = x.extendOutput(ctx, full); err != nil {
			return err
		}
	}
	e, err := x.outputEntry(ctx, full)
	out.entry = &e
	return err
}

// put makes sure that the outputs stand in their places.
func (x *exporter) put(ctx context.Context, outs []*output) error {
	var old []*output
	var names []string
	for _, out := range outs {
		if k, ok := x.known[out.name]; ok && k.id == out.id {
			old, names = append(old, out), append(names, out.name)
		}
	}
	there, err := x.intact(names)
	if err != nil {
		return err
	}
	for i, out := range old {
		out.inPlace = there[i]
	}
	var missing []*output
	for _, out := range outs {
		if out.inPlace {
			continue
		}
		x.remove(out.name)
		if err = out.find(ctx, x); err != nil {
			err = fmt.Errorf("output %q: %w", out.Name, err)
			break // those before it are put in place
		}
		missing = append(missing, out)
	}
	_, merr := os.Lstat(x.stateFile + writing)
	if len(missing) > 0 || merr == nil { // also when there is only something to tidy up
		if perr := x.place(ctx, missing); perr != nil {
			err = perr
		}
	}
	for _, out := range missing {
		if out.inPlace {
			x.set(out.name, out.found)
		}
	}
	return err
}

// prune removes the outputs of earlier runs that the pipeline no longer has. What somebody changed since stays.
func (x *exporter) prune(now map[string]string) error {
	for name := range x.known {
		if _, ok := now[name]; ok {
			continue
		}
		there, err := intact(x.o.Out, []string{name}, x.known)
		if err != nil {
			return err
		}
		if base, err := plan.FileName(name); err == nil && base == name && there[0] {
			if err := os.RemoveAll(filepath.Join(x.o.Out, name)); err != nil {
				return fmt.Errorf("remove output %q, which the pipeline no longer has: %w", name, err)
			}
		}
		x.remove(name)
	}
	return nil
}

func (w *worker) extendOutput(ctx context.Context, out plan.Output) (plan.Output, error) {
	if w.o.Extender == nil {
		return out, errors.New("it waits for values, and this build has nobody who makes it of them")
	}
	values, err := w.allValues(ctx, out.AwaitValues)
	if err != nil {
		return out, err
	}
	return w.o.Extender.ExtendOutput(out.Name, plan.Known{Values: values})
}

// outputEntry returns what an output of the pipeline is.
func (w *worker) outputEntry(ctx context.Context, out plan.Output) (merkle.Entry, error) {
	literals := map[digest.Digest][]byte{}
	if out.Class == 0 {
		b := []byte(out.Literal + "\n")
		d := w.fn.Bytes(b)
		literals[d] = b
		return merkle.Entry{File: &merkle.File{Digest: d}}, w.keep(ctx, literals)
	}
	entry, err := w.entry(ctx, nil, out.Artifact, literals)
	if err == nil && entry.File == nil && entry.Dir == nil {
		err = errors.New("it is neither a file nor a folder")
	}
	return entry, err
}

// identity names what an output is.
func (w *worker) identity(e merkle.Entry) string {
	if e.File != nil {
		return e.File.Digest.String() + " " + strconv.FormatBool(e.File.Executable)
	}
	root, _ := e.Dir.Encode(w.fn)
	return root.String()
}

// fileOf returns the file of an identity, if it is one of a file.
func fileOf(id string) (merkle.File, bool) {
	text, executable, ok := strings.Cut(id, " ")
	if !ok {
		return merkle.File{}, false
	}
	d, err := digest.Parse(text)
	return merkle.File{Digest: d, Executable: executable == "true"}, err == nil
}

// exportCheck looks at the outputs that stand in their places beside what else a run begins with: of ten thousand outputs, few belong to actions
// that run.
type exportCheck struct {
	file *statefile.File // nil: there is none
	ok   bool            // what is remembered could be read, and looked at
	done chan struct{}   // closed when all is known
	gone map[string]bool // by file name: those that do not stand as they were left
	torn bool            // a run was killed while it wrote outputs: what it left beside them has to go
}

// fewExports is up to how many bytes of what is remembered of outputs are looked into at once: a goroutine would begin no sooner.
const fewExports = 16 << 10

// checkExports begins to look.
func (o *Options) checkExports() *exportCheck {
	c, file, out := &exportCheck{done: make(chan struct{}), gone: map[string]bool{}}, o.exportsFile(), o.Out
	look := func() {
		defer close(c.done)
		_, err := os.Lstat(file + writing)
		c.torn = err == nil
		if c.file, err = statefile.Read(file, exportsKind()); errors.Is(err, fs.ErrNotExist) {
			c.ok = true // a pipeline without outputs leaves none
			return
		}
		if err == nil {
			err = c.compare(out)
		}
		c.ok = err == nil // else it is looked at again, and the error comes again
	}
	if info, err := os.Lstat(file); err == nil && info.Size() > fewExports {
		go look()
	} else {
		look()
	}
	return c
}

// compare finds out what is gone from the folder.
func (c *exportCheck) compare(out string) error {
	n := 0
	for _, b := range c.file.Blocks {
		n += len(b) / 96 // bytes of an output, or fewer
	}
	all := exportedFiles{names: make([]string, 0, n), ends: make([]int, 0, n), paths: make([]string, 0, n), stamps: make([]stat.Stamp, 0, n)}
	later := map[string]bool{} // of what comes again the last counts
	for i := len(c.file.Blocks) - 1; i >= 0; i-- {
		if !eachExported(c.file.Blocks[i], func(name string, e exported, gone bool) {
			if !later[name] && !gone {
				all.add(name, e)
			}
			if i > 0 {
				later[name] = true
			}
		}) {
			return statefile.ErrDamaged
		}
	}
	there, err := all.present(out)
	for i, ok := range there {
		if !ok {
			c.gone[all.names[i]] = true
		}
	}
	return err
}

// id names what is remembered of the outputs; none where nothing is.
func (c *exportCheck) id() digest.Digest {
	if c.file == nil {
		return digest.Digest{}
	}
	return c.file.ID()
}

// settled waits for what was found, and tells whether it is all of what is remembered, in the file with the id as it is now.
func (c *exportCheck) settled(id digest.Digest) bool {
	if c == nil {
		return false
	}
	<-c.done
	return c.ok && c.file != nil && c.id() == id
}

// whole tells whether the outputs stand as they did when what is remembered of them had the id, and nothing else was exported since.
func (c *exportCheck) whole(id digest.Digest) bool {
	<-c.done
	return !c.torn && c.ok && c.id() == id && len(c.gone) == 0
}

// intact tells which of the outputs stand as they were left.
func (x *exporter) intact(names []string) ([]bool, error) {
	if x.gone == nil {
		return intact(x.o.Out, names, x.known)
	}
	ok := make([]bool, len(names))
	for i, name := range names {
		ok[i] = !x.gone[name] // they are all known
	}
	return ok, nil
}

// exportsKind is of the file in which it is remembered what was exported. Each of its blocks has outputs in order of their names:
// name, id, the number of its files times four, plus two if there is no such output any more, plus one for a folder, and the
// files: path and stamp. Of an output that comes again the last counts. Of a damaged file nothing is known.
func exportsKind() statefile.Kind {
	return statefile.Kind{Name: "exports", Version: 1, Max: 1 << 30, Shared: true}
}

// exports is what is remembered of outputs that were exported, by file name, with what is needed to remember more.
type exports struct {
	known map[string]exported
	file  *statefile.File // nil: there is none, or it has to be written anew
	touch map[string]bool // names that are something else than in the file
	few   bool            // known has only these
}

func newExports() *exports { return &exports{known: map[string]exported{}, touch: map[string]bool{}} }

func (x *exports) set(name string, e exported) { x.known[name], x.touch[name] = e, true }

func (x *exports) remove(name string) {
	delete(x.known, name)
	x.touch[name] = true
}

// block returns a block with the outputs of these names.
func (x *exports) block(names []string) []byte {
	e := statefile.Encoder{Block: make([]byte, 0, 192*len(names)+64)}
	for _, name := range names {
		out, ok := x.known[name]
		e.Text(name)
		e.Text(out.id)
		n := len(out.files) << 2
		if !ok {
			n |= 2
		}
		if out.dir {
			n |= 1
		}
		e.Int(n)
		for _, f := range out.files {
			e.Text(f.path)
			e.Stamp(f.stamp)
		}
	}
	return e.Block
}

// read takes the outputs of a block, and tells whether all of it was right.
func (x *exports) read(block []byte) bool {
	return eachExported(block, func(name string, e exported, gone bool) {
		if gone {
			delete(x.known, name)
			return
		}
		e.files = slices.Clone(e.files)
		x.known[name] = e
	})
}

// eachExported calls f for each output of a block, and for each that there is no more, and tells whether all of it was right. The files are others the
// next time.
func eachExported(block []byte, f func(name string, e exported, gone bool)) bool {
	d := statefile.Decode(block)
	files := []fileStamp{}
	for d.Len() > 0 {
		name, out := d.Text(), exported{id: d.Text()}
		n := d.Uint()
		gone := n&2 != 0
		out.dir = n&1 != 0
		if n >>= 2; n > uint64(d.Len()) { // a file takes more than a byte
			return false
		}
		files = files[:0]
		for range n {
			files = append(files, fileStamp{d.Text(), d.Stamp()})
		}
		out.files = files
		f(name, out, gone)
	}
	return !d.Bad()
}

// exportsOf returns what a file says. Where that cannot be, it fails: that nothing is known of what stands there is not that nothing has
// to stand there.
func exportsOf(f *statefile.File) (*exports, error) {
	x := newExports()
	for _, b := range f.Blocks {
		if !x.read(b) {
			return nil, statefile.ErrDamaged
		}
	}
	x.file = f
	return x, nil
}

// changesTo returns what a file says, for who does not ask what that is, and remembers more.
func changesTo(f *statefile.File) *exports {
	x := newExports()
	x.file, x.few = f, true
	return x
}

func readExports(path string) (*exports, error) {
	f, err := statefile.Read(path, exportsKind())
	if err != nil {
		return nil, err
	}
	return exportsOf(f)
}

// knownExports is readExports of a file that counts as empty when it cannot be read: everything is exported again.
func knownExports(path string) *exports {
	x, err := readExports(path)
	if err != nil {
		return newExports()
	}
	return x
}

// write remembers what was touched. After a crash of the machine the file may be damaged: then everything is exported again.
// The caller holds the lock of the file.
func (x *exports) write(path string) error {
	if x.file != nil && x.file.Append(path, x.block(slices.Sorted(maps.Keys(x.touch)))) == nil {
		return nil
	}
	if x.few {
		all, err := exportsOf(x.file)
		if err != nil {
			return err
		}
		for name := range x.touch {
			if e, ok := x.known[name]; ok {
				all.known[name] = e
			} else {
				delete(all.known, name)
			}
		}
		x = all
	}
	return statefile.Write(path, exportsKind(), x.block(slices.Sorted(maps.Keys(x.known))))
}

// exported remembers what stands at an output's place, so that an unchanged output costs one stat a file.
type exported struct {
	id    string // what it is, as identity says
	dir   bool
	files []fileStamp
}

// fileStamp is what the file system says of an exported file. A tampered, replaced or deleted one has another stamp.
type fileStamp struct {
	path  string // slash path relative to the output's place; "" for a file
	stamp stat.Stamp
}

// stamps returns those of all files below a folder that was just exported.
func stamps(dir string) ([]fileStamp, error) {
	var out []fileStamp
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		st, err := stat.Lstat(p)
		out = append(out, fileStamp{filepath.ToSlash(rel), st})
		return err
	})
	return out, err
}

// intact tells of each of names whether what was exported under it to the folder out is still there, every file with
// its stamp.
func intact(out string, names []string, known map[string]exported) ([]bool, error) {
	var all exportedFiles
	for _, name := range names {
		all.add(name, known[name])
	}
	return all.present(out)
}

// exportedFiles are outputs with the files that are to be found where each was put.
type exportedFiles struct {
	names  []string
	ends   []int // in paths
	paths  []string
	stamps []stat.Stamp // none of a folder, of which only that it is there counts
}

func (s *exportedFiles) add(name string, e exported) {
	const nothing = 1 // no file has that mode
	switch {
	case e.dir:
		s.paths, s.stamps = append(s.paths, name), append(s.stamps, stat.Stamp{})
	case len(e.files) == 0:
		s.paths, s.stamps = append(s.paths, name), append(s.stamps, stat.Stamp{Mode: nothing})
	}
	for _, f := range e.files {
		p := name
		if !f.stamp.Exists() {
			f.stamp.Mode = nothing
		}
		if f.path != "" {
			p = path.Join(name, f.path)
		}
		s.paths, s.stamps = append(s.paths, p), append(s.stamps, f.stamp)
	}
	s.names, s.ends = append(s.names, name), append(s.ends, len(s.paths))
}

// present tells of each output whether all of it is there. It looks at many files at once.
func (s *exportedFiles) present(out string) ([]bool, error) {
	found, err := stat.Lstats(out, s.paths, 0)
	if errors.Is(err, fs.ErrPermission) {
		err = nil // what cannot be looked at does not stand: exporting it says what is wrong
	}
	there := make([]bool, len(s.names))
	at := 0
	for i, end := range s.ends {
		there[i] = true
		for ; at < end; at++ {
			if want := s.stamps[at]; want.Exists() {
				there[i] = there[i] && found[at] == want
			} else {
				there[i] = there[i] && found[at].IsDir()
			}
		}
	}
	return there, err
}
