package git_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/toolchains/sources/git"
)

// runGit runs git in dir.
func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e",
		"GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// serve is git's own HTTP server for the repositories below dir. With a password it wants one for all of them.
func serve(t *testing.T, dir, password string) string {
	t.Helper()
	backend := filepath.Join(runGit(t, dir, "--exec-path"), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Fatal(err)
	}
	h := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null"}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, p, _ := r.BasicAuth(); p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// project makes repositories main (with a submodule lib, by a relative address, and that one with a submodule deep) below a
// folder, and returns it with main's commit.
func project(t *testing.T) (dir, commit string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"deep", "lib", "main"} {
		work := filepath.Join(dir, name)
		write(t, work, name+".txt", name+"\n")
		runGit(t, work, "init", "-q", "-b", "main")
		runGit(t, work, "config", "uploadpack.allowReachableSHA1InWant", "true")
		if sub := map[string]string{"lib": "deep", "main": "lib"}[name]; sub != "" {
			write(t, work, ".gitmodules", fmt.Sprintf("[submodule %q]\n\tpath = third/%s\n\turl = ../%s\n", sub, sub, sub))
			runGit(t, work, "update-index", "--add", "--cacheinfo", "160000,"+runGit(t, filepath.Join(dir, sub), "rev-parse", "HEAD")+",third/"+sub)
		}
		runGit(t, work, "add", name+".txt")
		if name != "deep" {
			runGit(t, work, "add", ".gitmodules")
		}
		runGit(t, work, "commit", "-q", "-m", name)
	}
	return dir, runGit(t, filepath.Join(dir, "main"), "rev-parse", "HEAD")
}

func TestSubmodules(t *testing.T) {
	dir, commit := project(t)
	url := serve(t, dir, "")
	o := git.Options{Spec: git.Spec{URL: url + "/main/.git", Commit: commit}, Machine: fetch.Machine{Downloads: t.TempDir()}}
	out := filepath.Join(t.TempDir(), "x")
	if err := git.Checkout(t.Context(), o, out); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(out, "third/lib")); err != nil || len(left) != 0 {
		t.Errorf("without submodules: %v, %v", left, err)
	}
	// The address of main ends in .git here, so that ../lib is not beside it: as a server has them.
	flat := t.TempDir()
	for _, name := range []string{"deep", "lib", "main"} {
		runGit(t, flat, "clone", "-q", "--bare", filepath.Join(dir, name), filepath.Join(flat, name))
	}
	o.URL, o.Submodules = serve(t, flat, "")+"/main", true
	if err := git.Checkout(t.Context(), o, out+"2"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"main.txt": "main\n", "third/lib/lib.txt": "lib\n", "third/lib/third/deep/deep.txt": "deep\n"} {
		if b, err := os.ReadFile(filepath.Join(out+"2", name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	// Those alone that are wanted; what is in them comes along.
	o.Only = []string{"third/other"}
	err := git.Checkout(t.Context(), o, out+"6")
	if err == nil || !strings.Contains(err.Error(), `submodule_paths: no submodule at "third/other"`) {
		t.Errorf("a misspelt path: %v", err)
	}
	o.Only = []string{"third/lib"}
	if err := git.Checkout(t.Context(), o, out+"7"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(out+"7", "third/lib/third/deep/deep.txt")); err != nil {
		t.Error(err)
	}
	o.Only = nil
	o.Offline = true
	if err := git.Checkout(t.Context(), o, out+"3"); err != nil {
		t.Errorf("offline: %v", err)
	}
	// A mirror has it all; nothing else is asked.
	o = git.Options{Spec: git.Spec{URL: "https://git.invalid/group/main", Commit: commit, Submodules: true}, Machine: fetch.Machine{Downloads: t.TempDir(),
		Mirrors: []fetch.Mirror{{From: "https://git.invalid/group/", To: serve(t, flat, "") + "/"}}}}
	if err := git.Checkout(t.Context(), o, out+"4"); err != nil {
		t.Error(err)
	}
}

// A submodule that git itself would not fetch is not fetched: some are gigabytes that hardly anybody needs.
func TestSubmoduleNever(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "main")
	write(t, work, ".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = https://nowhere.invalid/x\n\tupdate = none\n")
	runGit(t, work, "init", "-q", "-b", "main")
	runGit(t, work, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",x")
	runGit(t, work, "add", ".gitmodules")
	runGit(t, work, "commit", "-q", "-m", "c")
	out := filepath.Join(t.TempDir(), "x")
	if err := git.Checkout(t.Context(), git.Options{Spec: git.Spec{URL: work, Commit: runGit(t, work, "rev-parse", "HEAD"), Submodules: true}}, out); err != nil {
		t.Error(err)
	}
}

func TestSubmoduleOfThisMachine(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "main")
	write(t, work, ".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = /etc\n")
	runGit(t, work, "init", "-q", "-b", "main")
	runGit(t, work, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",x")
	runGit(t, work, "add", ".gitmodules")
	runGit(t, work, "commit", "-q", "-m", "c")
	o := git.Options{Spec: git.Spec{URL: serve(t, dir, "") + "/main/.git", Commit: runGit(t, work, "rev-parse", "HEAD"), Submodules: true},
		Machine: fetch.Machine{Downloads: t.TempDir()}}
	out := filepath.Join(t.TempDir(), "x")
	if err := git.Checkout(t.Context(), o, out); err == nil || !strings.Contains(err.Error(), "is a local path") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("there is a result")
	}
}

