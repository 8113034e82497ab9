package kerneltest

import (
	"fmt"
	"math"
)

// Result is one call of an op, compared.
type Result struct {
	Case     string `json:"case"`
	Op       string `json:"op"`
	Arch     string `json:"arch"`
	Seed     uint64 `json:"seed"`
	Elements int    `json:"elements"`
	Differ   int    `json:"differ"` // elements that are not the reference's, within what is allowed or not
	Wrong    int    `json:"wrong"`  // beyond what is allowed
	// The largest errors there are. Infinite ones, such as of a number against none, are the largest float and integer.
	MaxAbs float64 `json:"max_abs"`
	MaxULP uint64  `json:"max_ulp"`
	First  *Wrong  `json:"first,omitempty"` // wrong element
	Failed string  `json:"failed,omitempty"`
}

// Wrong is an element that is not what the reference says.
type Wrong struct {
	Output int     `json:"output"`
	Index  int     `json:"index"` // in the output's data
	At     [4]int  `json:"at"`    // b, h, w, d
	Got    float64 `json:"got"`   // real numbers
	Want   float64 `json:"want"`
	// Stored are the numbers in memory, where they are not the real ones.
	StoredGot  float64 `json:"stored_got"`
	StoredWant float64 `json:"stored_want"`
}

// OK says whether all is as it should be.
func (r Result) OK() bool { return r.Failed == "" && r.Wrong == 0 }

// compare adds one output to the result.
func (r *Result) compare(c Case, output int, got, want []byte) {
	t := c.Outputs[output]
	shape := t.shape()
	for i := range t.count() {
		r.Elements++
		g, gs := t.at(got, i)
		w, ws := t.at(want, i)
		if gs == ws || math.IsNaN(g) && math.IsNaN(w) {
			continue
		}
		r.Differ++
		abs, ulp := math.Abs(t.real(g)-t.real(w)), uint64(max(gs, ws)-min(gs, ws))
		if math.IsNaN(abs) || math.IsInf(abs, 0) {
			abs, ulp = math.MaxFloat64, math.MaxInt64
		}
		r.MaxAbs, r.MaxULP = max(r.MaxAbs, abs), max(r.MaxULP, ulp)
		if abs <= c.MaxAbs || ulp <= c.MaxULP {
			continue
		}
		if r.Wrong++; r.First == nil {
			at, rest := [4]int{}, i
			for k := 3; k >= 0; k-- {
				at[k] = rest % shape[k]
				rest /= shape[k]
			}
			r.First = &Wrong{Output: output, Index: i, At: at, Got: finite(t.real(g)), Want: finite(t.real(w)), StoredGot: finite(g), StoredWant: finite(w)}
		}
	}
}

// finite makes a number one that JSON has.
func finite(v float64) float64 {
	switch {
	case math.IsNaN(v), math.IsInf(v, 1):
		return math.MaxFloat64
	case math.IsInf(v, -1):
		return -math.MaxFloat64
	}
	return v
}

// String is the result in a line.
func (r Result) String() string {
	head := fmt.Sprintf("%s on %s, seed %d", r.Case, r.Arch, r.Seed)
	switch {
	case r.Failed != "":
		return head + ": " + r.Failed
	case r.First == nil:
		return fmt.Sprintf("%s: %d elements, %d differ, max abs error %.9g, %d ulp", head, r.Elements, r.Differ, r.MaxAbs, r.MaxULP)
	}
	f := r.First
	stored := ""
	if f.Got != f.StoredGot || f.Want != f.StoredWant {
		stored = fmt.Sprintf(" (stored: %g, %g)", f.StoredGot, f.StoredWant)
	}
	return fmt.Sprintf("%s: output %d: element %d at %v is %.9g, the reference says %.9g%s; %d of %d are wrong, max abs error %.9g, %d ulp",
		head, f.Output, f.Index, f.At, f.Got, f.Want, stored, r.Wrong, r.Elements, r.MaxAbs, r.MaxULP)
}
