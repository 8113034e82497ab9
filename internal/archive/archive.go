// Package archive unpacks untrusted archives into a new folder.
//
// It reads zip files, tar files (plain, gz, xz, zst, bz2) and Debian packages. The destination folder appears only
// after the package has unpacked and checked the whole archive. The package rejects paths and links that lead outside
// the folder, device files, duplicate names, truncated archives and archive bombs. It does not know the source or the
// purpose of an archive. The caller must check the archive's digest first.
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

// Causes of errors. Each error of Unpack wraps one of these causes, and adds the archive's name, the path in the
// archive and a next step.
var (
	ErrFormat    = errors.New("unsupported archive format (supported: zip, tar, tar.gz, tar.xz, tar.zst, tar.bz2, deb)")
	ErrTruncated = errors.New("truncated or corrupt archive")
	ErrUnsafe    = errors.New("unsafe archive")
	ErrTooLarge  = errors.New("archive too large to unpack")
)

// Options control unpacking. The zero value unpacks everything, with default limits.
type Options struct {
	// StripPrefix is a folder in the archive, such as "sdk-2.1". Unpack then unpacks only the content of this folder,
	// and fails if the folder is missing or empty. "" unpacks everything.
	StripPrefix string

	// Keep reports whether to unpack the file or link at a path. Unpack creates all folders in any case. nil unpacks
	// all files and links.
	Keep func(path string) bool

	// RelativeLinks makes absolute symbolic links, such as "/usr/lib/x" in a Debian package, relative to the
	// destination. If it is false, Unpack rejects absolute links.
	RelativeLinks bool

	// CaseMatters accepts names that differ only in case or in Unicode normalization, as in the Linux headers. If it is
	// false, Unpack rejects these names, because some file systems would map them to the same file. Unpack accepts them
	// in any Debian package.
	CaseMatters bool

	MaxEntries int   // default 1,000,000
	MaxBytes   int64 // maximum number of unpacked bytes of all archives; default 64 GiB
	MaxRatio   int64 // maximum ratio of unpacked to packed bytes, checked after 64 MiB; default 200

	// Progress receives the number of bytes processed so far and the total size of all archives. It must accept calls
	// from any goroutine.
	Progress func(done, total int64)

	// Finish runs after unpacking and before the destination appears, for example to add links or to check the content.
	// If Finish fails, Unpack fails.
	Finish func(root *os.Root) error
}

const ratioFloor = 64 << 20 // smaller output has no ratio limit: text compresses well

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

// Unpack unpacks the archives, in order, into the folder dest. An archive may add files to folders of earlier archives.
// The folder dest must be empty or missing, and its parent must exist. If Unpack fails, it leaves dest unchanged.
func Unpack(ctx context.Context, dest string, opt Options, archives ...string) error {
	opt = opt.withDefaults()
	if err := vacant(dest); err != nil {
		return err
	}
	// A sibling of dest, so that the final rename stays on one file system.
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
		return fmt.Errorf("unpack into %s: folder is not empty; remove the folder first", dest)
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
		return fmt.Errorf("%w: the archive has no entries", ErrTruncated)
	}
	return err
}

// source is the state of one archive during unpacking.
type source struct {
	index   int
	packed  int64
	exact   bool // for systems with case-sensitive names
	trusted bool // from a distribution: setuid bits are dropped, not an error
	read    atomic.Int64
	written atomic.Int64
	any     bool            // the archive has an entry
	names   map[string]bool // top-level folders, for the error if the prefix matches no entry
	matched bool            // an entry is below the prefix
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

// sniff detects the format by the file's first bytes, since names are unreliable.
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
		return 0, fmt.Errorf("%w: the file is empty", ErrTruncated)
	}
	if bytes.HasPrefix(head, []byte("7z\xbc\xaf\x27\x1c")) {
		return 0, fmt.Errorf("%w: 7z archive; repack the content as zip or tar.xz", ErrFormat)
	}
	return 0, fmt.Errorf("%w: the file starts with %.24q", ErrFormat, head[:n])
}

// Begins reports whether data is probably an archive. The parameter head is the first 512 bytes of the data, or all
// data if it is shorter.
func Begins(head []byte) bool { return sniffBytes(head) != 0 }

func sniffBytes(head []byte) format {
	for _, m := range []struct {
		magic string
		kind  format
	}{
		{"PK\x03\x04", formatZip}, {"PK\x05\x06", formatZip}, {"\x1f\x8b",
			formatTarGz}, {"\xfd7zXZ\x00", formatTarXz},
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
