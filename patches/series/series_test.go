package series_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hexmage/hexmage/patches/series"
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
	p, err := series.Parse("0001.patch", strings.NewReader(text))
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
			tree, p := series.NewTree(base()), parse(t, tt.patch)
			if state, err := p.Apply(tree); err != nil || state != series.Applied {
				t.Fatalf("Apply = %q, %v", state, err)
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
			if state, err := p.Apply(tree); err != nil || state != series.Already {
				t.Errorf("a second Apply = %q, %v", state, err)
			}
			compare(tt.want)
			if _, err := p.Reverse().Apply(tree); err != nil {
				t.Errorf("undo: %v", err)
			}
			compare(map[string]string{"src/a.cpp": source, "src/run.sh": "echo\n"})
		})
	}
}

func TestModes(t *testing.T) {
	tree := series.NewTree(base())
	p := parse(t, "diff --git a/src/a.cpp b/src/a.cpp\nold mode 100644\nnew mode 100755\n")
	if _, err := p.Apply(tree); err != nil {
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

func TestConflict(t *testing.T) {
	files := base()
	files["src/a.cpp"].Data = []byte("zero\n" + source) // an offset is a conflict too
	tree := series.NewTree(files)
	_, err := parse(t, change).Apply(tree)
	var c *series.Conflict
	if !errors.As(err, &c) {
		t.Fatalf("Apply = %v", err)
	}
	if c.File != "src/a.cpp" || c.Hunk != 1 || c.Line != 2 || c.Want != "two" || c.Have != "one" {
		t.Errorf("conflict %+v", c)
	}
	for _, part := range []string{"0001.patch", "src/a.cpp", "hunk 1 (@@ -2,3 +2,4 @@)", "expected: two", "found:    one"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if names, _ := tree.Changes(); len(names) != 0 {
		t.Errorf("a failed patch changed %v", names)
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
		if p, err := series.Parse(name, strings.NewReader(text)); err == nil {
			t.Errorf("%s: parsed as %v", name, p.Files())
		}
	}
	for name, text := range map[string]string{
		"exists":       "diff --git a/src/a.cpp b/src/a.cpp\nnew file mode 100644\n--- /dev/null\n+++ b/src/a.cpp\n@@ -0,0 +1 @@\n+hi\n",
		"missing":      "--- a/src/c.cpp\n+++ b/src/c.cpp\n@@ -1 +1 @@\n-a\n+b\n",
		"under a file": "diff --git a/src/a.cpp/b b/src/a.cpp/b\nnew file mode 100644\n--- /dev/null\n+++ b/src/a.cpp/b\n@@ -0,0 +1 @@\n+hi\n",
		"more to it":   "diff --git a/src/a.cpp b/src/a.cpp\ndeleted file mode 100644\n--- a/src/a.cpp\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n",
	} {
		tree := series.NewTree(base())
		var c *series.Conflict
		if state, err := parse(t, text).Apply(tree); !errors.As(err, &c) {
			t.Errorf("%s: Apply = %q, %v", name, state, err)
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
		if state, err := p.Apply(series.NewTree(root.FS())); err == nil {
			t.Errorf("%s: %s", name, state)
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
	tree := series.NewTree(before)
	if _, err := parse(t, git("diff", "--cached")).Apply(tree); err != nil {
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
		p, err := series.Parse("x", strings.NewReader(text))
		if err != nil {
			return
		}
		tree := series.NewTree(fstest.MapFS{"src/a.cpp": {Data: []byte(src), Mode: 0o644}})
		state, err := p.Apply(tree)
		if err != nil || state != series.Applied {
			return
		}
		if _, err := p.Reverse().Apply(tree); err != nil {
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
