// Package devinfo asks devices for their properties, and finds the wanted device among the connected ones. Describe
// returns the main properties, and Inspect returns all properties. The package does not know the use of a device.
package devinfo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/thermal"
	"github.com/hexmage/hexmage/runner/transport"
)

// Info holds the main properties of a device. Unknown properties are empty.
type Info struct {
	Serial    string `json:"serial"`
	Name      string `json:"-"`                // name in the pool; the device does not know it
	Model     string `json:"model,omitempty"`  // marketing name: "Galaxy S25"
	SoC       string `json:"soc,omitempty"`    // "SM8750"
	SoCID     int    `json:"soc_id,omitempty"` // the kernel's number, not QNN's
	Arch      string `json:"-"`                // "v79"; known for simulated devices only
	Simulated bool   `json:"simulated,omitempty"`
	Machine   string `json:"machine,omitempty"` // a board's machine, according to its kernel: "aarch64"; empty: a phone
	User      string `json:"-"`                 // current user on any host: "hexmage on rack3, process 77"; empty: free
}

// String returns the device's name for messages.
func (i Info) String() string {
	name := i.SoC + " " + i.Serial
	switch {
	case i.Simulated:
		name = "simulated phone " + i.SoC + " " + i.Arch
	case i.Machine != "":
		name = strings.TrimSpace("board "+i.SoC) + " " + i.Serial
	}
	if i.Name != "" {
		name = i.Name + " (" + strings.TrimSpace(name) + ")"
	}
	return strings.TrimSpace(name)
}

// Describe asks a device for its Info.
func Describe(ctx context.Context, dev transport.Device) (Info, error) {
	out, err := transport.Script(ctx, dev, describeScript, nil)
	if err != nil {
		return Info{}, fmt.Errorf("cannot read the device's properties: %w", err)
	}
	i := Info{Serial: dev.Place().Serial}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "soc.model":
			i.SoC = value
		case "product.model":
			i.Model = value
		case "soc_id":
			i.SoCID, _ = strconv.Atoi(value) // absent on devices without a Qualcomm SoC
		case "arch":
			i.Arch, i.Simulated = value, true
		case "machine":
			i.Machine = printable(value)
		case "user":
			i.User = printable(value)
		}
	}
	if i.Machine != "" {
		i.SoC = qnn.SoCFromKernelName(i.SoC)
	}
	return i, nil
}

// printable removes characters that could control a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
}

const describeScript = `if command -v getprop >/dev/null 2>&1; then
	echo "soc.model=$(getprop ro.soc.model)"
	echo "product.model=$(getprop ro.product.model)"
else
	echo "machine=$(uname -m)"
	echo "soc.model=$(cat /sys/devices/soc0/machine 2>/dev/null)"
	echo "product.model=$({ tr -d "\\000" </proc/device-tree/model || cat /sys/class/dmi/id/product_name; } 2>/dev/null)"
fi
echo "soc_id=$(cat /sys/devices/soc0/soc_id 2>/dev/null)"
grep '^arch=' /vendor/etc/open_soc 2>/dev/null
for e in ` + layout.Lease + `/*; do
	read -r p <"$e/pid" && grep -q hexmage-lease "/proc/$p/cmdline" && echo "user=$(head -n 1 "$e/owner")"
done 2>/dev/null
exit 0`

// askWait is the time limit for a connected device to describe itself.
const askWait = 15 * time.Second

// FitsSoC reports whether a device's SoC is the wanted SoC or a variant of it. A variant has a longer name: SM8750P
// fits SM8750. If either parameter is empty, the result is true.
func FitsSoC(have, want string) bool {
	return have == "" || want == "" || strings.HasPrefix(strings.ToUpper(have), strings.ToUpper(want))
}

// ErrNoDevice means that hexmage found no usable device.
var ErrNoDevice = errors.New("no device")

// Pick returns the usable device of an adb server. If soc is not empty, Pick ignores devices with another SoC, but
// accepts variants of the SoC. If several devices match, Pick fails and lists them.
func Pick(ctx context.Context, c *adb.Client, soc string) (adb.Info, error) {
	all, err := c.Devices(ctx)
	if err != nil {
		return adb.Info{}, err
	}
	has := make([]string, len(all)) // the SoC of each device, or an error
	var wg sync.WaitGroup
	for i, d := range all {
		if soc == "" || !d.Usable() {
			continue
		}
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, askWait)
			defer cancel()
			info, err := Describe(ctx, c.Device(d.Serial))
			if has[i] = info.SoC; err != nil {
				has[i] = err.Error()
			}
		})
	}
	wg.Wait()
	var fit []adb.Info
	var list strings.Builder
	for i, d := range all {
		if d.Usable() && (soc == "" || has[i] != "" && FitsSoC(has[i], soc)) {
			fit = append(fit, d)
		}
		line := fmt.Sprintf("\n  %s  %s %s %s", d.Serial, d.State, d.Props["model"], has[i])
		list.WriteString(strings.TrimRight(line, " "))
		if remedy := d.Remedy(); remedy != "" {
			list.WriteString(": " + remedy)
		}
	}
	if soc != "" {
		soc = " with the SoC " + soc
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1:
		return adb.Info{}, fmt.Errorf("%d devices%s are connected; choose one with --serial:%s", len(fit), soc,
			list.String())
	case len(all) == 0:
		return adb.Info{}, fmt.Errorf("%w is connected; connect a phone and allow USB debugging, or use profile "+
			"\"simulated\" with its simulated phone", ErrNoDevice)
	}
	return adb.Info{}, fmt.Errorf("%w%s is ready. Connected devices:%s", ErrNoDevice, soc, list.String())
}

