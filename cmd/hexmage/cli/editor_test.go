//go:build linux

package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// greet has a mistake: a step of another name. The line of the reference is the 22nd, counted from 1.
const greet = `pipeline { description = "says hello" }
profile "simulated" { default = true }
target "SM8750" {}

toolchain "qairt" {
  version = "2.41.0.251128"
}

variable "who" {
  type        = string
  default     = "you"
  description = "who is greeted"
}

step "exec" "hello" {
  argv = ["echo", "hello ${var.who}"]
  output "text" { file = "text" }
}

step "exec" "upper" {
  # in capitals
  argv = ["tr", "a-z", "A-Z", step.exec.helo.outputs.text]
  output "text" { file = "text" }
}

output "text" { value = step.exec.upper.outputs.text }
`

// TestNeovim: Debian's Neovim shows the diagnostics of an unsaved text, completes, explains, finds definitions and
// formats.
func TestNeovim(t *testing.T) {
	root := toolchaintest.Root(t, "neovim")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "pipelines", "greet.hcl")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(greet), 0o644); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join("testdata", "editor", "session.lua"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "editor.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```lua\n")
	block, _, ok := strings.Cut(block, "```\n")
	config := filepath.Join(dir, "init.lua")
	if err := os.WriteFile(config, []byte(block), 0o644); err != nil || !ok {
		t.Fatalf("docs/editor.md has no configuration (%v)", err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "usr", "bin", "nvim"), "--headless", "--clean", "-n",
		"-c", "luafile "+config, "-c", "luafile "+script)
	cmd.Env = append(os.Environ(), "ROOT="+dir, "VIMRUNTIME="+filepath.Join(root, "usr", "share", "nvim", "runtime"),
		"LD_LIBRARY_PATH="+filepath.Join(root, "usr", "lib", "x86_64-linux-gnu"), "HOME="+dir,
		"XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "XDG_STATE_HOME="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("nvim: %v\n%s%s", err, out, stderr.Bytes())
	}
	seen := map[string]json.RawMessage{}
	for line := range strings.Lines(string(out)) {
		var one struct {
			What  string
			Value json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		seen[one.What] = one.Value
	}
	if seen["failed"] != nil || seen["ended"] == nil {
		t.Fatalf("the session failed: %s\n%s\n%s", seen["failed"], stderr.Bytes(), out)
	}
	get := func(what string, to any) {
		t.Helper()
		if err := json.Unmarshal(seen[what], to); err != nil {
			t.Fatalf("%s: %v: %s", what, err, seen[what])
		}
	}
	var told []struct {
		Line, Column, Last, Severity int
		Message                      string
	}
	get("told", &told)
	wrong := "Unknown step: step.exec.helo does not exist. Did you mean step.exec.hello?"
	at := strings.Index(strings.Split(greet, "\n")[21], "step.exec")
	if len(told) != 1 || told[0].Line != 21 || told[0].Column != at ||
		told[0].Last != at+len("step.exec.helo.outputs.text") || told[0].Severity != 1 || told[0].Message != wrong {
		t.Errorf("told is %+v", told)
	}
	for what, want := range map[string]string{"kinds": "exec oppackage", "arguments": "stdin env for_each output",
		"steps": "hello upper", "targets": "SM8750 SM8650", "versions": "2.41.0.251128 2.42.0.251225"} {
		var words []string
		get(what, &words)
		for _, w := range strings.Fields(want) {
			if !slices.ContainsFunc(words, func(have string) bool { return strings.TrimSuffix(have, " = ") == w }) {
				t.Errorf("of %s %s is not offered, but %q", what, w, words)
			}
		}
	}
	var versions []string
	if get("versions", &versions); slices.Index(versions, "2.42.0.251225") > slices.Index(versions, "2.41.0.251128") {
		t.Errorf("the newest release does not come first: %q", versions)
	}
	for place, want := range map[string]string{"exec": "step \"exec\"", "argv": "required", "SM8750": "v79",
		"qairt": "Qualcomm AI Runtime", "var.who": "who is greeted"} {
		var text string
		if get("hover "+place, &text); !strings.Contains(text, want) {
			t.Errorf("of %s is said %q, not %q", place, text, want)
		}
	}
	if got, want := string(seen["definition"]), `["step \"exec\" \"hello\" {",0]`; got != want {
		t.Errorf("the definition is at %s, not %s", got, want)
	}
	mended := strings.Replace(greet, "helo", "hello", 1)
	for what, want := range map[string]string{"mended": mended, "formatted": mended} {
		var lines []string
		if get(what, &lines); strings.Join(lines, "\n")+"\n" != want {
			t.Errorf("%s it is\n%s", what, strings.Join(lines, "\n"))
		}
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != greet {
		t.Errorf("the file was written to: %v\n%s", err, now)
	}
}
