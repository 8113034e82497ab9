package sdkenv_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/sdkenv"
)

// hostile has everything in a folder's name that shells give a meaning to, but ":", which a list can't have.
const hostile = "a b'c\"d$HOME`e`\\f\n!g*\u2019h"

// unpack unpacks the simulation of a release into dir and returns its root.
func unpack(t *testing.T, dir, name, version string) string {
	t.Helper()
	release, err := sdk.Find(name, version)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := sdktest.Archive(&b, name, version); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), release.Name+".zip")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, release.Version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := archive.Unpack(t.Context(), root, archive.Options{StripPrefix: release.Prefix}, file); err != nil {
		t.Fatal(err)
	}
	return root
}

// values are what the catalog says of the SDK at root.
func values(t *testing.T, name, root string) []toolchains.EnvValue {
	t.Helper()
	c, diags := toolchains.Load(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	tc, r, err := c.Find(name, filepath.Base(root))
	if err != nil {
		t.Fatal(err)
	}
	vs, err := tc.Env(r, root)
	if err != nil {
		t.Fatal(err)
	}
	return vs
}

type environ map[string]string

func (e environ) list() (out []string) {
	for k, v := range e {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}

// shell runs a script in a clean environment and returns the one it ends with.
func (e environ) shell(t *testing.T, dir, script string, shell ...string) environ {
	t.Helper()
	if shell == nil {
		shell = []string{"bash", "--norc", "--noprofile", "-c"}
	}
	exe, err := exec.LookPath(shell[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, append(shell[1:], script+"\nexec /usr/bin/env -0")...)
	cmd.Dir, cmd.Env = dir, e.list()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%s: %v\n%s\n%s", shell[0], err, script, stderr.Bytes())
	}
	got := environ{}
	for _, kv := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		k, v, _ := strings.Cut(kv, "=")
		if !slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_"}, k) {
			got[k] = v
		}
	}
	return got
}

