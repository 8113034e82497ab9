package gc_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/gc"
)

// A cache may have any bytes anywhere: in results, blobs, messages, unpacked trees and files of state. Looking after it
// crashes on none; a result and a blob that are damaged are found and, once repaired, gone.
func FuzzCache(f *testing.F) {
	f.Add([]byte{}, uint8(0))
	f.Add([]byte("\n\x02a\x12"), uint8(1))
	f.Add([]byte("hexmage"), uint8(2))
	f.Add([]byte{0x0a, 0x0a, 0x0a, 0x42, 0, 0xff}, uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, where uint8) {
		c := open(t, t.TempDir())
		if _, err := c.build().Execute(t.Context(),
			&execute.Request{Action: newAction("dir/a=a", "dir/sub/b.sh=b", "f=f")}); err != nil {
			t.Fatal(err)
		}
		if err := c.blobs.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		var files []string
		for _, glob := range []string{"blake3/ac/*/*", "blake3/cas/*/*"} {
			found, err := filepath.Glob(filepath.Join(c.root, glob))
			if err != nil || len(found) == 0 {
				t.Fatal(found, err)
			}
			files = append(files, found...)
		}
		p := files[int(where)%len(files)]
		was, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if string(was) == string(b) {
			return
		}
		if err := errors.Join(os.Chmod(p, 0o644), os.WriteFile(p, b, 0o644)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"trees/blake3-" + strings.Repeat("ab", 32) + ".ok", "state/exports/1",
			"state/exports-1", "downloads/x", "blake3/ac/zz/zz", "blake3/exec/00/x"} {
			at := filepath.Join(c.root, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, b, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := gc.Read(t.Context(), c.root); err != nil {
			t.Logf("stats: %v", err)
		}
		v, err := gc.Verify(t.Context(), c.root, gc.VerifyOptions{})
		if found := strings.Contains(problems(v), p); err == nil && !found {
			t.Errorf("%s is damaged and is not found: %+v", p, v)
		}
		if _, err := gc.Verify(t.Context(), c.root, gc.VerifyOptions{Repair: true}); err != nil {
			t.Logf("repair: %v", err)
		}
		if now, err := os.ReadFile(p); err == nil && string(now) == string(b) {
			t.Errorf("%s is damaged and stays", p)
		}
		if _, err := gc.Collect(t.Context(), c.root, gc.CollectOptions{}); err != nil {
			t.Logf("collect: %v", err)
		}
	})
}

func problems(v gc.Verified) string {
	var b strings.Builder
	for _, p := range v.Problems {
		b.WriteString(p.Path + "\n")
	}
	return b.String()
}
