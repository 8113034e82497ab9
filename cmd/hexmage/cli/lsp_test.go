package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// told takes what a server says of files.
type told chan struct {
	URI         string
	Diagnostics []struct {
		Severity int
		Message  string
		Range    struct{ Start struct{ Line, Character int } }
	}
}

func (c told) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	one := struct {
		URI         string
		Diagnostics []struct {
			Severity int
			Message  string
			Range    struct{ Start struct{ Line, Character int } }
		}
	}{}
	if r.Method == "textDocument/publishDiagnostics" && json.Unmarshal(*r.Params, &one) == nil {
		c <- one
	}
}

// pipe is the connection to a process.
type pipe struct {
	io.Reader
	io.WriteCloser
}

// TestLSPSaysWhatValidateSays: what an editor is told of a text that is not saved is what `hexmage validate` says of
// it when it is.
func TestLSPSaysWhatValidateSays(t *testing.T) {
	const right = "pipeline {}\n"
	for name, tt := range map[string]struct {
		files map[string]string // as they are on disk, right
		open  string            // the one that is open
		text  string            // with a mistake
		line  int               // from 0, of the first that is told
		other string            // another file, which has the mistake
	}{
		"a block": {files: map[string]string{"pipelines/p.hcl": right}, open: "pipelines/p.hcl",
			text: right + "stepp \"a\" \"b\" {}\n", line: 1},
		"syntax": {files: map[string]string{"pipelines/p.hcl": right}, open: "pipelines/p.hcl",
			text: right + "locals {\n  a = [\n}\n", line: 3},
		"a SoC": {files: map[string]string{"pipelines/p.hcl": right}, open: "pipelines/p.hcl",
			text: right + "target \"SM8751\" {}\noutput \"x\" { value = target.arch }\n", line: 1},
		"a release": {files: map[string]string{"pipelines/p.hcl": right}, open: "pipelines/p.hcl",
			text: right + "toolchain \"qairt\" {\n  version = \"2.41.0.1\"\n}\noutput \"x\" { value = " +
				"toolchain.qairt.dir }\n", line: 2},
		"in a profile": {files: map[string]string{"pipelines/p.hcl": right}, open: "pipelines/p.hcl",
			text: "profile \"a\" { default = true }\nprofile \"b\" {\n  step \"exec\" \"x\" { argv = local.none }\n" +
				"}\n", line: 2},
		"a kind": {files: map[string]string{"pipelines/p/a.hcl": right,
			"pipelines/p/b.hcl": "locals { a = 1 }\n"}, open: "pipelines/p/b.hcl", text: "step \"exce\" \"x\" {}\n"},
		"a module": {files: map[string]string{"pipelines/p.hcl": "module \"m\" { source = \"m\" }\n",
			"modules/m/main.hcl": "variable \"x\" { default = 1 }\n"}, open: "modules/m/main.hcl",
			text: "variable \"y\" { default = 1 }\noutput \"z\" { value = var.x }\n", line: 1},
		"a call": {files: map[string]string{"pipelines/p.hcl": "module \"m\" {\n  source = \"m\"\n  x    " +
			"  = 1\n}\n", "modules/m/main.hcl": "variable \"x\" { default = 1 }\n"}, open: "modules/m/main.hcl",
			text: "variable \"y\" { default = 1 }\n", line: 2, other: "pipelines/p.hcl"},
		"a shipped module": {files: map[string]string{"pipelines/p.hcl": right}, open: "pipelines/p.hcl",
			text: "profile \"simulated\" { default = true }\ntarget \"SM8750\" {}\ntoolchain \"qairt\" {}\ntoolchain " +
				"\"hexagon\" {}\ntoolchain \"ndk\" {}\nmodule \"m\" {\n  source = \"mllm-aot\"\n  modle  = 1\n}\n",
			line: 7},
		"a module with a git address": {files: map[string]string{"pipelines/p.hcl": right}, open: "pipelines/p.hcl",
			text: right + "module \"m\" { source = \"git::https://git.example.com/m.git?ref=v1\" }\n", line: 1},
		"values": {files: map[string]string{"pipelines/p.hcl": "variable \"x\" { type = number }\n",
			"pipelines/p.hexvars.hcl": "x = 1\n"}, open: "pipelines/p.hexvars.hcl", text: "x = 1\ny = 2\n", line: 1},
		"the catalog": {files: map[string]string{"pipelines/p.hcl": "target \"SM8750\" {}\noutput \"x\" { value " +
			"= target.arch }\n", "toolchains/own.hcl": "\n"}, open: "toolchains/own.hcl",
			text: "soc \"X1\" {\n  arhc = \"v79\"\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			put := func(name, text string) {
				t.Helper()
				at := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range tt.files {
				put(name, text)
			}
			env := append(os.Environ(), "HEXMAGE_CACHE="+filepath.Join(dir, "cache"))
			messages := session(t, dir, env, tt.open, tt.text, tt.other, tt.line)
			put(tt.open, tt.text)
			validate := exec.CommandContext(t.Context(), binary(t), "validate", "p")
			validate.Dir, validate.Env = dir, env
			said, err := validate.CombinedOutput()
			if err == nil {
				t.Fatalf("validate finds nothing:\n%s", said)
			}
			plain := func(s string) string { return strings.NewReplacer(" ", "", "\n", "", "│", "").Replace(s) }
			for _, m := range messages {
				summary, detail, _ := strings.Cut(m, ": ")
				if !strings.Contains(plain(string(said)), plain(summary)) ||
					!strings.Contains(plain(string(said)), plain(detail)) {
					t.Errorf("the editor is told %q, and validate says\n%s", m, said)
				}
			}
			if n := strings.Count(string(said), "Error: "); n > 0 && n != len(messages) {
				t.Errorf("validate says %d mistakes, the editor %q:\n%s", n, messages, said)
			}
		})
	}
}

