//go:build linux

package release_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// rootsLong is the variable without which whole systems are not tried.
const rootsLong = "HEXMAGE_ROOTS"

// TestReleaseDebian: in the smallest systems of Debian 12 and 13 that debootstrap makes, somebody new unpacks the
// release and runs the main job in an empty folder.
func TestReleaseDebian(t *testing.T) {
	if os.Getenv(rootsLong) != "all" {
		t.Skip("mage testAll runs this: " + rootsLong + " is not set")
	}
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: debootstrap wants root")
	}
	archive := releaseArchive(t)
	for _, suite := range []string{"bookworm", "trixie"} {
		t.Run(suite, func(t *testing.T) {
			root := debian(t, suite)
			unpacked(t, archive, filepath.Join(root, "opt"))
			hexmage := func(args ...string) *Outcome { return asPerson(t, root, "hexmage", args...) }
			Wants(t, hexmage("--version"), 0, "hexmage "+releaseTag+" ")
			o := hexmage("run", Simulated, Pipeline)
			Wants(t, o, 0, "profile: simulated")
			if m := regexp.MustCompile(`\n +tokens as the reference +(\d+) of (\d+)\n`).
				FindStringSubmatch(o.Stdout); m == nil || m[1] != m[2] || m[1] == "0" {
				t.Errorf("not all tokens are the reference's: %q in\n%s", m, o)
			}
			if strings.Contains(o.Stderr, "sandbox") || strings.Contains(o.Stdout+o.Stderr, "warning") {
				t.Errorf("something is lacking: %s", o)
			}
			t.Logf("the main job, from nothing: %v", o.Took)
			Wants(t, hexmage("run", Simulated, Pipeline), 0, "0 executed")
			Wants(t, hexmage("doctor", "--profile", "simulated", Pipeline), 0,
				"strict, with linked inputs and a supervisor for rare system calls")
		})
	}
}

// debian makes a system of a suite, with the servers that this machine has Debian from, and a person in it.
func debian(t *testing.T, suite string) (root string) {
	t.Helper()
	tool := toolchaintest.Root(t, "debootstrap")
	server := map[string]string{}
	for line := range strings.Lines(run(t, "/", "apt-get", "indextargets", "--no-release-info", "--format",
		"$(RELEASE) $(REPO_URI)", "Created-By: Packages")) {
		if f := strings.Fields(line); len(f) == 2 {
			_, kind, _ := strings.Cut(f[0], "-")
			if server[kind] == "" && (kind == "" || kind == "security") && strings.Contains(f[1], "debian") {
				server[kind] = f[1]
			}
		}
	}
	if len(server) != 2 {
		t.Skipf("NOT TESTED: this machine is no Debian with its security fixes: %v", server)
	}
	root = filepath.Join(t.TempDir(), suite)
	cmd := exec.CommandContext(t.Context(), "sh", filepath.Join(tool, "usr/sbin/debootstrap"), "--variant=minbase",
		suite, root, server[""])
	cmd.Env = append(os.Environ(), "DEBOOTSTRAP_DIR="+filepath.Join(tool, "usr/share/debootstrap"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("debootstrap: %v\n%s", err, out)
	}
	lists := "deb " + server[""] + " " + suite + " main\ndeb " + server[""] + " " + suite + "-updates main\ndeb " +
		server["security"] + " " + suite + "-security main\n"
	if err := os.WriteFile(filepath.Join(root, "etc/apt/sources.list"), []byte(lists), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, "/", "chroot", root, "/usr/sbin/useradd", "--create-home", "--uid", "1000", "new")
	return root
}

// asPerson runs a program of the release as the person of a system, in an empty folder, with nothing of this
// machine's environment but the way to the network.
func asPerson(t *testing.T, root, program string, args ...string) *Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), RunLimit)
	defer cancel()
	bin := "/opt/" + released
	cmd := exec.CommandContext(ctx, bin+"/"+program, args...)
	cmd.Err = nil // it is there in that root
	cmd.Env = []string{"HOME=/home/new", "PATH=" + bin + ":/usr/bin:/bin"}
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	return Ended(t, Apart(cmd, syscall.CLONE_NEWNS, Rooted, "system", root))
}
