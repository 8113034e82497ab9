package bench

import "testing"

// What this process once had is not counted as had by what it starts.
func TestShrink(t *testing.T) {
	if testing.Short() { // which is how tests run with the race detector, whose memory is counted, and stays
		t.Skip("not with -short")
	}
	const much = 300 << 20
	b := make([]byte, much)
	for i := range b {
		b[i] = 1
	}
	measure := func() int64 {
		t.Helper()
		s, err := program{argv: []string{"/bin/sh", "-c", "exit"}, dir: "/"}.measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.MaxRSS
	}
	if n := measure(); n < much {
		t.Skipf("this kernel counts %d bytes", n)
	}
	b = b[:0:0]
	shrink()
	if n := measure(); n > much/2 {
		t.Errorf("%d bytes are counted", n)
	}
	_ = b
}
