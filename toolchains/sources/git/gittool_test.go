package git_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/toolchains/sources/git"
)

// repository makes a repository with git itself and returns its folder and the ids of its commits.
func repository(t *testing.T) (dir string, commits []string) {
	t.Helper()
	dir = t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e",
			"GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e", "GIT_AUTHOR_DATE=2001-09-09T00:00:00Z", "GIT_COMMITTER_DATE=2001-09-09T00:00:00Z")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q", "-b", "main")
	for _, c := range []func(){
		func() {
			write(t, dir, "a.txt", "one\n")
			write(t, dir, "src/op.cpp", "int x;\n")
			write(t, dir, "tool.sh", "#!/bin/sh\n")
			if err := os.Chmod(filepath.Join(dir, "tool.sh"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("src/op.cpp", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
		},
		func() { write(t, dir, "a.txt", "two\n") },
		func() {
			if err := os.Symlink("../../etc/passwd", filepath.Join(dir, "bad")); err != nil {
				t.Fatal(err)
			}
		},
		func() { run("rm", "-q", "-r", ".") },
	} {
		c()
		run("add", ".")
		run("commit", "-q", "-m", "c")
		commits = append(commits, run("rev-parse", "HEAD"))
	}
	return dir, commits
}

func write(t *testing.T, dir, name, body string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCheckout(t *testing.T) {
	dir, commits := repository(t)
	downloads := t.TempDir()
	for name, url := range map[string]string{"path": dir, "git folder": filepath.Join(dir, ".git"), "address": "file://" + dir} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "x", "out")
			if err := git.Checkout(t.Context(), git.Options{Spec: git.Spec{URL: url, Commit: commits[0]}, Machine: fetch.Machine{Downloads: downloads}}, out); err != nil {
				t.Fatal(err)
			}
			for file, want := range map[string]string{"a.txt": "one\n", "src/op.cpp": "int x;\n", "link": "int x;\n"} {
				if b, err := os.ReadFile(filepath.Join(out, file)); err != nil || string(b) != want {
					t.Errorf("%s: %q, %v", file, b, err)
				}
			}
			if info, err := os.Stat(filepath.Join(out, "tool.sh")); err != nil || info.Mode()&0o111 == 0 {
				t.Errorf("tool.sh: %v, %v", info, err)
			}
			if _, err := os.Stat(filepath.Join(out, ".git")); err == nil {
				t.Error("there is a .git")
			}
		})
	}
	// What was fetched once needs no server.
	o := git.Options{Spec: git.Spec{URL: "file://" + dir, Commit: commits[0], Sub: "src"}, Machine: fetch.Machine{Downloads: downloads, Offline: true}}
	out := filepath.Join(t.TempDir(), "out")
	if err := git.Checkout(t.Context(), o, out); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(out, "op.cpp")); err != nil {
		t.Error(err)
	}
	o.Commit, o.Sub, o.Downloads = commits[1], "", t.TempDir()
	if err := git.Checkout(t.Context(), o, out+"2"); err == nil || !strings.Contains(err.Error(), "offline") {
		t.Errorf("offline, a new commit: %v", err)
	}
	o.Offline, o.Downloads = false, downloads
	if err := git.Checkout(t.Context(), o, out+"2"); err != nil {
		t.Errorf("a second commit into the same clone: %v", err)
	}
	o.Commit = commits[3]
	err := git.Checkout(t.Context(), o, out+"3")
	if left, derr := os.ReadDir(out + "3"); err != nil || derr != nil || len(left) > 0 {
		t.Errorf("a commit without files: %v, %v, %v", err, derr, left)
	}
}

func TestErrors(t *testing.T) {
	dir, commits := repository(t)
	for name, c := range map[string]struct {
		o    git.Options
		says string
	}{
		"no such commit": {git.Options{Spec: git.Spec{URL: dir, Commit: strings.Repeat("ab", 20)}}, "no such commit"},
		"no repository":  {git.Options{Spec: git.Spec{URL: t.TempDir(), Commit: commits[0]}}, "repository does not exist"},
		"no folder":      {git.Options{Spec: git.Spec{URL: dir, Commit: commits[0], Sub: "nowhere"}}, "nowhere"},
		"link out":       {git.Options{Spec: git.Spec{URL: dir, Commit: commits[2]}}, "outside the target folder"},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			err := git.Checkout(t.Context(), c.o, filepath.Join(parent, "out"))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
			if left, _ := os.ReadDir(parent); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // and then nobody
	if err != nil {
		t.Fatal(err)
	}
	addr := silent.Addr().String()
	silent.Close()
	sick := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	defer sick.Close()
	missing := httptest.NewServer(http.NotFoundHandler())
	defer missing.Close()
	for _, tt := range []struct {
		name, url string
		code      int
	}{
		{"a closed port", "http://" + addr + "/x.git", action.UnableExitCode},
		{"a closed port of git's protocol", "git://" + addr + "/x.git", action.UnableExitCode},
		{"a server that is out of order", sick.URL + "/x.git", action.UnableExitCode},
		{"no such repository", missing.URL + "/x.git", 1},
	} {
		_, said, code := tooltest.Run(t, git.Tool, git.Run, git.Spec{URL: tt.url, Commit: commits[0], Out: "x"},
			fetch.EnvDownloads+"="+t.TempDir())
		if code != tt.code || !strings.Contains(said, "check out "+commits[0]) {
			t.Errorf("%s: exit code %d, want %d: %s", tt.name, code, tt.code, said)
		}
	}
	if _, said, code := tooltest.Run(t, git.Tool, git.Run, git.Spec{URL: dir, Commit: "main", Out: "x"}); code != 1 || !strings.Contains(said, "40 hexadecimal digits") {
		t.Errorf("a branch for a commit: exit code %d, %s", code, said)
	}
}
