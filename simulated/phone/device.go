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

// Options say which device to start and how.
type Options struct {
	// Self is a program and its arguments that call Init: this binary with a hidden command.
	Self  []string
	Image string    // folder made by RunTool
	Dir   string    // an existing private folder, which the device's root is mounted on; nobody else sees the mount
	Data  string    // existing host folder that is the device's /data, kept between runs; empty: in memory
	Log   io.Writer // what the device prints: its daemon and its DSP; nil discards it
	// Port of 127.0.0.1 is where its adb daemon listens, which asks for no key. 0: a free one.
	Port     int
	Serialno string // its property ro.serialno; empty: one made of the port
	Faults
}

// UnsupportedError says that this machine cannot run the simulated phone as it is.
type UnsupportedError struct {
	What   string // what was tried and what came of it
	Remedy string // what the user can do
}

// Lacks returns what is lacking and what to do.
func (e *UnsupportedError) Lacks() (what, remedy string) { return e.What, e.Remedy }

func (e *UnsupportedError) Error() string {
	return "simulated phone: " + e.What + "; " + strings.TrimSuffix(e.Remedy, ".")
}

// setup is what the parent tells the child on its standard input, as one line of JSON.
type setup struct {
	Image    string `json:"image"`
	Root     string `json:"root"`
	Data     string `json:"data,omitempty"`
	Serialno string `json:"serialno"`
	Faults   Faults `json:"faults"`
}

// DebugStub returns variables with which a program for AArch64 waits at its first instruction for a debugger at the
// socket, a path in the folder where it starts. They are qemu's own, which passes on neither of them.
func DebugStub(socket string) map[string]string {
	return map[string]string{"QEMU_GDB": socket, "QEMU_UNSET_ENV": "QEMU_GDB,QEMU_UNSET_ENV"}
}

// order is what the parent tells the child later, each as one line of JSON.
type order struct {
	Unplug time.Duration `json:"unplug,omitempty"` // cut all links and take none for so long
	Reboot bool          `json:"reboot,omitempty"`
}

// answer is what the child says on its standard output once, as one line of JSON.
type answer struct {
	Error  string `json:"error,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

// Device is a phone that runs.
type Device struct {
	addr     string
	serialno string
	cmd      *exec.Cmd
	lifeline io.WriteCloser // the device ends when this closes: by Close, or by the kernel when this process dies
	ordering sync.Mutex     // guards writing to it
	done     chan struct{}
	closing  sync.Once
}

// Addr returns where the device's adb daemon listens, "127.0.0.1:PORT", which is its serial once an adb server is connected to it.
func (e *Device) Addr() string { return e.addr }

// Serialno returns the device's property ro.serialno.
func (e *Device) Serialno() string { return e.serialno }

// Done is closed when the device has ended, by Close or by itself.
func (e *Device) Done() <-chan struct{} { return e.done }

// Unplug cuts the device's links, as pulling its cable does, and lets nobody connect for so long.
func (e *Device) Unplug(d time.Duration) error {
	return e.order(order{Unplug: d})
}

// Reboot reboots the device, as `adb reboot` does. It does not wait for that.
func (e *Device) Reboot() error { return e.order(order{Reboot: true}) }

func (e *Device) order(o order) error {
	e.ordering.Lock()
	defer e.ordering.Unlock()
	if err := json.NewEncoder(e.lifeline).Encode(o); err != nil {
		return fmt.Errorf("simulated phone: the device %s has ended: %w", e.addr, err)
	}
	return nil
}

// Close ends the device and everything that runs on it.
func (e *Device) Close() error {
	e.closing.Do(func() {
		e.lifeline.Close()
		_ = e.cmd.Process.Kill() // it is the init of its pid namespace: the kernel kills all the others with it
	})
	<-e.done
	return nil
}
