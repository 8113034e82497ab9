// Package sample reads time series of a device's resources while a command runs: memory, processor time, clocks,
// temperatures and the battery. Command returns the shell script that prints samples, and Parser parses them. The
// package does not send the script to a device, and does not know the use of the samples.
package sample

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/hexmage/hexmage/runner/transport"
)

//go:embed sampler.sh
var script string

// Limits of the interval between two samples.
const (
	MinInterval = 10 * time.Millisecond
	MaxInterval = time.Minute
)

// Command returns a command line for a device's shell. The command prints samples of the device and of a process,
// including the process's descendants, group and session. The command waits for the file pidFile, which contains the
// process id and a line end. It ends when the process or standard input ends.
func Command(pidFile string, interval time.Duration) string { return command("", pidFile, interval) }

// command is Command with /proc and /sys in the folder root.
func command(root, pidFile string, interval time.Duration) string {
	ms := interval.Milliseconds()
	return fmt.Sprintf("root=%s pid_file=%s interval=%d.%03d interval_ms=%d\n%s",
		transport.Quote(root), transport.Quote(pidFile), ms/1000, ms%1000, ms, script)
}
