package langserver_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/langserver"
)

// FuzzRequests: no text and no position makes a request panic.
func FuzzRequests(f *testing.F) {
	for _, text := range []string{
		pipeline, module, "step \"exec\" \"y\" {\n  argv = [step.", "a = <<E\n${", "locals { a = [for x in",
		"\"${\"${\"${",
		"x\r\n𝄞{", "profile \"p\" { variables = { a = ", "output \"x\" { value = step.exec.gen[", "a = b[*].c[0",
		"module \"m\" { source = \"../..\" }", "}])\"", "{ \"a\" { /* b */ c d { e = ",
	} {
		for i := range len(text) / 9 {
			f.Add(text, uint(i*9), uint(len(text)))
			f.Add(text, uint(i*9), uint(i*9+3))
		}
		f.Add(text, uint(len(text)), uint(len(text)))
	}
	f.Fuzz(func(t *testing.T, text string, offset, size uint) {
		text = text[:min(size, uint(len(text)))]
		before := text[:offset%uint(len(text)+1)]
		at := position{strings.Count(before, "\n"), len(before) - strings.LastIndex(before, "\n") - 1}
		ask(t, text, at)
	})
}

// ask sends all requests about a text, none of which may panic.
func ask(t *testing.T, text string, at position) {
	t.Helper()
	var log strings.Builder
	h := host()
	h.Log = &log
	s := langserver.NewRequests(h)
	document := map[string]any{"uri": "file:///w/pipelines/p.hcl", "text": text}
	place := map[string]any{"line": at.Line, "character": at.Character}
	for _, method := range []string{"didOpen", "completion", "hover", "definition", "formatting"} {
		params, err := json.Marshal(map[string]any{"textDocument": document, "position": place})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Ask("textDocument/"+method, params)
		if err != nil && strings.Contains(err.Error(), "internal error") {
			t.Fatalf("%s: %v\n%s", method, err, log.String())
		}
	}
}

// Large and hostile texts and impossible positions take little time.
func TestHostile(t *testing.T) {
	for _, part := range []string{
		"{}", "a {", "{", "\"", "x ", "a.", "a = {\n", "\n", "${", "\"${", "/*", "module \"a\" { source = \"../a\" }\n",
	} {
		text := strings.Repeat(part, (1<<14)/len(part))
		lines := strings.Count(text, "\n")
		for _, at := range []position{{-1, -1}, {lines, len(text)}} {
			start := time.Now()
			ask(t, text, at)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("%q at %v takes %v", part, at, took)
			}
		}
	}
}
