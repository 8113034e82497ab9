package cli_test

import (
	"os/exec"
	"testing"
)

// binary is the path of a hexmage that runs as a process of its own: the one of the scripts.
func binary(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("hexmage")
	if err != nil {
		t.Fatal(err)
	}
	return path
}
