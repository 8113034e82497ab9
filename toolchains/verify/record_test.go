package verify_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/qnn/catalogfile"
	"github.com/hexmage/hexmage/qnn/catalogfile/catalogfiletest"
	"github.com/hexmage/hexmage/toolchains/verify"
)

// TestCatalogs: libraries are compared with what the catalog beside them says.
func TestCatalogs(t *testing.T) {
	member := func(name, body string) catalogfile.Member {
		return catalogfile.Member{Name: name, SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(body)))}
	}
	whole := func() map[string]string {
		return map[string]string{"lib/v79/libQnnHtpV79Skel.so": "skel", "lib/v79/libqnnhtpv79.cat": string(catalogfiletest.Make(t, member("libqnnhtpv79skel.so", "skel"), member("QnnHtp.dll", "x"))),
			"lib/v79/QnnHtp.dll": "of which a catalog has no digest of the whole", "lib/notes.cat": "a list of cats", "lib/v81/libQnnHtpV79Skel.so": "another folder's"}
	}
	for name, x := range map[string]struct {
		change func(files map[string]string)
		says   string
		signed int
	}{
		"whole":   {func(map[string]string) {}, "", 1},
		"flipped": {func(f map[string]string) { f["lib/v79/libQnnHtpV79Skel.so"] = "skil" }, "lib/v79/libQnnHtpV79Skel.so: found another file, want the one that its maker has signed in lib/v79/libqnnhtpv79.cat", 1},
		"no skel": {func(f map[string]string) { delete(f, "lib/v79/libQnnHtpV79Skel.so") }, "", 0},
		"damaged": {func(f map[string]string) { f["lib/v79/libqnnhtpv79.cat"] = f["lib/v79/libqnnhtpv79.cat"][:100] }, "lib/v79/libqnnhtpv79.cat: found it begins as signed data and is damaged", 0},
	} {
		files := whole()
		x.change(files)
		r, err := verify.Examine(t.Context(), tree(t, files), verify.Checks{})
		if err != nil || r.Checked.Signed != x.signed || x.says == "" && len(r.Problems) > 0 || x.says != "" && (len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Error(), x.says)) {
			t.Errorf("%s: %+v, %v, want %q", name, r, err, x.says)
		}
	}
}

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
