package gitmodule_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains/gitmodule"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]gitmodule.Source{
		"git::https://host/a/repo.git//aot/x?ref=v1":  {URL: "https://host/a/repo.git", Folder: "aot/x", Ref: "v1"},
		"git::https://host/repo":                      {URL: "https://host/repo", Folder: ".", Ref: "HEAD"},
		"git::https://host/repo?ref=feature/x@1.0":    {URL: "https://host/repo", Folder: ".", Ref: "feature/x@1.0"},
		"git::ssh://git@host:22/repo.git//a":          {URL: "ssh://git@host:22/repo.git", Folder: "a", Ref: "HEAD"},
		"git::file:///srv/repo//a?ref=main":           {URL: "file:///srv/repo", Folder: "a", Ref: "main"},
		"git::http://127.0.0.1:8000/repo.git?ref=abc": {URL: "http://127.0.0.1:8000/repo.git", Folder: ".", Ref: "abc"},
	} {
		if got, err := gitmodule.Parse(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, says := range map[string]string{
		"git::host/repo":                       "want git::https://",
		"git::https://host":                    "want git::https://",
		"git::https://host/":                   "names no repository",
		"git::https:///repo":                   "names no repository",
		"git::file://host/repo":                "names no repository",
		"git::ftp://host/repo":                 "none of https, ssh, http and file",
		"git::ext::sh -c x":                    "want git::https://",
		"git::https://host/repo//../x":         "no path in the repository",
		"git::https://host/repo//a/%2e%2e/x":   "no path in the repository",
		"git::https://host/repo//a//b":         "no path in the repository",
		"git::https://host/repo?ref=":          "no tag, branch or commit",
		"git::https://host/repo?ref=--upload":  "no tag, branch or commit",
		"git::https://host/repo?ref=a..b":      "no tag, branch or commit",
		"git::https://host/repo?ref=a:refs/b":  "no tag, branch or commit",
		"git::https://host/repo?ref=HEAD%5E%7": "more behind it",
	} {
		if _, err := gitmodule.Parse(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
	for _, text := range []string{
		"git::https://me:hunter2@host/repo", "git::https://hunter2@host/repo", "git::ssh://git:hunter2@host/repo", "git::file://me:hunter2@/repo", "git::me:hunter2@host:repo",
		"git::https://host/repo?ref=v1&token=hunter2", "git::https://host/repo?ref=v1&ref=hunter2", "git::https://host/repo#hunter2", "git::https://me:hunter2%@host/repo",
	} {
		if _, err := gitmodule.Parse(text); !errors.As(err, new(gitmodule.SecretError)) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// repository is one of git's own, whose only branch has what make puts there.
func repository(t *testing.T, make func(git func(stdin string, args ...string) string) (tree string)) gitmodule.Source {
	t.Helper()
	dir := t.TempDir()
	git := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	git("", "init", "-q", "--bare", "-b", "main")
	git("", "update-ref", "refs/heads/main", git("", "commit-tree", "-m", "c", make(git)))
	return gitmodule.Source{URL: "file://" + dir, Folder: ".", Ref: "main"}
}

func store(t *testing.T) gitmodule.Store {
	return gitmodule.Store{Machine: fetch.Machine{Downloads: t.TempDir()}, Warn: func(text string) { t.Log(text) }}
}

// TestHostile: what a repository has is bounded before it is read, leads nowhere and runs nothing.
func TestHostile(t *testing.T) {
	blob := func(git func(string, ...string) string, text string) string {
		return git(text, "hash-object", "-w", "--stdin")
	}
	for name, c := range map[string]struct {
		make func(git func(string, ...string) string) string
		says string // "" is well
	}{
		"too many files": {func(git func(string, ...string) string) string {
			var all strings.Builder
			one := blob(git, "x")
			for i := range 20_001 {
				fmt.Fprintf(&all, "100644 blob %s\tf%05d\n", one, i)
			}
			return git(all.String(), "mktree")
		}, "the file is larger than expected: more than 20000 files"},
		"a few trees, many folders": {func(git func(string, ...string) string) string {
			tree := git(fmt.Sprintf("100644 blob %s\tf\n", blob(git, "x")), "mktree")
			for range 12 {
				var all strings.Builder
				for i := range 10 {
					fmt.Fprintf(&all, "040000 tree %s\td%d\n", tree, i)
				}
				tree = git(all.String(), "mktree")
			}
			return tree
		}, "the file is larger than expected: more than 20000 files"},
		"too many bytes": {func(git func(string, ...string) string) string {
			var all strings.Builder
			large := blob(git, strings.Repeat("x", 32<<20))
			for i := range 9 {
				fmt.Fprintf(&all, "100644 blob %s\tlarge%d\n", large, i)
			}
			return git(all.String(), "mktree")
		}, "more than 268 MB"},
		"a link out": {func(git func(string, ...string) string) string {
			return git(fmt.Sprintf("120000 blob %s\tlink\n", blob(git, "../../etc/passwd")), "mktree")
		}, "link"},
		"a link of a megabyte": {func(git func(string, ...string) string) string {
			return git(fmt.Sprintf("120000 blob %s\tlink\n", blob(git, strings.Repeat("a/", 1<<19))), "mktree")
		}, "a link of 1048576 bytes"},
		"submodules, hooks and filters do nothing": {func(git func(string, ...string) string) string {
			text := func(s string) string { return blob(git, s) }
			return git(fmt.Sprintf("100644 blob %s\t.gitattributes\n100644 blob %s\t.gitmodules\n160000 commit %s\tsub\n100755 blob %s\tpost-checkout\n",
				text("* filter=x\n"), text("[submodule \"sub\"]\n\tpath = sub\n\turl = ext::sh -c 'touch pwned'\n"), strings.Repeat("ab", 20), text("#!/bin/sh\ntouch pwned\n")), "mktree")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			src, s := repository(t, c.make), store(t)
			pin, err := s.Learn(t.Context(), src)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want %q", err, c.says)
				}
				if left, _ := os.ReadDir(filepath.Join(s.Downloads, "modules")); len(left) > 0 {
					t.Errorf("%v is left", left)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			dir, err := s.Open(t.Context(), src, pin)
			if err != nil {
				t.Fatal(err)
			}
			if in, err := os.ReadDir(filepath.Join(dir, "sub")); err != nil || len(in) > 0 {
				t.Errorf("the submodule's folder has %v, %v", in, err)
			}
			if found, _ := filepath.Glob(filepath.Join(s.Downloads, "*", "*", "pwned")); len(found) > 0 {
				t.Error("something was run")
			}
		})
	}
}

// TestOpen: a pin holds whatever became of the branch, and what was changed in the cache is not believed, whatever it is.
func TestOpen(t *testing.T) {
	src := repository(t, func(git func(string, ...string) string) string {
		one := git("module { description = \"x\" }\n", "hash-object", "-w", "--stdin")
		return git(fmt.Sprintf("100644 blob %s\tmain.hcl\n", one), "mktree")
	})
	s := store(t)
	pin, err := s.Learn(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := s.Open(t.Context(), src, pin)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func() error{
		"content":       func() error { return os.WriteFile(filepath.Join(dir, "main.hcl"), []byte("x"), 0o644) },
		"a file more":   func() error { return os.WriteFile(filepath.Join(dir, "more.hcl"), nil, 0o644) },
		"a file less":   func() error { return os.Remove(filepath.Join(dir, "main.hcl")) },
		"a program":     func() error { return os.Chmod(filepath.Join(dir, "main.hcl"), 0o755) },
		"a link":        func() error { return os.Symlink("/etc/passwd", filepath.Join(dir, "link.hcl")) },
		"all of it":     func() error { return os.RemoveAll(dir) },
		"a file for it": func() error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o644)) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if again, err := s.Open(t.Context(), src, pin); err != nil || again != dir {
			t.Errorf("%s: %q, %v", name, again, err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "main.hcl")); err != nil || string(b) != "module { description = \"x\" }\n" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		if all, _ := os.ReadDir(dir); len(all) != 1 {
			t.Errorf("%s: %v", name, all)
		}
	}
	other := pin
	other.Tree = strings.Repeat("0", 64)
	if _, err := s.Open(t.Context(), src, other); !errors.Is(err, gitmodule.ErrOther) || !strings.Contains(err.Error(), pin.Tree) {
		t.Errorf("another tree: %v", err)
	}
}
