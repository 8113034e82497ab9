package pte_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/model/pte"
	"github.com/hexmage/hexmage/model/pte/ptetest"
)

func parse(b []byte) (*pte.Program, error) { return pte.Parse(bytes.NewReader(b), int64(len(b))) }

func TestParse(t *testing.T) {
	t.Parallel()
	p, err := parse(ptetest.Make(ptetest.Fallback(), []byte("segment of some bytes")))
	if err != nil {
		t.Fatal(err)
	}
	want := []pte.Method{{
		Name:      "forward",
		Operators: []pte.Operator{{Name: "aten::erfinv", Overload: "out"}},
		Delegates: []string{"QnnBackend", "QnnBackend"},
	}}
	if d := cmp.Diff(want, p.Methods); d != "" {
		t.Error(d)
	}
	if p.Warning != "" || len(p.Segments) != 1 || p.Segments[0].Size != int64(len("segment of some bytes")) {
		t.Errorf("%+v, %q", p.Segments, p.Warning)
	}
	if got := p.Methods[0].Operators[0].String(); got != "aten::erfinv.out" {
		t.Error(got)
	}
}

// TestBeyond: of a program whose tables may lie behind what is read an error says so.
func TestBeyond(t *testing.T) {
	t.Parallel()
	if _, err := pte.Parse(bytes.NewReader([]byte{0, 0, 0, 5, 'E', 'T', '1', '2'}), 100<<20); err == nil || !strings.Contains(err.Error(), "beyond the first 64 MB") {
		t.Error(err)
	}
}

// TestHostile: a file that is cut off.
func TestHostile(t *testing.T) {
	t.Parallel()
	whole := ptetest.Make(ptetest.Fallback(), []byte("segment"))
	for n := range whole {
		_, _ = parse(whole[:n])
	}
	if p, err := parse(whole[:len(whole)-1]); err != nil || !strings.Contains(p.Warning, "cut off") {
		t.Errorf("%+v, %v", p, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(ptetest.Make(ptetest.Fallback(), []byte("segment")))
	f.Add([]byte("....ET12eh00"))
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = parse(b) })
}
