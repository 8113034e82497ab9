package workspace_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hexmage/hexmage/internal/workspace"
)

// A pipeline is a file, or a folder with files that are not only values of variables.
func TestNames(t *testing.T) {
	for _, tt := range []struct {
		files []string
		want  string
	}{
		{nil, ""},
		{[]string{"README.md"}, ""},
		{[]string{"pipelines/b.hcl", "pipelines/a.hcl", "pipelines/a.hexvars.hcl", "pipelines/README.md"}, "a b"},
		{[]string{"pipelines/dir/x.hcl", "pipelines/empty/x.txt"}, "dir"},
		{[]string{"pipelines/vars/vars.hexvars.hcl"}, ""},
		{[]string{"pipelines/both.hcl", "pipelines/both/x.hcl"}, "both"},
		{[]string{"pipelines/link.hcl"}, "link"}, // which leads nowhere: who reads it says so
	} {
		fsys := fstest.MapFS{}
		for _, f := range tt.files {
			fsys[f] = &fstest.MapFile{}
			if strings.HasSuffix(f, "/link.hcl") {
				fsys[f] = &fstest.MapFile{Data: []byte("gone.hcl"), Mode: fs.ModeSymlink}
			}
		}
		got, err := workspace.Names(fsys)
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("Names = %v, %v; want %s", got, err, tt.want)
		}
		for _, name := range []string{"a", "b", "dir", "empty", "vars", "both", "README", "a.hexvars", "vars.hexvars",
			"x", "", "link"} {
			if has := workspace.Has(fsys, name); has != slices.Contains(got, name) {
				t.Errorf("with %v, Has(%q) = %v", tt.files, name, has)
			}
		}
	}
}
