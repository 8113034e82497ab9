package build

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/memory"
)

// Every link on the way to an input is noted: of a chain, the ends may stay as they are while one between them changes.
func TestEveryLinkIsNoted(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Mkdir(at("folder"), 0o755), os.WriteFile(at("folder/file"), nil, 0o644), os.Symlink("folder", at("link")),
		os.Symlink("link/file", at("two")), os.Symlink(at("two"), at("one"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"folder/file": {"folder/file"},
		"one":         {at("folder/file"), at("link"), at("one"), at("two")},
		"link":        {at("folder"), at("folder/file"), at("link")},
		at("two"):     {at("folder/file"), at("link"), at("two")},
	} {
		a := newAssembler(nil, digest.BLAKE3, merkle.HashFiles(digest.BLAKE3), store.WithHostFiles(memory.NewBlobs()), dir)
		a.notes = newNotes()
		h := action.HostPath{Path: name}
		if _, err := a.host(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range a.notes.of(h).Files {
			got = append(got, f.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
