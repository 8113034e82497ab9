package langserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/langserver"
)

// FuzzRequests: whatever stands in a file, and wherever one asks, each request has an answer, and none is a mistake of the server's.
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
		for _, method := range []string{"formatting", "completion", "hover", "definition", "prepareRename", "rename"} {
			_, err := s.Ask("textDocument/"+method, marshal(t, map[string]any{"textDocument": map[string]any{"uri": uri}, "position": map[string]any{"line": at.Line, "character": at.Character}, "newName": "x"}))
			if err != nil && strings.Contains(err.Error(), "mistake in hexmage") {
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
