//go:build linux

package worldtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

func DigestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Member is one entry of an archive.
type Member struct {
	Name, Text, Link string
	Kind             byte
}

func Archive(t *testing.T, members ...Member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	a := tar.NewWriter(z)
	for _, m := range members {
		if m.Kind == 0 {
			m.Kind = tar.TypeReg
		}
		if err := a.WriteHeader(&tar.Header{Name: m.Name, Linkname: m.Link, Typeflag: m.Kind,
			Size: int64(len(m.Text)), Mode: 0o755}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Write([]byte(m.Text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
