package failures

import (
	"testing"

	"github.com/hexmage/hexmage/runner/diagnose"
)

// Whatever a workspace's file holds, it is read or refused.
func FuzzParse(f *testing.F) {
	f.Add([]byte("failure \"x\" {\n where = [\"tool\"]\n patterns = [\"abc (?P<a>d)\"]\n cause = \"{a}\"\n remedy = \"r\"\n source = \"s\"\n examples = [\"abc d\"]\n}\n"))
	f.Add([]byte("codes \"x\" {\n base = 4294967296\n names = { \"0x1\" = \"A\" }\n}\nbenign \"y\" {}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		entries, families, diags := parse("diagnosis/x.hcl", src)
		if diags.HasErrors() {
			return
		}
		if c, err := diagnose.New(entries, families); err == nil {
			c.Text(src)
		}
	})
}
