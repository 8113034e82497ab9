package history_test

import (
	"reflect"
	"testing"

	"github.com/hexmage/hexmage/internal/history"
)

// FuzzParse: a document that a stranger has exported is refused, or can be used as one's own.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"format":"hexmage-run/1","id":"a","steps":[{"step":"exec.a","actions":[{"outcome":"executed","key":"x","of":{"argument 0":"1"},"root":"r"}]},{"step":"exec.b","needs":[0],"critical":true,"actions":[{"outcome":"failed"}]}],"outputs":[{"name":"t","show":"table","content":"e30="}],"trees":{"r":{"toolchains":"folder t","a":"folder a"},"t":{"cc":"folder r"},"a":{"a":"folder b"},"b":{"a":"folder a"}}}`))
	f.Add([]byte(`{"format":"hexmage-run/1","steps":[{"needs":[0]}]}`))
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
		ours := &history.Document{Trees: trees("x", "folder 1")}
		here := &history.Action{Of: map[string]string{"argument 0": "cc", "variable LANG": "C"}, Root: "root"}
		var earlier *history.Action
		for i := range d.Steps {
			for j := range d.Steps[i].Actions {
				theirs := &d.Steps[i].Actions[j]
				if theirs.Key != "" && reflect.ValueOf(history.DiffActions(d, theirs, ours, here, false)).IsZero() {
					t.Errorf("nothing differs from what has no key: %+v", theirs)
				}
				if earlier != nil {
					history.DiffActions(d, earlier, d, theirs, false)
				}
				earlier = theirs
			}
		}
	})
}
