// Package boundedfile reads what must not be larger than a bound: a file that a user or an archive names may have any
// size, and what reads it whole says how much makes sense. One enters it with Read, ReadFS or ReadAll; Until bounds
// by time what is too large to read whole. It does not know what the bytes are.
package boundedfile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// LargeError tells of a file that has more bytes than its bound.
type LargeError struct {
	Name  string
	Limit int64
}

func (e *LargeError) Error() string {
	return fmt.Sprintf("%s is larger than %d bytes", e.Name, e.Limit)
}

// Read reads the file, whose error is a *LargeError where it has more bytes than the limit.
func Read(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, name, limit)
}

// ReadFS is Read of a file in fsys.
func ReadFS(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, name, limit)
}

// ReadAll is Read of what r has; name is what the error calls it.
func ReadAll(r io.Reader, name string, limit int64) ([]byte, error) {
	var b bytes.Buffer
	if f, ok := r.(fs.File); ok { // the size is a hint: a file may grow
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() <= limit {
			all := room(info.Size() + 1) // which the buffer would clear once more
			n, err := io.ReadFull(r, all)
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return all[:n], nil
			}
			if err != nil {
				return nil, err
			}
			b = *bytes.NewBuffer(all)
		}
	}
	if _, err := b.ReadFrom(io.LimitReader(r, limit+1-int64(b.Len()))); err != nil {
		return nil, err
	}
	if int64(b.Len()) > limit {
		return nil, &LargeError{name, limit}
	}
	return b.Bytes(), nil
}

// Until reads r until ctx ends, and then fails with its cause: gigabytes take a while.
func Until(ctx context.Context, r io.Reader) io.Reader { return &reader{ctx, r} }

type reader struct {
	ctx context.Context // io.Reader has none
	r   io.Reader
}

func (r *reader) Read(b []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}
