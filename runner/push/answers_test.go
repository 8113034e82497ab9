package push

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzAnswers reads arbitrary answers to the scripts. Only requested contents count as pushed, sizes are not
// negative, and paths do not leave the store.
func FuzzAnswers(f *testing.F) {
	a, b := strings.Repeat("ab", 32), strings.Repeat("01", 32)
	f.Add(fmt.Sprintf("free 1000\n%s %s\n5,1 %s\n", blobStat(100), a, b))
	f.Add("free 99999999999999999999\nfree -5\nfree\n")
	f.Add(fmt.Sprintf("100 %s\n7 .%s.part\n-1 x\n5 a/b\n 3\n9 \n", a, b))
	f.Add("12345\n")
	f.Add("-1")
	f.Add("9223372036854775808")
	f.Add("cat: write error: No space left on device\n")
	f.Add(strings.Repeat("1 x\n", 1000))
	f.Fuzz(func(t *testing.T, out string) {
		blobs := map[string]blob{a: {sum: a, size: 100}}
		have, free := parseMissing(out, blobs)
		for sum, there := range have {
			if there && (sum != a || !strings.Contains(out, blobStat(100)+" "+a)) {
				t.Errorf("%q is there", sum)
			}
		}
		if free < -1 {
			t.Errorf("%d bytes are free", free)
		}
		victims, freed := choose(out, blobs, 1000)
		for _, v := range victims {
			if strings.TrimPrefix(v, ".") == a || v == "" || strings.ContainsAny(v, "/\n") {
				t.Errorf("%q is removed", v)
			}
		}
		if freed < 0 {
			t.Errorf("%d bytes freed", freed)
		}
		if n, err := blobs[a].reached(out); err == nil && (n < 0 || n > 100) {
			t.Errorf("a size of %d", n)
		}
	})
}
