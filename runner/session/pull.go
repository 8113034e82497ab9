package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/hexmage/hexmage/runner/link"
)

// Limits of one pull.
const (
	maxPullDepth = 64
	maxPullFiles = 100_000
	maxGrowth    = 64 << 20 // bytes above a file's size: a log may grow, and a file of /proc has no size
)

// pull copies the files of q.Pull that exist to q.PullDir.
func (s *Session) pull(ctx context.Context, dir string, q Request) error {
	if len(q.Pull) == 0 {
		return nil
	}
	files, err := link.OpenFiles(ctx, s.Device)
	if err != nil {
		return err
	}
	defer files.Close()
	p := puller{files: files, device: dir, host: q.PullDir, report: q.reporter("pull"), left: maxPullFiles}
	for _, name := range q.Pull {
		st, err := files.Lstat(ctx, path.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = p.any(ctx, name, st, 0)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

type puller struct {
	files        link.Files
	device, host string
	report       func(done, total int64)
	done         int64
	left         int // files up to the limit
}

// any pulls the file or folder at the slash path.
func (p *puller) any(ctx context.Context, name string, st link.Stat, depth int) error {
	if p.left--; p.left < 0 {
		return fmt.Errorf("more than %d files", maxPullFiles)
	}
	if depth > maxPullDepth {
		return fmt.Errorf("folders more than %d deep", maxPullDepth)
	}
	if st.Mode&fs.ModeSymlink != 0 {
		to, err := p.files.Stat(ctx, path.Join(p.device, name))
		if err != nil {
			return fmt.Errorf("the link %s: %w", name, err)
		}
		if st = to; st.Mode.IsDir() {
			return fmt.Errorf("%s is a link to a folder: have the program write a folder", name)
		}
	}
	switch {
	case st.Mode.IsDir():
		return p.folder(ctx, name, depth)
	case st.Mode.IsRegular():
		return p.file(ctx, name, st)
	}
	return fmt.Errorf("%s is neither a file nor a folder", name)
}

func (p *puller) folder(ctx context.Context, name string, depth int) error {
	if err := os.MkdirAll(filepath.Join(p.host, filepath.FromSlash(name)), 0o755); err != nil {
		return err
	}
	entries, err := p.files.List(ctx, path.Join(p.device, name))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !filepath.IsLocal(e.Name) {
			return fmt.Errorf("%q in %s is not a file name on this machine", e.Name, name)
		}
		if err := p.any(ctx, path.Join(name, e.Name), e.Stat, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (p *puller) file(ctx context.Context, name string, st link.Stat) error {
	to := filepath.Join(p.host, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644|st.Mode.Perm()&0o111)
	if err != nil {
		return err
	}
	var got int64
	err = p.files.Pull(ctx, path.Join(p.device, name), &sized{w: f, left: st.Size + maxGrowth}, func(n int64) {
		got = n
		if p.report != nil {
			p.report(p.done+n, 0)
		}
	})
	if e := f.Close(); err == nil {
		err = e
	}
	p.done += got
	return err
}

// sized takes a limited number of bytes, so that a device cannot fill this machine's disk.
type sized struct {
	w    io.Writer
	left int64
}

// Write implements io.Writer.
func (s *sized) Write(b []byte) (int, error) {
	if int64(len(b)) > s.left {
		return 0, errors.New("far more comes than the device said that the file has: does something still write it?")
	}
	n, err := s.w.Write(b)
	s.left -= int64(n)
	return n, err
}

// Pull copies a file or folder of the device into an existing, empty folder of this machine, and returns its name.
// report, if not nil, receives bytes that moved.
func Pull(ctx context.Context, dev link.Device, from, dir string, report func(done, total int64)) (string, error) {
	from = path.Clean(from)
	if !path.IsAbs(from) || from == "/" {
		return "", fmt.Errorf("invalid device path %q: give an absolute path of a file or folder", from)
	}
	name := path.Base(from)
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%q is not a file name on this machine", name)
	}
	files, err := link.OpenFiles(ctx, dev)
	if err != nil {
		return "", err
	}
	defer files.Close()
	st, err := files.Stat(ctx, from)
	if err != nil {
		return "", err
	}
	p := puller{files: files, device: path.Dir(from), host: dir, report: report, left: maxPullFiles}
	return name, p.any(ctx, name, st, 0)
}
