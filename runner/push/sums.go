package push

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/boundedfile"
)

// partSize is the unit of reuse and resume, in bytes. Small parts resend little after a change or a break. A gigabyte
// has 1024 of them.
const partSize = 1 << 20

// blob is the content of a file to push.
type blob struct {
	sum   string   // SHA-256, 64 hexadecimal digits
	parts []string // start of each part's SHA-256: the device verifies the whole
	size  int64
	open  func() (io.ReadCloser, error)
}

// Sums caches the digests of files in a folder, so that a push does not read unchanged files again. The folder may be
// removed at any time. The zero value caches nothing. Several processes may use Sums at the same time.
type Sums struct {
	Dir string
}

// read returns the blob of a file. A key must name the same content forever.
func (s Sums) read(ctx context.Context, f File) (blob, error) {
	b, at := blob{size: f.Size, open: f.Open}, ""
	if s.Dir != "" && f.Key != "" {
		name := sha256.Sum256([]byte(f.Key))
		at = filepath.Join(s.Dir, hex.EncodeToString(name[:]))
		text, err := os.ReadFile(at)
		lines := strings.Fields(string(text))
		if err == nil && int64(len(lines)) == 1+(f.Size+partSize-1)/partSize && isSum(lines[0]) {
			b.sum, b.parts = lines[0], lines[1:]
			return b, nil
		}
	}
	if err := b.hash(ctx); err != nil {
		return b, err
	}
	if at != "" {
		if err := atomicfile.PlaceFile(at, []byte(b.sum+"\n"+strings.Join(b.parts, "\n")+"\n"), 0o644); err != nil {
			return b, fmt.Errorf("cannot cache a hash: %w", err)
		}
	}
	return b, nil
}

// hash reads the content, and sets its digests.
func (b *blob) hash(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	r, err := b.open()
	if err != nil {
		return err
	}
	defer r.Close()
	in, whole, buf, size := boundedfile.Until(ctx, r), sha256.New(), make([]byte, partSize), int64(0)
	for err == nil {
		var n int
		n, err = io.ReadFull(in, buf)
		if n > 0 {
			whole.Write(buf[:n])
			part := sha256.Sum256(buf[:n])
			b.parts = append(b.parts, hex.EncodeToString(part[:16]))
			size += int64(n)
		}
	}
	if err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("hash: %w", err)
	}
	if size != b.size {
		return fmt.Errorf("the file to push has %d bytes, expected %d; another program may have changed the file",
			size, b.size)
	}
	b.sum = hex.EncodeToString(whole.Sum(nil))
	return nil
}

// same returns an error if the content changed since it was hashed.
func (b blob) same(ctx context.Context) error {
	now := blob{size: b.size, open: b.open}
	if err := now.hash(ctx); err != nil {
		return err
	}
	if now.sum != b.sum {
		return fmt.Errorf("the file to push has SHA-256 %s, expected %s; another program may have changed the file",
			now.sum, b.sum)
	}
	return nil
}

// read returns n bytes of the content from the offset.
func (b blob) read(at, n int64) ([]byte, error) {
	r, err := b.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	buf := make([]byte, n)
	if err = skip(r, at); err == nil {
		_, err = io.ReadFull(r, buf)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the file to push: %w", err)
	}
	return buf, nil
}

// skip moves a reader forward, by Seek if that works.
func skip(r io.Reader, n int64) error {
	if s, ok := r.(io.Seeker); ok {
		if _, err := s.Seek(n, io.SeekStart); err == nil {
			return nil
		}
	}
	_, err := io.CopyN(io.Discard, r, n)
	return err
}

func isSum(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}
