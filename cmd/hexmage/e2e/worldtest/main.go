//go:build linux

// Package worldtest has the code that end-to-end tests share. It provides the program under test, and worlds: the
// workspace, home and cache of one user. Tests import it with a dot, so that its names read as words.
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

	_ "github.com/hexmage/hexmage/cmd/hexmage/cli" // makes `go test` invalidate cached results when hexmage changes
)

// suite is shared by all tests of a process.
type suite struct {
	base    string // folder of all others
	repo    string
	hexmage string // the binary under test
	path    string // PATH with few programs

	warm  sync.Once
	cold  *World   // workspace of the run from scratch
	first *Outcome // that run

	hostOnce sync.Once
	host     *World // workspace with the downloads of profile emulator
}

var shared = sync.OnceValue(func() *suite { return &suite{} })

// Base returns the folder for all files of this test process.
func Base() string { return shared().base }

// Repo returns the repository's folder.
func Repo() string { return shared().repo }

// Hexmage returns the path of the program under test.
func Hexmage() string { return shared().hexmage }

func Path() string { return shared().path }

// Update reports whether tests rewrite docs and golden files.
func Update() bool { return flag.Lookup("update").Value.String() == "true" }

// Main runs the tests of a package. Call it from TestMain.
func Main(m *testing.M) {
	for name, start := range map[string]func(args []string) error{Alone: runAlone, without: runWithout,
		Rooted: runRooted} {
		if len(os.Args) > 2 && os.Args[1] == name {
			fmt.Fprintln(os.Stderr, "e2e:", start(os.Args[2:])) // returns only on an error
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

// setUp builds the binary, and the PATH of a small machine: a shell and the distribution's client, without compiler,
// emulator and adb.
func (s *suite) setUp(base string) error {
	var err error
	if s.base, err = filepath.EvalSymlinks(base); err != nil {
		return err
	}
	// from the folder of a package two levels below cmd/hexmage
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
		if p, err := exec.LookPath(name); err == nil { // apt-get is needed only if packages were not kept
			if err := os.Symlink(p, filepath.Join(s.path, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Remove removes a folder, even if it contains read-only folders.
func Remove(dir string) {
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(p, 0o755)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