// session opens a file with a text in a server, waits for a mistake in it, or in another file, and ends the server.
func session(t *testing.T, dir string, env []string, open, text, other string, line int) (messages []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary(t), "lsp")
	cmd.Env = env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	all := make(told, 100)
	conn := jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(pipe{out, in}, jsonrpc2.VSCodeObjectCodec{}), all)
	uri := func(name string) string {
		return (&url.URL{Scheme: "file", Path: filepath.Join(dir, name)}).String()
	}
	if err := conn.Call(ctx, "initialize", map[string]any{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := conn.Notify(ctx, "textDocument/didOpen",
		map[string]any{"textDocument": map[string]any{"uri": uri(open), "version": 1, "text": text}}); err != nil {
		t.Fatal(err)
	}
	where := open
	if other != "" {
		where = other
	}
	for messages == nil {
		select {
		case p := <-all:
			for _, d := range p.Diagnostics {
				if p.URI != uri(where) || d.Range.Start.Line != line && len(messages) == 0 {
					t.Errorf("told is of line %d of %s: %s", d.Range.Start.Line, p.URI, d.Message)
				}
				messages = append(messages, d.Message)
			}
		case <-ctx.Done():
			t.Fatalf("nothing is told of %s\n%s", where, stderr.Bytes())
		}
	}
	if err := conn.Call(ctx, "shutdown", nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := conn.Notify(ctx, "exit", nil); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("the server ends with %v\n%s", err, stderr.Bytes())
	}
	return messages
}

// TestLSPLeavesAllAsItIs: nothing runs and no file changes.
func TestLSPLeavesAllAsItIs(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"pipelines/p.hcl": "step \"exec\" \"x\" {\n  argv = [\"touch\", \"x\"]\n  output \"x\" { file = \"x\" }\n}\n",
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cache := t.TempDir()
	env := append(os.Environ(), "HEXMAGE_CACHE="+cache)
	session(t, dir, env, "pipelines/p.hcl", files["pipelines/p.hcl"]+"step \"no\" \"x\" {}\n", "", 4)
	found := 0
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found++
		rel, _ := filepath.Rel(dir, p)
		if b, err := os.ReadFile(p); err != nil || string(b) != files[filepath.ToSlash(rel)] {
			t.Errorf("%s is %q (%v)", rel, b, err)
		}
		return nil
	})
	if err != nil || found != len(files) {
		t.Errorf("of %d files there are %d (%v)", len(files), found, err)
	}
	for _, name := range []string{"results", "blake3"} {
		if _, err := os.Stat(filepath.Join(cache, "v3", name)); err == nil {
			t.Errorf("the cache has %s: something ran", name)
		}
	}
}

// A server whose editor goes away without a word ends, and says so.
func TestLSPAlone(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), binary(t), "lsp")
	cmd.Env = append(os.Environ(), "HEXMAGE_CACHE="+t.TempDir())
	cmd.Stdin = strings.NewReader("Content-Length: 2\r\n\r\n{}")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 ||
		!strings.Contains(string(out), "hexmage: the editor disconnected without a shutdown request") {
		t.Errorf("it ends with %v\n%s", err, out)
	}
}
