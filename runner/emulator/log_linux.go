package emulator

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"
)

// logFolder has the log that logcat reads. It is a small file system of its own: "/" is read-only, and a log must not fill the memory.
const (
	logFolder = "/dev/log"
	logSize   = 4 << 20
)

// logger takes what the device's parts print: as it is for the emulator's own log, and with time and process for logcat.
type logger struct {
	tag string
	out *os.File

	mu   sync.Mutex
	main *os.File // nil: none
	line []byte   // the start of one that is not complete
}

// openLog makes the log for logcat, on a root that can still be written to.
func openLog() (*os.File, error) {
	if err := os.Mkdir(logFolder, 0o755); err != nil {
		return nil, err
	}
	if err := mount("tmpfs", logFolder, "tmpfs", 0, fmt.Sprintf("mode=0755,size=%d", logSize)); err != nil {
		return nil, err
	}
	return os.OpenFile(logFolder+"/main", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
}

// Write never fails: a device goes on when its log is full.
func (l *logger) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.out.Write(p)
	if l.main == nil {
		return len(p), nil
	}
	l.line = append(l.line, p...)
	for {
		end := bytes.IndexByte(l.line, '\n')
		if end < 0 {
			break
		}
		_, _ = fmt.Fprintf(l.main, "%s %5d %5d I %-8s: %s\n", time.Now().UTC().Format("01-02 15:04:05.000"), 1, 1, l.tag, l.line[:end])
		l.line = l.line[end+1:]
	}
	if len(l.line) > 4096 {
		l.line = nil
	}
	return len(p), nil
}
