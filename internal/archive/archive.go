// Package archive unpacks untrusted archives into a new folder.
//
// It reads zip, tar (plain, gz, xz, zst, bz2) and Debian packages. The destination appears when all of the archive is
// unpacked and has passed every check. Errors are entries that would leave the folder, links that point out of it,
// device files, names that are used twice, and archives that are cut off or grow without limit. The package does not
// know where an archive comes from or what its files are for. The caller checks its digest before.
package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
	"github.com/mholt/archives"
	"golang.org/x/sync/errgroup"
)

// What is wrong with an archive. Unpack wraps one of these with the archive's name, the entry and what to do.
var (
	ErrFormat    = errors.New("not an archive that hexmage can read (zip, tar, tar.gz, tar.xz, tar.zst, tar.bz2, deb)")
	ErrTruncated = errors.New("the archive is cut off or damaged")
	ErrUnsafe    = errors.New("unsafe archive")
	ErrTooLarge  = errors.New("the archive unpacks to more than is allowed")
)

// Options say how to unpack. The zero value takes everything as it is, within the default limits.
type Options struct {
	// StripPrefix is a folder of the archive whose content becomes the destination's; what is outside of it is left
	// out. "" takes all. It is an error when nothing is below it.
	StripPrefix string

	// Keep tells whether to unpack the file or link that would be at a path; nil takes all. Folders are always made.
	Keep func(path string) bool

	// RelativeLinks makes absolute symbolic links ("/usr/lib/x" in a Debian package) relative, so that they stay
	// within the destination. Without it they are errors.
	RelativeLinks bool

	// CaseMatters takes names that differ only in case or in how a letter is encoded. Without it they are errors, as
	// on some machines they are one file; but Linux's own headers have such names. Debian packages may always have
	// them.
	CaseMatters bool

	MaxEntries int   // default 1,000,000
	MaxBytes   int64 // unpacked bytes of all archives; default 64 GiB
	MaxRatio   int64 // unpacked to packed bytes, counted from 64 MiB on; default 200

	// Progress is called now and then, from any goroutine, with how many bytes of the archives are done, of how many.
	Progress func(done, total int64)

	// Finish is called when everything is unpacked, before it appears at the destination: for links to add and for
	// checks. An error of it makes Unpack fail.
	Finish func(root *os.Root) error
}

const ratioFloor = 64 << 20 // below this many bytes no ratio is suspicious: text compresses well

func (o Options) withDefaults() Options {
	if o.MaxEntries <= 0 {
		o.MaxEntries = 1_000_000
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 64 << 30
	}
	if o.MaxRatio <= 0 {
		o.MaxRatio = 200
	}
	return o
}

// Unpack unpacks the archives, one over the other, into dest. dest must not exist, or be an empty folder; the folder
// it is in must exist. When Unpack fails dest is as it was.
func Unpack(ctx context.Context, dest string, opt Options, archives ...string) error {
	opt = opt.withDefaults()
	if err := vacant(dest); err != nil {
		return err
	}
	// A sibling, so that the rename at the end stays on one file system.
	tmp, err := os.MkdirTemp(filepath.Dir(dest), ".unpack-*")
	if err != nil {
		return fmt.Errorf("unpack into %s: %w", dest, err)
	}
	defer os.RemoveAll(tmp)
	if err := unpackInto(ctx, tmp, opt, archives); err != nil {
		return err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if err := os.Remove(dest); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("unpack into %s: %w", dest, err)
	}
	if err := os.Rename(tmp, dest); err != nil {
		return fmt.Errorf("unpack into %s: %w", dest, err)
	}
	return nil
}

func vacant(dest string) error {
	names, err := os.ReadDir(dest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("unpack into %s: %w", dest, err)
	}
	if len(names) > 0 {
		return fmt.Errorf("unpack into %s: the folder is not empty: remove it first", dest)
	}
	return nil
}

func unpackInto(ctx context.Context, dir string, opt Options, archives []string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var packed int64
	for _, name := range archives {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		packed += info.Size()
	}
	w := newWriter(root, opt, packed)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range archives {
		g.Go(func() error {
			if err := unpackOne(ctx, w, i, name); err != nil {
				return fmt.Errorf("%s: %w", filepath.Base(name), err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := w.finish(); err != nil {
		return err
	}
	if opt.Finish != nil {
		return opt.Finish(root)
	}
	return nil
}

func unpackOne(ctx context.Context, w *writer, index int, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	src := &source{index: index, packed: info.Size(), names: map[string]bool{}, exact: w.opt.CaseMatters}
	kind, err := sniff(f)
	if err != nil {
		return err
	}
	switch kind {
	case formatZip:
		err = src.zip(ctx, w, f)
	case formatDeb:
		err = src.deb(ctx, w, f, info.Size())
	default:
		err = src.tar(ctx, w, f, kind)
	}
	if err == nil && !src.any {
		return fmt.Errorf("%w: there is nothing in it", ErrTruncated)
	}
	return err
}

// source is one archive while it is unpacked.
type source struct {
	index   int
	packed  int64
	exact   bool // made for machines that tell case apart
	trusted bool // of a distribution: its programs may have their owner's rights
	read    atomic.Int64
	written atomic.Int64
	any     bool            // there is an entry
	names   map[string]bool // top-level folders seen, for the message when the prefix fits none
	matched bool            // something was below the prefix
}

type format int

const (
	formatTar format = 1 + iota
	formatTarGz
	formatTarXz
	formatTarZst
	formatTarBz2
	formatZip
	formatDeb
)

// sniff tells the format by the file's first bytes: names lie.
func sniff(f *os.File) (format, error) {
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return 0, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	if k := sniffBytes(head[:n]); k != 0 {
		return k, nil
	}
	if n == 0 {
		return 0, fmt.Errorf("%w: it is empty", ErrTruncated)
	}
	if bytes.HasPrefix(head, []byte("7z\xbc\xaf\x27\x1c")) {
		return 0, fmt.Errorf("%w: it is a 7z archive; pack its content as zip or tar.xz", ErrFormat)
	}
	return 0, fmt.Errorf("%w: it starts with %.24q", ErrFormat, head[:n])
}

// Begins tells whether something that begins so, with 512 bytes or all of it, may be an archive.
func Begins(head []byte) bool { return sniffBytes(head) != 0 }

func sniffBytes(head []byte) format {
	for _, m := range []struct {
		magic string
		kind  format
	}{
		{"PK\x03\x04", formatZip}, {"PK\x05\x06", formatZip}, {"\x1f\x8b", formatTarGz}, {"\xfd7zXZ\x00", formatTarXz},
		{"\x28\xb5\x2f\xfd", formatTarZst}, {"BZh", formatTarBz2}, {arMagic, formatDeb},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.kind
		}
	}
	if len(head) >= 262 && string(head[257:262]) == "ustar" {
		return formatTar
	}
	return 0
}

// decompress returns the content of a compressed stream. Memory is bounded by the formats' own windows: 64 MiB for
// xz, 256 MiB for zstd.
func decompress(kind format, r io.Reader) (io.ReadCloser, error) {
	switch kind {
	case formatTar:
		return io.NopCloser(r), nil
	case formatTarGz:
		return archives.Gz{}.OpenReader(r)
	case formatTarXz:
		return archives.Xz{}.OpenReader(r)
	case formatTarZst:
		return archives.Zstd{DecoderOptions: []zstd.DOption{
			zstd.WithDecoderMaxWindow(256 << 20), zstd.WithDecoderConcurrency(1),
		}}.OpenReader(r)
	case formatTarBz2:
		return archives.Bz2{}.OpenReader(r)
	}
	return nil, ErrFormat
}
