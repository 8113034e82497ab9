package toolchaintest_test

import (
	"os/exec"
	"testing"

	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

func TestTools(t *testing.T) {
	t.Setenv(toolchaintest.EnvRoot, "") // what is fetched is what is tested
	for _, c := range []struct{ name, program string }{
		{"llvm", "usr/bin/clang-22"}, {"llvm", "usr/bin/ld.lld-22"},
		{"qemu", "usr/bin/qemu-hexagon-static"}, {"qemu", "usr/bin/qemu-aarch64-static"}, {"qemu@11.1", "usr/bin/qemu-hexagon-static"},
		{"lldb", "usr/bin/lldb-22"},
	} {
		if out, err := exec.CommandContext(t.Context(), toolchaintest.Path(t, c.name, c.program), "--version").CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", c.program, err, out)
		}
	}
	if out, err := exec.CommandContext(t.Context(), toolchaintest.Path(t, "busybox", "bin/busybox"), "true").CombinedOutput(); err != nil {
		t.Errorf("busybox: %v: %s", err, out)
	}
	loader := toolchaintest.Path(t, "linux_arm64", "lib/ld-linux-aarch64.so.1")
	if out, err := exec.CommandContext(t.Context(), toolchaintest.Path(t, "qemu", "usr/bin/qemu-aarch64-static"), loader, "--version").CombinedOutput(); err != nil {
		t.Errorf("linux_arm64: %v: %s", err, out)
	}
	adb, env := toolchaintest.ADB(t)
	cmd := exec.CommandContext(t.Context(), adb, "version")
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("adb: %v: %s", err, out)
	}
}
