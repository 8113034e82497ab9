// Package sample reads what a device takes while a command runs: memory, processor time, clocks, temperatures and the
// battery, as a time series.
//
// Command is a shell script that prints the samples on the device. Parser makes a Series of them. The package does not
// know how the script gets to a device, nor what the numbers are compared with.
package sample

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/hexmage/hexmage/runner/link"
)

//go:embed sampler.sh
var script string

// Bounds of the interval between two samples.
const (
	MinInterval = 10 * time.Millisecond
	MaxInterval = time.Minute
)

// Command is a command line for the shell of a device. It prints samples of the device, and of the process whose id
// pidFile holds (a number and a line end) once the file is there, with the process's descendants, group and session.
// It ends with the process or with standard input.
func Command(pidFile string, interval time.Duration) string { return command("", pidFile, interval) }

// command is Command where /proc and /sys are in the folder root.
func command(root, pidFile string, interval time.Duration) string {
	ms := interval.Milliseconds()
	return fmt.Sprintf("root=%s pid_file=%s interval=%d.%03d interval_ms=%d\n%s",
		link.Quote(root), link.Quote(pidFile), ms/1000, ms%1000, ms, script)
}
