// Package push sends files to a device. The device stores contents by their SHA-256, so a push sends only contents that
// the device lacks. A large file travels in parts of 1 MB: a push reuses equal parts of stored contents, and resumes
// after the last part that arrived. The device verifies each content before it gets its name.
//
// New makes a Store for one session. Store.Ensure sends contents, and Store.Place makes files of them. The package does
// not know what the files are or what runs.
package push

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/link"
)

// File is a file for the device.
type File struct {
	Open       func() (io.ReadCloser, error) // called at least once if the device lacks the content
	Size       int64
	Key        string // names the content for Sums; empty: the content is always read
	Executable bool
}

// New returns the store of a device for one session. held is nil if no other process knows the device. wait is how long
// a device may be away: 0 is half a minute. progress, if not nil, receives the bytes that moved.
func New(dev link.Device, held *lease.Lease, sums Sums, wait time.Duration, progress func(done, total int64)) *Store {
	return &Store{dev: dev, held: held, sums: sums, wait: wait, progress: progress}
}

// Ensure sends the contents that the device lacks, and returns the SHA-256 of each file.
func (s *Store) Ensure(ctx context.Context, files map[string]File) (sums map[string]string, err error) {
	blobs, sums := map[string]blob{}, map[string]string{}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		b, err := s.sums.read(ctx, files[p])
		if err != nil {
			return nil, fmt.Errorf("push %s: %w", p, err)
		}
		sums[p], blobs[b.sum] = b.sum, b
	}
	if err := s.have(ctx, blobs); err != nil {
		return nil, fmt.Errorf("push: %w", err)
	}
	return sums, nil
}

// Folder puts files into a folder of the device, an absolute path, and replaces files of the same names. The files are
// hard links to the store if both are on one file system. If a program writes to such a file, the next push sends its
// content again.
func (s *Store) Folder(ctx context.Context, dir string, files map[string]File) (Pushed, error) {
	if !path.IsAbs(dir) || strings.ContainsAny(dir, "\n\r\\") || strings.TrimSpace(dir) != dir {
		return Pushed{}, fmt.Errorf("invalid device folder %q: give an absolute path", dir)
	}
	if err := CheckPaths(slices.Collect(maps.Keys(files))...); err != nil {
		return Pushed{}, err
	}
	sums, err := s.Ensure(ctx, files)
	if err != nil {
		return s.pushed, err
	}
	var p Placement
	for _, name := range slices.Sorted(maps.Keys(files)) {
		p.File(name, sums[name], true) // as a program: a symbolic link would break when the store is cleared
	}
	return s.pushed, s.Place(ctx, dir, &p)
}

// Pushed returns what the store did so far.
func (s *Store) Pushed() Pushed { return s.pushed }

// CheckPaths refuses paths that the device's shell or hexmage could misunderstand.
func CheckPaths(paths ...string) error {
	for _, p := range paths {
		if !fs.ValidPath(p) || p == "." || strings.ContainsAny(p, "\n\r") || strings.TrimSpace(p) != p {
			return fmt.Errorf("invalid device path %q: give a relative slash path without outer spaces or line ends", p)
		}
	}
	return nil
}

// Placement lists the files of a folder, as placeScript reads them. The zero value is an empty list.
type Placement struct{ strings.Builder }

// Folder makes the folder that contains the path.
func (p *Placement) Folder(of string) { fmt.Fprintf(p, "d - %s\n", of) }

// File puts a content of the store at the path.
func (p *Placement) File(at, sum string, program bool) {
	kind := "f"
	if program {
		kind = "x"
	}
	fmt.Fprintf(p, "%s %s %s\n", kind, sum, at)
}

// Link puts a symbolic link at the path.
func (p *Placement) Link(at, target string) { fmt.Fprintf(p, "l - %s\n%s\n", at, target) }
