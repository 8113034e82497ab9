package verify_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/toolchains/verify"
)

// TestRecord: the files of a wheel are compared with the list of them that it has in itself.
func TestRecord(t *testing.T) {
	const info = "demo-1.dist-info/"
	row := func(name, body string) string {
		sum := sha256.Sum256([]byte(body))
		return fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(body))
	}
	whole := func() map[string]string {
		files := map[string]string{"demo/a.py": "a", "demo/b,c.py": "bc", info + "METADATA": "Name: demo"}
		files[info+"RECORD"] = row("demo/a.py", "a") + strings.Replace(row("demo/b,c.py", "bc"), "demo/b,c.py", `"demo/b,c.py"`, 1) + row(info+"METADATA", "Name: demo") + info + "RECORD,,\n../../bin/demo,sha256=AA,1\n"
		return files
	}
	for name, x := range map[string]struct {
		change func(files map[string]string)
		says   string
	}{
		"whole":     {func(map[string]string) {}, ""},
		"flipped":   {func(f map[string]string) { f["demo/b,c.py"] = "bd" }, "demo/b,c.py: found another file"},
		"missing":   {func(f map[string]string) { delete(f, "demo/a.py") }, "demo/a.py: found nothing"},
		"size":      {func(f map[string]string) { f[info+"RECORD"] = strings.Replace(f[info+"RECORD"], ",1\n", ",2\n", 1) }, "found 1 bytes, want 2"},
		"no record": {func(f map[string]string) { delete(f, info+"RECORD") }, "found nothing, want the list"},
		"damaged":   {func(f map[string]string) { f[info+"RECORD"] += "x,y\n" }, "a list that is damaged"},
	} {
		files := whole()
		x.change(files)
		err := verify.Tree(t.Context(), tree(t, files), verify.Checks{Record: true})
		if x.says == "" && err != nil || x.says != "" && (err == nil || !strings.Contains(err.Error(), x.says)) {
			t.Errorf("%s: %v, want %q", name, err, x.says)
		}
		if err := verify.Tree(t.Context(), tree(t, files), verify.Checks{}); (err != nil) != (x.says != "" && name != "no record") {
			t.Errorf("%s, where no check asks for it: %v", name, err)
		}
	}
}
