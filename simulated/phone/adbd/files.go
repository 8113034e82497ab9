//go:build linux

package adbd

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	maxPath  = 1024
	maxChunk = 64 << 10 // adb refuses larger DATA chunks
)

// files serves the sync service: requests about files, one after the other.
type files struct {
	r   *bufio.Reader
	w   *bufio.Writer
	buf []byte
}

func newFiles(s *stream) *files {
	return &files{r: bufio.NewReaderSize(s, 128<<10), w: bufio.NewWriterSize(s, 256<<10), buf: make([]byte, 8+maxChunk)}
}

// serve answers until the peer quits or breaks the protocol. A failed write shows at the next flush.
func (f *files) serve() {
	for {
		id, n, err := f.head()
		if err != nil || id == "QUIT" {
			return
		}
		if n > maxPath {
			f.fail(fmt.Errorf("a path of %d bytes is too long", n))
			_ = f.w.Flush()
			return
		}
		path := make([]byte, n)
		if _, err := io.ReadFull(f.r, path); err != nil {
			return
		}
		if err := f.answer(id, string(path)); err != nil {
			return
		}
		if err := f.w.Flush(); err != nil {
			return
		}
	}
}

// answer returns an error if the stream is out of step.
func (f *files) answer(id, path string) error {
	switch id {
	case "STA2":
		f.stat(id, path, os.Stat)
	case "LST2":
		f.stat(id, path, os.Lstat)
	case "LIS2":
		f.list(path)
	case "SEND":
		to, mode, err := parseSend(path)
		return f.receive(to, mode, err)
	case "RECV":
		return f.send(path)
	default:
		f.fail(fmt.Errorf("unknown request %q", id))
	}
	return nil
}

func (f *files) head() (id string, n uint32, err error) {
	var h [8]byte
	if _, err := io.ReadFull(f.r, h[:]); err != nil {
		return "", 0, err
	}
	return string(h[:4]), binary.LittleEndian.Uint32(h[4:]), nil
}

func (f *files) put(id string, numbers ...any) {
	_, _ = f.w.WriteString(id)
	for _, n := range numbers {
		_ = binary.Write(f.w, binary.LittleEndian, n)
	}
}

func (f *files) fail(err error) {
	msg := err.Error()
	f.put("FAIL", uint32(len(msg)))
	_, _ = f.w.WriteString(msg)
}

func (f *files) stat(id, path string, stat func(string) (os.FileInfo, error)) {
	fi, err := stat(path)
	if err != nil {
		var errno syscall.Errno
		if !errors.As(err, &errno) {
			errno = syscall.EIO
		}
		f.put(id, uint32(errno), [64]byte{})
		return
	}
	f.put(id, uint32(0))
	f.details(fi)
}

// details writes dev, ino, mode, nlink, uid, gid, size, atime, mtime, ctime.
func (f *files) details(fi os.FileInfo) {
	t := fi.Sys().(*syscall.Stat_t)
	f.put("", t.Dev, t.Ino, t.Mode, uint32(t.Nlink), t.Uid, t.Gid, uint64(t.Size), t.Atim.Sec, t.Mtim.Sec, t.Ctim.Sec)
}

// list writes the entries of a folder. It treats an unreadable folder as empty, because adb waits forever after a
// FAIL here.
func (f *files) list(path string) {
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil {
			continue // removed meanwhile
		}
		f.put("DNT2", uint32(0))
		f.details(fi)
		f.put("", uint32(len(e.Name())))
		_, _ = f.w.WriteString(e.Name())
	}
	f.put("DONE", [72]byte{})
}

func parseSend(spec string) (path string, mode os.FileMode, err error) {
	i := strings.LastIndexByte(spec, ',')
	if i < 0 {
		return "", 0, fmt.Errorf("%q: missing file mode", spec)
	}
	m, err := strconv.ParseUint(spec[i+1:], 10, 32)
	if err != nil {
		return "", 0, fmt.Errorf("%q: mode: %w", spec, err)
	}
	if kind := m & syscall.S_IFMT; kind != 0 && kind != syscall.S_IFREG {
		return "", 0, fmt.Errorf("%s: only regular files can be pushed", spec[:i])
	}
	return spec[:i], os.FileMode(m & 0o777), nil
}

func create(path string, mode os.FileMode) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o775); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // a running program keeps its old file
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, mode|0o200)
}

func finish(out *os.File, path string, mode os.FileMode, modified time.Time) error {
	if err := out.Chmod(mode); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Chtimes(path, modified, modified)
}
