package phone

import (
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Options configure a simulated phone.
type Options struct {
	// Self is the command line of a program that calls Init: this binary with a hidden command.
	Self  []string
	Image string    // folder written by RunTool
	Dir   string    // an existing private folder for the device's root, which other processes cannot see
	Data  string    // existing host folder for the device's /data, kept between runs; empty: in memory
	Log   io.Writer // output of the device's daemon and DSP; nil discards it
	// Port is the adb daemon's port on 127.0.0.1. The daemon needs no key. 0 selects a free port.
	Port     int
	Serialno string // property ro.serialno; empty: derived from the port
	Faults
}

// UnsupportedError means that this machine cannot run the simulated phone.
type UnsupportedError struct {
	What   string // the failed operation and its error
	Remedy string // the next step
}

// Lacks returns what this machine lacks, and the next step.
func (e *UnsupportedError) Lacks() (what, remedy string) { return e.What, e.Remedy }

func (e *UnsupportedError) Error() string {
	return "simulated phone: " + e.What + "; " + strings.TrimSuffix(e.Remedy, ".")
}

// setup is the parent's first line of JSON on the child's standard input.
type setup struct {
	Image    string `json:"image"`
	Root     string `json:"root"`
	Data     string `json:"data,omitempty"`
	Serialno string `json:"serialno"`
	Faults   Faults `json:"faults"`
}

// DebugStub returns environment variables for qemu. They make an AArch64 program wait until a debugger connects to
// socket, a path in the working directory. The program's children do not inherit them.
func DebugStub(socket string) map[string]string {
	return map[string]string{"QEMU_GDB": socket, "QEMU_UNSET_ENV": "QEMU_GDB,QEMU_UNSET_ENV"}
}

// order is a later line of JSON from the parent.
type order struct {
	Unplug time.Duration `json:"unplug,omitempty"` // cut all links and refuse new ones for this time
	Reboot bool          `json:"reboot,omitempty"`
}

// answer is the child's only line of JSON on its standard output.
type answer struct {
	Error  string `json:"error,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

// Device is a running simulated phone.
type Device struct {
	addr     string
	serialno string
	cmd      *exec.Cmd
	lifeline io.WriteCloser // the device ends when this closes: by Close, or by the kernel when this process dies
	ordering sync.Mutex     // guards writing to lifeline
	done     chan struct{}
	closing  sync.Once
}

// Addr returns the address of the device's adb daemon, "127.0.0.1:PORT". In an adb server, the address is the device's
// serial.
func (e *Device) Addr() string { return e.addr }

// Serialno returns the device's property ro.serialno.
func (e *Device) Serialno() string { return e.serialno }

// Done returns a channel that is closed when the device ends for any reason.
func (e *Device) Done() <-chan struct{} { return e.done }

// Unplug cuts the device's links, as unplugging a cable does, and refuses new links for the time d.
func (e *Device) Unplug(d time.Duration) error {
	return e.order(order{Unplug: d})
}

// Reboot starts a reboot, as `adb reboot` does. It does not wait until the reboot ends.
func (e *Device) Reboot() error { return e.order(order{Reboot: true}) }

func (e *Device) order(o order) error {
	e.ordering.Lock()
	defer e.ordering.Unlock()
	if err := json.NewEncoder(e.lifeline).Encode(o); err != nil {
		return fmt.Errorf("simulated phone: the device %s has ended: %w", e.addr, err)
	}
	return nil
}

// Close ends the device and all its processes.
func (e *Device) Close() error {
	e.closing.Do(func() {
		e.lifeline.Close()
		_ = e.cmd.Process.Kill() // it is the init of its pid namespace: the kernel kills the other processes with it
	})
	<-e.done
	return nil
}
