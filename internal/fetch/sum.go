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

// sums hashes with SHA-256, for the lock file, and with each other function that the source has a digest of.
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
		want, err := d.sideSum(ctx, addr+suffix, suffix)
		if err != nil {
			return err
		}
		if want == "" {
			continue
		}
		s := Source{}
		switch suffix {
		case ".sha256":
			s.SHA256 = want
		case ".sha1":
			s.SHA1 = want
		case ".md5":
			s.MD5 = want
		}
		r, err := sumFile(d.path, s)
		if err != nil {
			return err
		}
		if err := r.check(s); err != nil {
			removePart(d.path)
			return fmt.Errorf("%w, by the file %s beside it", err, suffix)
		}
		return nil
	}
	return nil
}

// sideSum returns the digest in a sidecar, "" if there is none.
func (d *download) sideSum(ctx context.Context, addr, suffix string) (string, error) {
	size := map[string]int{".sha256": 64, ".sha1": 40, ".md5": 32}[suffix]
	if size == 0 {
		return "", nil
	}
	plain := &download{client: d.client, source: Source{URLs: d.source.URLs, UserAgent: d.source.UserAgent},
		http: d.http}
	sum := ""
	err := plain.persist(ctx, nothing, func() error {
		a, err := plain.ask(ctx, addr, 0, -1, "")
		if err != nil {
			return err
		}
		defer a.close()
		b, err := io.ReadAll(io.LimitReader(a.Body, 4096))
		switch {
		case a.StatusCode == http.StatusNotFound || a.StatusCode == http.StatusForbidden ||
			a.StatusCode == http.StatusGone:
			return nil
		case a.StatusCode == http.StatusOK && err == nil:
			f := strings.Fields(strings.ToLower(string(b)))
			// any other text is most likely a page
			if len(f) > 0 && len(f[0]) == size && strings.Trim(f[0], "0123456789abcdef") == "" {
				sum = f[0]
			}
			return nil
		}
		return &transientError{err: fmt.Errorf("%w: %s", ErrRefused, a.Status)}
	})
	if err != nil {
		err = fmt.Errorf("digest file %s: %w", suffix, err)
	}
	return sum, err
}
