package emulator

import (
	"io"
	"strings"
)

// Options say which device to start and how.
type Options struct {
	// Self is a program and its arguments that call Init: this binary with a hidden command.
	Self  []string
	Image string    // folder made by BuildImage
	Dir   string    // an existing private folder, which the device's root is mounted on; nobody else sees the mount
	Data  string    // existing host folder that is the device's /data, kept between runs; empty: in memory, gone with the device
	Log   io.Writer // what the device prints: its daemon and its DSP; nil discards it
	Faults
}

// Faults make the device misbehave as real ones do.
type Faults struct {
	DropAfterBytes     int64 `json:"drop_after_bytes,omitempty"`      // cut the adb link, once, after so many bytes from the host; 0: never
	DropEveryBytes     int64 `json:"drop_every_bytes,omitempty"`      // cut it again and again, each time after so many bytes; 0: never
	CorruptByte        int64 `json:"corrupt_byte,omitempty"`          // flip a bit of one byte from the host, once: the one after so many; 0: never
	SlowBytesPerSecond int64 `json:"slow_bytes_per_second,omitempty"` // limit of the adb link in each direction; 0: none
	DiskBytes          int64 `json:"disk_bytes,omitempty"`            // size of /data, which then is in memory; 0: no limit
}

// UnsupportedError says that this machine cannot run the emulator as it is.
type UnsupportedError struct {
	What   string // what was tried and what came of it
	Remedy string // what the user can do
}

func (e *UnsupportedError) Error() string {
	return "emulator: " + e.What + "; " + strings.TrimSuffix(e.Remedy, ".")
}

// setup is what the parent tells the child on its standard input, as one line of JSON.
type setup struct {
	Image  string `json:"image"`
	Root   string `json:"root"`
	Data   string `json:"data,omitempty"`
	Faults Faults `json:"faults"`
}

// answer is what the child says on its standard output once, as one line of JSON.
type answer struct {
	Error  string `json:"error,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}
