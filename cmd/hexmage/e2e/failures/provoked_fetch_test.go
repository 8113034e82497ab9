//go:build linux

package failures_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// fetchMistake is a real mistake on the way of an SDK to the machine.
type fetchMistake struct {
	id, mistake string
	send        http.HandlerFunc // nil: the file that is pinned
	source      string           // more lines of the toolchain's source
	flags       []string
}

func fetchMistakes(t *testing.T) []fetchMistake {
	other := Archive(t, Member{Name: "box-1/bin/box", Text: "#!/bin/sh\necho a bad\n"})
	return []fetchMistake{
		{id: "fetch-digest", mistake: "the server has another file than the one that is pinned",
			send: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(other) }},
		{id: "sdk-download", mistake: "the server sends a page in the place of the file",
			send: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, "<html><title>Please accept the license</title></html>")
			}},
		{id: "fetch-login", mistake: "the server wants a login, and there is none in ~/.netrc",
			send: func(w http.ResponseWriter,
				_ *http.Request) {
				http.Error(w, "who are you?", http.StatusUnauthorized)
			}},
		{id: "fetch-offline", mistake: "--offline, and the file was never fetched", flags: []string{"--offline"}},
		{id: "fetch-secret", mistake: "the source needs a secret that is not set",
			source: "      header \"Authorization\" {\n        variable = \"sdk_token\"\n        prefix   = " +
				"\"Bearer \"\n      }\n"},
	}
}

// TestProvokedFetch makes each of the mistakes with a real server.
func TestProvokedFetch(t *testing.T) {
	good := Archive(t, Member{Name: "box-1/bin/box", Text: "#!/bin/sh\necho a box\n"})
	cat := catalog(t)
	for _, m := range fetchMistakes(t) {
		t.Run(m.id+"/"+m.mistake, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if m.send != nil {
					m.send(w, r)
					return
				}
				_, _ = w.Write(good)
			}))
			defer srv.Close()
			w := NewWorld(t)
			writeBox(t, w, good, DigestOf(good))
			w.Edit(t, "toolchains/box.hcl", fmt.Sprintf(`      urls         = ["file://%s/box.tar.gz"]`+"\n", w.Dir),
				`      urls         = ["`+srv.URL+`/box.tar.gz"]`+"\n"+m.source)
			o := w.Run(t, append([]string{"run", "p"}, m.flags...)...)
			Wants(t, o, ExitFailed, "toolchain.box")
			diagnosed(t, cat, m.id, o)
			if left, _ := filepath.Glob(filepath.Join(w.Cache, "trees", "*")); len(left) > 0 {
				t.Errorf("half installed: %q", left)
			}
		})
	}
}
