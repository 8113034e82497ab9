package report_test

import (
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/report"
)

// Lines stand below their columns, numbers from the right; a line may be too short or too long.
func TestGrid(t *testing.T) {
	t.Parallel()
	table, err := report.ParseTable(
		[]byte(`{"title":"t","profile":"p","note":"n","columns":[{"name":"mode"},{"name":"x","label":"seq"},{"name":"s","label":"prefill","unit":"us"},{"name":"t","unit":"tokens/s"}],
		"lines":[["fast","64","– ","318.42 ± 2.35"],["very fast","1024","12"],["f","1","1","2","too many"]],"rows":[{"name":"r","value":1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	table.Write(&b)
	const want = `
t   profile: p
──────────────
  mode        seq  prefill, µs    t, tokens/s
  fast         64           –   318.42 ± 2.35
  very fast  1024           12
  f             1            1              2

  r   1
n
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
