package sources

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains/sources/deb"
	"github.com/hexmage/hexmage/toolchains/sources/vendorcli"
	"github.com/hexmage/hexmage/toolchains/verify"
)

// Options say how to fetch. What is in them changes nothing of the result.
type Options struct {
	Downloads string // folder that keeps downloads between runs; made when missing
	Offline   bool
	Progress  func(done, total int64, text string) // total 0: not known; may be nil; called from any goroutine
	Warn      func(text string)                    // may be nil

	Logins  []fetch.Login                             // of hosts, as ~/.netrc has them
	Secret  func(name string) (value string, ok bool) // the user's variables, for Spec.Headers; may be nil
	Mirrors []fetch.Mirror                            // in place of which addresses others are asked
	Vendor  vendorcli.Client                          // Progress is set here
	Backoff time.Duration                             // before a failed request is made again, at first; 0 is a second
}

// Learned is what is known of a result that was fetched, to pin it.
type Learned struct {
	URL    string // where it came from; "" when it was there already, or has none
	Size   int64  // of the archive or file, in bytes; 0 when there is none, or not all of it came
	SHA256 string // likewise
	Tree   string // of specs whose archive's digest says nothing: of parts, and of what the vendor's client installs
}

// Fetch does what the spec says; out is a folder that does not exist or is empty, or a file for KindFile. When it fails
// out is as it was, and what was downloaded is kept for the next try.
func Fetch(ctx context.Context, s Spec, out string, o Options) error {
	if err := s.pins(); err != nil {
		return err
	}
	_, err := run(ctx, s, out, o)
	return err
}

// Learn is Fetch for a spec that need not be pinned, and tells with what it can be: `hexmage lock` alone may do that.
func Learn(ctx context.Context, s Spec, out string, o Options) (Learned, error) {
	return run(ctx, s, out, o)
}

func run(ctx context.Context, s Spec, out string, o Options) (Learned, error) {
	if err := s.check(); err != nil {
		return Learned{}, err
	}
	if o.Progress == nil {
		o.Progress = func(int64, int64, string) {}
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if err := os.MkdirAll(o.Downloads, 0o755); err != nil {
		return Learned{}, err
	}
	w := &work{Spec: s, o: o}
	if err := w.fetch(ctx, out); err != nil {
		return Learned{}, fmt.Errorf("%s: %w", s.Name, err)
	}
	return w.learned, nil
}

// work is one spec while it is done.
type work struct {
	Spec
	o       Options
	learned Learned
}

func (w *work) fetch(ctx context.Context, out string) error {
	switch w.Kind {
	case KindFile:
		return w.fetchFile(ctx, out)
	case KindArchive:
		if w.Parts && w.File == "" {
			return w.parts(ctx, out)
		}
		file, err := w.archive(ctx)
		if err != nil {
			return err
		}
		return w.unpack(ctx, out, []string{file})
	case KindDeb:
		files, err := w.packages(ctx)
		if err != nil {
			return err
		}
		return w.unpack(ctx, out, files)
	case KindPrograms:
		return w.programs(ctx, out)
	case KindVendor:
		return w.vendor(ctx, out)
	}
	return w.checkOnly(ctx, out)
}

func (s *work) packages(ctx context.Context) ([]string, error) {
	o := s.o
	c := deb.Client{Dir: filepath.Join(o.Downloads, "deb"), System: true, Offline: o.Offline, Progress: o.Progress}
	r, err := c.Get(ctx, s.Packages)
	if err != nil {
		return nil, err
	}
	for _, w := range r.Warnings {
		o.Warn(w)
	}
	return r.Files, nil
}

// archive returns the archive's path: the one that was given, or downloaded.
func (s *work) archive(ctx context.Context) (string, error) {
	if s.File != "" {
		return s.File, fetch.Check(s.File, s.source())
	}
	return s.download(ctx)
}

func (s *work) fetchFile(ctx context.Context, out string) error {
	name, err := s.download(ctx)
	if err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if s.Executable {
		mode = 0o755
	}
	return copyFile(name, out, mode)
}

func (s *work) unpack(ctx context.Context, out string, files []string) error {
	o := s.o
	o.Progress(0, 0, "unpack")
	_, err := archive.Unpack(ctx, out, archive.Options{
		StripPrefix:   s.StripPrefix,
		Keep:          s.keep(),
		RelativeLinks: s.Kind == KindDeb,
		CaseMatters:   s.CaseMatters,
		Progress:      func(done, total int64) { o.Progress(done, total, "unpack") },
		Finish:        func(root *os.Root) error { return s.finish(ctx, root) },
	}, files...)
	return err
}

// keep returns the filter for Only, nil when there is none.
func (s Spec) keep() func(string) bool {
	if len(s.Only) == 0 {
		return nil
	}
	return func(name string) bool {
		for _, p := range s.Only {
			if doublestar.MatchUnvalidated(p, name) {
				return true
			}
		}
		return false
	}
}

func (s *work) finish(ctx context.Context, root *os.Root) error {
	if err := s.checkTree(ctx, root.Name()); err != nil {
		return err
	}
	if _, err := root.Lstat(action.HostFile); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is a file %s in it, which would open the machine to what is run with it", action.HostFile)
	}
	for _, p := range s.paths() {
		to, ok := s.Links[p]
		if !ok {
			continue
		}
		if _, err := root.Lstat(p); err == nil {
			continue // the archive has it
		}
		if err := root.MkdirAll(path.Dir(p), 0o755); err != nil {
			return err
		}
		if path.IsAbs(to) || strings.HasPrefix(path.Join(path.Dir(p), to), "..") {
			return fmt.Errorf("link %q points out of the tree: %q", p, to)
		}
		if err := root.Symlink(to, p); err != nil {
			return err
		}
	}
	for _, w := range s.Wraps {
		if err := w.write(root); err != nil {
			return err
		}
	}
	s.o.Progress(0, 0, "verify")
	return s.verified(ctx, root.Name())
}

