package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"maps"
	"slices"
	"time"
)

// sorted returns the names of files, sorted.
func sorted[F any](files map[string]F) []string { return slices.Sorted(maps.Keys(files)) }

// mode returns the permissions of the unpacked file.
func (f file) mode() int64 {
	if f.program {
		return 0o755
	}
	return 0o644
}

// tarred packs files into a folder of a tar archive, without an owner and with the given time.
func tarred(folder string, files map[string]file, age time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, name := range sorted(files) {
		f := files[name]
		h := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + name, Size: int64(len(f.content)),
			Mode: f.mode(), ModTime: age, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err = errors.Join(w.Close(), z.Close())
	return b.Bytes(), err
}

// zipped packs files into a folder of a zip archive.
func zipped(folder string, files map[string]file, age time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range sorted(files) {
		to, err := w.CreateHeader(&zip.FileHeader{Name: folder + "/" + name, Method: zip.Deflate, Modified: age.UTC()})
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(files[name].content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
