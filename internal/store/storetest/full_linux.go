package storetest

import (
	"os/signal"
	"syscall"
	"testing"
)

// FullDisk simulates a full disk while it calls do: writing more than the given number of bytes to a file fails half
// way with syscall.EFBIG. The limit applies to the whole process, so the test must run in its own process.
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
