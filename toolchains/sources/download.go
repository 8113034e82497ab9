package sources

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains/unpack"
)

func (s *work) source() fetch.Source {
	src := fetch.Source{Size: s.Size, SHA256: s.SHA256, SHA1: s.SHA1, MD5: s.MD5, Sidecars: s.Sidecars,
		UserAgent: s.UserAgent, Label: s.found.label, Archive: s.Kind == KindArchive || s.Kind == KindVendor}
	for _, u := range s.URLs {
		src.URLs = append(src.URLs, fetch.Rewrite(u, s.o.Mirrors))
	}
	return src
}

// client returns the client for downloads. missing is the error to report if the server requires a secret that is not
// set.
func (s *work) client() (c fetch.Client, missing error) {
	c = fetch.Client{Offline: s.o.Offline, Backoff: s.o.Backoff, TLS: s.found.client.TLS, Proxy: s.found.client.Proxy, Logins: s.found.client.Logins,
		Progress: func(done, total int64) { s.o.Progress(done, total, "download") },
		Waits:    func() { s.o.Progress(0, 0, "wait for another hexmage process to finish the download") }}
	var unset []string
	for _, h := range s.Headers {
		value, ok := "", false
		if s.o.Secret != nil {
			value, ok = s.o.Secret(h.Variable)
		}
		if !ok || value == "" || strings.ContainsAny(value, "\r\n\x00") {
			unset = append(unset, h.Variable)
			continue
		}
		hosts := h.Hosts
		if len(hosts) == 0 && len(s.URLs) > 0 {
			if u, err := url.Parse(s.URLs[0]); err == nil {
				hosts = []string{u.Host}
			}
		}
		for _, host := range hosts {
			c.Logins = append(c.Logins, fetch.Login{Host: host, Header: h.Name, Value: h.Prefix + value})
		}
	}
	c.Logins = append(c.Logins, s.o.Logins...)
	if len(unset) > 0 {
		c.Offline = true // the server would reject a request without the secret
		missing = fmt.Errorf("the request needs the secret %s, which is not set; set the environment variable "+
			"HEXMAGE_VAR_%s", strings.Join(unset, ", "), unset[0])
	}
	return c, missing
}

func (s *work) download(ctx context.Context) (string, error) {
	name := filepath.Join(s.o.Downloads, keptName(s.Spec))
	if s.registry() && s.filePinned() && fetch.Check(name, s.source()) == nil { // without asking the registry
		s.learned = Learned{Size: s.Size, SHA256: s.SHA256}
		return name, nil
	}
	if err := s.locate(ctx); err != nil {
		return "", err
	}
	name = filepath.Join(s.o.Downloads, keptName(s.Spec))
	c, missing := s.client()
	r, err := c.Fetch(ctx, s.source(), name)
	if errors.Is(err, fetch.ErrOffline) && missing != nil && !s.o.Offline {
		err = missing
	}
	if err != nil {
		return "", err
	}
	s.learned = Learned{URL: r.URL, Size: r.Size, SHA256: r.SHA256, File: s.found.file, Vouch: s.found.vouched}
	if s.registry() {
		s.learned.URL = ""
	}
	if !s.filePinned() {
		// A later spec with this digest finds the download.
		kept := filepath.Join(s.o.Downloads, r.SHA256)
		if err := os.Rename(name, kept); err != nil {
			return "", err
		}
		name = kept
	}
	return name, nil
}

func (s Spec) filePinned() bool { return s.SHA256 != "" || s.SHA1 != "" || s.MD5 != "" }

// keptName returns the file name of a kept download: its strongest digest, so that mirrors share it.
func keptName(s Spec) string {
	for _, sum := range []string{s.SHA256, s.SHA1, s.MD5} {
		if sum != "" {
			return sum
		}
	}
	switch {
	case s.Maven != nil:
		return "unpinned-" + short(fmt.Sprint(*s.Maven))
	case s.Wheel != nil:
		return "unpinned-" + short(s.Wheel.String())
	}
	return "unpinned-" + short(s.URLs...)
}

func short(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:12])
}

// unpack writes the tree of the archives, and learns the tree's digest if the spec has none.
func (s *work) unpack(ctx context.Context, out string, archives ...string) error {
	if s.learnsParts() {
		if err := s.list(archives[0]); err != nil {
			return err
		}
	}
	return s.Archives(ctx, out, s.unpacking(), archives...)
}

// learnsParts reports whether to learn the digest of the members that Only selects.
func (s *work) learnsParts() bool { return s.learn && s.Kind == KindArchive && len(s.Only) > 0 }

func (s *work) unpacking() unpack.Options {
	o := unpack.Options{System: s.Kind == KindDeb, Progress: s.o.Progress}
	if s.Tree != "" || s.learnsParts() || s.Kind == KindVendor {
		o.Digest = func(sum string) error {
			if s.learned.Tree = sum; s.Tree != "" && s.Tree != sum {
				return fmt.Errorf("%w: the unpacked tree has digest %s, not %s", fetch.ErrMismatch, sum, s.Tree)
			}
			return nil
		}
	}
	return o
}
