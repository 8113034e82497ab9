package fetch

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"strings"
)

// sums hashes with SHA-256, for the lock file, and with each other digest function of the source.
type sums struct {
	n         int64
	sha256    hash.Hash
	sha1, md5 hash.Hash // nil: not needed
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

// sidecar checks the part file against the digest beside it on the server, if one exists.
func (d *download) sidecar(ctx context.Context, addr string) error {
	// a pinned digest is stronger than one from the same server
	if isLocal(addr) || d.source.SHA256 != "" {
		return nil
	}
	for _, suffix := range d.source.Sidecars {
		side := Source{URLs: []string{addr + suffix}, UserAgent: d.source.UserAgent}
		b, _, err := d.client.Small(ctx, side, 1<<20)
		switch code := Status(err); {
		case code == http.StatusNotFound, code == http.StatusForbidden, code == http.StatusGone:
			continue
		case err != nil:
			return fmt.Errorf("digest file %s: %w", suffix, err)
		}
		f := strings.Fields(strings.ToLower(string(b)))
		if len(f) == 0 || strings.Trim(f[0], "0123456789abcdef") != "" {
			continue // most likely a page
		}
		s := Source{}
		switch {
		case suffix == ".sha256" && len(f[0]) == 64:
			s.SHA256 = f[0]
		case suffix == ".sha1" && len(f[0]) == 40:
			s.SHA1 = f[0]
		case suffix == ".md5" && len(f[0]) == 32:
			s.MD5 = f[0]
		default:
			continue
		}
		r, err := sumFile(d.path, s)
		if err != nil {
			return err
		}
		if err := r.check(s); err != nil {
			removePart(d.path)
			return fmt.Errorf("%w, according to the digest file %s", err, suffix)
		}
		return nil
	}
	return nil
}
