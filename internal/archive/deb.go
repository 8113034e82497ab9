package archive

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// A Debian package is an ar archive with three members: debian-binary ("2.0\n"), control.tar.* and data.tar.*. Each
// member consists of a 60-byte text header and the content, padded to an even length.
const (
	arMagic      = "!<arch>\n"
	arHeaderSize = 60
	maxMembers   = 16
)

type arMember struct {
	name   string
	offset int64
	size   int64
}

// readAr returns the members of an ar archive of the given size.
func readAr(r io.ReaderAt, size int64) ([]arMember, error) {
	head := make([]byte, len(arMagic))
	if _, err := r.ReadAt(head, 0); err != nil || string(head) != arMagic {
		return nil, ErrFormat
	}
	var members []arMember
	for at := int64(len(arMagic)); at < size; {
		h := make([]byte, arHeaderSize)
		if _, err := r.ReadAt(h, at); err != nil {
			return nil, fmt.Errorf("%w: the file ends inside a member header", ErrTruncated)
		}
		if string(h[58:60]) != "`\n" {
			return nil, fmt.Errorf("%w: invalid member header at byte %d", ErrTruncated, at)
		}
		n, err := strconv.ParseInt(strings.TrimRight(string(h[48:58]), " "), 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%w: invalid member size %q at byte %d", ErrTruncated, h[48:58], at)
		}
		name := strings.TrimSuffix(strings.TrimRight(string(h[:16]), " "), "/")
		at += arHeaderSize
		if n > size-at {
			return nil, fmt.Errorf("%w: member %q needs %d bytes, but only %d remain", ErrTruncated, name, n, size-at)
		}
		if members = append(members, arMember{name: name, offset: at, size: n}); len(members) > maxMembers {
			return nil, fmt.Errorf("%w: the Debian package has more than %d members", ErrTooLarge, maxMembers)
		}
		at += n + n%2
	}
	return members, nil
}

// deb unpacks the data of a Debian package.
func (s *source) deb(ctx context.Context, w *writer, f *os.File, size int64) error {
	s.exact, s.trusted = true, true
	members, err := readAr(f, size)
	if err != nil {
		return err
	}
	if len(members) == 0 || members[0].name != "debian-binary" {
		return fmt.Errorf("%w: the file is an ar archive but not a Debian package", ErrFormat)
	}
	for _, m := range members {
		if !strings.HasPrefix(m.name, "data.tar") {
			continue
		}
		kind := map[string]format{"data.tar": formatTar, "data.tar.gz": formatTarGz, "data.tar.xz": formatTarXz,
			"data.tar.zst": formatTarZst, "data.tar.bz2": formatTarBz2}[m.name]
		if kind == 0 {
			return fmt.Errorf("%w: unsupported member %s in the Debian package", ErrFormat, m.name)
		}
		return s.tar(ctx, w, io.NewSectionReader(f, m.offset, m.size), kind)
	}
	return fmt.Errorf("%w: data.tar is missing in the Debian package", ErrTruncated)
}
