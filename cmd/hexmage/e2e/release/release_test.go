//go:build linux

package release_test

import (
	"archive/zip"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// releaseTag is the version of releases that tests make. Of a module without a number in its path Go takes those of
// v0 and v1.
const releaseTag = "v1.99.0"

// cloned is a clone of the repository as its files are now, committed and tagged, as the workflow has it.
func cloned(t *testing.T) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "clone")
	run(t, Repo(), "git", "clone", "--quiet", "--shared", ".", at)
	own := []string{"git", "--git-dir=" + at + "/.git", "-c", "user.name=test", "-c", "user.email=test@example.com"}
	run(t, Repo(), append(own, "--work-tree=.", "add", "--all")...)
	run(t, at, append(own, "commit", "--quiet", "--allow-empty", "-m", "as it is")...)
	run(t, at, append(own, "checkout", "--quiet", "--force", "HEAD")...)
	run(t, at, append(own, "tag", "-a", "-m", "a release", releaseTag)...)
	return at
}

// run runs a program that must succeed, and returns what it printed.
func run(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return string(out)
}

// released is the name of the archive for this machine, and of the folder in it.
const released = "hexmage_linux_amd64"

// makeRelease makes the release for this machine by the workflow's own command, and returns the folder in which it is.
func makeRelease(t *testing.T, clone string) string {
	t.Helper()
	out := t.TempDir()
	run(t, clone, "go", "run", "./cmd/hexmage-release", "-only", "linux/amd64", "-o", out)
	return out
}

var releaseOnce sync.Once

