package phone

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// state is a small file system for facts about the device and values that change while it runs. The device sees parts
// of it, read-only.
type state struct {
	root *os.Root
	at   string // its path until hide
}

const (
	stateFolder = ".state"
	stateSize   = 4 << 20
	properties  = "/dev/__properties__" // folder that getprop reads, with Android's name
	bootIDFile  = "/proc/sys/kernel/random/boot_id"
)

func newState(root string) (*state, error) {
	st := &state{at: filepath.Join(root, stateFolder)}
	if err := os.Mkdir(st.at, 0o755); err != nil {
		return nil, err
	}
	if err := mount("tmpfs", st.at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("mode=0755,size=%d", stateSize)); err != nil {
		return nil, err
	}
	var err error
	st.root, err = os.OpenRoot(st.at)
	return st, err
}

// put writes a file by a rename, so that readers at any time see the old or the new content.
func (st *state) put(name, content string) error {
	if err := st.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if err := st.root.WriteFile(name+".new", []byte(content), 0o444); err != nil {
		return err
	}
	return st.root.Rename(name+".new", name)
}

// putAll writes files, sorted by name.
func (st *state) putAll(files map[string]string) error {
	for _, name := range sortedKeys(files) {
		if err := st.put(name, files[name]); err != nil {
			return err
		}
	}
	return nil
}

// show binds a file or folder of the state over a path of the device.
func (st *state) show(name, to string) error { return bindReadOnly(filepath.Join(st.at, name), to) }

// hide unmounts the state from the device's root. Shown parts stay visible, and st.root stays writable.
func (st *state) hide() error {
	st.at = "/" + stateFolder
	if err := unix.Unmount(st.at, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount the state: %w", err)
	}
	return os.Remove(st.at)
}

// fill makes the files of a phone of the SoC below root. Call it before root becomes the device's.
func (st *state) fill(root string, s setup, soc SoCProps) error {
	if err := st.putAll(sysfs(soc)); err != nil {
		return err
	}
	sys := filepath.Join(root, "sys")
	if err := os.Mkdir(sys, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := st.show("sys", sys); err != nil {
		return err
	}
	if err := st.boot(soc, s.Serialno, "cold"); err != nil {
		return err
	}
	at := filepath.Join(root, properties)
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	if err := st.show("properties", at); err != nil {
		return err
	}
	if err := st.put("cpuinfo", cpuinfo()); err != nil {
		return err
	}
	if err := st.show("cpuinfo", filepath.Join(root, "proc/cpuinfo")); err != nil {
		return err
	}
	return st.show("boot_id", filepath.Join(root, bootIDFile))
}

// boot writes the files that change at each boot.
func (st *state) boot(soc SoCProps, serialno, reason string) error {
	id, err := os.ReadFile("/proc/sys/kernel/random/uuid") // a new one for each read
	if err != nil {
		return err
	}
	// The device sees a bind mount of this file alone, so a rename would not show. All ids have the same length.
	if err := st.root.WriteFile("boot_id", id, 0o444); err != nil {
		return err
	}
	all := append(soc.properties(), "ro.serialno="+serialno, "sys.boot.reason="+reason, "sys.boot_completed=1")
	return st.put("properties/all", strings.Join(all, "\n")+"\n")
}

// sysfs returns the constant files below /sys.
func sysfs(soc SoCProps) map[string]string {
	files := map[string]string{
		"sys/devices/soc0/machine":                    soc.Model,
		"sys/class/kgsl/kgsl-3d0/gpu_busy_percentage": "0 %",
		"sys/class/kgsl/kgsl-3d0/gpuclk":              "0",
		"sys/class/power_supply/battery/type":         "Battery",
		"sys/class/power_supply/battery/capacity":     "80",
		// The phone is on its cable, so the battery's current does not measure power.
		"sys/class/power_supply/battery/status":      "Charging",
		"sys/class/power_supply/battery/voltage_now": "4000000",
		"sys/class/power_supply/battery/current_now": "1250000",
		"sys/devices/system/cpu/present":             fmt.Sprintf("0-%d", runtime.NumCPU()-1),
	}
	if soc.SoCID != 0 { // unknown for some SoCs
		files["sys/devices/soc0/soc_id"] = fmt.Sprint(soc.SoCID)
	}
	for n := range runtime.NumCPU() {
		files[fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", n)] = "2000000"
	}
	for n, zone := range zones() {
		files[fmt.Sprintf("sys/class/thermal/thermal_zone%d/type", n)] = zone
	}
	for name := range files {
		files[name] += "\n"
	}
	return files
}

// cpuinfo returns /proc/cpuinfo of an AArch64 kernel, because programs cannot parse the host's. The cores are qemu's,
// without a maker's model.
func cpuinfo() string {
	var b strings.Builder
	for n := range runtime.NumCPU() {
		fmt.Fprintf(&b, "processor\t: %d\nBogoMIPS\t: 38.40\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm\n"+
			"CPU implementer\t: 0x00\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0x000\nCPU revision\t: 0\n\n", n)
	}
	return b.String()
}

// heat writes the temperature of all sensors.
func (st *state) heat(celsius float64) error {
	for n := range zones() {
		name := fmt.Sprintf("sys/class/thermal/thermal_zone%d/temp", n)
		if err := st.put(name, fmt.Sprintln(int(celsius*1000))); err != nil {
			return err
		}
	}
	return nil
}

const (
	heatTick = 250 * time.Millisecond // interval of temperature changes
	coolTime = 8 * time.Second        // in which the distance to the surroundings falls by the factor e
)

// coolDown lowers the device's temperature to the temperature of its surroundings.
func (d *device) coolDown() {
	start := time.Now()
	for celsius := d.faults.Celsius; celsius > ambient+0.05; time.Sleep(heatTick) {
		celsius = ambient + (d.faults.Celsius-ambient)*math.Exp(-time.Since(start).Seconds()/coolTime.Seconds())
		if err := d.state.heat(celsius); err != nil {
			d.log.Printf("temperature: %v", err)
		}
	}
}
