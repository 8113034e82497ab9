package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Code is an error number that a program printed.
type Code struct {
	Text    string `json:"text"`   // as printed
	Family  string `json:"family"` // owner of the number: "QNN", "FastRPC", …
	Name    string `json:"name"`
	Meaning string `json:"meaning,omitempty"`
}

// String returns a text such as "0x80000406 is FastRPC AEE_EUNABLETOLOAD: …".
func (c Code) String() string {
	s := fmt.Sprintf("%s is %s %s", c.Text, c.Family, c.Name)
	if c.Meaning != "" {
		s += ": " + c.Meaning
	}
	return s
}

// Family is a set of named error numbers.
type Family struct {
	Name  string
	Base  uint32            // offset of printed numbers, such as 0x80000400
	Mask  uint32            // bits of the printed number that are the code; 0: all
	Near  []string          // without Base, numbers count only in lines with one of these words; none: in all
	Least uint32            // minimum code of this family: smaller numbers are too common
	Names map[uint32]string // "NAME" or "NAME: meaning"
}

// Codes lists families of error numbers. If several families know a number, In uses the first.
type Codes []Family

const maxCodes = 4 // in one line

// Decode returns the possible meanings of a number, one for each family that knows the number. The number is decimal,
// hexadecimal, or a negative signed 32-bit number.
func (cs Codes) Decode(s string) []Code {
	v, ok := number(s)
	if !ok {
		return nil
	}
	var found []Code
	for _, f := range cs {
		if c, ok := f.name(s, v); ok {
			found = append(found, c)
		}
	}
	return found
}

// In returns the codes in a line. A number that includes its family's base may appear anywhere. Other numbers must
// follow a word such as "error".
func (cs Codes) In(line string) []Code {
	line = clip(line, maxLine)
	low := strings.ToLower(line)
	var found []Code
	for _, m := range codeText.Get().FindAllStringSubmatchIndex(line, -1) {
		// Group 1 is a number after a word for errors. Group 2 is a number with the form of a code.
		g := 2
		if m[g] < 0 {
			g = 4
		}
		s := line[m[g]:m[g+1]]
		v, ok := number(s)
		if !ok || len(found) == maxCodes || slices.ContainsFunc(found, func(c Code) bool { return c.Text == s }) {
			continue
		}
		for _, f := range cs {
			if f.Base == 0 && len(f.Near) > 0 && !slices.ContainsFunc(f.Near, func(w string) bool { return strings.Contains(low, w) }) {
				continue
			}
			if c, ok := f.name(s, v); ok {
				found = append(found, c)
				break
			}
		}
	}
	return found
}

// codeText matches a number after a word for errors, or a number with the form of a code. The kernel ends a line with a
// code such as -22.
var codeText = lazyregexp.New(`(?i)(?:err(?:or|no)?|code|status|result|device|failed|failure|ret|rc|with|finalize)[a-z_ ]{0,16}[ :=(#,]{1,4}(-?(?:0x[0-9a-f]{1,16}|[0-9]{1,20}))\b` +
	`|(?:^|[^0-9a-z_])(0x[89a-f][0-9a-f]{7}|-(?:214748|107374)[0-9]{4}|-[0-9]{1,3}$)\b`)

// number parses a 32-bit code, or the low half of a 64-bit handle.
func number(s string) (uint32, bool) {
	s, negative := strings.CutPrefix(s, "-")
	digits, hex := strings.CutPrefix(strings.ToLower(s), "0x")
	base := 10
	if hex {
		base = 16
	}
	v, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return 0, false
	}
	if negative {
		v = -v
	}
	return uint32(v), true
}

func (f Family) name(s string, v uint32) (Code, bool) {
	if f.Mask != 0 {
		v &= f.Mask
	}
	if v < f.Base || v-f.Base < f.Least {
		return Code{}, false
	}
	text, ok := f.Names[v-f.Base]
	if !ok {
		return Code{}, false
	}
	name, meaning, _ := strings.Cut(text, ": ")
	return Code{Text: s, Family: f.Name, Name: name, Meaning: meaning}, true
}

// finder finds many words in a line in one pass. It has the words by their first minLiteral bytes.
type finder map[string][]word

// word is a text of at least minLiteral bytes, and the pattern that it belongs to.
type word struct {
	text  string
	owner int
}

func (f finder) add(text string, owner int) {
	f[text[:minLiteral]] = append(f[text[:minLiteral]], word{text, owner})
}

// owners appends the owner of each word in low, once for each occurrence.
func (f finder) owners(to []int, low []byte) []int {
	for i := 0; i+minLiteral <= len(low); i++ {
		for _, w := range f[string(low[i:i+minLiteral])] {
			if len(low)-i >= len(w.text) && string(low[i:i+len(w.text)]) == w.text {
				to = append(to, w.owner)
			}
		}
	}
	return to
}
