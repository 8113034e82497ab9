// Package lease makes one the only user of a device: among the processes of this machine (Process), among hosts (OnDevice), or both (Acquire).
//
// A lease on a device is a process there, which goes with its holder; it survives a link that breaks for a moment. The package knows adb; it
// does not know what a device is used for, nor pools.
package lease

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// processPoll is how often a lease that another process has is asked for.
const processPoll = 100 * time.Millisecond

// Process makes this the only user of a device among the processes, and goroutines, that use the same folder. It waits until ctx ends;
// waiting, if not nil, is called once if it has to, with who has the device. The lease ends by the function it returns, or with the process.
func Process(ctx context.Context, dir, device string, waiting func(owner string)) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("lease of %s: %w", device, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, FileName(device)), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lease of %s: %w", device, err)
	}
	for first := true; ; first = false {
		ok, err := tryLock(f)
		if err == nil && ok {
			note(f)
			return func() { f.Close() }, nil
		}
		if err == nil {
			if first && waiting != nil {
				waiting(owner(f))
			}
			select {
			case <-time.After(processPoll):
				continue
			case <-ctx.Done():
				err = fmt.Errorf("%s uses it: %w", owner(f), context.Cause(ctx))
			}
		}
		f.Close()
		return nil, fmt.Errorf("lease of %s: %w", device, err)
	}
}

// note writes down who has the lease, for those who wait. That it cannot is no loss but of words.
func note(f *os.File) {
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	}
}

// owner is who wrote note last.
func owner(f *os.File) string {
	b := make([]byte, 16)
	n, _ := f.ReadAt(b, 0)
	pid, err := strconv.Atoi(string(b[:n]))
	switch {
	case err != nil:
		return "another process"
	case pid == os.Getpid():
		return "another part of this process"
	}
	return fmt.Sprintf("process %d of this machine", pid)
}

// FileName makes a file name of a serial, which may hold anything.
func FileName(device string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, device) + ".lock"
}
