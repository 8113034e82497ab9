package langserver

import (
	"bytes"
	"maps"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/lang"
)

// document is a text that the editor has open. A new version is a new document.
type document struct {
	uri     string
	file    string // absolute path; the URI, where that names no file
	version int
	text    []byte // lines end with "\n"
	crlf    bool   // they ended with "\r\n"
}

// documents are those that are open. It implements Texts.
type documents struct {
	mu     sync.Mutex
	byFile map[string]*document
}

func newDocuments() *documents { return &documents{byFile: map[string]*document{}} }

func (d *documents) put(uri string, version int, text string) *document {
	doc := &document{uri: uri, file: fileOf(uri), version: version, text: []byte(text), crlf: strings.Contains(text, "\r\n")}
	if doc.crlf { // as files are read
		doc.text = bytes.ReplaceAll(doc.text, []byte("\r\n"), []byte("\n"))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byFile[doc.file] = doc
	return doc
}

func (d *documents) remove(file string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byFile, file)
}

// get returns the open document of a file, or nil.
func (d *documents) get(file string) *document {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.byFile[file]
}

// Text implements Texts.
func (d *documents) Text(file string) ([]byte, bool) {
	doc := d.get(file)
	if doc == nil {
		return nil, false
	}
	return doc.text, true
}

// Names implements Texts.
func (d *documents) Names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.byFile))
}

// read returns the text of a file, open or not; nil when it cannot be read.
func (d *documents) read(file string) []byte {
	if text, ok := d.Text(file); ok {
		return text
	}
	text, err := boundedfile.Read(file, lang.MaxSource)
	if err != nil {
		return nil
	}
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
}

// uri is what the editor calls a file.
func (d *documents) uri(file string) string {
	if doc := d.get(file); doc != nil {
		return doc.uri
	}
	return uriOf(file)
}

func uriOf(file string) string {
	slash := filepath.ToSlash(file)
	if !strings.HasPrefix(slash, "/") {
		slash = "/" + slash // C:/…
	}
	return (&url.URL{Scheme: "file", Path: slash}).String()
}

func fileOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return uri
	}
	file := u.Path
	if runtime.GOOS == "windows" {
		file = strings.TrimPrefix(file, "/")
	}
	return filepath.Clean(filepath.FromSlash(file))
}

// lines finds places of a text.
type lines struct {
	text   []byte
	starts []int // of lines
}

func newLines(text []byte) *lines {
	l := &lines{text: text, starts: []int{0}}
	for i, c := range text {
		if c == '\n' {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

// line returns a line without its end, and where it begins.
func (l *lines) line(n int) (text []byte, start int) {
	n = min(max(n, 0), len(l.starts)-1)
	start, end := l.starts[n], len(l.text)
	if n+1 < len(l.starts) {
		end = l.starts[n+1] - 1
	}
	return l.text[start:end], start
}

// offset returns where in the text a position is, in bytes; one that is nowhere is at the nearest place.
func (l *lines) offset(p position) int {
	if p.Line >= len(l.starts) {
		return len(l.text)
	}
	text, start := l.line(p.Line)
	units, at := 0, 0
	for at < len(text) && units < p.Character {
		r, size := utf8.DecodeRune(text[at:])
		units += max(1, utf16.RuneLen(r))
		at += size
	}
	return start + at
}

// position is the opposite of offset.
func (l *lines) position(offset int) position {
	offset = min(max(offset, 0), len(l.text))
	n := sort.SearchInts(l.starts, offset+1) - 1
	units := 0
	for text := l.text[l.starts[n]:offset]; len(text) > 0; {
		r, size := utf8.DecodeRune(text)
		units += max(1, utf16.RuneLen(r))
		text = text[size:]
	}
	return position{n, units}
}

func (l *lines) span(start, end int) span {
	return span{l.position(start), l.position(max(start, end))}
}
