package phone

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// state is a small file system with what the device tells of itself and what changes while it runs. The device sees parts of it, and
// may only read them.
type state struct {
	root  *os.Root
	at    string            // where it is until hide
	shown map[string]string // what put wrote last
}

const (
	stateFolder = ".state"
	stateSize   = 4 << 20
	properties  = "/dev/__properties__" // folder that getprop reads; its name is Android's
	bootIDFile  = "/proc/sys/kernel/random/boot_id"
)

func newState(root string) (*state, error) {
	st := &state{at: filepath.Join(root, stateFolder), shown: map[string]string{}}
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

// put writes a file for readers at any time: they see what was before or what is now.
func (st *state) put(name, content string) error {
	if st.shown[name] == content {
		return nil
	}
	if err := st.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if err := st.root.WriteFile(name+".new", []byte(content), 0o444); err != nil {
		return err
	}
	if err := st.root.Rename(name+".new", name); err != nil {
		return err
	}
	st.shown[name] = content
	return nil
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

// show lets the device see a file or folder of the state in the place of what is there.
func (st *state) show(name, to string) error { return bindReadOnly(filepath.Join(st.at, name), to) }

// replace puts a file over one that the image has.
func (st *state) replace(root, name, content string) error {
	to := filepath.Join(root, filepath.FromSlash(name))
	if fi, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) || err == nil && !fi.Mode().IsRegular() {
		return fmt.Errorf("the image has no file %s: make it again", name)
	} else if err != nil {
		return err
	}
	at := "over/" + name
	if err := st.put(at, content); err != nil {
		return err
	}
	return st.show(at, to)
}

// hide takes the state itself out of sight, once the root is the device's. What is shown of it stays, and so does the way to write to it.
func (st *state) hide() error {
	st.at = "/" + stateFolder
	if err := unix.Unmount(st.at, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("hide the state: %w", err)
	}
	return os.Remove(st.at)
}

// fill makes what a phone of the SoC shows, below root. It is called before the root is the device's.
func (st *state) fill(root string, s setup, soc SoCProps) error {
	really := soc
	if s.Faults.Silicon != nil {
		really = *s.Faults.Silicon
		if err := st.replace(root, "vendor/etc/open_soc", really.openSoC()); err != nil {
			return err
		}
	}
	if id := s.Faults.VendorQNN; id != "" {
		libs := vendorLibraries(soc.Arch, id)
		for _, name := range sortedKeys(libs) {
			if err := st.replace(root, name, string(libs[name])); err != nil {
				return err
			}
		}
	}
	if err := st.putAll(soc0(really)); err != nil {
		return err
	}
	if err := st.putAll(fixed()); err != nil {
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

// boot writes what is new after each boot.
func (st *state) boot(soc SoCProps, serialno, reason string) error {
	id := bootID()
	// The file is seen by itself, not in its folder, so it must stay the same one. All ids are equally long.
	if err := st.root.WriteFile("boot_id", []byte(id+"\n"), 0o444); err != nil {
		return err
	}
	all := append(soc.properties(), "ro.boot.bootreason="+reason, "ro.boot.id="+id, "ro.boot.serialno="+serialno, "ro.serialno="+serialno,
		"sys.boot.reason="+reason, "sys.boot_completed=1")
	slices.Sort(all)
	return st.put("properties/all", strings.Join(all, "\n")+"\n")
}

// bootID is a random UUID, as the kernel makes one when it starts.
func bootID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// soc0 is what does not change of the SoC and of what the device has.
func soc0(s SoCProps) map[string]string {
	files := map[string]string{
		"sys/devices/soc0/machine":                   s.Model + "\n",
		"sys/devices/soc0/family":                    "Snapdragon\n",
		"sys/devices/soc0/revision":                  "1.0\n",
		"sys/firmware/devicetree/base/model":         "hexmage simulated phone, " + s.Model + "\x00",
		"sys/firmware/devicetree/base/compatible":    "qcom," + s.platform() + "\x00",
		"sys/class/kgsl/kgsl-3d0/gpu_model":          "none\n",
		"sys/class/remoteproc/remoteproc0/name":      "cdsp\n",
		"sys/class/remoteproc/remoteproc0/state":     "running\n",
		"sys/class/kgsl/kgsl-3d0/gpubusy":            "      0       0\n",
		"sys/class/kgsl/kgsl-3d0/gpuclk":             "0\n",
		"sys/class/power_supply/battery/type":        "Battery\n",
		"sys/class/power_supply/battery/present":     "1\n",
		"sys/class/power_supply/battery/health":      "Good\n",
		"sys/class/power_supply/battery/cycle_count": "0\n",
	}
	if s.SoCID != 0 { // not every SoC's is known
		files["sys/devices/soc0/soc_id"] = fmt.Sprintln(s.SoCID)
	}
	return files
}

// Frequencies of the simulated cores, in kHz. They are of no SoC.
const (
	slowest = 400_000
	fastest = 2_000_000
)

// fixed is what does not change of the cores.
func fixed() map[string]string {
	last := runtime.NumCPU() - 1
	cores := "0\n"
	if last > 0 {
		cores = fmt.Sprintf("0-%d\n", last)
	}
	files := map[string]string{}
	for _, name := range []string{"possible", "present", "online"} {
		files["sys/devices/system/cpu/"+name] = cores
	}
	for n := range last + 1 {
		at := fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/", n)
		for _, kind := range []string{"cpuinfo", "scaling"} {
			files[at+kind+"_min_freq"] = fmt.Sprintln(slowest)
			files[at+kind+"_max_freq"] = fmt.Sprintln(fastest)
		}
		files[at+"scaling_governor"] = "schedutil\n"
	}
	return files
}

// cpuinfo is what the kernel of an AArch64 machine tells of its cores: programs that read the host's stumble over its form. The cores are qemu's, of no
// maker's model.
func cpuinfo() string {
	var b strings.Builder
	for n := range runtime.NumCPU() {
		fmt.Fprintf(&b, "processor\t: %d\nBogoMIPS\t: 38.40\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm\n"+
			"CPU implementer\t: 0x00\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0x000\nCPU revision\t: 0\n\n", n)
	}
	return b.String()
}

// sensors writes temperatures, frequencies and the battery's state.
func (st *state) sensors(celsius float64) error {
	files := map[string]string{}
	for n, zone := range zones() {
		at := fmt.Sprintf("sys/class/thermal/thermal_zone%d/", n)
		files[at+"type"] = zone + "\n"
		files[at+"mode"] = "enabled\n"
		files[at+"temp"] = fmt.Sprintf("%d\n", int(celsius*1000))
	}
	battery := "sys/class/power_supply/battery/"
	files[battery+"temp"] = fmt.Sprintf("%d\n", int(celsius*10))
	files[battery+"capacity"] = "80\n"
	files[battery+"status"] = "Charging\n" // as on its cable: its current is no measure of power
	files[battery+"voltage_now"] = "4000000\n"
	files[battery+"current_now"] = "1250000\n"
	files["sys/class/kgsl/kgsl-3d0/gpu_busy_percentage"] = "0 %\n"
	for n := range runtime.NumCPU() {
		files[fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", n)] = fmt.Sprintln(fastest)
	}
	return st.putAll(files)
}