// Details holds all properties of a device. Unknown properties are empty or 0. Sizes are in bytes.
type Details struct {
	Info
	Android     string            `json:"android,omitempty"`          // "15"
	API         int               `json:"api,omitempty"`              // 35
	Fingerprint string            `json:"fingerprint,omitempty"`      // fingerprint of the build
	ABI         string            `json:"abi,omitempty"`              // "arm64-v8a"
	System      string            `json:"system,omitempty"`           // of a board: "Ubuntu 24.04.3 LTS, Linux 6.14.0"
	Memory      Space             `json:"memory"`                     // RAM; Free is available to programs
	Disk        Space             `json:"disk"`                       // of hexmage's folder: /data on a phone
	Store       int64             `json:"store"`                      // size of hexmage's folder
	Battery     int               `json:"battery,omitempty"`          // percent
	Charging    string            `json:"charging,omitempty"`         // "Charging", "Discharging", …
	Thermal     []thermal.Reading `json:"thermal,omitempty"`          // in the kernel's order
	Libraries   []VendorLib       `json:"vendor_libraries,omitempty"` // never mix them with pushed libraries
}

// Space is a capacity and its free part, in bytes.
type Space struct {
	Total int64 `json:"total"`
	Free  int64 `json:"free"`
}

// VendorLib is a library that the manufacturer installed on the device.
type VendorLib struct {
	Path    string `json:"path"`
	BuildID string `json:"build_id,omitempty"` // build id of its SDK: "v2.34.0.250424201103"
}

// maxListed bounds lists that a device sends.
const maxListed = 500

// Inspect asks a device for its Details.
func Inspect(ctx context.Context, dev transport.Device) (Details, error) {
	i, err := Describe(ctx, dev)
	if err != nil {
		return Details{}, err
	}
	out, err := transport.Script(ctx, dev, inspectScript, nil)
	if err != nil {
		return Details{}, fmt.Errorf("cannot read the device's details: %w", err)
	}
	d := Details{Info: i}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		d.set(key, value)
	}
	if d.Thermal, err = thermal.Read(ctx, dev); err != nil {
		return Details{}, fmt.Errorf("cannot read the device's temperatures: %w", err)
	}
	return d, nil
}

// set reads one line of inspectScript. It ignores invalid numbers.
func (d *Details) set(key, value string) {
	first, rest, _ := strings.Cut(value, " ")
	switch key {
	case "android":
		d.Android = value
	case "api":
		d.API, _ = strconv.Atoi(value)
	case "fingerprint":
		d.Fingerprint = value
	case "abi":
		d.ABI = value
	case "system":
		d.System = printable(value)
	case "disk":
		d.Disk = Space{Kilobytes(first), Kilobytes(rest)}
	case "MemTotal:":
		d.Memory.Total = Kilobytes(first)
	case "MemAvailable:":
		d.Memory.Free = Kilobytes(first)
	case "store":
		d.Store = Kilobytes(first)
	case "battery":
		d.Battery, _ = strconv.Atoi(value)
	case "charging":
		d.Charging = value
	case "lib":
		if len(d.Libraries) < maxListed {
			d.Libraries = append(d.Libraries, VendorLib{first, rest})
		}
	}
}

// Kilobytes converts a number of kilobytes to bytes. It returns 0 for an invalid number.
func Kilobytes(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 52)
	if err != nil || n < 0 {
		return 0
	}
	return n << 10
}

const inspectScript = `command -v getprop >/dev/null 2>&1 || { getprop() { :; }; echo "system=$(. /etc/os-release 2>/dev/null && echo "$PRETTY_NAME, ")Linux $(uname -r)"; }
echo "android=$(getprop ro.build.version.release)"
echo "api=$(getprop ro.build.version.sdk)"
echo "fingerprint=$(getprop ro.build.fingerprint)"
echo "abi=$(getprop ro.product.cpu.abi)"
set -- $(df -Pk "${hexmage%/*}" 2>/dev/null | tail -n 1)
echo "disk=$2 $4"
while read -r k v _; do case $k in MemTotal:|MemAvailable:) echo "$k=$v" ;; esac; done </proc/meminfo
set -- $(du -sk ` + layout.Root + ` 2>/dev/null)
echo "store=$1"
for b in /sys/class/power_supply/battery; do [ -d $b ] && echo "battery=$(cat $b/capacity)" && echo "charging=$(cat $b/status)"; done 2>/dev/null
for f in /vendor/lib64/libQnn*.so /vendor/dsp/cdsp/libQnn*.so /vendor/lib/rfsa/adsp/libQnn*.so; do
	[ -f "$f" ] && echo "lib=$f $(grep -aoE 'v[0-9]+[.][0-9]+[.][0-9]+[.][0-9]{12}' "$f" | head -n 1)"
done
exit 0`
