package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains/sources/deb"
	"github.com/hexmage/hexmage/toolchains/sources/qpm"
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
	Vendor  qpm.Client                                // Progress is set here
	Getenv  func(name string) string                  // for what pip and Maven are configured with; may be nil
	Home    string                                    // likewise
	Backoff time.Duration                             // before a failed request is made again, at first; 0 is a second
}

// Learned is what is known of a result that was fetched, to pin it.
type Learned struct {
	URL    string // where it came from; "" when it was there already, has none, or comes from what the machine's configuration names
	Size   int64  // of the archive or file, in bytes; 0 when there is none, or not all of it came
	SHA256 string // likewise
	File   string // of a wheel: its name
	Vouch  bool   // who has it published its digest
	Tree   string // of parts, and of trees that Qualcomm's client installs
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

// Var is a variable of the user's, "" if it is not set.
func (o Options) Var(name string) string {
	if o.Getenv == nil {
		return ""
	}
	return o.Getenv(name)
}

func (o Options) withDefaults() Options {
	if o.Progress == nil {
		o.Progress = func(int64, int64, string) {}
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	return o
}

func run(ctx context.Context, s Spec, out string, o Options) (Learned, error) {
	if err := s.check(); err != nil {
		return Learned{}, err
	}
	o = o.withDefaults()
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
	found   found
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
		return w.unpack(ctx, out, file)
	case KindDeb:
		files, err := w.packages(ctx)
		if err != nil {
			return err
		}
		return w.unpack(ctx, out, files...)
	case KindPrograms:
		return w.programs(ctx, out)
	case KindVendor:
		return w.vendor(ctx, out)
	}
	return w.checkOnly(ctx, out)
}

func (s *work) packages(ctx context.Context) ([]string, error) {
	o := s.o
	c := deb.Client{Dir: filepath.Join(o.Downloads, "deb"), System: true, Architecture: s.Architecture, Suite: s.Suite,
		Offline: o.Offline, HTTP: fetch.Client{Backoff: o.Backoff, Logins: o.Logins}, Mirrors: o.Mirrors,
		Progress: o.Progress}
	if s.Suite == "" {
		release, err := os.ReadFile("/etc/os-release")
		c.Pinned = pinnedFor(string(release), err)
	}
	r, err := c.Get(ctx, s.Packages)
	if err != nil {
		return nil, err
	}
	for _, w := range r.Warnings {
		o.Warn(w)
	}
	return r.Files, nil
}

// pinnedSuite is the suite in which the shipped catalogue's packages are pinned: that of Debian 12.
const pinnedSuite = "bookworm"

// pinnedFor is that suite for a machine with another release of Debian, which says what it has in etc/os-release.
func pinnedFor(release string, err error) string {
	lines := strings.Split(release, "\n")
	if err != nil || !slices.Contains(lines, "ID=debian") || slices.Contains(lines, "VERSION_CODENAME="+pinnedSuite) {
		return ""
	}
	return pinnedSuite
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

// copyFile makes out a copy of name; out appears when it is whole.
func copyFile(name, out string, mode os.FileMode) error {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	f, err := atomicfile.Temp(filepath.Dir(out), ".copy")
	if err != nil {
		return err
	}
	if _, err = io.Copy(f, in); err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return atomicfile.Place(f, out, mode)
}

// parts gets only those members of a zip that are wanted. Where no server sends parts, or the whole archive is there
// already, that is used.
func (s *work) parts(ctx context.Context, out string) error {
	if whole := filepath.Join(s.o.Downloads, keptName(s.Spec)); s.filePinned() && fetch.Check(whole, s.source()) == nil {
		return s.unpack(ctx, out, whole)
	}
	c, missing := s.client()
	src := s.source()
	name := filepath.Join(s.o.Downloads, "parts-"+short(append(append([]string{s.StripPrefix}, s.Only...), s.URLs...)...)+".zip")
	for again := true; ; again = false {
		url, err := c.FetchMembers(ctx, src, s.Takes, name)
		if errors.Is(err, fetch.ErrOffline) && missing != nil && !s.o.Offline {
			err = missing
		}
		if errors.Is(err, fetch.ErrNoRanges) {
			s.o.Warn(fmt.Sprintf("%s: all of it is downloaded: %v", s.Name, fetch.ErrNoRanges))
			file, err := s.download(ctx)
			if err != nil {
				return err
			}
			s.learned.Size, s.learned.SHA256 = 0, ""
			return s.unpack(ctx, out, file)
		}
		if err != nil {
			return err
		}
		s.learned.URL = url
		err = s.unpack(ctx, out, name)
		if !again || !errors.Is(err, archive.ErrTruncated) && !errors.Is(err, fetch.ErrMismatch) || s.o.Offline {
			if err != nil && ctx.Err() == nil {
				_ = os.Remove(name) // its digest can't be told from a good one's: it is of no use
			}
			return err
		}
		_ = os.Remove(name) // a member that is damaged, on disk perhaps: once more
	}
}
