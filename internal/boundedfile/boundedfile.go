// Package boundedfile reads what must not be larger than a bound: a file that a user or an archive names may have any size, and what
// reads it whole says how much makes sense. One enters it with Read, ReadFS or ReadAll. It does not know what the bytes are.
package boundedfile

import (
	"bytes"
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
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			b.Grow(int(min(info.Size(), limit)) + bytes.MinRead)
		}
	}
	if n, err := b.ReadFrom(io.LimitReader(r, limit+1)); err != nil {
		return nil, err
	} else if n > limit {
		return nil, &LargeError{name, limit}
	}
	return b.Bytes(), nil
}
