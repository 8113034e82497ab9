package release

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

// sorted are the names of files, in order.
func sorted[F any](files map[string]F) []string { return slices.Sorted(maps.Keys(files)) }

// mode is how a file may be used once it is unpacked.
func (f file) mode() int64 {
	if f.program {
		return 0o755
	}
	return 0o644
}

// tarred packs files into a folder of an archive. They are nobody's, and as old as is said.
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

// zipped is the same as a zip file.
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
