// Package toolchaintest gives tests the real tools: compilers, emulators, adb.
//
// It fetches them as hexmage does, once for a user, into the user's cache folder. The specs it uses are made from the
// catalogue and the lock (a test of package toolchains keeps them so), because tests of packages that must not know the
// language use this one. It knows where a tool's root folder is and nothing of what is in it.
package toolchaintest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/fetch/fetchtest"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/toolchains/sources"
)

//go:embed specs/*.json
var specs embed.FS

// EnvRoot names a folder with all tools unpacked over each other; where it is set nothing is fetched.
const EnvRoot = "HEXMAGE_TEST_TOOLS"

const fetchLimit = 8 * time.Minute // under go test's own 10

// Root returns the root folder of the named toolchain ("llvm", "qemu", "qemu@11.1", "qemu_x86_64", "adb", "busybox", "make", "ninja", "unzip", "lldb", "uv", "sshd", "zsh", "fish", "debootstrap",
// "linux_arm64", the vendor's packages "qnnruntime", "htp_linux_arm64", "htp_host", "htp_host@2.4.0" and, in no catalogue, "neovim", "clangd" "casd", a server of remote caches, "bubblewrap", in which that runs actions, and "postgresql", which another such server wants), unpacked and ready to run.
// The first caller on a machine fetches it.
func Root(t testing.TB, name string) string {
	t.Helper()
	spec, err := specs.ReadFile("specs/" + name + ".json")
	if err != nil {
		t.Fatalf("toolchain %s: tests have no such: %v", name, err)
	}
	if dir := os.Getenv(EnvRoot); dir != "" {
		return dir
	}
	dir, err := fetchtest.Dir()
	if err != nil {
		t.Fatalf("toolchain %s: %v", name, err)
	}
	root, err := fetchOnce(t.Context(), dir, name, spec)
	if err != nil {
		t.Fatalf("toolchain %s: %v", name, err)
	}
	return root
}

// Path returns the path of a program of a toolchain: Path(t, "llvm", "usr/bin/clang-22").
func Path(t testing.TB, name, program string) string {
	t.Helper()
	p := filepath.Join(Root(t, name), filepath.FromSlash(program))
	if _, err := os.Stat(p); err != nil {
		t.Fatalf("toolchain %s: %v", name, err)
	}
	return p
}

// ADB returns the path of adb and the variables (as NAME=VALUE) that it needs to start.
func ADB(t testing.TB) (program string, env []string) {
	t.Helper()
	root := Root(t, "adb")
	lib := filepath.Join(root, "usr/lib/x86_64-linux-gnu")
	return Path(t, "adb", "usr/bin/adb"), []string{"LD_LIBRARY_PATH=" + filepath.Join(lib, "android") + ":" + lib}
}

// fetchOnce fetches by the spec into a folder that is named after it, unless that is there.
func fetchOnce(ctx context.Context, dir, name string, spec []byte) (string, error) {
	_, version, _ := strings.Cut(string(sources.Tool), "/")
	sum := sha256.Sum256(append([]byte(version+"\n"), spec...))
	root := filepath.Join(dir, name+"-"+hex.EncodeToString(sum[:6]))
	return root, fetchtest.Fill(root, filepath.Join(dir, name+".lock"), func(root string) error { return fetchTo(ctx, root, dir, spec) })
}

func fetchTo(ctx context.Context, root, dir string, spec []byte) error {
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	var what sources.Spec
	if err := tool.Decode(spec, &what); err != nil {
		return err
	}
	what.Out = root
	vars := []string{fetch.EnvDownloads + "=" + filepath.Join(dir, "downloads")}
	if what.Wheel != nil {
		home, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		vars = append(os.Environ(), fetch.EnvDownloads+"="+filepath.Join(dir, "wheels"), sources.EnvHome+"="+home) // as pip is configured here
	}
	var out bytes.Buffer
	if err := sources.Run(ctx, what, tool.Env{Vars: vars, Stderr: &out}); err != nil {
		return fmt.Errorf("fetch: %w:\n%s", err, out.Bytes())
	}
	return nil
}
