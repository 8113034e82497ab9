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

	"github.com/hexmage/hexmage/runner/transport"
)

// maxGrowth is the maximum number of bytes that a pull accepts above a file's size. A log may grow, and a file of
// /proc has size 0.
const maxGrowth = 64 << 20

// pull copies the files of q.Pull that exist to q.PullDir.
func (s *Session) pull(ctx context.Context, dir string, q Request) error {
	p := puller{dev: s.Device, from: dir, to: q.PullDir, report: q.reporter("pull")}
	for _, name := range q.Pull {
		files, err := transport.Find(ctx, s.Device, dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = p.copy(ctx, files)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// puller copies files of a device's folder into a folder of this machine, at the same paths.
type puller struct {
	dev      transport.Device
	from, to string
	report   func(done, total int64) // may be nil
	done     int64
}

// copy copies files and folders that transport.Find found.
func (p *puller) copy(ctx context.Context, files []transport.File) (err error) {
	for _, f := range files {
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
			return fmt.Errorf("this machine does not support the file name %q", f.Name)
		}
		if f.Mode&fs.ModeSymlink != 0 {
			if f, err = p.follow(ctx, f.Name); err != nil {
				return err
			}
		}
		switch {
		case f.Mode.IsDir():
			err = os.MkdirAll(filepath.Join(p.to, filepath.FromSlash(f.Name)), 0o755)
		case f.Mode.IsRegular():
			err = p.file(ctx, f)
		default:
			err = fmt.Errorf("%s is neither a file nor a folder", f.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// follow describes the target of a link, with the name of the link.
func (p *puller) follow(ctx context.Context, name string) (transport.File, error) {
	f, err := transport.Stat(ctx, p.dev, path.Join(p.from, name))
	if err == nil && f.Mode.IsDir() {
		err = errors.New("the target is a folder; change the program so that it writes a folder instead of a link")
	}
	if err != nil {
		return f, fmt.Errorf("link %s: %w", name, err)
	}
	f.Name = name
	return f, nil
}

func (p *puller) file(ctx context.Context, file transport.File) error {
	to := filepath.Join(p.to, filepath.FromSlash(file.Name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644|file.Mode.Perm()&0o111)
	if err != nil {
		return err
	}
	var got int64
	w := &sized{w: f, left: file.Size + maxGrowth}
	err = transport.Pull(ctx, p.dev, path.Join(p.from, file.Name), w, func(n int64) {
		got = n
		if p.report != nil {
			p.report(p.done+n, 0)
		}
	})
	p.done += got
	return errors.Join(err, f.Close())
}

// sized is a writer with a limit, so that a device cannot fill this machine's disk.
type sized struct {
	w    io.Writer
	left int64
}

// Write implements io.Writer.
func (s *sized) Write(b []byte) (int, error) {
	if int64(len(b)) > s.left {
		return 0, errors.New("the file grew during the pull; a program may still be writing to the file")
	}
	n, err := s.w.Write(b)
	s.left -= int64(n)
	return n, err
}

// Pull copies a file or folder of the device into the empty folder dir on this machine, and returns the copy's name.
// The function report, if not nil, receives the number of bytes received.
func Pull(ctx context.Context, dev transport.Device, from, dir string, report func(done, total int64)) (string, error) {
	from = path.Clean(from)
	if !path.IsAbs(from) || from == "/" {
		return "", fmt.Errorf("invalid device path %q; give the absolute path of a file or folder", from)
	}
	name := path.Base(from)
	f, err := transport.Stat(ctx, dev, from)
	if err != nil {
		return "", err
	}
	p := puller{dev: dev, from: path.Dir(from), to: dir, report: report}
	at := name
	if f.Mode.IsDir() { // from may be a link to the folder
		p.from, p.to, at = from, filepath.Join(dir, name), "."
	}
	files, err := transport.Find(ctx, dev, p.from, at)
	if err != nil {
		return "", err
	}
	return name, p.copy(ctx, files)
}
