// Package push sends files to a device. The device stores contents by their SHA-256, so a push sends only missing
// contents. It sends a large file in parts of 1 MB. A push reuses equal parts of stored contents, and resumes after the
// last part that arrived. The package does not know the use of the files.
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
	"github.com/hexmage/hexmage/runner/transport"
)

// File is a file for the device.
type File struct {
	Open       func() (io.ReadCloser, error) // called at least once if the device lacks the content
	Size       int64
	Key        string // identifies the content for Sums; empty: push always reads the content
	Executable bool
}

// New returns the store of a device for one session. The parameter held may be nil if other processes do not know the
// device. The parameter wait limits how long a push waits for a disconnected device (0: 30 seconds). The function
// progress, if not nil, receives the number of bytes sent.
func New(dev transport.Device, held *lease.Lease, sums Sums, wait time.Duration, progress func(done, total int64)) *Store {
	return &Store{dev: dev, held: held, sums: sums, wait: wait, progress: progress}
}

// Ensure sends the contents that the device lacks, and returns the SHA-256 of each file.
func (s *Store) Ensure(ctx context.Context, files map[string]File) (sums map[string]string, err error) {
	blobs, sums := map[string]blob{}, map[string]string{}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		b, err := s.sums.read(ctx, files[p])
		if err != nil {
			return nil, fmt.Errorf("cannot push %s: %w", p, err)
		}
		sums[p], blobs[b.sum] = b.sum, b
	}
	if err := s.have(ctx, blobs); err != nil {
		return nil, fmt.Errorf("push: %w", err)
	}
	return sums, nil
}

// Folder puts files into the folder dir, an absolute path on the device. It replaces files with the same names. The
// files are hard links to the store if both are on one file system. If a program changes such a file, the next push
// sends the original content again.
func (s *Store) Folder(ctx context.Context, dir string, files map[string]File) (Pushed, error) {
	if !path.IsAbs(dir) || strings.ContainsAny(dir, "\n\r\\") || strings.TrimSpace(dir) != dir {
		return Pushed{}, fmt.Errorf("invalid device folder %q; give an absolute path", dir)
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

// Pushed returns a summary of the store's pushes so far.
func (s *Store) Pushed() Pushed { return s.pushed }

// CheckPaths rejects paths that the device's shell or hexmage could misunderstand.
func CheckPaths(paths ...string) error {
	for _, p := range paths {
		if !fs.ValidPath(p) || p == "." || strings.ContainsAny(p, "\n\r") || strings.TrimSpace(p) != p {
			return fmt.Errorf("invalid device path %q; use a relative path with slashes, without line breaks and "+
				"without spaces at either end", p)
		}
	}
	return nil
}

// Placement lists files to put into a folder of a device. The zero value is an empty list.
type Placement struct{ strings.Builder }

// Folder adds a folder to the list.
func (p *Placement) Folder(of string) { fmt.Fprintf(p, "d - %s\n", of) }

// File adds a file at a path. The parameter sum is the content's digest.
func (p *Placement) File(at, sum string, program bool) {
	kind := "f"
	if program {
		kind = "x"
	}
	fmt.Fprintf(p, "%s %s %s\n", kind, sum, at)
}

// Link adds a symbolic link to target at a path.
func (p *Placement) Link(at, target string) { fmt.Fprintf(p, "l - %s\n%s\n", at, target) }
