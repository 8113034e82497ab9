package history_test

import (
	"testing"

	"github.com/hexmage/hexmage/internal/history"
)

// FuzzParse: a document that a stranger has exported is refused, or can be used as one's own.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"format":"hexmage-run/0","id":"a","steps":[{"step":"exec.a","actions":[{"outcome":"executed","key":"x","of":{"input a":"1"}}]},{"step":"exec.b","needs":[0],"critical":true,"actions":[{"outcome":"failed"}]}],"outputs":[{"name":"t","show":"table","content":"e30="}]}`))
	f.Add([]byte(`{"format":"hexmage-run/0","steps":[{"needs":[0]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := history.Parse(b)
		if err != nil {
			return
		}
		d.MarkCritical()
		d.Critical()
		if c := history.Compare(d, d); len(c.Settings)+len(c.Tools)+len(c.Host)+len(c.Checks) > 0 {
			t.Errorf("it differs from itself: %+v", c)
		}
	})
}
