//go:build linux

package promises_test

import (
	"archive/tar"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostileArchive unpacks archives whose only entry would be outside of the folder. hexmage refuses each, and
// nothing of it is left.
func TestHostileArchive(t *testing.T) {
	w := newWorld(t)
	escape := filepath.Join(w.base, "evil")
	for i, h := range []*tar.Header{
		nil, // a good one
		{Name: "../evil", Mode: 0o644},
		{Name: "a/../../evil", Mode: 0o644},
		{Name: escape, Mode: 0o644},
		{Name: "evil", Typeflag: tar.TypeSymlink, Linkname: "../../.."},
		{Name: "a/evil", Typeflag: tar.TypeSymlink, Linkname: "../../file"},
		{Name: "evil", Typeflag: tar.TypeSymlink, Linkname: escape},
		{Name: "evil", Typeflag: tar.TypeLink, Linkname: "../evil"},
		{Name: "evil", Typeflag: tar.TypeFifo},
	} {
		name := "good"
		if h != nil {
			name = fmt.Sprintf("%d %s %s", i, h.Name, h.Linkname)
		}
		t.Run(strings.ReplaceAll(name, "/", ":"), func(t *testing.T) {
			content, entry := "", h
			if h == nil {
				content, entry = "content", &tar.Header{Name: "a/file", Mode: 0o644}
			}
			url, sum := w.archive(fmt.Sprintf("archive%d.tar", i), entry, content)
			w.pipeline(fmt.Sprintf(`
step "fetch" "archive" {
  url    = "%s"
  sha256 = "%s"
  unpack = true
}
output "dir" { value = step.fetch.archive.outputs.dir }
`, url, sum))
			if h == nil {
				w.runs()
				w.wantOut("dir/a/file", content)
				return
			}
			o := w.hexmage("run", "p")
			if o.code != 1 || !strings.Contains(o.text, "unsafe archive") {
				t.Errorf("exit code %d, want 1 and why it is unsafe:\n%s", o.code, o.text)
			}
		})
	}
	err := filepath.WalkDir(w.base, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "evil" {
			t.Errorf("%s is there", p)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
