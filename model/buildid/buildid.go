// Package buildid finds QNN build ids in files: the text like v2.41.0.251128145156_191518 that every library, header and context
// of one SDK carries.
//
// It does not parse the files it searches, and does not decide which ids fit together.
package buildid

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
)

// Pattern is the form of a build id: version, build time, and usually a build number.
const Pattern = `v\d+\.\d+\.\d+\.\d{12}(_\d+)?`

// maxLen is more than any build id takes; window is how much is searched at a time.
const (
	maxLen = 128
	window = 1 << 20
)

// ErrNone says that a file has no build id.
var ErrNone = errors.New("no QNN build id")

// Find gives the distinct build ids in r, sorted. It reads all of r but holds one window.
func Find(r io.Reader) ([]string, error) {
	re := regexp.MustCompile(Pattern)
	seen := map[string]bool{}
	buf := make([]byte, 0, window+maxLen)
	for {
		n, err := io.ReadFull(r, buf[len(buf):len(buf)+window])
		buf = buf[:len(buf)+n]
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return nil, err
		}
		for _, m := range re.FindAllIndex(buf, -1) {
			if last || m[0] < len(buf)-maxLen { // one nearer to the window's end may go on, and is found again in the next
				seen[string(buf[m[0]:m[1]])] = true
			}
		}
		if last {
			break
		}
		keep := min(len(buf), maxLen)
		buf = append(buf[:0], buf[len(buf)-keep:]...)
	}
	ids := make([]string, 0, len(seen))
	for id := range seen {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids, nil
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
