package verify

import (
	"testing"

	"github.com/hexmage/hexmage/internal/event"
)

// Outputs of actions may be anything, also what only seems to be an ELF file or an archive.
func FuzzLocate(f *testing.F) {
	elf := "\x7fELF\x02\x01\x01" + string(make([]byte, 57))
	for _, s := range []string{"", "a\nb\n", elf, "!<arch>\n" + string(make([]byte, 60)), "PK\x03\x04", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00", "!<arch>\na/              0           0     0     644     5         `\n12345\n"} {
		f.Add([]byte(s), []byte(s+"x"))
		f.Add([]byte(s), []byte(s))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var d event.Difference
		s := spans{first: -1}
		n := min(len(a), len(b))
		s.chunk(0, a[:n], b[:n])
		locate(&d, s, a, b)
		if len(d.Parts) > maxParts+1 || len(d.Lines) > 2 {
			t.Errorf("%d parts, %d lines", len(d.Parts), len(d.Lines))
		}
		for _, h := range append(orderHint(a, b), s.causes(a, b, "/cache/tmp")...) {
			if h == "" {
				t.Error("an empty hint")
			}
		}
	})
}
