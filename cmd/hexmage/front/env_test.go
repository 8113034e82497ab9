package front

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// A small heap may become more than twice as large until it is looked through again, a larger one may grow by some, and a large one by half.
func TestGrowth(t *testing.T) {
	for live, want := range map[uint64]int{0: 150, 1: 150, 7 << 20: 150, 14 << 20: 100, 24 << 20: 60, 32 << 20: 21, 40 << 20: 13, 59 << 20: 13, 60 << 20: 50, 1 << 30: 50} {
		if is := growth(live); is != want {
			t.Errorf("%d bytes in use: %d %%, want %d", live, is, want)
		}
	}
}

// There is a processor of Go's more than the machine has, however often that is asked for; none where Go was told how many to take.
func TestOneMore(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	n := runtime.NumCPU()
	for had, want := range map[int]int{n: n + 1, n + 1: n + 1, n + 2: n + 2} {
		runtime.GOMAXPROCS(had)
		OneMore()
		if is := runtime.GOMAXPROCS(0); is != want {
			t.Errorf("of %d there are %d, want %d", had, is, want)
		}
	}
}

// What is in use counts, also when it becomes more later.
func TestTuneHeap(t *testing.T) {
	defer debug.SetGCPercent(100)
	var first int
	for bytes, want := range map[uint64]int{0: 875, EngineHeap: 500} { // percent of the 4 MiB that Go counts at least
		TuneHeap(bytes)
		if first = debug.SetGCPercent(100); first != want {
			t.Errorf("with %d bytes at first the heap may grow by %d %%, want %d", bytes, first, want)
		}
		debug.SetGCPercent(first)
	}
	kept := make([][]byte, 0, 64)
	for range 64 {
		kept = append(kept, make([]byte, 1<<20))
	}
	runtime.GC()
	for range 100 {
		is := debug.SetGCPercent(first)
		debug.SetGCPercent(is)
		if is == growLarge {
			runtime.KeepAlive(kept)
			return
		}
		time.Sleep(20 * time.Millisecond)
		runtime.GC()
	}
	t.Errorf("with %d MiB in use the heap may still grow as a small one", len(kept))
}