// A connection that breaks is made again.
func TestBrokenConnection(t *testing.T) {
	dir, commit := project(t)
	good, err := url.Parse(serve(t, dir, ""))
	if err != nil {
		t.Fatal(err)
	}
	var packs atomic.Int32
	proxy := httputil.NewSingleHostReverseProxy(good)
	proxy.ModifyResponse = func(r *http.Response) error {
		if strings.HasSuffix(r.Request.URL.Path, "git-upload-pack") && r.Request.Method == http.MethodPost && packs.Add(1) <= 2 {
			r.Body = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(io.LimitReader(r.Body, 60), iotest.ErrReader(io.ErrUnexpectedEOF)), r.Body}
		}
		return nil
	}
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	srv := httptest.NewServer(proxy)
	defer srv.Close()
	out := filepath.Join(t.TempDir(), "x")
	if err := git.Checkout(t.Context(), git.Options{Spec: git.Spec{URL: srv.URL + "/main/.git", Commit: commit}, Machine: fetch.Machine{Downloads: t.TempDir()}}, out); err != nil {
		t.Error(err)
	}
	if packs.Load() < 3 {
		t.Errorf("%d packs were asked for", packs.Load())
	}
}

func TestLFS(t *testing.T) {
	dir := t.TempDir()
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("a", 64) + "\nsize 12345\n"
	write(t, dir, "models/w.bin", pointer)
	write(t, dir, "src/a.c", "int x;\n")
	write(t, dir, "doc/lfs.md", "version https://git-lfs.github.com/spec/v1\nis how pointers begin\n")
	runGit(t, dir, "init", "-q", "-b", "main")
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-q", "-m", "c")
	o := git.Options{Spec: git.Spec{URL: dir, Commit: runGit(t, dir, "rev-parse", "HEAD")}}
	out := filepath.Join(t.TempDir(), "x")
	err := git.Checkout(t.Context(), o, out)
	if err == nil || !strings.Contains(err.Error(), "Git LFS") || !strings.Contains(err.Error(), "models/w.bin: ") || strings.Contains(err.Error(), "lfs.md") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("there is a result")
	}
	o.Sub = "src"
	if err := git.Checkout(t.Context(), o, out); err != nil {
		t.Error(err)
	}
}

func TestLogin(t *testing.T) {
	dir, commit := project(t)
	url := serve(t, dir, "p4ss")
	downloads := t.TempDir()
	o := git.Options{Spec: git.Spec{URL: url + "/main/.git", Commit: commit}, Machine: fetch.Machine{Downloads: downloads}}
	out := filepath.Join(t.TempDir(), "x")
	if err := git.Checkout(t.Context(), o, out); err == nil || !strings.Contains(err.Error(), ".netrc") {
		t.Errorf("error %v", err)
	}
	netrc := filepath.Join(t.TempDir(), "netrc")
	if err := os.WriteFile(netrc, []byte("machine 127.0.0.1 login me password p4ss\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, said, code := tooltest.Run(t, git.Tool, git.Run, git.Spec{URL: o.URL, Commit: commit, Out: out}, fetch.EnvNetrc+"="+netrc,
		fetch.EnvDownloads+"="+downloads)
	if code != 0 {
		t.Errorf("exit code %d: %s", code, said)
	}
	if strings.Contains(said, "p4ss") {
		t.Errorf("it prints the password: %s", said)
	}
}

// TestTreeBomb: a few trees of a server that name more folders than fit into memory are rejected.
func TestTreeBomb(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "x")
	write(t, work, "f", "x")
	runGit(t, work, "init", "-q", "-b", "main")
	runGit(t, work, "add", ".")
	tree := runGit(t, work, "write-tree")
	for range 12 {
		var all strings.Builder
		for i := range 10 {
			fmt.Fprintf(&all, "040000 tree %s\td%d\n", tree, i)
		}
		list := filepath.Join(dir, "list")
		write(t, dir, "list", all.String())
		tree = runGit(t, work, "-c", "alias.mk=!git mktree <"+list, "mk")
	}
	commit := runGit(t, work, "commit-tree", "-m", "c", tree)
	runGit(t, work, "update-ref", "refs/heads/main", commit)
	o := git.Options{Spec: git.Spec{URL: serve(t, dir, "") + "/x", Commit: commit},
		Machine: fetch.Machine{Downloads: t.TempDir()}}
	if err := git.Checkout(t.Context(), o, filepath.Join(t.TempDir(), "out")); err == nil || !strings.Contains(err.Error(), "more than 1000000 files") {
		t.Errorf("%v", err)
	}
}