// with returns lines for the shell that set up the SDKs (name, root, name, root …) in the environment.
func (e environ) with(t *testing.T, shell string, sdks ...string) string {
	t.Helper()
	n := sdkenv.New(func(name string) string { return e[name] })
	for i := 0; i < len(sdks); i += 2 {
		if err := n.Add(sdks[i], sdks[i+1], values(t, sdks[i], sdks[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	if err := sdkenv.Write(&b, shell, n.Vars()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func base() environ {
	return environ{"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": "/opt/mine/lib", "HOME": "/nonexistent"}
}

// What is printed gives the environment that the SDK's own script gives, sourced by a real bash, wherever the SDK is.
func TestLikeTheScripts(t *testing.T) {
	for _, place := range []string{"plain", hostile} {
		dir := filepath.Join(t.TempDir(), place)
		for _, c := range []struct {
			name, script string
			more         []string // what no script sets, and makefiles want
		}{
			{"qairt", ". bin/envsetup.sh", nil},
			{"hexagon", ". ./setup_sdk_env.source", []string{"HEXAGON_TOOLS_ROOT"}},
		} {
			root := unpack(t, dir, c.name, "")
			for _, e := range []environ{base(), {"PATH": "/usr/bin:/bin"}} {
				want := e.shell(t, root, c.script)
				got := e.shell(t, "/", e.with(t, "bash", c.name, root))
				for _, name := range c.more {
					if got[name] == "" {
						t.Errorf("%s: no %s", c.name, name)
					}
					delete(got, name)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s in %q, not as %s (-script +hexmage):\n%s", c.name, place, c.script, d)
				}
				if len(want) <= len(e)+1 {
					t.Errorf("%s: the script set next to nothing: %v", c.name, want)
				}
			}
		}
	}
}

// The SDK has what one of Qualcomm's whole releases has: then the script sets more.
func TestWholeSDK(t *testing.T) {
	root := unpack(t, t.TempDir(), "qairt", "")
	for _, dir := range []string{"include/SNPE", "bin/x86_64-linux-clang/hexagon-tools"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	e := base()
	got := e.shell(t, "/", e.with(t, "bash", "qairt", root))
	if got["SNPE_ROOT"] != root || got["HEXAGON_TOOLS_DIR"] == "" {
		t.Errorf("%v", got)
	}
	if want := e.shell(t, root, ". bin/envsetup.sh"); want["SNPE_ROOT"] != root {
		t.Errorf("the script: %v", want)
	}
}

// Doing it twice changes nothing, and another release takes the place of what an earlier one left, also where vendors'
// scripts have piled up several.
func TestAgainAndOtherReleases(t *testing.T) {
	dir := t.TempDir()
	old, now, hexagon := unpack(t, dir, "qairt", "2.31.0.250130"), unpack(t, dir, "qairt", "2.41.0.251128"), unpack(t, dir, "hexagon", "")
	e := base()
	once := e.shell(t, "/", e.with(t, "bash", "qairt", now, "hexagon", hexagon))
	if d := cmp.Diff(once, once.shell(t, "/", once.with(t, "bash", "qairt", now, "hexagon", hexagon))); d != "" {
		t.Errorf("twice (-once +twice):\n%s", d)
	}
	if want := now + "/lib/x86_64-linux-clang:/opt/mine/lib"; once["LD_LIBRARY_PATH"] != want {
		t.Errorf("LD_LIBRARY_PATH=%s, want %s", once["LD_LIBRARY_PATH"], want)
	}
	// Qualcomm's way: one after the other, and with the empty entry that it leaves.
	piled := e.shell(t, old, ". bin/envsetup.sh; cd '"+now+"'; . bin/envsetup.sh; PYTHONPATH=$PYTHONPATH:; cd '"+old+"'; . bin/envsetup.sh")
	if !strings.Contains(piled["PATH"], old) || !strings.Contains(piled["PATH"], now) {
		t.Fatalf("nothing piled up: %v", piled)
	}
	if d := cmp.Diff(once, piled.shell(t, "/", piled.with(t, "bash", "qairt", now, "hexagon", hexagon))); d != "" {
		t.Errorf("after others (-fresh +after):\n%s", d)
	}
	// The folder of the earlier release may be gone; the variables still name it.
	back := once.shell(t, "/", once.with(t, "bash", "qairt", old))
	if err := os.RemoveAll(old); err != nil {
		t.Fatal(err)
	}
	again := back.shell(t, "/", back.with(t, "bash", "qairt", now))
	if d := cmp.Diff(once, again); d != "" {
		t.Errorf("after one that is gone (-fresh +after):\n%s", d)
	}
}

// Every shell that is here reads back what was written for it; for the others it is known what must be written.
func TestShells(t *testing.T) {
	e := base()
	n := sdkenv.New(func(name string) string { return e[name] })
	if err := n.Add("x", hostile, []toolchains.EnvValue{{Name: "ROOT", Value: hostile, Tails: []string{""}},
		{Name: "MYPATH", Value: hostile + "/bin:" + hostile + "/sbin", Prepend: true, Tails: []string{"/bin", "/sbin"}}}); err != nil {
		t.Fatal(err)
	}
	n.Set("EMPTY", "")
	tried := 0
	for _, shell := range [][]string{{"bash", "--norc", "-c"}, {"sh", "-c"}, {"zsh", "-f", "-c"}, {"fish", "--no-config", "-c"}} {
		var b strings.Builder
		if err := sdkenv.Write(&b, shell[0], n.Vars()); err != nil {
			t.Fatal(err)
		}
		if _, err := exec.LookPath(shell[0]); err != nil {
			t.Logf("%s is not here", shell[0])
			continue
		}
		tried++
		got := e.shell(t, "/", b.String(), shell...)
		if got["ROOT"] != hostile || got["MYPATH"] != hostile+"/bin:"+hostile+"/sbin" || got["EMPTY"] != "" {
			t.Errorf("%s: %q", shell[0], got)
		}
	}
	if tried < 2 {
		t.Errorf("%d shells are here: bash and sh at least", tried)
	}
	for shell, want := range map[string]string{
		"fish": `set -gx V 'a\'b\\c$d'` + "\n" + `set -gx XPATH '/1' '/2'` + "\n",
	} {
		var b strings.Builder
		vars := []sdkenv.Var{{Name: "V", Value: `a'b\c$d`}, {Name: "XPATH", Value: "/1:/2", List: true}}
		if err := sdkenv.Write(&b, shell, vars); err != nil || b.String() != want {
			t.Errorf("%s: %q, %v; want %q", shell, b.String(), err, want)
		}
	}
	var b strings.Builder
	if err := sdkenv.Write(&b, "tcsh", nil); err == nil || !strings.Contains(err.Error(), "bash") {
		t.Errorf("an unknown shell: %v", err)
	}
}

func TestRefused(t *testing.T) {
	n := sdkenv.New(func(string) string { return "" })
	for _, c := range []struct {
		root, says string
		v          toolchains.EnvValue
	}{
		{"/a:b", "move the SDK", toolchains.EnvValue{Name: "PATH", Value: "/a:b/bin", Prepend: true}},
		{"/a", "invalid variable name", toolchains.EnvValue{Name: "A;rm -rf", Value: "x"}},
		{"/a", "zero byte", toolchains.EnvValue{Name: "A", Value: "x\x00"}},
	} {
		if err := n.Add("x", c.root, []toolchains.EnvValue{c.v}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.v, err, c.says)
		}
	}
}
