package steps

import (
	"bytes"
	"testing"

	"github.com/hexmage/hexmage/qnn"
)

// A mark is found wherever it is, also where two reads meet.
func TestMarked(t *testing.T) {
	const read = 1 << 20
	for _, mark := range []string{qnn.Simulated, qnn.SimulatedContext} {
		for _, at := range []int{0, 5, read - 3, read - 64, 2*read - 70, 3 * read} {
			if file := append(append(make([]byte, at), mark...), make([]byte, 100)...); !marked(bytes.NewReader(file)) {
				t.Errorf("%q at %d is not found", mark, at)
			}
		}
		if marked(bytes.NewReader(append(make([]byte, read), mark[:len(mark)-1]...))) || marked(bytes.NewReader(nil)) {
			t.Errorf("%q is found where it is not", mark)
		}
	}
}