// releaseArchive is the archive of a release for this machine, which is made once for all tests.
func releaseArchive(t *testing.T) string {
	t.Helper()
	at := filepath.Join(Base(), released+".tar.gz")
	releaseOnce.Do(func() {
		if err := CopyFile(filepath.Join(makeRelease(t, cloned(t)), released+".tar.gz"), at); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := os.Stat(at); err != nil {
		t.Fatalf("no release was made: %v", err)
	}
	return at
}

// unpacked unpacks a release's archive with the system's tar, below a folder, and returns the release's own folder.
func unpacked(t *testing.T, archive, below string) string {
	t.Helper()
	run(t, below, "tar", "xzf", archive)
	return filepath.Join(below, released)
}

// TestRelease: the workflow's command makes an archive with the program and what belongs to it, of the tag's version;
// its checksums hold, its list of modules is whole; and the same commit gives the same bytes. With
// HEXMAGE_RELEASE=all it is so for all systems.
func TestRelease(t *testing.T) {
	workflow := Read(t, filepath.Join(Repo(), ".github", "workflows", "release.yml"))
	if !strings.Contains(workflow, "run: go tool mage release\n") ||
		!strings.Contains(Read(t, filepath.Join(Repo(), "magefile.go")), `"run", "./cmd/hexmage-release")`) {
		t.Error("the workflow does not run `go tool mage release`, or that another command than this test")
	}
	clone := cloned(t)
	first, second := makeRelease(t, clone), makeRelease(t, clone)
	run(t, first, "sha256sum", "--check", "--strict", "SHA256SUMS")
	for _, name := range []string{"SHA256SUMS", released + ".tar.gz", released + ".cdx.json", "hexmage_facts.json",
		"hexmage_facts.schema.json"} {
		if Read(t, filepath.Join(first, name)) != Read(t, filepath.Join(second, name)) {
			t.Errorf("%s: the same commit gave other bytes", name)
		}
	}
	dir := unpacked(t, filepath.Join(first, released+".tar.gz"), t.TempDir())
	for _, name := range []string{"LICENSE", "README.md", "completion/hexmage.bash", "completion/hexmage.fish",
		"completion/hexmage.zsh"} {
		if Read(t, filepath.Join(dir, name)) == "" {
			t.Errorf("%s is empty", name)
		}
	}
	if out := run(t, dir, "./hexmage", "--version"); !strings.HasPrefix(out, "hexmage "+releaseTag+" ") {
		t.Errorf("--version: %q", out)
	}
	checkModules(t, dir)
	if os.Getenv("HEXMAGE_RELEASE") == "all" {
		allReleased(t, clone, first)
	}
}

// checkModules: each module in the program is in the list of modules, with its version, and its license is there.
func checkModules(t *testing.T, dir string) {
	t.Helper()
	var list struct {
		BomFormat  string
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal([]byte(Read(t, filepath.Join(dir, "sbom.cdx.json"))), &list); err != nil ||
		list.BomFormat != "CycloneDX" {
		t.Fatalf("the list of modules: %q, %v", list.BomFormat, err)
	}
	listed := map[string]bool{}
	for _, c := range list.Components {
		listed[c.Name+" "+c.Version] = true
	}
	licenses := Read(t, filepath.Join(dir, "THIRD-PARTY-LICENSES.txt"))
	of, err := buildinfo.ReadFile(filepath.Join(dir, "hexmage"))
	if err != nil || len(of.Deps) == 0 {
		t.Fatal(err)
	}
	for _, m := range of.Deps {
		if name := m.Path + " " + m.Version; !listed[name] || !strings.Contains(licenses, "==== "+name+"\n") {
			t.Errorf("hexmage has %s, which is not in the list of modules, or its license is not there", name)
		}
	}
	if name := "std " + strings.Fields(run(t, dir, "./hexmage", "version"))[2]; !listed[name] {
		t.Errorf("Go's own library, %q, is not in the list of modules", name)
	}
}

// allReleased: the whole command makes the archives of all systems, and what is not hexmage's whole says so.
func allReleased(t *testing.T, clone, one string) {
	t.Helper()
	run(t, clone, "go", "tool", "mage", "release")
	dist := filepath.Join(clone, "dist")
	run(t, dist, "sha256sum", "--check", "--strict", "SHA256SUMS")
	linux := released + ".tar.gz"
	if Read(t, filepath.Join(dist, linux)) != Read(t, filepath.Join(one, linux)) {
		t.Errorf("%s is another than alone", linux)
	}
	for name, magic := range map[string]string{"linux_arm64": "\x7fELF", "darwin_amd64_part": "\xcf\xfa\xed\xfe",
		"darwin_arm64_part": "\xcf\xfa\xed\xfe", "windows_amd64_part": "MZ"} {
		folder := "hexmage_" + name
		into, ext := t.TempDir(), ""
		if strings.HasPrefix(name, "windows") {
			ext = ".exe"
			unzip(t, filepath.Join(dist, folder+".zip"), into)
		} else {
			run(t, into, "tar", "xzf", filepath.Join(dist, folder+".tar.gz"))
		}
		if !strings.HasPrefix(Read(t, filepath.Join(into, folder, "hexmage"+ext)), magic) {
			t.Errorf("%s: hexmage is no program of that system", folder)
		}
		text, err := os.ReadFile(filepath.Join(into, folder, "ONLY-A-PART.txt"))
		if part := strings.HasSuffix(name, "_part"); part != (err == nil) ||
			part && !strings.Contains(string(text), "plans, inspects, lints and talks to devices") {
			t.Errorf("%s: that it is a part: %q, %v", folder, text, err)
		}
	}
}

func unzip(t *testing.T, archive, into string) {
	t.Helper()
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if err := os.CopyFS(into, z); err != nil {
		t.Fatal(err)
	}
}

// inRoot runs the release's program in another root folder.
func inRoot(t *testing.T, how, root string, args ...string) *Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), RunLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/"+released+"/hexmage", args...)
	cmd.Err = nil // it is there in that root
	cmd.Env = []string{"HOME=/home"}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	return Ended(t, Apart(cmd, syscall.CLONE_NEWNS, Rooted, how, root))
}

// TestReleaseEmptyRoot: the released programs start in a root folder in which nothing else is. They plan there; with
// /proc and /dev they build all that needs no other program, and say which one is missing.
func TestReleaseEmptyRoot(t *testing.T) {
	root := t.TempDir()
	unpacked(t, releaseArchive(t), root)
	Wants(t, inRoot(t, "bare", root, "--version"), 0, "hexmage "+releaseTag+" ")
	Wants(t, inRoot(t, "bare", root, "help"), 0, "Usage:")
	Wants(t, inRoot(t, "bare", root, "init"), 0, "wrote pipelines/first.hcl", "hexmage run first")
	Wants(t, inRoot(t, "bare", root, "plan", "first"), ExitUsage, "context", "this machine cannot run the plan yet",
		"/proc/self/fd is missing")
	Wants(t, inRoot(t, "bare", root, "run", "first"), 3, "/proc/self/fd is missing", "mount -t proc proc /proc")
	Wants(t, inRoot(t, "bare", root, "doctor", "first"), 1, "/proc/self/fd is missing")

	o := inRoot(t, "chroot", root, "run", "first")
	Wants(t, o, 3, "context.small compile could not run", "install /bin/sh, which the first line of the script names")
	built := regexp.MustCompile(`(?m)^  ok +(\S+) `).FindAllStringSubmatch(o.Stderr+o.Stdout, -1)
	var names []string
	for _, m := range built {
		names = append(names, m[1])
	}
	slices.Sort(names)
	if want := []string{"convert.small", "toolchain.mllm", "toolchain.qairt",
		"toy_model.small"}; !slices.Equal(names, want) {
		t.Errorf("built %q, want %q: %s", names, want, o)
	}
	Wants(t, inRoot(t, "chroot", root, "doctor", "first"), 1, "(hexmage runs in", "a chroot)")
	if err := os.Mkdir(filepath.Join(root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := CopyFile(toolchaintest.Path(t, "busybox", "bin/busybox"), filepath.Join(root, "bin", "sh")); err != nil {
		t.Fatal(err)
	}
	Wants(t, inRoot(t, "chroot", root, "run", "first"), 0, "out/first/context.bin")
	Wants(t, inRoot(t, "chroot", root, "run", "first"), 0, "0 executed")
}
