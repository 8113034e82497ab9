//go:build linux

package e2e_test

import (
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// TestInstalledTools: where a pipeline asks for them, the machine's own clang, qemu, adb and busybox are used, from the
// user's PATH, and nothing is fetched.
func TestInstalledTools(t *testing.T) {
	w := newWorld(t)
	path := shared.path
	for name, bin := range map[string]string{"llvm": "usr/bin", "qemu": "usr/bin", "adb": "usr/bin", "busybox": "bin"} {
		path = filepath.Join(toolchaintest.Root(t, name), bin) + ":" + path
		block := "toolchain \"" + name + "\" {"
		w.writeShipped(t, w.shipped(t).with(t, block+"}", block+" use = \"installed\" }"))
	}
	w.env = []string{"PATH=" + path}
	wants(t, w.run(t, "run", "--offline", pipeline), 0, "tokens as the reference", "profile: open")
}
