//go:build linux

// Package worldtest is what end-to-end tests share: the program under test, and worlds, which are what one person
// has: a workspace, a home and a cache. Tests import it with a dot: its names are the words in which they are
// written.
package worldtest

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

// suite is what all tests of a process share.
type suite struct {
	base    string // folder of everything
	repo    string
	hexmage string // the binary under test
	path    string // PATH with hardly anything in it

	warm  sync.Once
	cold  *World   // the workspace of the run that started from nothing
	first *Outcome // that run

	hostOnce sync.Once
	host     *World // the workspace in which what profile emulator needs was downloaded
}

var shared = sync.OnceValue(func() *suite { return &suite{} })

// Base is the folder of everything that the tests of this process make.
func Base() string { return shared().base }

// Repo is the repository's folder.
func Repo() string { return shared().repo }

// Hexmage is the program under test; its engine is beside it.
func Hexmage() string { return shared().hexmage }

// Path is a PATH as a small machine has it.
func Path() string { return shared().path }

// Update tells whether what documents and golden files show is to be written anew.
func Update() bool { return flag.Lookup("update").Value.String() == "true" }

// Main is TestMain of each package of such tests.
func Main(m *testing.M) {
	for name, start := range map[string]func(args []string) error{Alone: runAlone, without: runWithout,
		Rooted: runRooted} {
		if len(os.Args) > 2 && os.Args[1] == name {
			fmt.Fprintln(os.Stderr, "e2e:", start(os.Args[2:])) // returns only when it fails
			os.Exit(1)
		}
	}
	flag.Bool("update", false, "write anew what documents and golden files show")
	flag.Parse()
	if testing.Short() {
		fmt.Println("e2e: not run: whole pipelines are not short")
		return
	}
	base, err := os.MkdirTemp("", "hexmage-e2e-")
	if err == nil {
		err = shared().setUp(base)
	}
	if err != nil {
		fmt.Println("e2e:", err)
		os.Exit(1)
	}
	code := m.Run()
	Remove(base)
	os.Exit(code)
}

// setUp builds the binary, and a PATH as a small machine has it: a shell and the distribution's client; no compiler,
// no emulator, no adb.
func (s *suite) setUp(base string) error {
	var err error
	if s.base, err = filepath.EvalSymlinks(base); err != nil {
		return err
	}
	// of the folder of a package below this one's parent
	if s.repo, err = filepath.Abs(filepath.Join("..", "..", "..", "..")); err != nil {
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

// Remove removes a folder in which there are folders without write permission.
func Remove(dir string) {
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(p, 0o755)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
