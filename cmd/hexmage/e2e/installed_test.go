//go:build linux

package e2e_test

import (
	"path/filepath"
	"strings"
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
		text := read(t, filepath.Join(w.dir, "pipelines", pipeline+".hcl"))
		old := "toolchain \"" + name + "\" { when = local.open }"
		if name == "adb" {
			old = "toolchain \"adb\" {}"
		}
		if !strings.Contains(text, old) {
			t.Fatalf("the pipeline has no %q", old)
		}
		w.edit(t, "pipelines/"+pipeline+".hcl", old, "toolchain \""+name+"\" {\n  when = local.open\n  use  = \"installed\"\n}")
	}
	w.env = []string{"PATH=" + path}
	wants(t, w.run(t, "run", "--offline", pipeline), 0, "tokens as the reference", "profile: open")
}
