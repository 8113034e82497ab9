package push

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Where a file is cut depends on its bytes alone, so that after a change in the middle the cuts around it are where they were. A cut is
// at least minChunk and at most maxChunk after the one before, about avgChunk on average.
const (
	minChunk = 32 << 10
	avgChunk = 128 << 10
	maxChunk = 512 << 10

	// Two masks keep the sizes near the average: cuts are rarer before avgChunk than after it.
	rareMask  = (1<<19 - 1) << 45
	oftenMask = (1<<15 - 1) << 49
)

// chunkName is the start of the SHA-256 of a chunk: enough to tell chunks apart, since the whole is verified in the end.
type chunkName [16]byte

// chunk is a piece of a file.
type chunk struct {
	name chunkName
	size int64
}

// recipe is a file as a row of chunks.
type recipe []chunk

// size returns the length of the file.
func (r recipe) size() (sum int64) {
	for _, c := range r {
		sum += c.size
	}
	return sum
}

// gear gives each value of a byte 64 bits that look random: the start of a Weyl sequence, mixed. The same in every version, or devices
// would get files anew.
func gear() *[256]uint64 {
	var t [256]uint64
	for i := range t {
		x := uint64(i+1) * 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		t[i] = x ^ x>>31
	}
	return &t
}

// cut returns the length of the first chunk of data, which is the rest of the file or at least maxChunk long.
func cut(t *[256]uint64, data []byte) int {
	if len(data) <= minChunk {
		return len(data)
	}
	data = data[:min(len(data), maxChunk)]
	var h uint64
	i := minChunk
	for ; i < min(len(data), avgChunk); i++ {
		if h = h<<1 + t[data[i]]; h&rareMask == 0 {
			return i + 1
		}
	}
	for ; i < len(data); i++ {
		if h = h<<1 + t[data[i]]; h&oftenMask == 0 {
			return i + 1
		}
	}
	return i
}

// chop cuts what r holds into chunks.
func chop(r io.Reader) (recipe, error) {
	var all recipe
	t := gear()
	buf := make([]byte, 4*maxChunk)
	have, eof := 0, false
	for {
		for !eof && have < len(buf) {
			n, err := r.Read(buf[have:])
			have += n
			if eof = err == io.EOF; err != nil && !eof {
				return nil, err
			}
		}
		at := 0
		for at < have && (eof || have-at >= maxChunk) {
			n := cut(t, buf[at:have])
			sum := sha256.Sum256(buf[at : at+n])
			all = append(all, chunk{name: chunkName(sum[:16]), size: int64(n)})
			at += n
		}
		have = copy(buf, buf[at:have])
		if eof && have == 0 {
			return all, nil
		}
	}
}

// text is how a recipe is kept on a device: a line "SIZE NAME" for each chunk.
func (r recipe) text() []byte {
	b := make([]byte, 0, len(r)*40)
	for _, c := range r {
		b = strconv.AppendInt(b, c.size, 10)
		b = append(b, ' ')
		b = hex.AppendEncode(b, c.name[:])
		b = append(b, '\n')
	}
	return b
}

// maxRecipe is the most chunks that a recipe may have: some terabytes.
const maxRecipe = 1 << 24

var errRecipe = errors.New("no list of chunks")

// parseRecipe reads what a device keeps, which may be cut short or be anything.
func parseRecipe(text []byte) (recipe, error) {
	var all recipe
	for line := range bytes.Lines(text) {
		size, name, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		n, err := strconv.ParseInt(size, 10, 64)
		b, e := hex.DecodeString(name)
		if err != nil || e != nil || len(b) != len(chunkName{}) || n <= 0 || n > maxChunk || len(all) == maxRecipe {
			return nil, fmt.Errorf("%w: line %d is %.60q", errRecipe, len(all)+1, line)
		}
		all = append(all, chunk{name: chunkName(b), size: n})
	}
	return all, nil
}

// parseRecipes reads the answer of recipesScript: each recipe follows a line "blob SUM SIZE,TIME" with what the device has under that
// name. Those that do not fit their blob are left out.
func parseRecipes(out string) map[string]recipe {
	all := map[string]recipe{}
	sum, says := "", ""
	var body []byte
	add := func() {
		r, err := parseRecipe(body)
		if err == nil && isSum(sum) && says == blobStat(r.size()) {
			all[sum] = r
		}
		body = nil
	}
	lines := bufio.NewScanner(strings.NewReader(out))
	for lines.Scan() {
		if head, ok := strings.CutPrefix(lines.Text(), "blob "); ok {
			add()
			sum, says, _ = strings.Cut(head, " ")
			continue
		}
		body = append(append(body, lines.Bytes()...), '\n')
	}
	add()
	return all
}

// span is a part of a file: bytes that the device has in another blob, or that are to be sent.
type span struct {
	size int64
	blob string // SHA-256 of the blob that has it; empty: to be sent
	at   int64  // where in that blob
}

// minCopy is the least that is copied on the device: what is less is sent sooner than the device is told where to find it.
const minCopy = 256 << 10

// spans says where each part of a file comes from, given what is on the device.
func (r recipe) spans(have map[string]recipe) []span {
	type place struct {
		blob string
		at   int64
	}
	places := map[chunkName]place{}
	for sum, other := range have {
		at := int64(0)
		for _, c := range other {
			// Of several blobs the same one is taken every time, so that neighbours stay neighbours.
			if p, ok := places[c.name]; !ok || sum > p.blob {
				places[c.name] = place{sum, at}
			}
			at += c.size
		}
	}
	var all []span
	add := func(s span) {
		if n := len(all); n > 0 && all[n-1].blob == s.blob && (s.blob == "" || all[n-1].at+all[n-1].size == s.at) {
			all[n-1].size += s.size
			return
		}
		all = append(all, s)
	}
	for _, c := range r {
		p := places[c.name]
		add(span{size: c.size, blob: p.blob, at: p.at})
	}
	found := all
	all = nil
	for _, s := range found {
		if s.size < minCopy {
			s.blob, s.at = "", 0
		}
		add(s)
	}
	return all
}

// from leaves out the first n bytes of a file.
func from(all []span, n int64) []span {
	for len(all) > 0 && n >= all[0].size {
		n -= all[0].size
		all = all[1:]
	}
	if len(all) == 0 || n == 0 {
		return all
	}
	first := all[0]
	first.size -= n
	if first.blob != "" {
		first.at += n
	}
	return append([]span{first}, all[1:]...)
}

// toSend adds up what is not on the device.
func toSend(all []span) (sum int64) {
	for _, s := range all {
		if s.blob == "" {
			sum += s.size
		}
	}
	return sum
}
