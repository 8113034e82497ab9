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
	"sort"
	"strings"
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

// Find gives the distinct build ids in r, sorted. It reads all of r but holds one window.
func Find(r io.Reader) ([]string, error) {
	t, err := Scan(r)
	return t.IDs, err
}

// First gives the first build id in r, "" when it has none. It reads no further.
func First(r io.Reader) (string, error) {
	first := ""
	err := windows(r, func(buf []byte, end int) bool {
		each(buf, end, "v", func(at int) bool {
			first = string(prefix(buf[at:]))
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
		each(buf, end, "v", func(at int) bool { return add(ids, prefix(buf[at:])) })
		each(buf, end, providerEnd, func(at int) bool {
			begin := at
			for begin > max(0, at-32) && (buf[begin-1] >= 'A' && buf[begin-1] <= 'Z' || buf[begin-1] == '_') {
				begin--
			}
			return begin == at || add(providers, buf[begin:at+len(providerEnd)])
		})
		each(buf, end, versionBegin, func(at int) bool {
			at += len(versionBegin)
			return add(versions, buf[at:at+numbers(buf[at:])])
		})
		return true
	})
	if err != nil {
		return Texts{}, err
	}
	return Texts{sorted(ids), sorted(providers), sorted(versions)}, nil
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

// prefix returns the build id that b begins with: version, build time, and usually a build number. nil is none.
func prefix(b []byte) []byte {
	const timeLen = 12
	b = b[:min(len(b), maxLen)]
	if len(b) == 0 || b[0] != 'v' {
		return nil
	}
	n := numbers(b[1:])
	if n == 0 {
		return nil
	}
	at := 1 + n
	if len(b) < at+1+timeLen || b[at] != '.' || digits(b[at+1:]) < timeLen {
		return nil
	}
	at += 1 + timeLen
	if at < len(b) && b[at] == '_' {
		if n := digits(b[at+1:]); n > 0 {
			at += 1 + n
		}
	}
	return b[:at]
}

// numbers is the length of the three numbers with points between them that b begins with, 0 when it does not.
func numbers(b []byte) int {
	at := 0
	for i := range 3 {
		if i > 0 {
			if at == len(b) || b[at] != '.' {
				return 0
			}
			at++
		}
		n := digits(b[at:])
		if n == 0 {
			return 0
		}
		at += n
	}
	return at
}

func digits(b []byte) int {
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n
}

// Valid tells whether the text is a whole build id.
func Valid(id string) bool { return id != "" && len(prefix([]byte(id))) == len(id) }

// Version returns the version in a build id, which may be cut short: "2.41.0" of "v2.41.0.251128"; "" when it is none.
func Version(id string) string {
	const dayLen = 6
	b := []byte(strings.TrimPrefix(id, "v"))
	n := numbers(b)
	if n == 0 || len(b) <= n || b[n] != '.' || digits(b[n+1:]) < dayLen {
		return ""
	}
	return string(b[:n])
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
func add(to map[string]bool, text []byte) bool {
	if len(text) > 0 {
		to[string(text)] = true
	}
	return len(to) < maxTexts
}

func sorted(set map[string]bool) []string {
	all := make([]string, 0, len(set))
	for s := range set {
		all = append(all, s)
	}
	sort.Strings(all)
	return all
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
