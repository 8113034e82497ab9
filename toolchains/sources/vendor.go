package sources

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains/sources/qpm"
)

// vendor has the vendor's own client get the product.
func (s *work) vendor(ctx context.Context, out string) error {
	c := s.o.Vendor
	c.Progress = func(text string) { s.o.Progress(0, 0, text) }
	if s.Vendor.Client == "qsc" {
		file, err := s.vendorArchive(ctx, c)
		if err != nil {
			return err
		}
		return s.unpack(ctx, out, file)
	}
	if s.o.Offline {
		return fmt.Errorf("%w (%s comes through qpm-cli)", fetch.ErrOffline, s.Vendor.Name)
	}
	// The client takes absolute paths only. A folder beside out can be renamed to it.
	beside, err := filepath.Abs(filepath.Dir(out))
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(beside, ".qpm-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, "sdk")
	s.o.Progress(0, 0, "qpm-cli gets "+s.Name)
	if err := c.Install(ctx, s.Vendor.Product, dir); err != nil {
		return err
	}
	if s.StripPrefix != "" { // some versions put a folder of their own in between
		if sub := filepath.Join(dir, filepath.FromSlash(s.StripPrefix)); isDir(sub) {
			dir = sub
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	err = s.Finish(ctx, root, s.unpacking())
	_ = root.Close()
	if err != nil {
		return err
	}
	_ = os.Remove(out) // an empty folder
	return os.Rename(dir, out)
}

func isDir(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}

// vendorArchive returns the archive that qsc-cli downloads, kept under its digest.
func (s *work) vendorArchive(ctx context.Context, c qpm.Client) (string, error) {
	if kept := filepath.Join(s.o.Downloads, keptName(s.Spec)); s.filePinned() && fetch.Check(kept, s.source()) == nil {
		return kept, nil
	}
	if s.o.Offline {
		return "", fmt.Errorf("%w (%s comes through qsc-cli)", fetch.ErrOffline, s.Vendor.Name)
	}
	downloads, err := filepath.Abs(s.o.Downloads)
	if err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(downloads, ".qsc-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	s.o.Progress(0, 0, "qsc-cli downloads "+s.Name)
	file, err := c.Download(ctx, s.Vendor.Product, tmp)
	if err != nil {
		return "", err
	}
	src := s.source()
	src.URLs = []string{file}
	name := filepath.Join(downloads, keptName(s.Spec)+".vendor")
	defer os.Remove(name)
	r, err := fetch.Client{}.Fetch(ctx, src, name)
	if err != nil {
		return "", err
	}
	s.learned = Learned{Size: r.Size, SHA256: r.SHA256}
	kept := filepath.Join(downloads, r.SHA256)
	return kept, os.Rename(name, kept)
}
