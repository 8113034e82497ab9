package series_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hexmage/hexmage/patches/series"
	"github.com/hexmage/hexmage/patches/srctree"
)

const source = "one\ntwo\nthree\nfour\nfive\nsix\n"

func base() fstest.MapFS {
	return fstest.MapFS{
		"src/a.cpp":  {Data: []byte(source), Mode: 0o644},
		"src/run.sh": {Data: []byte("echo\n"), Mode: 0o755},
	}
}

func parse(t *testing.T, text string) *series.Patch {
	t.Helper()
	p, err := series.Parse("0001.patch", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const change = `diff --git a/src/a.cpp b/src/a.cpp
--- a/src/a.cpp
+++ b/src/a.cpp
@@ -2,3 +2,4 @@ one
 two
-three
+3
+3.5
 four
`

func TestApply(t *testing.T) {
	tests := []struct {
		name, patch string
		want        map[string]string // "" means gone
	}{
		{"change", change, map[string]string{"src/a.cpp": "one\ntwo\n3\n3.5\nfour\nfive\nsix\n"}},
		{"plain diff -u", "--- a/src/a.cpp\t2024-01-01\n+++ b/src/a.cpp\t2024-01-02\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n", map[string]string{"src/a.cpp": "1\ntwo\nthree\nfour\nfive\nsix\n"}},
		{"new", "diff --git a/src/b.h b/src/b.h\nnew file mode 100644\n--- /dev/null\n+++ b/src/b.h\n@@ -0,0 +1 @@\n+hi\n", map[string]string{"src/b.h": "hi\n"}},
		{"delete", "diff --git a/src/run.sh b/src/run.sh\ndeleted file mode 100755\n--- a/src/run.sh\n+++ /dev/null\n@@ -1 +0,0 @@\n-echo\n", map[string]string{"src/run.sh": ""}},
		{"rename", "diff --git a/src/run.sh b/go.sh\nsimilarity index 100%\nrename from src/run.sh\nrename to go.sh\n", map[string]string{"src/run.sh": "", "go.sh": "echo\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree, p := srctree.New(base()), parse(t, tt.patch)
			if err := p.Apply(tree); err != nil {
				t.Fatal(err)
			}
			compare := func(want map[string]string) {
				t.Helper()
				for path, text := range want {
					got, err := tree.Read(path)
					if text == "" && err == nil || text != "" && (err != nil || string(got) != text) {
						t.Errorf("%s = %q, %v, want %q", path, got, err, text)
					}
				}
			}
			compare(tt.want)
			if err := p.Apply(tree); err == nil {
				t.Error("applied twice")
			}
			compare(tt.want)
			if err := p.Reverse().Apply(tree); err != nil {
				t.Errorf("undo: %v", err)
			}
			compare(map[string]string{"src/a.cpp": source, "src/run.sh": "echo\n"})
		})
	}
}

func TestModes(t *testing.T) {
	tree := srctree.New(base())
	p := parse(t, "diff --git a/src/a.cpp b/src/a.cpp\nold mode 100644\nnew mode 100755\n")
	if err := p.Apply(tree); err != nil {
		t.Fatal(err)
	}
	if _, files := tree.Changes(); files["src/a.cpp"].Mode != 0o755 {
		t.Errorf("mode = %v", files["src/a.cpp"].Mode)
	}
	if err := tree.Write("src/run.sh", []byte("exit\n")); err != nil {
		t.Fatal(err)
	}
	if _, files := tree.Changes(); files["src/run.sh"].Mode != 0o755 {
		t.Errorf("mode of a file that was written = %v", files["src/run.sh"].Mode)
	}
}

// TestConflict: both sides are shown, and the tree stays as it was.
func TestConflict(t *testing.T) {
	files := base()
	files["src/a.cpp"].Data = []byte(strings.Replace(source, "three", "THREE", 1))
	tree := srctree.New(files)
	err := parse(t, change+"@@ -9,1 +10,1 @@\n-nine\n+9\n").Apply(tree)
	const want = `patch 0001.patch: src/a.cpp: hunk 1 (@@ -2,3 +2,4 @@): the file has other lines there
  the hunk expects (-), the file has (+):
        2 | two
  -     3 | three
  +     3 | THREE
        4 | four
patch 0001.patch: src/a.cpp: hunk 2 (@@ -9,1 +10,1 @@): the file has other lines there
  the hunk expects (-), the file has (+):
  -     9 | nine`
	if err == nil || err.Error() != want {
		t.Errorf("Apply = %v\nwant %s", err, want)
	}
	if names, _ := tree.Changes(); len(names) != 0 {
		t.Errorf("a failed patch changed %v", names)
	}
}

// TestConflictNotes: the error says why a hunk nearly fits.
func TestConflictNotes(t *testing.T) {
	for name, tt := range map[string]struct{ file, patch, want string }{
		"CRLF file":    {strings.ReplaceAll(source, "\n", "\r\n"), change, "only line ends differ"},
		"CRLF patch":   {source, strings.NewReplacer("two\n", "two\r\n", "three\n", "three\r\n", "four\n", "four\r\n").Replace(change), "only line ends differ"},
		"end of file":  {"one\ntwo\nthree\nfour", change, "four (no line end)"},
		"moved":        {"0\n1\n" + source, change, "these lines are at line 4"},
		"made already": {"two\n3\n3.5\nfour\nx\n", change + "@@ -8 +9 @@\n-y\n+z\n", "the result of the hunk is already at line 1"},
		"whole file":   {"", change, "the file has other lines there"},
		"no context":   {source, "--- a/src/a.cpp\n+++ b/src/a.cpp\n@@ -2,0 +3 @@\n+new\n", "write the diff without -U0"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := srctree.New(fstest.MapFS{"src/a.cpp": {Data: []byte(tt.file)}})
			if err := parse(t, tt.patch).Apply(tree); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Apply = %v\nwant %s", err, tt.want)
			}
		})
	}
}

