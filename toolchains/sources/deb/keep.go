package deb

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Packages are kept as <sha256>.deb: a file there has been verified when it was moved in, and is again when it is used.

func (c *Client) partial() string { return filepath.Join(c.Dir, "partial") }

// Downloaded is where a package with the digest is, once it was downloaded.
func (c *Client) Downloaded(sum string) string { return filepath.Join(c.Dir, sum+".deb") }

// cached returns the files of the packages if all of them are pinned, there and whole.
func (c *Client) cached(ps []Package) ([]string, bool) {
	var files []string
	for _, p := range ps {
		if p.SHA256 == "" {
			return nil, false
		}
		file := c.Downloaded(p.SHA256)
		if info, err := os.Stat(file); err != nil || p.Size > 0 && info.Size() != p.Size {
			return nil, false
		}
		if sum, err := sumFile(file); err != nil || sum != p.SHA256 {
			_ = os.Remove(file) // damaged on disk: get it again
			return nil, false
		}
		files = append(files, file)
	}
	return files, true
}

// adopt moves whole packages from the partial folder to their place: those of this run, and those of one that was
// killed. What is there and nobody asked for is removed.
func (c *Client) adopt(ps []Package) {
	want := map[string]bool{}
	for _, p := range ps {
		want[p.SHA256] = true
	}
	entries, err := os.ReadDir(c.partial())
	if err != nil {
		return
	}
	for _, e := range entries {
		file := filepath.Join(c.partial(), e.Name())
		if !strings.HasSuffix(e.Name(), ".deb") {
			_ = os.RemoveAll(file)
			continue
		}
		sum, err := sumFile(file)
		if err != nil || !want[sum] || os.Rename(file, c.Downloaded(sum)) != nil {
			_ = os.Remove(file)
		}
	}
}

func sumFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
