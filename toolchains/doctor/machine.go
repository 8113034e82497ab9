package doctor

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/toolchains/binfmt"
)

// NotLinux is what hexmage is on other systems.
const NotLinux = "Actions run on Linux only; here hexmage plans, inspects, lints and talks to devices. On Windows use WSL."

// Names of findings about what the simulated phone needs.
const (
	nameNamespaces = "user namespaces"
	nameBinfmt     = "binfmt_misc"
)

// read returns a small file of the machine, "" when it is not there.
func (e *examination) read(file string) string {
	b, err := os.ReadFile(filepath.Join(e.p.Root, file))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// machine looks at the system, its size, and what the sandbox and the simulated phone need of the kernel.
func (e *examination) machine() {
	e.section = SectionMachine
	e.system()
	e.size()
	e.disk()
	e.aptGet()
	e.kernel(true)
}

// kernel looks at what Linux must allow for actions and, if simulated is set, for the simulated phone.
func (e *examination) kernel(simulated bool) {
	if e.p.OS != "linux" {
		return
	}
	if e.p.Ready != nil {
		if err := e.p.Ready(); err != nil {
			e.add(Finding{Name: "/proc, /dev", Status: Missing, Detail: err.Error(), Remedy: "No step runs without them."})
		}
	}
	e.sandbox()
	if simulated {
		e.namespaces()
		e.binfmt()
	}
}

// sandbox says what the sandbox of actions can do here.
func (e *examination) sandbox() {
	s, err := e.p.Sandbox()
	if err != nil {
		e.add(Finding{Name: "sandbox", Status: Optional, Detail: "staged: " + err.Error(),
			Remedy: "Actions run without being confined to their inputs. Linux 6.2 and newer have what it takes; Landlock may have to be named in the kernel's lsm= parameter."})
		return
	}
	f := Finding{Name: "sandbox", Status: OK}
	details := []string{"strict: inputs are linked, rare system calls supervised", "/dev/shm is each action's own",
		"signals are kept by the kernel"}
	if s.Supervised != nil {
		f.Status, details[0] = Optional, "strict, without a supervisor: "+s.Supervised.Error()
		f.Remedy = "Inputs are copied."
		if s.Mounts != nil {
			f.Remedy += " Mode and times of toolchains and of your files elsewhere are not kept from actions."
		}
	}
	if s.Mounts != nil {
		details[1] = fmt.Sprintf("/dev/shm is shared, as no mounts are allowed (%v)", s.Mounts)
	}
	switch {
	case !s.Signals && s.Supervised == nil:
		details[2] = "signals are kept by the supervisor (by the kernel from Linux 6.12)"
	case !s.Signals:
		details[2] = "signals to others are not kept (Linux 6.12)"
	}
	if !s.Sockets {
		details = append(details, "abstract sockets are shared (Linux 6.12)")
	}
	f.Detail = strings.Join(details, "; ")
	e.add(f)
}

// osName is what the system calls itself.
func (e *examination) osName() string {
	for line := range strings.Lines(e.read("etc/os-release")) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(v, `"'`)
		}
	}
	return e.p.OS
}

func (e *examination) system() {
	f := Finding{Name: "system", Status: OK}
	f.Detail = e.osName() + ", " + e.p.OS + "/" + e.p.Arch
	if release := e.read("proc/sys/kernel/osrelease"); release != "" {
		f.Detail += ", kernel " + release
	}
	if e.p.OS != "linux" {
		f.Status = Optional
		f.Remedy = NotLinux
	} else if strings.Contains(e.read("proc/version"), "-Microsoft") { // the kernel of WSL 2 has -microsoft-standard
		f.Status, f.Remedy = Missing, "WSL 1 lacks system calls that actions need. In Windows run `wsl --set-version "+
			"DISTRIBUTION 2`."
	} else if e.p.Arch != "amd64" {
		f.Status = Optional
		f.Remedy = "QAIRT and the Hexagon SDK have tools for x86-64 hosts only; the simulated profile's packages are pinned for amd64."
	}
	e.add(f)
}

