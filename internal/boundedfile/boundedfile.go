// Package boundedfile reads files up to a size limit, because files from users and archives may have any size. Until
// stops a read when a context ends. The package does not know the content of files.
package boundedfile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// LargeError is the error for a file that exceeds the size limit.
type LargeError struct {
	Name  string
	Limit int64
}

func (e *LargeError) Error() string {
	return fmt.Sprintf("%s is larger than %d bytes", e.Name, e.Limit)
}

// Read returns the content of the named file. If the file has more than limit bytes, Read fails with a *LargeError.
func Read(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, name, limit)
}

// ReadFS is like Read, for a file in fsys.
func ReadFS(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, name, limit)
}

// ReadAll is like Read, for the content of r. Error messages use name as the file's name.
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

// Until returns a reader that reads from r, and fails with the cause of ctx after ctx has ended. Without Until, a
// canceled command would read a huge file to the end.
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
