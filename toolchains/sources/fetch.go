package sources

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// Options configure a fetch. They do not affect the result.
type Options struct {
	Downloads string // folder that keeps downloads between runs; created if missing
	Offline   bool
	Progress  func(done, total int64, text string) // total 0: unknown; may be nil; called from any goroutine
	Warn      func(text string)                    // receives warnings; may be nil

	Logins  []fetch.Login                             // logins of hosts, as in ~/.netrc
	Secret  func(name string) (value string, ok bool) // returns the user's variables for Spec.Headers; may be nil
	Mirrors []fetch.Mirror                            // addresses that replace others
	Vendor  qpm.Client                                // client for products; run sets its Progress
	Getenv  func(name string) string                  // returns variables that configure pip and Maven; may be nil
	Home    string                                    // the user's home, with the configuration of pip and Maven
	Backoff time.Duration                             // first delay before a retry; 0: one second
}

// Learned holds the data that can pin a fetched result, such as its digest.
type Learned struct {
	URL    string // address of the download; "" for a local file or an address from the machine's configuration
	Size   int64  // bytes of the archive or file; 0 if only parts were fetched
	SHA256 string // digest of the archive or file; "" if only parts were fetched
	File   string // for a wheel: file name
	Vouch  bool   // whether the publisher publishes its digest
	Tree   string // digest of the tree, for archives with Only and for Qualcomm's client
	Parts  Parts  // for a zip with Only: parts
	Ranges bool   // whether the server sent only the parts
}

// Fetch writes the spec's result to the path out. For KindFile, out is a file, otherwise a missing or empty folder. If
// Fetch fails, out is unchanged, and the next try reuses the downloads.
func Fetch(ctx context.Context, s Spec, out string, o Options) error {
	if err := s.pins(); err != nil {
		return err
	}
	_, err := run(ctx, s, out, o, false)
	return err
}

// Learn fetches a spec without pins, and returns the data that can pin the result. Only `hexmage lock` may call it.
func Learn(ctx context.Context, s Spec, out string, o Options) (Learned, error) {
	return run(ctx, s, out, o, true)
}

// Var returns the value of a variable in the user's environment, or "" if it is not set.
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

func run(ctx context.Context, s Spec, out string, o Options, learn bool) (Learned, error) {
	if err := s.check(); err != nil {
		return Learned{}, err
	}
	o = o.withDefaults()
	if err := os.MkdirAll(o.Downloads, 0o755); err != nil {
		return Learned{}, err
	}
	w := &work{Spec: s, o: o, learn: learn}
	if err := w.fetch(ctx, out); err != nil {
		return Learned{}, fmt.Errorf("%s: %w", s.Name, err)
	}
	return w.learned, nil
}

// work is the state of one fetch.
type work struct {
	Spec
	o       Options
	learn   bool
	learned Learned
	found   found
}

func (w *work) fetch(ctx context.Context, out string) error {
	switch w.Kind {
	case KindFile:
		return w.fetchFile(ctx, out)
	case KindArchive:
		if w.Parts != nil && w.File == "" {
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

// pinnedSuite is the suite of the packages that the shipped catalog pins, that of Debian 12.
const pinnedSuite = "bookworm"

// pinnedFor returns pinnedSuite for a machine with another Debian release in etc/os-release.
func pinnedFor(release string, err error) string {
	lines := strings.Split(release, "\n")
	if err != nil || !slices.Contains(lines, "ID=debian") || slices.Contains(lines, "VERSION_CODENAME="+pinnedSuite) {
		return ""
	}
	return pinnedSuite
}

// archive returns the path of the given or downloaded archive.
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

// copyFile copies name to out. out appears only when it is complete.
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

// parts downloads only the members that Only selects. It uses the whole archive if that is in the downloads folder, or
// if no server sends ranges.
func (s *work) parts(ctx context.Context, out string) error {
	if whole := filepath.Join(s.o.Downloads, keptName(s.Spec)); s.filePinned() && fetch.Check(whole, s.source()) == nil {
		return s.unpack(ctx, out, whole)
	}
	c, missing := s.client()
	name := filepath.Join(s.o.Downloads, s.partsName())
	for again := true; ; again = false {
		url, err := c.FetchMembers(ctx, s.source(), s.pick, name)
		if errors.Is(err, fetch.ErrOffline) && missing != nil && !s.o.Offline {
			err = missing
		}
		if errors.Is(err, fetch.ErrNoRanges) {
			s.o.Warn(fmt.Sprintf("%s: hexmage downloads the whole archive, because parts are not available: %v",
				s.Name, fetch.ErrNoRanges))
			file, err := s.download(ctx)
			if err != nil {
				return err
			}
			return s.unpack(ctx, out, file)
		}
		if err != nil {
			return err
		}
		s.learned.URL, s.learned.Ranges = url, true
		err = s.unpack(ctx, out, name)
		if !again || !errors.Is(err, archive.ErrTruncated) && !errors.Is(err, fetch.ErrMismatch) || s.o.Offline {
			if err != nil && ctx.Err() == nil {
				_ = os.Remove(name) // useless, because its digest may be wrong
			}
			return err
		}
		_ = os.Remove(name) // retry: a member is corrupt, perhaps on disk
	}
}

// partsName returns the file name of the kept parts of the archive.
func (s Spec) partsName() string {
	return "parts-" + short(append(append([]string{s.StripPrefix}, s.Only...), s.URLs...)...) + ".zip"
}

// pick returns the members that Only selects. It learns the digest of the directory, and compares it with the pinned
// one.
func (s *work) pick(ms []archive.Member) ([]archive.Member, error) {
	var taken []archive.Member
	var size int64
	sum := sha256.New()
	for _, m := range ms {
		fmt.Fprintf(sum, "%q %d %d %08x %o %d\n", m.Name, m.Size, m.Packed, m.CRC32, m.Mode, m.Offset)
		if !m.Mode.IsDir() && s.Takes(m.Name) {
			size += m.Packed
			taken = append(taken, m)
		}
	}
	directory := hex.EncodeToString(sum.Sum(nil))
	if s.Parts != nil && s.Parts.Directory != "" && s.Parts.Directory != directory {
		return nil, fmt.Errorf("%w: the zip's central directory differs from the pinned one", fetch.ErrMismatch)
	}
	s.learned.Parts = Parts{Directory: directory, Size: size}
	return taken, nil
}

// list learns the data of pick from an archive on disk, if it is a zip.
func (s *work) list(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if ms, err := archive.ListZip(f, info.Size(), maxMembers); err == nil {
		_, err = s.pick(ms)
		return err
	}
	return nil
}

const maxMembers = 1_000_000