// wsl tells whether this is the Windows Subsystem for Linux.
func (e *examination) wsl() bool {
	return strings.Contains(strings.ToLower(e.read("proc/version")), "microsoft")
}

func (e *examination) size() {
	text := strconv.Itoa(e.p.Processors) + " processors"
	if total, available := e.meminfo(); total > 0 {
		text += fmt.Sprintf(", %s of memory, %s available", bytesize.Decimal(total), bytesize.Decimal(available))
	}
	e.ok("processors, memory", "%s", text)
}

// meminfo returns how much memory there is, in bytes, 0 where the system does not say.
func (e *examination) meminfo() (total, available int64) {
	for _, line := range strings.Split(e.read("proc/meminfo"), "\n") {
		w := strings.Fields(line)
		if len(w) < 2 {
			continue
		}
		n, err := strconv.ParseInt(w[1], 10, 64)
		if err != nil {
			continue
		}
		switch w[0] {
		case "MemTotal:":
			total = n << 10
		case "MemAvailable:":
			available = n << 10
		}
	}
	return total, available
}

// disk looks at the room on the store's file system.
func (e *examination) disk() {
	store := cmp.Or(e.o.Store, os.TempDir())
	if free, err := e.p.Free(store); err == nil {
		e.ok("disk", "%s free for %s", bytesize.Decimal(free), store)
	}
}

func (e *examination) namespaces() {
	err := e.p.Namespaces()
	if err == nil {
		e.ok(nameNamespaces, "allowed")
		return
	}
	f := Finding{Name: nameNamespaces, Status: e.simulatedOnly(), Detail: "not allowed: " + err.Error()}
	if errors.Is(err, syscall.ENOSPC) { // which is not about disks here
		f.Detail = "not allowed: the limit user.max_user_namespaces is reached"
	}
	f.Remedy = "The simulated phone of the simulated profile needs them. " + e.namespaceRemedy()
	e.add(f)
}

// simulatedOnly is the status of what only the simulated profile needs.
func (e *examination) simulatedOnly() Status {
	if e.o.Profile == "device" {
		return Optional
	}
	return Missing
}

func (e *examination) namespaceRemedy() string {
	for _, s := range []struct{ file, value, remedy string }{
		{"proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "Allow them with `sysctl kernel.apparmor_restrict_unprivileged_userns=0`."},
		{"proc/sys/kernel/unprivileged_userns_clone", "0", "Allow them with `sysctl kernel.unprivileged_userns_clone=1`."},
		{"proc/sys/user/max_user_namespaces", "0", "Allow them with `sysctl user.max_user_namespaces=15000`."},
	} {
		if e.read(s.file) == s.value {
			return s.remedy
		}
	}
	return "In a container, allow the unshare and mount calls (for docker: --security-opt seccomp=unconfined). In a chroot there are none: enter the folder with what changes the root by pivot_root, such as systemd-nspawn."
}

// binfmt looks whether a user namespace can have its own binfmt_misc: Linux 6.7 and newer. Before, the machine's own serves, where it has what is needed.
func (e *examination) binfmt() {
	release := e.read("proc/sys/kernel/osrelease")
	if release != "" && !version.Older(release, "6.7") {
		e.ok(nameBinfmt, "in user namespaces")
		return
	}
	at := filepath.Join(e.p.Root, "proc/sys/fs/binfmt_misc")
	if (binfmt.Program{Class: 2, Machine: byte(elf.EM_AARCH64)}).Interpreter(at) != "" && (binfmt.Program{Class: 1, Machine: byte(elf.EM_QDSP6)}).Interpreter(at) != "" {
		e.ok(nameBinfmt, "for the whole machine, with AArch64 and Hexagon programs")
		return
	}
	e.add(Finding{Name: nameBinfmt, Status: e.simulatedOnly(), Detail: "kernel " + release + " has it for the whole machine only",
		Remedy: "The simulated phone runs AArch64 and Hexagon programs through it. Use Linux 6.7 or newer, or a real phone, or run `apt-get install qemu-user-static`, which registers them."})
}
