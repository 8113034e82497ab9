// Package buildid finds QNN build ids in files: the text like v2.41.0.251128145156_191518 that every library, header and context
// of one SDK carries. It also finds the names under which QNN's libraries give their interfaces.
//
// It does not parse the files it searches, and does not decide which ids fit together.
package buildid

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
)

// Pattern is the form of a build id: version, build time, and usually a build number.
const Pattern = `v\d+\.\d+\.\d+\.\d{12}(_\d+)?`

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

// Scan finds all kinds of text in r. It reads all of r but holds one window.
func Scan(r io.Reader) (Texts, error) {
	id := regexp.MustCompile("^" + Pattern)
	version := regexp.MustCompile(`^\d+\.\d+\.\d+`)
	ids, providers, versions := map[string]bool{}, map[string]bool{}, map[string]bool{}
	buf := make([]byte, 0, window+2*maxLen)
	for {
		n, err := io.ReadFull(r, buf[len(buf):len(buf)+window])
		buf = buf[:len(buf)+n]
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return Texts{}, err
		}
		end := len(buf)
		if !last {
			end -= maxLen // one nearer to the window's end may go on, and is found again in the next
		}
		each(buf, end, "v", func(at int) { add(ids, id.Find(buf[at:min(at+maxLen, len(buf))])) })
		each(buf, end, providerEnd, func(at int) {
			begin := at
			for begin > max(0, at-32) && (buf[begin-1] >= 'A' && buf[begin-1] <= 'Z' || buf[begin-1] == '_') {
				begin--
			}
			if begin < at {
				add(providers, buf[begin:at+len(providerEnd)])
			}
		})
		each(buf, end, versionBegin, func(at int) { add(versions, version.Find(buf[at+len(versionBegin):])) })
		if last {
			break
		}
		keep := min(len(buf), 2*maxLen)
		buf = append(buf[:0], buf[len(buf)-keep:]...)
	}
	return Texts{sorted(ids), sorted(providers), sorted(versions)}, nil
}

// each calls found for every place below end where text begins.
func each(buf []byte, end int, text string, found func(at int)) {
	for at := 0; at < end; at++ {
		i := bytes.Index(buf[at:], []byte(text))
		if i < 0 || at+i >= end {
			return
		}
		at += i
		found(at)
	}
}

func add(to map[string]bool, text []byte) {
	if len(text) > 0 && len(to) < maxTexts {
		to[string(text)] = true
	}
}

func sorted(set map[string]bool) []string {
	all := make([]string, 0, len(set))
	for s := range set {
		all = append(all, s)
	}
	sort.Strings(all)
	return all
}

// One is the only build id in r. None is ErrNone; several are an error that names them.
func One(r io.Reader) (string, error) {
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
