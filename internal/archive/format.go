package archive

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
	"github.com/mholt/archives"
)

type format int

const (
	formatTar format = 1 + iota
	formatTarGz
	formatTarXz
	formatTarZst
	formatTarBz2
	formatZip
	formatDeb
	formatSeven
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
		{"\x28\xb5\x2f\xfd", formatTarZst}, {"BZh", formatTarBz2}, {arMagic, formatDeb}, {sevenMagic, formatSeven},
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

// decompress returns the content of a compressed stream. Memory is bounded by the formats' own windows: 64 MiB for xz,
// 256 MiB for zstd.
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
