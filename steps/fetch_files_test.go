package steps_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/steps"
)

// TestFetchFiles: a model's files come from a mirror where the first address has them not, go on where they were cut off, and are held to their digests.
func TestFetchFiles(t *testing.T) {
	files := map[string]string{"config.json": "{}", "sub/model 1.safetensors": strings.Repeat("weights ", 100_000)}
	var cut, resumed int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := strings.CutPrefix(r.URL.Path, "/mirror/")
		text := files[name]
		if !ok || text == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Accept-Ranges", "bytes")
		from, ranged := strings.CutPrefix(r.Header.Get("Range"), "bytes=")
		at, _ := strconv.Atoi(strings.TrimSuffix(from, "-"))
		w.Header().Set("Content-Length", strconv.Itoa(len(text)-at))
		if ranged {
			w.Header().Set("Content-Range", "bytes "+strconv.Itoa(at)+"-"+strconv.Itoa(len(text)-1)+"/"+strconv.Itoa(len(text)))
			w.WriteHeader(http.StatusPartialContent)
		}
		if at > 0 {
			resumed++
		} else if len(text) > 1000 && cut == 0 {
			cut++
			_, _ = w.Write([]byte(text[:len(text)/2])) // and the connection ends
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte(text[at:]))
	}))
	defer server.Close()
	sums := map[string]cty.Value{}
	for name, text := range files {
		sum := sha256.Sum256([]byte(text))
		sums[name] = cty.StringVal(hex.EncodeToString(sum[:]))
	}
	k := steps.Workspace{}.Kinds()["fetch"]
	request := func(files map[string]cty.Value) map[string]cty.Value {
		return map[string]cty.Value{"url": cty.StringVal(server.URL + "/gone"), "mirrors": cty.ListVal([]cty.Value{cty.StringVal(server.URL + "/mirror/")}), "files": cty.MapVal(files)}
	}
	p, diags := k.Plan(fetchRequest(k, "fetch", "model", "host", request(sums)))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if _, ok := p.Outputs["file"]; ok {
		t.Error("output file is planned for several files")
	}
	dirs := perform(t, p)
	if parts := p.Outputs["dir"].Parts; len(parts) != len(files) {
		t.Errorf("%d files", len(parts))
	}
	for name, text := range files {
		if got, err := os.ReadFile(filepath.Join(dirs[name], "file")); err != nil || string(got) != text {
			t.Errorf("%s has %d bytes, %v", name, len(got), err)
		}
	}
	if cut != 1 || resumed == 0 {
		t.Errorf("cut off %d times, gone on %d times", cut, resumed)
	}
	for name, sum := range map[string]string{"../x": strings.Repeat("0", 64), "/x": strings.Repeat("0", 64), "x": "no"} {
		if _, diags := k.Plan(fetchRequest(k, "fetch", "model", "host", request(map[string]cty.Value{name: cty.StringVal(sum)}))); !diags.HasErrors() {
			t.Errorf("%q = %q is planned", name, sum)
		}
	}
	zero := cty.StringVal(strings.Repeat("0", 64))
	if _, diags := k.Plan(fetchRequest(k, "fetch", "model", "host", request(map[string]cty.Value{"a": zero, "a/b/c": zero}))); !diags.HasErrors() {
		t.Error("a file is a folder, too")
	}
	for name, with := range map[string]map[string]cty.Value{
		"two kinds of digests": {"sha256": zero}, "an archive": {"unpack": cty.True}, "a program": {"executable": cty.True},
	} {
		args := request(sums)
		for argument, v := range with {
			args[argument] = v
		}
		if _, diags := k.Plan(fetchRequest(k, "fetch", "model", "host", args)); !diags.HasErrors() {
			t.Errorf("%s: several files are planned", name)
		}
	}
	if _, diags := k.Plan(fetchRequest(k, "fetch", "x", "host", map[string]cty.Value{"url": cty.StringVal("https://example.com/x")})); !diags.HasErrors() {
		t.Error("a file without a digest is planned")
	}
	query := request(map[string]cty.Value{"a": zero})
	query["url"] = cty.StringVal("https://example.com/m?download=true")
	if _, diags := k.Plan(fetchRequest(k, "fetch", "model", "host", query)); !diags.HasErrors() {
		t.Error("names follow a query")
	}
}
