package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Files moves files and looks at them. One goroutine at a time may use it.
type Files struct {
	Transfer
	Tree
}

// Transfer moves files.
type Transfer interface {
	// Push writes what r holds to a file on the device, making its folders; what was there before is gone. Only mode's permission bits count.
	// progress, if not nil, is called by one goroutine at a time with how much of r was sent so far. It returns how many bytes the link was given to carry.
	Push(ctx context.Context, path string, mode fs.FileMode, modified time.Time, r io.Reader, progress func(sent int64)) (carried int64, err error)
	// Pull copies a file from the device to w. progress likewise. What w got before an error stays there.
	Pull(ctx context.Context, path string, w io.Writer, progress func(received int64)) error
	Close() error
}

// Tree looks at files. One that does not exist is a FileError that wraps fs.ErrNotExist.
type Tree interface {
	Stat(ctx context.Context, path string) (Stat, error)  // follows links
	Lstat(ctx context.Context, path string) (Stat, error) // does not follow path itself
	List(ctx context.Context, path string) ([]Entry, error)
}

// Stat is what a device says about a file.
type Stat struct {
	Mode     fs.FileMode
	Size     int64
	Modified time.Time
}

// Entry is a file in a folder of the device.
type Entry struct {
	Name string // a single path element
	Stat
}

// IsElement tells whether a name that a device gave is one of a file in a folder.
func IsElement(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}

// FileMode translates the st_mode of Linux, which is what every device has, whatever this machine is.
func FileMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & 0o170000 {
	case 0o040000:
		mode |= fs.ModeDir
	case 0o120000:
		mode |= fs.ModeSymlink
	case 0o100000:
	default:
		mode |= fs.ModeIrregular
	}
	return mode
}

// OpenFiles returns what moves a device's files: its own way, where it has one, else its shell. All of it ctx bounds.
func OpenFiles(ctx context.Context, d Device) (Files, error) {
	if own, ok := d.(interface {
		Files(context.Context) (Files, error)
	}); ok {
		return own.Files(ctx)
	}
	s := shellFiles{d}
	return Files{s, s}, nil
}

// shellFiles moves files through the device's shell, by what GNU's tools, busybox and toybox have in common.
type shellFiles struct{ d Device }

// Close has nothing to do.
func (shellFiles) Close() error { return nil }

// guarded is read until it is closed: what reads it may still do so when the command that wanted it is over.
type guarded struct {
	progress func(int64)

	mu sync.Mutex
	r  io.Reader // nil: closed
	n  int64
}

func (g *guarded) Read(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.r == nil {
		return 0, io.ErrClosedPipe
	}
	n, err := g.r.Read(b)
	if g.n += int64(n); n > 0 && g.progress != nil {
		g.progress(g.n)
	}
	return n, err
}

// close returns how much was read.
func (g *guarded) close() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.r = nil
	return g.n
}

// english has the device's tools say what refused reads.
const english = "export LC_ALL=C\n"

// dropWait is how long a device may take to remove what is not whole.
const dropWait = 5 * time.Second

// Push implements Transfer. What was there is removed, and not written into: it may have other names, or be a link.
func (s shellFiles) Push(ctx context.Context, at string, mode fs.FileMode, modified time.Time, r io.Reader, progress func(sent int64)) (int64, error) {
	in := &guarded{r: r, progress: progress}
	to := Quote(at)
	_, err := Output(ctx, s.d, english+"mkdir -p "+Quote(path.Dir(at))+" && rm -f "+to+" && cat >"+to+" && chmod "+strconv.FormatUint(uint64(mode.Perm()), 8)+" "+to+" && touch -c -d @"+strconv.FormatInt(modified.Unix(), 10)+" "+to, in)
	sent := in.close()
	if err != nil && !Retryable(err) { // cat took the end of what came for the file's own
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropWait)
		defer cancel()
		_, _ = Output(bounded, s.d, "rm -f "+to, nil) // the error is that of the push
	}
	return sent, refused(err, "push", at)
}

// counted counts what is written.
type counted struct {
	w        io.Writer
	n        int64
	progress func(int64)
}

func (t *counted) Write(b []byte) (int, error) {
	n, err := t.w.Write(b)
	if t.n += int64(n); n > 0 && t.progress != nil {
		t.progress(t.n)
	}
	return n, err
}

