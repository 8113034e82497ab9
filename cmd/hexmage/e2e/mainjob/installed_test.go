//go:build linux

package mainjob_test

import (
	"path/filepath"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// TestInstalledTools: where a pipeline asks for them, the machine's own clang, qemu, adb and busybox are used, from the
// user's PATH, and nothing is fetched.
func TestInstalledTools(t *testing.T) {
	w := NewWorld(t)
	path := Path()
	for name, bin := range map[string]string{"llvm": "usr/bin", "qemu": "usr/bin", "adb": "usr/bin", "busybox": "bin"} {
		path = filepath.Join(toolchaintest.Root(t, name), bin) + ":" + path
		block := "toolchain \"" + name + "\" {"
		w.WriteShipped(t, w.Shipped(t).With(t, block+"}", block+" source = \"installed\" }"))
	}
	w.Env = []string{"PATH=" + path}
	Wants(t, w.Run(t, "run", "--offline", Simulated, Pipeline), 0, "tokens as the reference", "profile: simulated")
}
