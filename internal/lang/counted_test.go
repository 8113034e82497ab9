package lang

import (
	"slices"
	"testing"

	"github.com/hexmage/hexmage/internal/workspace"
)

// TestListFunctions finds functions that take lists or sets and are not in the list.
func TestListFunctions(t *testing.T) {
	for name, f := range functions(workspace.NewFiles(t.TempDir())) {
		params := f.Params()
		if p := f.VarParam(); p != nil {
			params = append(params, *p)
		}
		takes := name == "tolist" || name == "toset"
		for _, p := range params {
			takes = takes || p.Type.IsListType() || p.Type.IsSetType()
		}
		if takes != slices.Contains(listFunctions(), name) {
			t.Errorf("%s takes lists: %v", name, takes)
		}
	}
}
