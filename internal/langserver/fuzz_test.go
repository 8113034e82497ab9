package langserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/langserver"
)

// FuzzRequests: no text and no position makes a request panic.
func FuzzRequests(f *testing.F) {
	for _, text := range []string{pipeline, module, "step \"exec\" \"y\" {\n  argv = [step.", "a = <<E\n${", "locals { a = [for x in", "\"${\"${\"${", "x\r\n𝄞{", "profile \"p\" { variables = { a = ", "output \"x\" { value = step.exec.gen[", "a = b[*].c[0"} {
		for _, offset := range []uint{0, uint(len(text) / 2), uint(len(text))} {
			f.Add(text, offset)
		}
	}
	f.Fuzz(func(t *testing.T, text string, offset uint) {
		var log strings.Builder
		h := host()
		h.Log = &log
		s := langserver.NewRequests(h)
		before := text[:offset%uint(len(text)+1)]
		at := position{strings.Count(before, "\n"), len(before) - strings.LastIndex(before, "\n") - 1}
		uri := "file:///w/pipelines/p.hcl"
		s.Ask("textDocument/didOpen", marshal(t, map[string]any{"textDocument": map[string]any{"uri": uri, "text": text}}))
		for _, method := range []string{"formatting", "completion", "hover", "definition"} {
			_, err := s.Ask("textDocument/"+method, marshal(t, map[string]any{"textDocument": map[string]any{"uri": uri}, "position": map[string]any{"line": at.Line, "character": at.Character}}))
			if err != nil && strings.Contains(err.Error(), "internal error") {
				t.Fatalf("%s: %v\n%s", method, err, log.String())
			}
		}
	})
}

func marshal(t *testing.T, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
