package fetch

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
)

// sums hashes with all functions that a source has digests for; SHA-256 always, for the lock file.
type sums struct {
	n         int64
	sha256    hash.Hash
	sha1, md5 hash.Hash // nil when not wanted
	writers   io.Writer
	head      []byte // the first bytes
}

const headSize = 4096

func newSums(s Source) *sums {
	h := &sums{sha256: sha256.New()}
	ws := []io.Writer{h.sha256}
	if s.SHA1 != "" {
		h.sha1 = sha1.New()
		ws = append(ws, h.sha1)
	}
	if s.MD5 != "" {
		h.md5 = md5.New()
		ws = append(ws, h.md5)
	}
	h.writers = io.MultiWriter(ws...)
	return h
}

func (h *sums) Write(p []byte) (int, error) {
	if room := headSize - len(h.head); room > 0 {
		h.head = append(h.head, p[:min(room, len(p))]...)
	}
	h.n += int64(len(p))
	return h.writers.Write(p)
}

func (h *sums) result() *Result {
	r := &Result{Size: h.n, SHA256: hex.EncodeToString(h.sha256.Sum(nil)), head: h.head}
	if h.sha1 != nil {
		r.SHA1 = hex.EncodeToString(h.sha1.Sum(nil))
	}
	if h.md5 != nil {
		r.MD5 = hex.EncodeToString(h.md5.Sum(nil))
	}
	return r
}

func sumFile(name string, s Source) (*Result, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := newSums(s)
	if _, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{f}, make([]byte, 1<<20)); err != nil {
		return nil, err
	}
	return h.result(), nil
}
