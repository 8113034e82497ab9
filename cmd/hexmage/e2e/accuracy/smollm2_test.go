//go:build linux

package accuracy_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestSmolLM2 wants what a real language model compiles to to be the same, file by file, in two folders with two
// homes and caches.
func TestSmolLM2(t *testing.T) {
	if os.Getenv(EnvSmolLM2) == "" {
		t.Skip("mage testAll runs this: " + EnvSmolLM2 + " is not set")
	}
	const pipeline = ONNXHTP
	var one, two *World
	for _, at := range []**World{&one, &two} {
		w := NewWorld(t).WithEmulatorDownloads(t)
		*at = w
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		Wants(t, Ended(t, w.Command(ctx, "run", pipeline, "--var=model=smollm2")), ExitOK,
			"a16w8      The capital of France is Paris.  8 of 8", "lpbq       The capital of France is Paris.  8 of 8")
		Wants(t, w.Run(t, "run", pipeline, "--var=model=smollm2"), ExitOK, ": 0 executed")
	}
	var compared, contexts int
	for _, scheme := range []string{"a16w8", "lpbq"} {
		err := filepath.WalkDir(filepath.Join(one.Dir, "out", pipeline, "contexts."+scheme),
			func(f string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				rel, err := filepath.Rel(one.Dir, f)
				if err != nil {
					return err
				}
				if Read(t, f) != Read(t, filepath.Join(two.Dir, rel)) {
					t.Errorf("%s: not the same", rel)
				}
				compared++
				if filepath.Ext(f) == ".bin" {
					contexts++
				}
				return nil
			})
		if err != nil {
			t.Error(err)
		}
	}
	if contexts != 6 || compared != 38 {
		t.Errorf("compared %d files, %d of them contexts: want 38, with three contexts per scheme",
			compared, contexts)
	}
}
