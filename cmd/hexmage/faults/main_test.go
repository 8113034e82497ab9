//go:build linux

package faults_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/hexmage/hexmage/cmd/hexmage/cli" // so that `go test` knows: its results are old when hexmage changes
)

// options are the flags of this package's tests.
var options = struct { // set once, by the flag package
	long *bool
	seed *uint64
}{
	flag.Bool("long", false, "run hundreds of rounds"),
	flag.Uint64("seed", 0, "seed of what happens by chance; 0 takes one from the clock"),
}

// envBinary and envBase tell a test binary that runs in a namespace of its own (see inside) what its parent has made.
const (
	envBinary = "HEXMAGE_FAULTS_BINARY"
	envBase   = "HEXMAGE_FAULTS_BASE"
)

// suite is what all tests share.
type suite struct {
	base    string // folder of everything; the tests' own temporary folder may be on another file system
	hexmage string // the binary under test
}

var shared = &suite{base: os.Getenv(envBase), hexmage: os.Getenv(envBinary)}

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("faults: not run: whole processes are not short")
		return
	}
	if shared.hexmage != "" {
		os.Exit(m.Run())
	}
	base, err := os.MkdirTemp("", "hexmage-faults-")
	if err == nil {
		err = shared.setUp(base)
	}
	if err != nil {
		fmt.Println("faults:", err)
		os.Exit(1)
	}
	code := m.Run()
	remove(base)
	os.Exit(code)
}

func (s *suite) setUp(base string) error {
	var err error
	if s.base, err = filepath.EvalSymlinks(base); err != nil {
		return err
	}
	if err := os.Chmod(s.base, 0o755); err != nil { // another user runs hexmage in one of the tests
		return err
	}
	s.hexmage = filepath.Join(s.base, "hexmage")
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Dir(s.hexmage)+"/", "./cmd/hexmage")
	build.Dir, build.Env = filepath.Join("..", "..", ".."), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build hexmage: %w\n%s", err, out)
	}
	return nil
}

// chance returns a source of what happens by chance in this test, and prints how to have the same again.
func chance(t *testing.T) *rand.Rand {
	t.Helper()
	seed := *options.seed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// rounds is how often something is done: seldom in the short form, often in the long one.
func rounds(short, long int) int {
	if *options.long {
		return long
	}
	return short
}
