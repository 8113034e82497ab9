package merkle_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/memory"
)

// Outputs that are the same file, or inside one another, are all captured, though files are moved into the store.
func TestCaptureSharedPlaces(t *testing.T) {
	blobs, err := disk.NewBlobs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, blobs := range map[string]store.Blobs{"disk": blobs, "memory": memory.NewBlobs()} {
		root := t.TempDir()
		deep := filepath.Join(root, "d", "sub")
		err := errors.Join(os.MkdirAll(deep, 0o755),
			os.WriteFile(filepath.Join(root, "lib.so.1"), []byte(name+"lib"), 0o755),
			os.Symlink("lib.so.1", filepath.Join(root, "lib.so")),
			os.Symlink("d", filepath.Join(root, "alias")),
			os.WriteFile(filepath.Join(deep, "f"), []byte(name+"deep"), 0o644))
		if err != nil {
			t.Fatal(err)
		}
		paths := []string{"d", "lib.so", "lib.so.1", "d/sub/f", "alias", "alias/sub", "lib.so.1"}
		files, dirs, err := merkle.Capture(t.Context(), blobs, digest.BLAKE3, root, paths)
		if err != nil {
			t.Fatal(err)
		}
		lib, deepFile := digest.BLAKE3.Bytes([]byte(name+"lib")), digest.BLAKE3.Bytes([]byte(name+"deep"))
		want := []action.OutputFile{
			{Path: "lib.so", Digest: lib, Executable: true},
			{Path: "lib.so.1", Digest: lib, Executable: true},
			{Path: "d/sub/f", Digest: deepFile},
			{Path: "lib.so.1", Digest: lib, Executable: true},
		}
		if len(files) != len(want) || len(dirs) != 3 {
			t.Fatalf("%s: files %v, folders %v", name, files, dirs)
		}
		for i := range want {
			if files[i] != want[i] {
				t.Errorf("%s: %v, want %v", name, files[i], want[i])
			}
		}
		if dirs[0].Path != "d" || dirs[1].Path != "alias" || dirs[2].Path != "alias/sub" ||
			dirs[0].Root != dirs[1].Root || dirs[0].Root == dirs[2].Root {
			t.Errorf("%s: folders %v", name, dirs)
		}
		for _, d := range dirs {
			whole, err := merkle.Load(t.Context(), blobs, d.Root)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, d.Path, err)
			}
			err = whole.Walk(func(p string, e merkle.Entry) error {
				if e.File == nil {
					return nil
				}
				if e.File.Digest != deepFile {
					t.Errorf("%s: %s/%s is %v", name, d.Path, p, e)
				}
				missing, err := blobs.Missing(t.Context(), []digest.Digest{e.File.Digest})
				return errors.Join(err, errorIf(len(missing) > 0))
			})
			if err != nil {
				t.Errorf("%s: %s: %v", name, d.Path, err)
			}
		}
	}
}

func errorIf(bad bool) error {
	if bad {
		return errors.New("it is not in the store")
	}
	return nil
}
