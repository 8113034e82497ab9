// Package qnnctxtest has small context binaries for tests. Qualcomm's compiler compiled them from hexmage's graphs.
// The package does not know their content.
package qnnctxtest

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"io/fs"
	"strings"
	"testing"
)

//go:embed testdata/*.gz
var files embed.FS

// Real returns the content of a file in the README's list.
func Real(t testing.TB, name string) []byte {
	t.Helper()
	packed, err := files.ReadFile("testdata/" + name + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Names returns the names of all files.
func Names(t testing.TB) []string {
	t.Helper()
	list, err := fs.Glob(files, "testdata/*.gz")
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range list {
		list[i] = strings.TrimSuffix(strings.TrimPrefix(n, "testdata/"), ".gz")
	}
	return list
}
