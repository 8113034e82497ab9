package push

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/boundedfile"
)

// Sums remembers the SHA-256 of contents that are named in another way, and of large ones where they are cut, so that unchanged gigabytes
// are not read on every run. It is a folder with a small file for each; it may be removed at any time. An empty Sums remembers nothing.
// Safe for concurrent use, also by several processes.
type Sums struct {
	Dir string
}

// Of returns the SHA-256, in hexadecimal, of the content that key names. A key must name the same content for ever;
// an empty one names nothing, and then the content is always read.
func (s Sums) Of(key string, open func() (io.ReadCloser, error)) (string, error) {
	sum, _, err := s.read(context.Background(), File{Key: key, Open: open})
	return sum, err
}

// read is Of, and if it has to read a large file it cuts that on the way. Else there is no recipe.
func (s Sums) read(ctx context.Context, f File) (string, recipe, error) {
	at := s.file(f.Key)
	if at != "" {
		if b, err := os.ReadFile(at); err == nil && isSum(string(b)) {
			return string(b), nil, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return "", nil, context.Cause(ctx)
	}
	r, err := f.Open()
	if err != nil {
		return "", nil, err
	}
	defer r.Close()
	sum, cuts, err := sumAndChop(boundedfile.Until(ctx, r), f.Size > largeFile)
	if err != nil {
		return "", nil, fmt.Errorf("hash %s: %w", f.Key, err)
	}
	if at == "" {
		return sum, cuts, nil
	}
	if f.Size > largeFile {
		s.remember(sum, cuts)
	}
	if err := atomicfile.PlaceFile(at, []byte(sum), 0o644); err != nil {
		return "", nil, fmt.Errorf("remember a hash: %w", err)
	}
	return sum, cuts, nil
}

// file is where the hash of what key names is remembered; empty: nowhere.
func (s Sums) file(key string) string {
	if s.Dir == "" || key == "" {
		return ""
	}
	name := sha256.Sum256([]byte(key))
	return filepath.Join(s.Dir, hex.EncodeToString(name[:]))
}

// recipe returns where the content is cut, if that is remembered. What is wrong about it costs bytes, no more: the device computes the SHA-256.
func (s Sums) recipe(sum string, size int64) recipe {
	if s.Dir == "" {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(s.Dir, sum+".chunks"))
	if err != nil {
		return nil
	}
	r, err := parseRecipe(b)
	if err != nil || r.size() != size {
		return nil
	}
	return r
}

// remember notes where a content is cut; that it cannot is no loss but of time.
func (s Sums) remember(sum string, r recipe) {
	if s.Dir != "" {
		_ = atomicfile.PlaceFile(filepath.Join(s.Dir, sum+".chunks"), r.text(), 0o644)
	}
}

// sumAndChop reads once, and hashes all of it beside hashing its chunks.
func sumAndChop(r io.Reader, cuts bool) (string, recipe, error) {
	h := sha256.New()
	if !cuts {
		_, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{r}, make([]byte, 1<<20))
		return hex.EncodeToString(h.Sum(nil)), nil, err
	}
	b := newAsyncWriter(h)
	all, err := chop(io.TeeReader(r, b))
	b.close()
	return hex.EncodeToString(h.Sum(nil)), all, err
}

// asyncWriter writes on another goroutine.
type asyncWriter struct {
	free, full chan []byte
	done       chan struct{}
}

func newAsyncWriter(w io.Writer) *asyncWriter {
	const buffers = 4
	b := &asyncWriter{free: make(chan []byte, buffers), full: make(chan []byte, buffers), done: make(chan struct{})}
	for range buffers {
		b.free <- nil
	}
	go func() {
		defer close(b.done)
		for p := range b.full {
			_, _ = w.Write(p) // a hash does not fail
			b.free <- p
		}
	}()
	return b
}

func (b *asyncWriter) Write(p []byte) (int, error) {
	b.full <- append((<-b.free)[:0], p...)
	return len(p), nil
}

func (b *asyncWriter) close() {
	close(b.full)
	<-b.done
}

func isSum(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}
