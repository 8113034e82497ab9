// Package buildid finds QNN build ids in files: the text like v2.41.0.251128145156_191518 that every library, header and context
// of one SDK carries. It also finds the names under which QNN's libraries give their interfaces.
//
// One enters it with Scan for files, and with Same for ids. It does not parse the files it searches, and does not know which files must be
// of one build.
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

// maxLen is more than any build id takes; window is how much is searched at a time; maxTexts is how many different ones are kept.
const (
	maxLen   = 128
	window   = 1 << 20
	maxTexts = 64
)

// ErrNone says that a file has no build id.
var ErrNone = errors.New("no QNN build id")

// Texts is what a file has in clear text, each distinct and sorted.
type Texts struct {
	IDs       []string // v2.41.0.251128145156_191518
	Providers []string // HTP_QTI_AISW
	Versions  []string // 2.45.0, of newer libraries
}

const (
	providerEnd  = "_QTI_AISW"
	versionBegin = "AISW_VERSION: "
)

// The forms of ids and versions, from where they begin.
var (
	wholeID  = lazyregexp.New(`^v\d+\.\d+\.\d+\.\d{12}(?:_\d+)?`) // version, time of the build, and usually its number
	cutID    = lazyregexp.New(`^v?(\d+\.\d+\.\d+)\.\d{6}`)        // at least the day of the build
	numbers  = lazyregexp.New(`^\d+\.\d+\.\d+`)
	provider = lazyregexp.New(`[A-Z_]{1,32}$`)
)

// Find gives the distinct build ids in r, sorted. It reads all of r but holds one window.
func Find(r io.Reader) ([]string, error) {
	t, err := Scan(r)
	return t.IDs, err
}

// First gives the first build id in r, "" when it has none. It reads no further.
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

// Scan finds all kinds of text in r. It reads all of r but holds one window.
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

// prefix returns what b begins with, if it has the form.
func prefix(b []byte, form *lazyregexp.Regexp) string {
	return string(form.Get().Find(b[:min(len(b), maxLen)]))
}

// windows calls look for overlapping parts of r, until it returns false. What begins below end is whole in buf.
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
			end -= maxLen // one nearer to the window's end may go on, and is found again in the next
		}
		if !look(buf, end) || last {
			return nil
		}
		keep := min(len(buf), 2*maxLen)
		buf = append(buf[:0], buf[len(buf)-keep:]...)
	}
}

// Version returns the version in a build id, which may be cut short: "2.41.0" of "v2.41.0.251128"; "" when it is none.
func Version(id string) string {
	if m := cutID.FindStringSubmatch(id); m != nil {
		return m[1]
	}
	return ""
}

// Same tells whether two build ids can be of one SDK. Either may be cut short, as the name of an archive is: it knows the day of a build and
// not its minute; and newer ones have no build number.
func Same(a, b string) bool {
	a, numberA, _ := strings.Cut(strings.TrimPrefix(a, "v"), "_")
	b, numberB, _ := strings.Cut(strings.TrimPrefix(b, "v"), "_")
	return a != "" && b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a)) && (numberA == "" || numberB == "" || numberA == numberB)
}

// each calls found for every place below end where text begins, until it returns false.
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

// add adds a text, and tells whether there is room for more.
func add(to map[string]bool, text string) bool {
	if text != "" {
		to[text] = true
	}
	return len(to) < maxTexts
}

// Only is the only build id in r. None is ErrNone; several are an error that names them.
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
	return "", fmt.Errorf("several QNN build ids: %q", ids)
}
