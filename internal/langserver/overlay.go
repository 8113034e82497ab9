package langserver

import (
	"bytes"
	"cmp"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// Texts are those that an editor has open, saved or not. Both may be called from many goroutines at once.
type Texts interface {
	Text(file string) (text []byte, ok bool) // of the file of that absolute path; nobody changes it
	Names() []string                         // absolute paths of all
}

// Overlay is the file system of the folder root, an absolute path, with texts in place of files, and beside them.
func Overlay(fsys fs.FS, root string, texts Texts) fs.FS { return overlay{fsys, root, texts} }

type overlay struct {
	fs.FS
	root  string
	texts Texts
}

func (o overlay) text(name string) (*openFile, bool) {
	if !fs.ValidPath(name) {
		return nil, false
	}
	text, ok := o.texts.Text(filepath.Join(o.root, filepath.FromSlash(name)))
	return &openFile{name: path.Base(name), size: int64(len(text)), Reader: bytes.NewReader(text)}, ok
}

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) {
	if f, ok := o.text(name); ok {
		return f, nil
	}
	return o.FS.Open(name)
}

// Stat implements fs.StatFS.
func (o overlay) Stat(name string) (fs.FileInfo, error) {
	if f, ok := o.text(name); ok {
		return f, nil
	}
	return fs.Stat(o.FS, name)
}

// ReadDir lists a folder, with files that are not saved yet.
func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.FS, name)
	if err != nil {
		return nil, err
	}
	for _, file := range o.texts.Names() {
		rel, err := filepath.Rel(o.root, file)
		if rel = filepath.ToSlash(rel); err != nil || path.Dir(rel) != name || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == path.Base(rel) }) {
			continue
		}
		if f, ok := o.text(rel); ok {
			entries = append(entries, fs.FileInfoToDirEntry(f))
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// openFile is an open text as a file.
type openFile struct {
	name string
	size int64
	*bytes.Reader
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *openFile) Close() error               { return nil }
func (f *openFile) Name() string               { return f.name }
func (f *openFile) Size() int64                { return f.size }
func (f *openFile) Mode() fs.FileMode          { return 0o644 }
func (f *openFile) ModTime() time.Time         { return time.Time{} }
func (f *openFile) IsDir() bool                { return false }
func (f *openFile) Sys() any                   { return nil }
