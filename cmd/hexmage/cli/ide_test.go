//go:build linux

package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// TestClangd: clangd, as Debian has it, opens every source of the example op package without an error, by what
// `hexmage ide` writes for the pipeline on profile simulated: entries for the arch of its target first, whose folders
// are all there.
func TestClangd(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, home := t.TempDir(), t.TempDir()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(home, "cache")
	for to, from := range map[string]string{dir: filepath.Join("..", "..", "..", "examples", "oppackage-only"),
		filepath.Join(cache, "v3", "downloads"): toolchaintest.Downloads(t)} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	hexmage := func(args ...string) (int, string) {
		var out bytes.Buffer
		env := cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: dir, Self: self,
			Vars: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "HEXMAGE_CACHE=" + cache}}
		return cli.Main(append([]string{"hexmage"}, args...), env), out.String()
	}
	if code, out := hexmage("ide", "clip", "--pipeline", "clip"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, out)
	}
	database := filepath.Join(dir, "clip", ".hexmage")
	b, err := os.ReadFile(filepath.Join(database, "compile_commands.json"))
	var entries []struct {
		Directory, File string
		Arguments       []string
	}
	if err == nil {
		err = json.Unmarshal(b, &entries)
	}
	if err != nil || len(entries) < 4 {
		t.Fatalf("%v: %s", err, b)
	}
	if first := strings.Join(entries[0].Arguments, " "); !strings.Contains(first, "-mv79") {
		t.Errorf("the first entry is not for the target's arch: %s", first)
	}
	sources := map[string]bool{}
	for _, e := range entries {
		sources[filepath.Join(e.Directory, e.File)] = true
		for i, word := range e.Arguments {
			at := strings.TrimPrefix(word, "-I")
			if i > 0 && e.Arguments[i-1] == "-isystem" || at != word {
				if !filepath.IsAbs(at) {
					at = filepath.Join(e.Directory, at)
				}
				// which a package may lack
				if _, err := os.Stat(at); err != nil && !strings.HasPrefix(at, filepath.Join(dir, "clip", "include")) {
					t.Errorf("%s: %v", e.File, err)
				}
			}
		}
	}
	clangd := toolchaintest.Path(t, "clangd", "usr/bin/clangd-22")
	for source := range sources {
		cmd := exec.CommandContext(t.Context(), clangd, "--check="+source, "--compile-commands-dir="+database)
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "All checks completed, 0 errors") {
			t.Errorf("%s: %v\n%s", source, err, out)
		}
	}
	// That the check sees what is wrong: a header that is not there.
	broken := filepath.Join(dir, "clip", "src", "ops", "Clip.cpp")
	text, err := os.ReadFile(broken)
	if err == nil {
		err = os.WriteFile(broken, append([]byte("#include \"nosuch.h\"\n"), text...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), clangd, "--check="+broken, "--compile-commands-dir="+database)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "nosuch.h") {
		t.Errorf("a missing header is no error: %v\n%s", err, out)
	}
	// A target that the pipeline has no toolchain for is refused, and left out where nobody has asked for it.
	pipeline := filepath.Join(dir, "pipelines", "clip.hcl")
	text, err = os.ReadFile(pipeline)
	if err == nil {
		less := strings.NewReplacer("toolchain \"ndk\" { version = \"r28b\" }\n", "", "\"htp_aarch64\", ",
			"").Replace(string(text))
		before, after, _ := strings.Cut(less, "step \"makefile\"")
		_, after, _ = strings.Cut(after, "\n}\n")
		before2, after2, _ := strings.Cut(after, "output \"makefile\"")
		_, after2, _ = strings.Cut(after2, "\n}\n")
		err = os.WriteFile(pipeline, []byte(before+before2+after2), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if code, out := hexmage("ide", "clip", "--pipeline", "clip", "--arch", "htp_aarch64"); code != cli.ExitUsage ||
		!strings.Contains(out, "pipeline clip lacks toolchain ndk, which compiles target htp_aarch64") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, out := hexmage("ide", "clip", "--pipeline", "clip"); code != cli.ExitOK {
		t.Errorf("exit code %d: %s", code, out)
	}
	if b, err = os.ReadFile(filepath.Join(database, "compile_commands.json")); err != nil ||
		bytes.Contains(b, []byte("android")) || !bytes.Contains(b, []byte("-mv79")) {
		t.Errorf("%v: %s", err, b)
	}
}
