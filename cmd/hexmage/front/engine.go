package front

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// The programs.
const (
	Name       = "hexmage"
	EngineName = "hexmage-engine"
)

// FrontSystem returns the environment of the process that is the program hexmage. The error says that there is no engine.
func FrontSystem() (Env, error) {
	e := System()
	e.Front = program(Name)
	var err error
	e.Self, err = findEngine(e.Front)
	return e, err
}

// findEngine finds the engine: beside the program hexmage, where links to that lead to, or in the search path.
func findEngine(self string) (string, error) {
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	at := sibling(self, EngineName)
	if info, err := os.Stat(at); err == nil && !info.IsDir() {
		return at, nil
	}
	if found, err := exec.LookPath(EngineName); err == nil {
		return found, nil
	}
	return "", fmt.Errorf("%s is not there, which does the work: it is neither beside %s nor in PATH. Install both programs: go install github.com/hexmage/hexmage/cmd/... (in a clone: go tool mage build)", EngineName, self)
}

// sibling is the program of that name in the folder of another one.
func sibling(program, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(filepath.Dir(program), name)
}
