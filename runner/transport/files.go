package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

// File is a file on a device.
type File struct {
	Name string // slash path
	Mode fs.FileMode
	Size int64
}

// fileMode translates st_mode of Linux.
func fileMode(m uint64) fs.FileMode {
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

// The scripts use the common features of GNU's tools, busybox and toybox. english makes error messages parsable.
const (
	english  = "export LC_ALL=C\n"
	notThere = 44 // exit code of a script for a missing file
	format   = "'%f %s %n'"
)

// exists ends a script if the file is missing.
func exists(at string) string {
	return fmt.Sprintf("[ -e %s ] || [ -L %[1]s ] || exit %d\n", Quote(at), notThere)
}

// Stat describes a file on a device. It follows links. The error for a missing file wraps fs.ErrNotExist.
func Stat(ctx context.Context, d Device, at string) (File, error) {
	out, err := Output(ctx, d, english+exists(at)+"exec stat -L -c "+format+" "+Quote(at), nil)
	if err != nil {
		return File{}, refused(err, "stat", at)
	}
	return parseFile(strings.TrimSuffix(out, "\n"))
}

// Find lists a file of a device, or a folder with everything below it. The parameter name and the result's names are
// relative to the folder dir. Find does not follow links. The error for a missing file wraps fs.ErrNotExist.
func Find(ctx context.Context, d Device, dir, name string) ([]File, error) {
	out, err := Output(ctx, d, english+exists(dir)+"cd "+Quote(dir)+" || exit\n"+exists(name)+
		"exec find "+Quote("./"+name)+" -exec stat -c "+format+" {} +", nil)
	if err != nil {
		return nil, refused(err, "list", name)
	}
	return parseFiles(out)
}

// Pull copies a file of a device to w. The function progress, if not nil, receives the number of bytes copied. After an
// error, w contains a part of the file.
func Pull(ctx context.Context, d Device, at string, w io.Writer, progress func(received int64)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(stallWait, func() { cancel(fmt.Errorf("%w: no data for %v", ErrDropped, stallWait)) })
	defer stalled.Stop()
	var said limited
	var received int64
	code, err := d.Shell(ctx, english+"exec cat "+Quote(at), Streams{Stderr: &said, Stdout: writer(func(b []byte) (int, error) {
		stalled.Reset(stallWait)
		n, err := w.Write(b)
		if received += int64(n); progress != nil {
			progress(received)
		}
		return n, err
	})})
	if err == nil && code != 0 {
		err = &ExitError{Code: code, Said: Sanitize(said.String())}
	}
	return refused(err, "pull", at)
}

// stallWait is the time without a byte after which a link counts as broken.
const stallWait = 90 * time.Second

type writer func([]byte) (int, error)

// Write implements io.Writer.
func (w writer) Write(b []byte) (int, error) { return w(b) }

// refused returns the error of a failed file operation. A list can fail because a file below a folder disappeared
// meanwhile: the folder still exists.
func refused(err error, op, at string) error {
	exit, ok := errors.AsType[*ExitError](err)
	if !ok {
		return err
	}
	if exit.Code == notThere || op != "list" && strings.Contains(strings.ToLower(exit.Said), "no such file") {
		return fmt.Errorf("device: %s %s: %w", op, at, fs.ErrNotExist)
	}
	return fmt.Errorf("device: %s %s: %s", op, at, exit.Said)
}

// maxFiles is the largest number of files that Find returns.
const maxFiles = 100_000

// ErrProtocol means that a device's answer is invalid.
var ErrProtocol = errors.New("invalid answer from the device")

// parseFiles parses a line of format for each file. A name with a line end makes the next line invalid.
func parseFiles(out string) ([]File, error) {
	var all []File
	for line := range strings.Lines(out) {
		f, err := parseFile(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		if f.Name = path.Clean(f.Name); !fs.ValidPath(f.Name) {
			return nil, fmt.Errorf("%w: %.60q is not a file name", ErrProtocol, f.Name)
		}
		if len(all) == maxFiles {
			return nil, fmt.Errorf("the folder has more than %d files", maxFiles)
		}
		all = append(all, f)
	}
	return all, nil
}

// parseFile parses a line of format.
func parseFile(line string) (File, error) {
	words := strings.SplitN(line, " ", 3)
	if len(words) == 3 {
		mode, bad := strconv.ParseUint(words[0], 16, 32)
		size, worse := strconv.ParseUint(words[1], 10, 62)
		if bad == nil && worse == nil {
			return File{words[2], fileMode(mode), int64(size)}, nil
		}
	}
	return File{}, fmt.Errorf("%w: %.60q does not describe a file", ErrProtocol, line)
}
