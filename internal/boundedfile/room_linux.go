package boundedfile

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a huge page in bytes. On machines with another size, madvise has no effect.
const hugePage = 2 << 20

// room returns memory for n bytes. Faulting in ordinary pages one by one takes several times as long as reading a file
// into them.
func room(n int64) []byte {
	if n < hugePage/2 {
		return make([]byte, n)
	}
	size := (n + hugePage - 1) &^ (hugePage - 1)
	b := make([]byte, size+hugePage) // pages that are never written take no memory
	at := -int64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (hugePage - 1)
	_ = unix.Madvise(b[at:at+size], unix.MADV_HUGEPAGE) // a hint: the error does not matter
	return b[at : at+n : at+n]
}