// TestManyConflicts: a patch that has nothing to do with a file says so in a bounded time and text.
func TestManyConflicts(t *testing.T) {
	var patch, file strings.Builder
	patch.WriteString("--- a/src/a.cpp\n+++ b/src/a.cpp\n")
	for i := range 20_000 {
		fmt.Fprintf(&patch, "@@ -%d,2 +%d,2 @@\n a%d\n-b\n+c\n", 3*i+1, 3*i+1, i)
		fmt.Fprintf(&file, "x\ny\nz\n")
	}
	err := parse(t, patch.String()).Apply(srctree.New(fstest.MapFS{"src/a.cpp": {Data: []byte(file.String())}}))
	if err == nil || strings.Count(err.Error(), "the hunk expects") != 20 || !strings.Contains(err.Error(), "more hunks may not fit") {
		t.Errorf("%d hunks shown", strings.Count(err.Error(), "the hunk expects"))
	}
}

// TestLineEnds: CRLF and a missing line end are bytes like others.
func TestLineEnds(t *testing.T) {
	crlf := strings.ReplaceAll(source, "\n", "\r\n")
	p := parse(t, "--- a/src/a.cpp\n+++ b/src/a.cpp\n@@ -5,2 +5,2 @@\n five\r\n-six\r\n+6\n\\ No newline at end of file\n")
	tree := srctree.New(fstest.MapFS{"src/a.cpp": {Data: []byte(crlf)}})
	if err := p.Apply(tree); err != nil {
		t.Fatal(err)
	}
	if got, _ := tree.Read("src/a.cpp"); string(got) != strings.Replace(crlf, "six\r\n", "6", 1) {
		t.Errorf("got %q", got)
	}
	if _, err := series.Parse("x", []byte(strings.ReplaceAll(change, "\n", "\r\n"))); err == nil || !strings.Contains(err.Error(), "header lines end with CRLF") {
		t.Errorf("Parse = %v", err)
	}
}

// TestEmptied: a file without lines is not the same as no file.
func TestEmptied(t *testing.T) {
	p := parse(t, "diff --git a/src/run.sh b/src/run.sh\n--- a/src/run.sh\n+++ b/src/run.sh\n@@ -1 +0,0 @@\n-echo\n")
	tree := srctree.New(base())
	if err := p.Apply(tree); err != nil {
		t.Fatal(err)
	}
	if got, err := tree.Read("src/run.sh"); err != nil || len(got) != 0 {
		t.Errorf("emptied to %q, %v", got, err)
	}
	if err := p.Apply(tree); err == nil {
		t.Error("applied twice")
	}
	if err := p.Reverse().Apply(tree); err != nil {
		t.Error(err)
	}
}

func TestRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"not a diff":    "hello\n",
		"parent":        "diff --git a/../x b/../x\n--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n",
		"absolute":      "--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n",
		"git folder":    "--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-a\n+b\n",
		"symbolic link": "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n",
		"copy":          "diff --git a/src/a.cpp b/b\nsimilarity index 100%\ncopy from src/a.cpp\ncopy to b\n",
		"binary":        "diff --git a/b b/b\nBinary files a/b and b/b differ\n",
		"short hunk":    "--- a/a\n+++ b/a\n@@ -1,3 +1,1 @@\n a\n",
	} {
		if p, err := series.Parse(name, []byte(text)); err == nil {
			t.Errorf("%s: parsed as %v", name, p)
		}
	}
	for name, text := range map[string]string{
		"exists":       "diff --git a/src/a.cpp b/src/a.cpp\nnew file mode 100644\n--- /dev/null\n+++ b/src/a.cpp\n@@ -0,0 +1 @@\n+hi\n",
		"missing":      "--- a/src/c.cpp\n+++ b/src/c.cpp\n@@ -1 +1 @@\n-a\n+b\n",
		"under a file": "diff --git a/src/a.cpp/b b/src/a.cpp/b\nnew file mode 100644\n--- /dev/null\n+++ b/src/a.cpp/b\n@@ -0,0 +1 @@\n+hi\n",
		"more to it":   "diff --git a/src/a.cpp b/src/a.cpp\ndeleted file mode 100644\n--- a/src/a.cpp\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n",
	} {
		tree := srctree.New(base())
		if err := parse(t, text).Apply(tree); err == nil {
			t.Errorf("%s: applied", name)
		}
	}
}

// TestLinks has a patch name a file behind a symbolic link: writing it would change another file than the one named.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "real"), 0o755),
		os.WriteFile(filepath.Join(dir, "real/a"), []byte("a\n"), 0o644),
		os.Symlink("real", filepath.Join(dir, "link")),
		os.Symlink("real/a", filepath.Join(dir, "file")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"link/a", "file"} {
		p := parse(t, "--- a/"+name+"\n+++ b/"+name+"\n@@ -1 +1 @@\n-a\n+b\n")
		if err := p.Apply(srctree.New(root.FS())); err == nil {
			t.Errorf("%s: applied", name)
		}
	}
}

// TestGit compares with git apply on a diff that git made.
func TestGit(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	before := fstest.MapFS{"a": {Data: []byte(strings.Repeat(source, 20)), Mode: 0o644}, "no newline": {Data: []byte("x"), Mode: 0o644}}
	for name, f := range before {
		write(name, string(f.Data))
	}
	git("add", ".")
	git("commit", "-q", "-m", "before")
	after := map[string]string{"a": "first\n" + strings.Repeat(source, 10) + "middle\n" + strings.Repeat(source, 10), "no newline": "y\nz", "neu": "ä\r\n"}
	for name, text := range after {
		write(name, text)
	}
	git("add", ".")
	tree := srctree.New(before)
	if err := parse(t, git("diff", "--cached")).Apply(tree); err != nil {
		t.Fatal(err)
	}
	for name, want := range after {
		if got, err := tree.Read(name); err != nil || string(got) != want {
			t.Errorf("%s = %q, %v", name, got, err)
		}
	}
}

func FuzzSeries(f *testing.F) {
	f.Add(change, source)
	f.Add("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n", "a\n")
	f.Add("diff --git a/src/a.cpp b/x\nrename from src/a.cpp\nrename to x\n", "")
	f.Add("diff --git a/src/a.cpp b/src/a.cpp\ndeleted file mode 100644\n--- a/src/a.cpp\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "one\n")
	f.Fuzz(func(t *testing.T, text, src string) {
		p, err := series.Parse("x", []byte(text))
		if err != nil {
			return
		}
		tree := srctree.New(fstest.MapFS{"src/a.cpp": {Data: []byte(src), Mode: 0o644}})
		if err := p.Apply(tree); err != nil {
			return
		}
		if err := p.Reverse().Apply(tree); err != nil {
			t.Fatalf("applied, but cannot be undone: %v", err)
		}
		names, files := tree.Changes()
		for _, name := range names {
			if strings.HasPrefix(name, "/") || strings.Contains("/"+name+"/", "/../") {
				t.Fatalf("changed %q", name)
			}
			if name == "src/a.cpp" && (files[name].Deleted || string(files[name].Data) != src) {
				t.Fatalf("undone to %q, was %q", files[name].Data, src)
			}
		}
	})
}