// verified checks the tree at dir. What its programs need and this machine lacks is told now, before one of them fails with it: it may
// be got meanwhile, so it is no error.
func (s *work) verified(ctx context.Context, dir string) error {
	if err := verify.Tree(ctx, dir, s.Verify); err != nil {
		return err
	}
	for _, p := range verify.HostNeeds(dir, s.Verify.Host).Lacks(verify.Machine("/", "")) {
		s.o.Warn(p.Error())
	}
	return nil
}

// maxProgram bounds what is copied of a program, in bytes.
const maxProgram = 1 << 30

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, maxProgram+1))
	if n > maxProgram {
		err = fmt.Errorf("%s has more than %d bytes: no program", from, maxProgram)
	}
	return errors.Join(err, out.Close())
}

// programs writes, for each program of the machine, a script that starts it or a copy of it.
func (s *work) programs(ctx context.Context, out string) error {
	tmp, err := os.MkdirTemp(filepath.Dir(out), ".programs-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	for _, p := range s.Programs {
		if !path.IsAbs(p.Target) || strings.ContainsAny(p.Target+p.Identity, "'\n\x00") {
			return fmt.Errorf("program %q is no usable absolute path", p.Target)
		}
		file := filepath.Join(tmp, filepath.FromSlash(p.Path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if p.Copy {
			if err := copyProgram(p.Target, file); err != nil {
				return err
			}
			continue
		}
		script := "#!/bin/sh\n# " + p.Identity + "\nexec '" + p.Target + "' \"$@\"\n"
		if err := os.WriteFile(file, []byte(script), 0o755); err != nil {
			return err
		}
	}
	if err := s.host(tmp); err != nil {
		return err
	}
	if err := s.verified(ctx, tmp); err != nil {
		return err
	}
	_ = os.Remove(out) // an empty folder
	return os.Rename(tmp, out)
}

// host writes which folders of the machine the programs in the tree at dir need.
func (s Spec) host(dir string) error {
	if len(s.Host) == 0 {
		return nil
	}
	for _, p := range s.Host {
		if !path.IsAbs(p) || strings.ContainsAny(p, "\n\x00") {
			return fmt.Errorf("%q is no usable absolute path", p)
		}
	}
	file := filepath.Join(dir, filepath.FromSlash(action.HostFile))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.Join(s.Host, "\n")+"\n"), 0o644)
}

// checkOnly verifies a tree that is there, and writes a report that says so.
func (s *work) checkOnly(ctx context.Context, out string) error {
	if err := s.verified(ctx, s.File); err != nil {
		return err
	}
	sdk, err := verify.Identify(s.File)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(map[string]string{"name": s.Name, "version": sdk.Version, "build_id": sdk.BuildID, "tools_version": sdk.ToolsVersion}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(b, '\n'), 0o644)
}
