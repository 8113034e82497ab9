// Package toolchaintest gives tests the real tools: compilers, emulators, adb.
//
// It knows where a tool's root folder is and nothing of what is in it.
package toolchaintest

import (
	"os"
	"testing"
)

// Root returns the root folder of the named toolchain ("llvm", "qemu", "adb", "busybox"), unpacked and ready to run.
func Root(t testing.TB, name string) string {
	t.Helper()
	if dir := os.Getenv("HEXMAGE_TEST_TOOLS"); dir != "" {
		return dir
	}
	t.Fatalf("toolchain %s: set HEXMAGE_TEST_TOOLS to a folder with unpacked tools", name)
	return ""
}
