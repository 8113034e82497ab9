package phone

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"
)

// logFolder has logcat's log. It is a small file system of its own, because "/" is read-only and a log must not fill
// the memory.
const (
	logFolder = "/dev/log"
	logSize   = 4 << 20
)

// logger writes the output of the device's parts to the user's log, and with time and process to logcat's log.
type logger struct {
	tag  string
	skew time.Duration
	out  *os.File

	mu   sync.Mutex
	main *os.File // nil: not for logcat
	line []byte   // an incomplete line
}

// openLog makes logcat's log. The root must still be writable.
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

// say logs a line of a system component that the simulation does not run as a program.
func (d *device) say(tag string, priority byte, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	_, _ = fmt.Fprintf(d.out, "%s: %s\n", tag, text)
	_, _ = d.main.WriteString(logLine(tag, priority, d.faults.Skew, text))
}

// logLine returns a line in the format of logcat -v threadtime.
func logLine(tag string, priority byte, skew time.Duration, text string) string {
	return fmt.Sprintf("%s %5d %5d %c %-8s: %s\n", time.Now().Add(skew).UTC().Format("01-02 15:04:05.000"), 1, 1, priority, tag, text)
}

// Write never fails: a full log must not stop the device.
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
