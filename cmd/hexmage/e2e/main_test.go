//go:build linux

package e2e_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	_ "github.com/hexmage/hexmage/cmd/hexmage/cli" // so that `go test` knows: its results are old when hexmage changes
)

// suite is what all tests share.
type suite struct {
	base    string // folder of everything
	repo    string
	hexmage string // the binary under test
	path    string // PATH with hardly anything in it

	warm sync.Once
	cold *world   // the workspace of the run that started from nothing
	did  *outcome // that run

	releaseOnce sync.Once

	hostOnce sync.Once
	host     *world // the workspace in which what profile host needs was downloaded

	gridOnce sync.Once
	grid     *world   // the workspace that brought BuildGrid
	brought  *outcome // that run
}

var shared = &suite{}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == alone {
		fmt.Fprintln(os.Stderr, "e2e:", runAlone(os.Args[2:])) // returns only when it fails
		os.Exit(1)
	}
	if len(os.Args) > 3 && os.Args[1] == without {
		fmt.Fprintln(os.Stderr, "e2e:", runWithout(os.Args[2], os.Args[3:]))
		os.Exit(1)
	}
	if len(os.Args) > 4 && os.Args[1] == rooted {
		fmt.Fprintln(os.Stderr, "e2e:", runRooted(os.Args[2], os.Args[3], os.Args[4:]))
		os.Exit(1)
	}
	flag.Parse()
	if testing.Short() {
		fmt.Println("e2e: not run: whole pipelines are not short")
		return
	}
	base, err := os.MkdirTemp("", "hexmage-e2e-")
	if err == nil {
		err = shared.setUp(base)
	}
	if err != nil {
		fmt.Println("e2e:", err)
		os.Exit(1)
	}
	code := m.Run()
	remove(base)
	os.Exit(code)
}

// setUp builds the binary, and a PATH as a small machine has it: a shell and the distribution's client; no compiler, no
// emulator, no adb.
func (s *suite) setUp(base string) error {
	var err error
	if s.base, err = filepath.EvalSymlinks(base); err != nil {
		return err
	}
	if s.repo, err = filepath.Abs(filepath.Join("..", "..", "..")); err != nil {
		return err
	}
	s.hexmage = filepath.Join(s.base, "bin", "hexmage")
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Dir(s.hexmage)+"/", "./cmd/hexmage")
	build.Dir, build.Env = s.repo, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build hexmage: %w\n%s", err, out)
	}
	s.path = filepath.Join(s.base, "path")
	if err := os.Mkdir(s.path, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"sh", "apt-get", "dpkg", "gpgv"} {
		if p, err := exec.LookPath(name); err == nil { // apt-get is needed only where packages were not kept
			if err := os.Symlink(p, filepath.Join(s.path, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove removes a folder in which there are folders without write permission.
func remove(dir string) {
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(p, 0o755)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
