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
	"strings"
	"time"
)

// processPoll is how often a lease that another process has is asked for.
const processPoll = 100 * time.Millisecond

// Process makes this the only user of a device among the processes, and goroutines, that use the same folder. It waits until ctx ends;
// waiting, if not nil, is called once if it has to. The lease ends by the function it returns, or with the process.
func Process(ctx context.Context, dir, device string, waiting func()) (release func(), err error) {
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
			return func() { f.Close() }, nil
		}
		if err == nil {
			if first && waiting != nil {
				waiting()
			}
			select {
			case <-time.After(processPoll):
				continue
			case <-ctx.Done():
				err = fmt.Errorf("another process uses it: %w", context.Cause(ctx))
			}
		}
		f.Close()
		return nil, fmt.Errorf("lease of %s: %w", device, err)
	}
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
