package record_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/patches"
	"github.com/hexmage/hexmage/patches/record"
	"github.com/hexmage/hexmage/patches/rename"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// tree reads a folder without .git.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		if info.Mode()&0o100 != 0 {
			rel += " *"
		}
		files[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// replay writes edits as a series and applies it to a copy of what was before.
func replay(t *testing.T, before string, edits []record.Edit) string {
	t.Helper()
	series := filepath.Join(t.TempDir(), "1-2")
	if _, err := record.Write(series, edits, nil); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	report, err := patches.Apply(t.Context(), patches.Request{Source: before, Series: "s", SeriesFS: os.DirFS(filepath.Dir(series)), Out: out})
	if err != nil || len(report.Patches) != len(edits) {
		t.Fatalf("%v\n%s", err, report.Text())
	}
	return out
}

func TestFolders(t *testing.T) {
	before, after := t.TempDir(), t.TempDir()
	write(t, before, map[string]string{"a.cpp": "1\n2\n3\n", "gone": "x\n", "was/here.txt": "the same\n", "run": "x\n", "no end": "a", "crlf": "a\r\nb\r\n", "same": "s"})
	write(t, after, map[string]string{"a.cpp": "1\ntwo\n3\n", "is/here.txt": "the same\n", "run": "x\n", "no end": "b", "crlf": "a\r\nB\r\n", "same": "s", "ne\"w\tname": "", "new.cpp": "n\n"})
	if err := os.Chmod(filepath.Join(after, "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	e, err := record.Folders(t.Context(), before, after, "Everything")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(e.Text), "rename from was/here.txt\nrename to is/here.txt\n") {
		t.Errorf("no rename in\n%s", e.Text)
	}
	if diff := cmp.Diff(tree(t, after), tree(t, replay(t, before, []record.Edit{e}))); diff != "" {
		t.Errorf("replayed (-want +got):\n%s", diff)
	}
	// git understands it too.
	cmd := exec.Command("git", "apply", "-")
	cmd.Dir, cmd.Stdin = before, strings.NewReader(string(e.Text))
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(before))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s", err, out)
	}
	if diff := cmp.Diff(tree(t, after), tree(t, before)); diff != "" {
		t.Errorf("git's (-want +got):\n%s", diff)
	}
	if _, err := record.Folders(t.Context(), before, after, "x"); !errors.Is(err, record.ErrNothing) {
		t.Errorf("no edits: %v", err)
	}
	write(t, after, map[string]string{"bin": "a\x00b"})
	if _, err := record.Folders(t.Context(), before, after, "x"); err == nil || !strings.Contains(err.Error(), "bin is not a text") {
		t.Errorf("a binary file: %v", err)
	}
}

