package phone

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

// logger takes what the device's parts print: as it is for the simulated phone's own log, and with time and process for logcat.
type logger struct {
	tag  string
	skew time.Duration
	out  *os.File

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

func (d *device) logger(tag string) *logger {
	return &logger{tag: tag, skew: d.faults.Skew, out: d.out, main: d.main}
}

// say writes a line of a part of the system that is no program here.
func (d *device) say(tag string, priority byte, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	_, _ = fmt.Fprintf(d.out, "%s: %s\n", tag, text)
	_, _ = d.main.WriteString(logLine(tag, priority, d.faults.Skew, text))
}

// logLine is a line as logcat -v threadtime has them.
func logLine(tag string, priority byte, skew time.Duration, text string) string {
	return fmt.Sprintf("%s %5d %5d %c %-8s: %s\n", time.Now().Add(skew).UTC().Format("01-02 15:04:05.000"), 1, 1, priority, tag, text)
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
		_, _ = l.main.WriteString(logLine(l.tag, 'I', l.skew, string(l.line[:end])))
		l.line = l.line[end+1:]
	}
	if len(l.line) > 4096 {
		l.line = nil
	}
	return len(p), nil
}
