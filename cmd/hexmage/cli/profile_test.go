package cli_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
)

// Not parallel: a process has one CPU profile.
func TestProfiles(t *testing.T) {
	dir := t.TempDir()
	env := cli.Env{Stdout: io.Discard, Stderr: io.Discard, Dir: dir, Vars: []string{
		"HEXMAGE_CACHE=" + t.TempDir(), "HEXMAGE_CPUPROFILE=cpu", "HEXMAGE_MEMPROFILE=mem",
	}}
	if code := cli.Main([]string{"hexmage", "version"}, env); code != cli.ExitOK {
		t.Fatalf("exit code %d", code)
	}
	for _, name := range []string{"cpu", "mem"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.HasPrefix(got, []byte{0x1f, 0x8b}) { // profiles are gzipped
			t.Errorf("profile %s: %d bytes, %v", name, len(got), err)
		}
	}
	env.Vars = []string{"HEXMAGE_CPUPROFILE=" + filepath.Join(dir, "no", "such", "folder")}
	if code := cli.Main([]string{"hexmage", "version"}, env); code != cli.ExitUsage {
		t.Errorf("a profile that cannot be written: exit code %d", code)
	}
}
