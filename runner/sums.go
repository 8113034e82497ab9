package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Sums remembers the SHA-256 of contents that are named in another way, so that unchanged gigabytes are not read on every run.
// It is a folder with a small file for each; it may be removed at any time. An empty Sums remembers nothing. Safe for concurrent use,
// also by several processes.
type Sums struct {
	Dir string
}

// Of returns the SHA-256, in hexadecimal, of the content that key names. A key must name the same content for ever;
// an empty one names nothing, and then the content is always read.
func (s Sums) Of(key string, open func() (io.ReadCloser, error)) (string, error) {
	var at string
	if s.Dir != "" && key != "" {
		name := sha256.Sum256([]byte(key))
		at = filepath.Join(s.Dir, hex.EncodeToString(name[:]))
		if b, err := os.ReadFile(at); err == nil && isSum(string(b)) {
			return string(b), nil
		}
	}
	r, err := open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	h := sha256.New()
	if _, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{r}, make([]byte, 1<<20)); err != nil {
		return "", fmt.Errorf("hash %s: %w", key, err)
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if at != "" {
		if err := writeAtomic(at, sum); err != nil {
			return "", fmt.Errorf("remember a hash: %w", err)
		}
	}
	return sum, nil
}

func isSum(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}

// writeAtomic writes a small file whose loss does no harm: readers see all of it or none.
func writeAtomic(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new")
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
