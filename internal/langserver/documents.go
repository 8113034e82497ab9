package langserver

import (
	"bytes"
	"io/fs"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/lang"
)

// document is an open text of the editor. It is immutable: a new version is a new document.
type document struct {
	uri  string
	file string // absolute path
	text []byte // with "\n" line ends
}

// documents are the open documents, by file.
type documents struct{ byFile sync.Map }

func (d *documents) put(uri, text string) {
	doc := &document{uri, fileOf(uri), unixLines([]byte(text))}
	d.byFile.Store(doc.file, doc)
}

func unixLines(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// get returns the open document of a file, or nil.
func (d *documents) get(file string) *document {
	doc, _ := d.byFile.Load(file)
	open, _ := doc.(*document)
	return open
}

// files returns the files that are open.
func (d *documents) files() (all []string) {
	d.byFile.Range(func(file, _ any) bool {
		all = append(all, file.(string))
		return true
	})
	return all
}

// text implements Texts.
func (d *documents) text(file string) ([]byte, bool) {
	doc := d.get(file)
	if doc == nil {
		return nil, false
	}
	return doc.text, true
}

// read returns the text of a file, open or not, or nil if reading fails.
func (d *documents) read(file string) []byte {
	if text, ok := d.text(file); ok {
		return text
	}
	text, err := boundedfile.Read(file, lang.MaxSource)
	if err != nil {
		return nil
	}
	return unixLines(text)
}

// uri returns the editor's name of a file.
func (d *documents) uri(file string) string {
	if doc := d.get(file); doc != nil {
		return doc.uri
	}
	slash := filepath.ToSlash(file)
	if !strings.HasPrefix(slash, "/") {
		slash = "/" + slash // C:/…
	}
	return (&url.URL{Scheme: "file", Path: slash}).String()
}

func fileOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return filepath.Join("/", url.PathEscape(uri)) // a document that was never saved
	}
	file := u.Path
	if runtime.GOOS == "windows" {
		file = strings.TrimPrefix(file, "/")
	}
	return filepath.Clean(filepath.FromSlash(file))
}

// Texts returns the text of a file (an absolute path) that is open in the editor. Callers must not change the text.
// Several goroutines may call the function.
type Texts func(file string) (text []byte, ok bool)

// Overlay returns the file system fsys, with the editor's text for files that are open in the editor. The parameter
// root is the absolute path of fsys.
func Overlay(fsys fs.FS, root string, texts Texts) fs.FS { return overlay{fsys, root, texts} }

type overlay struct {
	fs.FS
	root  string
	texts Texts
}

// Stat implements fs.StatFS.
func (o overlay) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(o.FS, name)
	if err != nil {
		return nil, err
	}
	if text, ok := o.texts(filepath.Join(o.root, filepath.FromSlash(name))); ok {
		return openFile{bytes.NewReader(text), info}, nil
	}
	return info, nil
}

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) {
	if info, err := o.Stat(name); err == nil {
		if f, ok := info.(openFile); ok {
			return f, nil
		}
	}
	return o.FS.Open(name)
}

// openFile is an open text in the form of a file.
type openFile struct {
	*bytes.Reader
	fs.FileInfo
}

func (f openFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f openFile) Close() error               { return nil }
func (f openFile) Size() int64                { return f.Reader.Size() }

// offsetOf returns the offset of a position in a text, or the nearest offset if the position is outside the text.
func offsetOf(text []byte, p position) int {
	at := 0
	for ; p.Line > 0; p.Line-- {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return len(text)
		}
		at += n + 1
	}
	for units := 0; units < p.Character && at < len(text) && text[at] != '\n'; {
		r, size := utf8.DecodeRune(text[at:])
		units += max(1, utf16.RuneLen(r))
		at += size
	}
	return at
}

// positionOf is the inverse of offsetOf.
func positionOf(text []byte, offset int) position {
	before := text[:min(max(offset, 0), len(text))]
	p := position{Line: bytes.Count(before, []byte("\n"))}
	for _, r := range string(before[bytes.LastIndexByte(before, '\n')+1:]) {
		p.Character += max(1, utf16.RuneLen(r))
	}
	return p
}

func spanOf(text []byte, start, end int) span {
	return span{positionOf(text, start), positionOf(text, max(start, end))}
}
