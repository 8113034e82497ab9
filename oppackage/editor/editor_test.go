package editor_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

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

func TestVSCode(t *testing.T) {
	settings := editor.Settings("pkg")
	out, kept, err := editor.VSCode(nil, settings, false)
	if err != nil || kept != nil || !strings.Contains(string(out), `"clangd.arguments": [`) || !strings.Contains(string(out), "${workspaceFolder}/pkg/.hexmage") {
		t.Fatalf("%v, %v\n%s", kept, err, out)
	}
	if again, _, err := editor.VSCode(out, settings, false); err != nil || string(again) != string(out) {
		t.Errorf("again: %v\n%s", err, again)
	}
	own := "{\n  \"z\": 1,\n  \"clangd.arguments\": [\"--mine\"],\n  \"a\": {\"b\": [1, 2]}\n}\n"
	out, kept, err = editor.VSCode([]byte(own), settings, false)
	if err != nil || len(kept) != 1 || kept[0] != "clangd.arguments" || !strings.Contains(string(out), "--mine") || !strings.Contains(string(out), "C_Cpp.default") {
		t.Errorf("%v, %v\n%s", kept, err, out)
	}
	if z, a := strings.Index(string(out), `"z"`), strings.Index(string(out), `"a"`); z < 0 || a < z {
		t.Errorf("the user's order is lost:\n%s", out)
	}
	if out, kept, err = editor.VSCode([]byte(own), settings, true); err != nil || len(kept) > 0 || strings.Contains(string(out), "--mine") {
		t.Errorf("forced: %v, %v\n%s", kept, err, out)
	}
	for _, bad := range []string{"[]", "{", "{a: 1}", "{} {}"} {
		if out, _, err := editor.VSCode([]byte(bad), settings, true); !errors.Is(err, editor.ErrNoSettings) {
			t.Errorf("%s: %v\n%s", bad, err, out)
		}
	}
}

// TestVSCodeComments: what people write into their settings stays to the byte, wherever it stands.
func TestVSCodeComments(t *testing.T) {
	one := []editor.Setting{{Name: "clangd.arguments", Value: []any{"--a"}}}
	for old, want := range map[string]string{
		"{\n\t// mine\n\t\"a\": 1, // one\n\t/* last */\n}\n": "{\n\t// mine\n\t\"a\": 1, // one\n\t/* last */\n\t\"clangd.arguments\": [\n\t  \"--a\"\n\t]\n}\n",
		"{\n  \"a\": 1 // one\n}":                             "{\n  \"a\": 1, // one\n  \"clangd.arguments\": [\n    \"--a\"\n  ]\n}",
		"{\n  \"a\": 1,\n}\n":                                 "{\n  \"a\": 1,\n  \"clangd.arguments\": [\n    \"--a\"\n  ]\n}\n",
		"// head\n{ // mine\n}\n// foot\n":                    "// head\n{ // mine\n  \"clangd.arguments\": [\n    \"--a\"\n  ]\n}\n// foot\n",
		"{\"a\":1}":                                           "{\"a\":1,\n  \"clangd.arguments\": [\n    \"--a\"\n  ]\n}",
		"{}":                                                  "{\n  \"clangd.arguments\": [\n    \"--a\"\n  ]\n}",
		"{\n  // as it is\n  \"clangd.arguments\": [ \"--a\", /* so */ ],\n}\n":     "{\n  // as it is\n  \"clangd.arguments\": [ \"--a\", /* so */ ],\n}\n",
		"{\n  // why\n  \"clangd.arguments\": [\"--b\"], // since\n  \"b\": 2\n}\n": "{\n  // why\n  \"clangd.arguments\": [\n    \"--a\"\n  ], // since\n  \"b\": 2\n}\n",
	} {
		out, kept, err := editor.VSCode([]byte(old), one, true)
		if err != nil || len(kept) > 0 || string(out) != want {
			t.Errorf("%s\nbecame (%v, %v)\n%s\nwant\n%s", old, kept, err, out, want)
		}
		if again, _, err := editor.VSCode(out, one, false); err != nil || string(again) != string(out) {
			t.Errorf("again: %v\n%s", err, again)
		}
	}
}

func FuzzVSCode(f *testing.F) {
	f.Add([]byte(`{"a": 1}`))
	f.Add([]byte("{ // mine\n\"a\": [1,], /* b */ }"))
	f.Fuzz(func(t *testing.T, old []byte) {
		out, _, err := editor.VSCode(old, editor.Settings(""), true)
		if err != nil {
			return
		}
		plain, err := hujson.Standardize(out)
		if err != nil || !json.Valid(plain) {
			t.Errorf("%q became %q (%v)", old, out, err)
		}
		if again, kept, err := editor.VSCode(out, editor.Settings(""), false); err != nil || len(kept) > 0 || string(again) != string(out) {
			t.Errorf("again %q became %q (%v, %v)", out, again, kept, err)
		}
	})
}