// Pull implements Transfer.
func (s shellFiles) Pull(ctx context.Context, at string, w io.Writer, progress func(received int64)) error {
	var said limited
	code, err := s.d.Shell(ctx, english+"exec cat "+Quote(at), Streams{Stdout: &counted{w: w, progress: progress}, Stderr: &said})
	if err == nil && code != 0 {
		err = &ExitError{Code: code, Said: Words(said.String())}
	}
	return refused(err, "pull", at)
}

// notThere is the exit code of a script that finds no such file.
const notThere = 44

// refused makes of a command's failure that of a file operation.
func refused(err error, op, at string) error {
	exit, ok := errors.AsType[*ExitError](err)
	if !ok {
		return err
	}
	e := &FileError{Op: op, Path: at, Message: exit.Said}
	switch said := strings.ToLower(exit.Said); {
	case exit.Code == notThere, strings.Contains(said, "no such file"):
		e.Cause, e.Message = fs.ErrNotExist, "no such file or directory"
	case strings.Contains(said, "permission denied"):
		e.Cause = fs.ErrPermission
	}
	return e
}

// format has `stat -c` print the mode in hexadecimal, the size and the time, before the name.
const format = "'%f %s %Y %n'"

// Stat implements Tree.
func (s shellFiles) Stat(ctx context.Context, at string) (Stat, error) { return s.stat(ctx, "-L ", at) }

// Lstat implements Tree.
func (s shellFiles) Lstat(ctx context.Context, at string) (Stat, error) { return s.stat(ctx, "", at) }

func (s shellFiles) stat(ctx context.Context, follow, at string) (Stat, error) {
	name := Quote(at)
	out, err := Output(ctx, s.d, english+"[ -e "+name+" ] || [ -L "+name+" ] || exit "+strconv.Itoa(notThere)+"\nexec stat "+follow+"-c "+format+" "+name, nil)
	if err != nil {
		return Stat{}, refused(err, "stat", at)
	}
	e, err := parseStat(strings.TrimSuffix(out, "\n"))
	if err != nil {
		return Stat{}, fmt.Errorf("device %s: stat %s: %w", s.d.Place().Serial, at, err)
	}
	return e.Stat, nil
}

// maxEntries is how many files of one folder are listed. More is a device that will not stop.
const maxEntries = 1 << 20

// List implements Tree.
func (s shellFiles) List(ctx context.Context, at string) ([]Entry, error) {
	out, err := Output(ctx, s.d, english+"cd "+Quote(at)+" && exec find . -mindepth 1 -maxdepth 1 -exec stat -c "+format+" {} +", nil)
	if err != nil {
		return nil, refused(err, "list", at)
	}
	all, err := parseList(out)
	if err != nil {
		return nil, fmt.Errorf("device %s: list %s: %w", s.d.Place().Serial, at, err)
	}
	return all, nil
}

// ErrProtocol says that a device answered what makes no sense.
var ErrProtocol = errors.New("the device's answer makes no sense")

// parseList reads a line of format for each file of a folder. A name with a line end in it is refused with what follows it.
func parseList(out string) ([]Entry, error) {
	var all []Entry
	for line := range strings.Lines(out) {
		e, err := parseStat(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		name, ok := strings.CutPrefix(e.Name, "./")
		if e.Name = name; !ok || !IsElement(name) {
			return nil, fmt.Errorf("%w: %.60q is no file name", ErrProtocol, e.Name)
		}
		if len(all) == maxEntries {
			return nil, fmt.Errorf("%w: more than %d entries", ErrProtocol, maxEntries)
		}
		all = append(all, e)
	}
	return all, nil
}

// parseStat reads a line of format.
func parseStat(line string) (Entry, error) {
	words := strings.SplitN(line, " ", 4)
	if len(words) < 4 {
		return Entry{}, fmt.Errorf("%w: %.60q says nothing of a file", ErrProtocol, line)
	}
	mode, bad := strconv.ParseUint(words[0], 16, 32)
	size, worse := strconv.ParseInt(words[1], 10, 64)
	modified, worst := strconv.ParseInt(words[2], 10, 64)
	if err := errors.Join(bad, worse, worst); err != nil || size < 0 || size > 1<<62 {
		return Entry{}, fmt.Errorf("%w: %.60q says nothing of a file", ErrProtocol, line)
	}
	return Entry{words[3], Stat{FileMode(uint32(mode)), size, time.Unix(modified, 0)}}, nil
}
