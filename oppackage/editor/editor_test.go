package editor_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/editor"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// TestCommands has a plain clang, as clangd has inside, understand every entry with nothing but what the entry says.
func TestCommands(t *testing.T) {
	base := t.TempDir()
	sdktest.SDKs(t, filepath.Join(base, "sdk"))
	dir := filepath.Join(base, "pkg")
	sdktest.Write(t, dir, sdktest.Package())
	arches, err := sdktest.Targets(t).Select([]string{"htp_aarch64", "htp_v73", "htp_v79"})
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for f := range sdktest.Package() {
		files = append(files, f)
	}
	roots := oppackage.Roots{QAIRT: base + "/sdk/qairt", Hexagon: base + "/sdk/hexagon", Tools: sdktest.ToolsVersion, NDK: base + "/sdk/ndk"}
	data, err := editor.Commands(dir, editor.Order(arches), oppackage.Package{Name: "TestPackage", Files: files}, roots)
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct {
		Directory, File string
		Arguments       []string
	}
	if err := json.Unmarshal(data, &entries); err != nil {
		t.Fatal(err)
	}
	if len(entries) != 9 || !strings.Contains(strings.Join(entries[0].Arguments, " "), "-mv79") {
		t.Fatalf("%d entries, the first is %q", len(entries), entries[0].Arguments)
	}
	clang := toolchaintest.Path(t, "llvm", "usr/bin/clang-22")
	for _, e := range entries {
		args := append([]string{"--driver-mode=g++", "-fsyntax-only"}, e.Arguments[1:]...)
		cmd := exec.Command(clang, args...)
		cmd.Dir = e.Directory
		cmd.Env = []string{"PATH=/nowhere"}
		if err := os.MkdirAll(filepath.Join(dir, "build/hexagon-v79/ops"), 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(out), "unable to open output file") && !strings.Contains(string(out), "error opening") {
			t.Errorf("%s: %v\n%s\n%q", e.File, err, out, args)
		}
	}
}

func TestClangd(t *testing.T) {
	for name, old := range map[string]string{"none": "", "the user's": "CompileFlags:\n  Add: [-Wall]\n\n"} {
		first, err := editor.Clangd([]byte(old))
		if err != nil || !strings.Contains(string(first), "CompilationDatabase: .hexmage\n") || !strings.HasPrefix(string(first), strings.TrimRight(old, "\n")) {
			t.Errorf("%s: %v\n%s", name, err, first)
		}
		if old != "" && strings.Count(string(first), "\n---\n") != 1 {
			t.Errorf("%s: no fragment of its own:\n%s", name, first)
		}
		again, err := editor.Clangd(append(first, "# more\n"...))
		if err != nil || string(again) != string(first)+"# more\n" {
			t.Errorf("%s again: %v\n%s", name, err, again)
		}
	}
	if _, err := editor.Clangd([]byte("# hexmage ide: end\n")); err == nil {
		t.Error("half of ours was taken for the user's")
	}
}

func TestSettings(t *testing.T) {
	for folder, at := range map[string]string{"": "${workspaceFolder}/.hexmage", "pkg": "${workspaceFolder}/pkg/.hexmage"} {
		var got map[string]any
		text, err := editor.Settings(folder)
		if err := errors.Join(err, json.Unmarshal(text, &got)); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"C_Cpp.default.compileCommands": at + "/compile_commands.json",
			"clangd.arguments": []any{"--compile-commands-dir=" + at}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", folder, got, want)
		}
	}
}
