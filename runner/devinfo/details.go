package devinfo

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/thermal"
)

// Details are what is worth knowing of a device before something is built for it. What it does not say is empty or 0; sizes are in bytes.
type Details struct {
	Info
	Android     string            // "15"
	API         int               // 35
	Fingerprint string            // of the build
	ABI         string            // "arm64-v8a"
	Memory      Space             // RAM; Free is what programs can have
	Disk        Space             // of /data
	Store       int64             // what hexmage keeps there
	Battery     int               // percent
	Charging    string            // "Charging", "Discharging", …
	Thermal     []thermal.Reading // sensors, as the kernel orders them
	Libraries   []VendorLib       // QNN libraries of the vendor's, which must not be mixed with those that are pushed
}

// Space is what there is of something.
type Space struct {
	Total int64 `json:"total"`
	Free  int64 `json:"free"`
}

// VendorLib is a library of the vendor's on the device.
type VendorLib struct {
	Path    string `json:"path"`
	BuildID string `json:"build_id,omitempty"` // of the SDK that it is from: "v2.34.0.250424201103"
}

// maxListed bounds lists that a device gives.
const maxListed = 500

// Inspect asks a device for all that Details has.
func Inspect(ctx context.Context, dev *adb.Device) (Details, error) {
	i, err := Describe(ctx, dev)
	if err != nil {
		return Details{}, err
	}
	out, err := dev.Output(ctx, inspectScript, nil)
	if err != nil {
		return Details{}, fmt.Errorf("ask the device what it has: %w", err)
	}
	d := Details{Info: i}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		d.set(key, value)
	}
	return d, nil
}

// set takes one line of inspectScript. What is no number counts as not said.
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
	case "thermal":
		milli, err := strconv.ParseInt(first, 10, 32)
		if err == nil && rest != "" && len(d.Thermal) < maxListed {
			d.Thermal = append(d.Thermal, thermal.Reading{Zone: rest, Celsius: float64(milli) / 1000})
		}
	case "lib":
		if len(d.Libraries) < maxListed {
			d.Libraries = append(d.Libraries, VendorLib{first, rest})
		}
	}
}

// Kilobytes reads a number of kilobytes that a device says, as bytes; 0 when it is none.
func Kilobytes(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 52)
	if err != nil || n < 0 {
		return 0
	}
	return n << 10
}

const inspectScript = `echo "android=$(getprop ro.build.version.release)"
echo "api=$(getprop ro.build.version.sdk)"
echo "fingerprint=$(getprop ro.build.fingerprint)"
echo "abi=$(getprop ro.product.cpu.abi)"
set -- $(df -Pk /data/local/tmp 2>/dev/null | tail -n 1)
echo "disk=$2 $4"
while read -r k v _; do case $k in MemTotal:|MemAvailable:) echo "$k=$v" ;; esac; done </proc/meminfo
set -- $(du -sk ` + layout.Root + ` 2>/dev/null)
echo "store=$1"
for b in /sys/class/power_supply/battery; do [ -d $b ] && echo "battery=$(cat $b/capacity)" && echo "charging=$(cat $b/status)"; done 2>/dev/null
for z in /sys/class/thermal/thermal_zone*; do [ -r $z/temp ] && t=$(cat $z/temp) && echo "thermal=$t $(cat $z/type)"; done 2>/dev/null
for f in /vendor/lib64/libQnn*.so /vendor/dsp/cdsp/libQnn*.so /vendor/lib/rfsa/adsp/libQnn*.so; do
	[ -f "$f" ] && echo "lib=$f $(grep -aoE 'v[0-9]+[.][0-9]+[.][0-9]+[.][0-9]{12}' "$f" | head -n 1)"
done
exit 0`
