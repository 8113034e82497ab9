// Package buildid finds QNN build ids in files. All libraries, headers and contexts of one SDK contain the same id,
// such as v2.41.0.251128145156_191518. It also finds the provider names in QNN's libraries.
//
// Scan searches a file, and Same compares ids. The package does not parse the files or know which of them need the same
// build.
package buildid

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// maxLen exceeds the length of any build id. window is the size of one search. maxTexts limits the number of
// results.
const (
	maxLen   = 128
	window   = 1 << 20
	maxTexts = 64
)

// ErrNone means that a file contains no build id.
var ErrNone = errors.New("no QNN build id")

// Texts holds the strings found in a file, sorted and without duplicates.
type Texts struct {
	IDs       []string // v2.41.0.251128145156_191518
	Providers []string // HTP_QTI_AISW
	Versions  []string // 2.45.0, in newer libraries
}

const (
	providerEnd  = "_QTI_AISW"
	versionBegin = "AISW_VERSION: "
)

// Formats of ids and versions.
var (
	wholeID  = lazyregexp.New(`^v\d+\.\d+\.\d+\.\d{12}(?:_\d+)?`) // version, build time and usually a build number
	cutID    = lazyregexp.New(`^v?(\d+\.\d+\.\d+)\.\d{6}`)        // version and at least the build date
	numbers  = lazyregexp.New(`^\d+\.\d+\.\d+`)
	provider = lazyregexp.New(`[A-Z_]{1,32}$`)
)

// Find returns the build ids in r, sorted and without duplicates. It reads all of r, but keeps only a small window in
// memory.
func Find(r io.Reader) ([]string, error) {
	t, err := Scan(r)
	return t.IDs, err
}

// First returns the first build id in r, or "". It stops reading after the id.
func First(r io.Reader) (first string, err error) {
	err = windows(r, func(buf []byte, end int) bool {
		each(buf, end, "v", func(at int) bool {
			first = prefix(buf[at:], wholeID)
			return first == ""
		})
		return first == ""
	})
	return first, err
}

// Scan finds all kinds of strings in r. It reads all of r, but keeps only a small window in memory.
func Scan(r io.Reader) (Texts, error) {
	ids, providers, versions := map[string]bool{}, map[string]bool{}, map[string]bool{}
	err := windows(r, func(buf []byte, end int) bool {
		each(buf, end, "v", func(at int) bool { return add(ids, prefix(buf[at:], wholeID)) })
		each(buf, end, providerEnd, func(at int) bool {
			name := provider.FindString(string(buf[max(0, at-32):at]))
			return name == "" || add(providers, name+providerEnd)
		})
		each(buf, end, versionBegin, func(at int) bool {
			return add(versions, prefix(buf[at+len(versionBegin):], numbers))
		})
		return true
	})
	if err != nil {
		return Texts{}, err
	}
	return Texts{slices.Sorted(maps.Keys(ids)), slices.Sorted(maps.Keys(providers)), slices.Sorted(maps.Keys(versions))}, nil
}

// prefix returns the prefix of b that matches form, or "".
func prefix(b []byte, form *lazyregexp.Regexp) string {
	return string(form.Get().Find(b[:min(len(b), maxLen)]))
}

// windows calls look for overlapping parts of r until look returns false. Strings that begin before end are complete
// in buf.
func windows(r io.Reader, look func(buf []byte, end int) bool) error {
	buf := make([]byte, 0, window+2*maxLen)
	for {
		n, err := io.ReadFull(r, buf[len(buf):len(buf)+window])
		buf = buf[:len(buf)+n]
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return err
		}
		end := len(buf)
		if !last {
			end -= maxLen // a string that begins later may be incomplete; the next window has it again
		}
		if !look(buf, end) || last {
			return nil
		}
		keep := min(len(buf), 2*maxLen)
		buf = append(buf[:0], buf[len(buf)-keep:]...)
	}
}

// Version returns the version in a complete or shortened build id: "2.41.0" for "v2.41.0.251128". For other strings, it
// returns "".
func Version(id string) string {
	if m := cutID.FindStringSubmatch(id); m != nil {
		return m[1]
	}
	return ""
}

// Same reports whether two build ids can belong to one SDK. Either id may omit the time and the build number.
func Same(a, b string) bool {
	a, numberA, _ := strings.Cut(strings.TrimPrefix(a, "v"), "_")
	b, numberB, _ := strings.Cut(strings.TrimPrefix(b, "v"), "_")
	return a != "" && b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a)) && (numberA == "" || numberB == "" || numberA == numberB)
}

// each calls found for the positions of text that are before end, until found returns false.
func each(buf []byte, end int, text string, found func(at int) bool) {
	for at := 0; at < end; at++ {
		i := bytes.Index(buf[at:], []byte(text))
		if i < 0 || at+i >= end {
			return
		}
		at += i
		if !found(at) {
			return
		}
	}
}

// add adds a string, and reports whether the set has room for more.
func add(to map[string]bool, text string) bool {
	if text != "" {
		to[text] = true
	}
	return len(to) < maxTexts
}

// Only returns the only build id in r. If r contains none, the error is ErrNone. If r contains several, the error lists
// them.
func Only(r io.Reader) (string, error) {
	ids, err := Find(r)
	if err != nil {
		return "", err
	}
	switch len(ids) {
	case 0:
		return "", ErrNone
	case 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("expected one QNN build id, found several: %q", ids)
}
