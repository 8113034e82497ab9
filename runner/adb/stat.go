package adb

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/hexmage/hexmage/runner/link"
)

// statSize is the length of what follows the id and the error number in STA2, LST2 and DNT2:
// dev, ino (64 bits each), mode, nlink, uid, gid (32 each), size, atime, mtime, ctime (64 each).
const statSize = 8 + 8 + 4*4 + 8 + 3*8

// Stat returns what the device says about path, following links. One that does not exist is a link.FileError that
// wraps fs.ErrNotExist.
func (s *Sync) Stat(ctx context.Context, path string) (link.Stat, error) {
	st, err := s.stat("STA2", path)
	return st, s.end(ctx, "stat", path, err)
}

// Lstat is Stat that does not follow path itself when it is a link.
func (s *Sync) Lstat(ctx context.Context, path string) (link.Stat, error) {
	st, err := s.stat("LST2", path)
	return st, s.end(ctx, "lstat", path, err)
}

func (s *Sync) stat(request, path string) (link.Stat, error) {
	if err := s.command(request, path); err != nil {
		return link.Stat{}, err
	}
	id, errno, err := readFrame(s.cn.r)
	if err != nil {
		return link.Stat{}, err
	}
	if id == "FAIL" {
		return link.Stat{}, readFail(s.cn.r, errno, "stat", path)
	}
	if id != request {
		return link.Stat{}, fmt.Errorf("%w: want %s, got %q", ErrProtocol, request, id)
	}
	st, err := readStat(s.cn.r)
	if err == nil && errno != 0 {
		err = newErrno("stat", path, errno)
	}
	return st, err
}

func readStat(r io.Reader) (link.Stat, error) {
	var b [statSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return link.Stat{}, noEOF(err)
	}
	size := binary.LittleEndian.Uint64(b[32:])
	if size > 1<<62 {
		return link.Stat{}, fmt.Errorf("%w: a file of %d bytes", ErrProtocol, size)
	}
	return link.Stat{
		Mode:     link.FileMode(binary.LittleEndian.Uint32(b[16:])),
		Size:     int64(size),
		Modified: time.Unix(int64(binary.LittleEndian.Uint64(b[48:])), 0),
	}, nil
}

// List returns the entries of a folder, "." and ".." left out, in the device's order. A folder that does not exist is
// empty to some daemons and an error to others: use Stat to know.
func (s *Sync) List(ctx context.Context, path string) ([]link.Entry, error) {
	all, err := s.list(path)
	return all, s.end(ctx, "list", path, err)
}

func (s *Sync) list(path string) ([]link.Entry, error) {
	const entry = "DNT2"
	if err := s.command("LIS2", path); err != nil {
		return nil, err
	}
	var all []link.Entry
	for {
		s.cn.within(stallWait)
		id, errno, err := readFrame(s.cn.r)
		if err != nil {
			return nil, err
		}
		if id == "FAIL" {
			return nil, readFail(s.cn.r, errno, "list", path)
		}
		if id != entry && id != "DONE" {
			return nil, fmt.Errorf("%w: want %s or DONE, got %q", ErrProtocol, entry, id)
		}
		st, err := readStat(s.cn.r)
		if err != nil {
			return nil, err
		}
		name, err := readName(s.cn.r)
		if err != nil {
			return nil, err
		}
		switch {
		case id == "DONE":
			if errno != 0 {
				return nil, newErrno("list", path, errno)
			}
			return all, nil
		case errno != 0 || name == "." || name == "..":
		case !fs.ValidPath(name) || !link.IsElement(name):
			return nil, fmt.Errorf("%w: %q is no file name", ErrProtocol, name)
		case len(all) == maxEntries:
			return nil, fmt.Errorf("%w: more than %d entries", ErrProtocol, maxEntries)
		default:
			all = append(all, link.Entry{Name: name, Stat: st})
		}
	}
}

func readName(r io.Reader) (string, error) {
	var b [4]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return "", noEOF(err)
	}
	return readText(r, binary.LittleEndian.Uint32(b[:]), maxPath)
}

// newErrno translates an error number of the device, which is Linux's, whatever this machine is.
func newErrno(op, path string, n uint32) error {
	e := &link.FileError{Op: op, Path: path}
	switch n {
	case 1, 13:
		e.Message, e.Cause = "permission denied", fs.ErrPermission
	case 2:
		e.Message, e.Cause = "no such file or directory", fs.ErrNotExist
	case 20:
		e.Message = "not a directory"
	case 28:
		e.Message = "no space left on device"
	case 40:
		e.Message = "too many levels of symbolic links"
	default:
		e.Message = fmt.Sprintf("error number %d of Linux", n)
	}
	return e
}
