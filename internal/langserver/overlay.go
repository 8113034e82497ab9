package langserver

import (
	"bytes"
	"io/fs"
	"path/filepath"
)

// Texts returns the text of a file, an absolute path, that the editor has open. Do not change the text. Several
// goroutines may call Texts at once.
type Texts func(file string) (text []byte, ok bool)

// Overlay returns the file system of the folder root, an absolute path, in which open texts replace files.
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
