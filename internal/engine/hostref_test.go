package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// Large files of the workspace are read where they are, alone or in a folder; and nothing is remembered of an action
// during which one changed.
func TestLargeInputs(t *testing.T) {
	w := newWorld(t)
	content := strings.Repeat("0123456789abcde\n", store.MinRef/16)
	w.write(map[string]string{"big": content, "dir/sub/big": content + "more\n", "dir/small": "small"})
	// the change time cannot be set, and a file that has just changed is not read in place
	time.Sleep(2100 * time.Millisecond)
	inputs := []action.Input{
		{Path: "big", Host: &action.HostPath{Path: "big"}},
		{Path: "dir", Host: &action.HostPath{Path: "dir"}},
	}
	p := planOf(nil, sh("sum", "cat big dir/sub/big dir/small | wc -c > out", inputs...))
	w.ok(p, 1)
	w.ok(p, 0)
	inPlace := w.copied(t, content, content+"more\n") == 0
	if !inPlace {
		t.Log("large inputs are copied here: the process may not mount")
		if os.Geteuid() == 0 && w.copied(t, content, content+"more\n") == 1 {
			t.Error("one of two large inputs was copied")
		}
	}

	own := filepath.Join(w.Workspace, "big")
	bad := planOf(nil, sh("bad", "cp big out; echo x >> '"+own+"'", inputs...))
	r, err := w.run(bad)
	if inPlace {
		if r.Failed != 1 || !strings.Contains(w.failure().Summary, own+" changed during the build; run again") {
			t.Fatalf("%+v, %v, %+v", r, err, w.failure())
		}
		var changed *store.ChangedError
		if err != nil && !errors.As(err, &changed) {
			t.Errorf("error %v", err)
		}
	}
	if err := os.WriteFile(own, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	// It has just changed: it is copied, and the copy is what is read.
	r, err = w.run(bad)
	if err != nil || r.Executed+r.Failed != 1 {
		t.Errorf("a result of an action that changed its input was remembered: %+v, %v", r, err)
	}
}

// copied tells how many of the contents the store has.
func (w *world) copied(t *testing.T, contents ...string) (n int) {
	t.Helper()
	for _, c := range contents {
		if _, err := os.Stat(filepath.Join(w.cache, "blake3", "cas", digest.BLAKE3.Bytes([]byte(c)).Hex()[:2],
			digest.BLAKE3.Bytes([]byte(c)).Hex())); err == nil {
			n++
		}
	}
	return n
}
