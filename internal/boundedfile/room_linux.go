package boundedfile

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is what the kernel lays in at once where it is asked to, in bytes; on machines with other pages it does as
// without.
const hugePage = 2 << 20

// room is memory for n bytes that are about to be written. Laying in ordinary pages, one after another, takes several
// times as long as reading a file into them.
func room(n int64) []byte {
	if n < hugePage/2 {
		return make([]byte, n)
	}
	size := (n + hugePage - 1) &^ (hugePage - 1)
	b := make([]byte, size+hugePage) // what is not written is an address and nothing more
	at := -int64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (hugePage - 1)
	_ = unix.Madvise(b[at:at+size], unix.MADV_HUGEPAGE) // it is a hint
	return b[at : at+n : at+n]
}
