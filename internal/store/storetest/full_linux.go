package storetest

import (
	"os/signal"
	"syscall"
	"testing"
)

// FullDisk calls a function while the disk is full: no file may have more than so many bytes, and writes stop half
// way with syscall.EFBIG. That is a limit of a whole process, so the test is to be alone in one.
func FullDisk(t *testing.T, bytes uint64, do func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	limit := was
	limit.Cur = bytes
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	do()
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
}
