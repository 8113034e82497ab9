package execute_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
)

func TestCappedKeepsHeadAndTail(t *testing.T) {
	for _, n := range []int{0, 1, 1000, action.MaxInline - 200, action.MaxInline, 3*action.MaxInline + 17} {
		for _, chunk := range []int{1, 777, 1 << 20} {
			var all bytes.Buffer
			for i := 0; all.Len() < n; i++ {
				fmt.Fprintf(&all, "line %d\n", i)
			}
			all.Truncate(n)
			var c execute.HeadTailBuffer
			for b := all.Bytes(); len(b) > 0; {
				k := min(chunk, len(b))
				c.Write(b[:k])
				b = b[k:]
			}
			got := c.Bytes()
			if len(got) > action.MaxInline {
				t.Errorf("%d bytes in chunks of %d: kept %d, more than %d", n, chunk, len(got), action.MaxInline)
			}
			if n <= action.MaxInline-200 && !bytes.Equal(got, all.Bytes()) {
				t.Errorf("%d bytes in chunks of %d: a short stream was changed", n, chunk)
			}
			if n > action.MaxInline {
				head, tail, ok := strings.Cut(string(got), "\n… ")
				_, tail, ok2 := strings.Cut(tail, " bytes omitted …\n")
				if !ok || !ok2 || !bytes.HasPrefix(all.Bytes(), []byte(head)) ||
					!bytes.HasSuffix(all.Bytes(), []byte(tail)) {
					t.Errorf("%d bytes in chunks of %d: head or tail is wrong", n, chunk)
				}
			}
		}
	}
}