func TestGit(t *testing.T) {
	work := t.TempDir()
	git(t, work, "init", "-q")
	write(t, work, map[string]string{"pkg/a.cpp": "1\n2\n3\n", "pkg/b.cpp": "b\n", "other/c": "c\n", ".gitignore": "*.o\nbuild/\n", "pkg/kept.o": "tracked\n"})
	git(t, work, "add", "-f", ".")
	git(t, work, "commit", "-q", "-m", "Base")
	base := t.TempDir()
	write(t, base, map[string]string{"a.cpp": "1\n2\n3\n", "b.cpp": "b\n", "kept.o": "tracked\n"})

	if _, err := record.Git(t.Context(), filepath.Join(work, "pkg"), "", "x"); !errors.Is(err, record.ErrNothing) {
		t.Errorf("nothing edited: %v", err)
	}
	write(t, work, map[string]string{"pkg/a.cpp": "1\ntwo\n3\n"})
	git(t, work, "commit", "-q", "-a", "-m", "Spell two\n\nBecause.")
	write(t, work, map[string]string{"other/c": "C\n"})
	git(t, work, "commit", "-q", "-a", "-m", "Elsewhere")
	git(t, work, "mv", "pkg/b.cpp", "pkg/c.cpp")
	git(t, work, "commit", "-q", "-a", "-m", "Move b")
	write(t, work, map[string]string{"pkg/a.cpp": "1\ntwo\nthree\n", "pkg/new.cpp": "new\n", "pkg/x.o": "ignored", "pkg/build/y": "ignored", "pkg/kept.o": "edited\n"})

	edits, err := record.Git(t.Context(), filepath.Join(work, "pkg"), "HEAD~3", "What is not committed")
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, e := range edits {
		titles = append(titles, e.Title)
	}
	if diff := cmp.Diff([]string{"Spell two", "Move b", "What is not committed"}, titles); diff != "" {
		t.Errorf("titles (-want +got):\n%s", diff)
	}
	want := map[string]string{"a.cpp": "1\ntwo\nthree\n", "c.cpp": "b\n", "new.cpp": "new\n", "kept.o": "edited\n"}
	if diff := cmp.Diff(want, tree(t, replay(t, base, edits))); diff != "" {
		t.Errorf("replayed (-want +got):\n%s", diff)
	}
	only, err := record.Git(t.Context(), work, "", "Only what is not committed")
	if err != nil || len(only) != 1 || !cmp.Equal(only[0].Files, []string{"pkg/a.cpp", "pkg/kept.o", "pkg/new.cpp"}) {
		t.Errorf("uncommitted: %+v, %v", only, err)
	}
	for since, want := range map[string]string{"nope": "revision \"nope\"", "HEAD": ""} {
		if _, err := record.Git(t.Context(), work, since, "x"); want != "" && (err == nil || !strings.Contains(err.Error(), want)) || want == "" && err != nil {
			t.Errorf("since %s: %v", since, err)
		}
	}
	git(t, work, "stash", "-q", "-u")
	git(t, work, "checkout", "-q", "-b", "side", "HEAD~1")
	write(t, work, map[string]string{"side": "s\n"})
	git(t, work, "add", ".")
	git(t, work, "commit", "-q", "-m", "Side")
	git(t, work, "merge", "-q", "-m", "Merge", "HEAD@{2}")
	if _, err := record.Git(t.Context(), work, "HEAD~2", "x"); err == nil || !strings.Contains(err.Error(), "merges others") {
		t.Errorf("a merge: %v", err)
	}
	if _, err := record.Git(t.Context(), t.TempDir(), "", "x"); err == nil || !strings.Contains(err.Error(), "git work tree") {
		t.Errorf("no work tree: %v", err)
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "2.31-2.34")
	text := []byte("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n")
	names, err := record.Write(dir, []record.Edit{{Title: "Fix \"the\" Ärger: ${x} %{y}", Text: text}, {Title: "!!!", Text: text}}, &rename.When{Header: "HTP/core/tensor.h", Lacks: "a", Declares: "b"})
	if err != nil || !cmp.Equal(names, []string{"0001-fix-the-rger-x-y.patch", "0002-edits.patch"}) {
		t.Fatalf("%q, %v", names, err)
	}
	if names, err = record.Write(dir, []record.Edit{{Title: "More", Text: text}}, nil); err != nil || !cmp.Equal(names, []string{"0003-more.patch"}) {
		t.Fatalf("%q, %v", names, err)
	}
	ranges, err := patches.Load(os.DirFS(filepath.Dir(dir)))
	if err != nil || len(ranges) != 1 || len(ranges[0].Patches) != 3 {
		t.Fatalf("%+v, %v", ranges, err)
	}
	w := ranges[0].When["0001-fix-the-rger-x-y.patch"]
	if w == nil || w.Header != "HTP/core/tensor.h" || w.Lacks != "a" || w.Declares != "b" || ranges[0].When["0003-more.patch"] != nil {
		t.Errorf("when: %+v", ranges[0].When)
	}
	before := tree(t, dir)
	write(t, dir, map[string]string{"rules.hcl": "patch {"})
	if _, err := record.Write(dir, []record.Edit{{Title: "x", Text: text}}, nil); err == nil {
		t.Error("wrote into a folder whose rules can't be read")
	}
	before["rules.hcl"] = "patch {"
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("a failed Write changed (-want +got):\n%s", diff)
	}
}
