package merkle_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

// What the store does for one small action: a program that all share and a source of 4 KiB are laid out, one output
// of 4 KiB is taken in, and the result is remembered with its messages. The action's own work, writing the source and
// the output, and the removal of the exec root are in it, too.
func BenchmarkSmallAction(b *testing.B) {
	root, work := b.TempDir(), b.TempDir()
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		b.Fatal(err)
	}
	results, err := disk.NewResults(root)
	if err != nil {
		b.Fatal(err)
	}
	scratch, err := os.MkdirTemp(filepath.Join(root, "tmp"), "run")
	if err != nil {
		b.Fatal(err)
	}
	const fn = digest.BLAKE3
	s := store.WithHostFiles(blobs)
	program := storetest.Bytes(1, 16<<10)
	tool := filepath.Join(work, "tiny")
	if err := os.WriteFile(tool, program, 0o755); err != nil {
		b.Fatal(err)
	}
	s.Add(fn.Bytes(program), tool)
	content := storetest.Bytes(2, 4096)
	for i := 0; b.Loop(); i++ {
		binary.LittleEndian.PutUint64(content, uint64(i))
		source := filepath.Join(work, strconv.Itoa(i))
		if err := os.WriteFile(source, content, 0o644); err != nil {
			b.Fatal(err)
		}
		d := fn.Bytes(content)
		s.Add(d, source)
		in := &merkle.Dir{Files: map[string]*merkle.File{"s": {Digest: d}}, Dirs: map[string]*merkle.Dir{
			"tools": {Files: map[string]*merkle.File{"tiny": {Digest: fn.Bytes(program), Executable: true}}}}}
		inputRoot, dirs := in.Encode(fn)
		a := &action.Action{Command: action.Command{Args: []string{"tools/tiny", "s", "o"}, Outputs: []string{"o"}},
			InputRoot: inputRoot}
		e := a.Encode(fn)
		dirs[e.Key], dirs[fn.Bytes(e.Command)] = e.Action, e.Command
		exec := filepath.Join(scratch, strconv.Itoa(i))
		if err := merkle.Materialize(b.Context(), s, in, exec, false); err != nil {
			b.Fatal(err)
		}
		content[100]++
		if err := os.WriteFile(filepath.Join(exec, "o"), content, 0o644); err != nil {
			b.Fatal(err)
		}
		content[100]--
		files, _, err := merkle.Capture(b.Context(), s, fn, exec, []string{"o"})
		if err != nil {
			b.Fatal(err)
		}
		if err := results.Put(b.Context(), e.Key, &action.Result{Files: files}, dirs); err != nil {
			b.Fatal(err)
		}
		if err := os.RemoveAll(exec); err != nil {
			b.Fatal(err)
		}
	}
}
