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

// NotLinux is the remedy on systems other than Linux.
const NotLinux = "On this system hexmage plans, inspects, lints and talks to devices. Actions run on Linux only: on " +
	"Windows use WSL."

// Names of findings about requirements of the simulated phone.
const (
	nameNamespaces = "user namespaces"
	nameBinfmt     = "binfmt_misc"
)

// read returns a small file of the machine, "" if it is missing.
func (e *examination) read(file string) string {
	b, err := os.ReadFile(filepath.Join(e.p.Root, file))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// machine checks the system, its size, and the kernel features for the sandbox and the simulated phone.
func (e *examination) machine() {
	e.section = SectionMachine
	e.system()
	e.size()
	e.disk()
	e.aptGet()
	e.kernel(true)
}

// kernel checks the kernel features for actions and, if simulated is set, for the simulated phone.
func (e *examination) kernel(simulated bool) {
	if e.p.OS != "linux" {
		return
	}
	if e.p.Ready != nil {
		if err := e.p.Ready(); err != nil {
			e.add(Finding{Name: "/proc, /dev", Status: Missing, Detail: err.Error(), Remedy: "Mount these file " +
				"systems, because every step needs them."})
		}
	}
	e.sandbox()
	if simulated {
		e.namespaces()
		e.binfmt()
	}
}

// sandbox reports the features of the action sandbox on this machine.
func (e *examination) sandbox() {
	s, err := e.p.Sandbox()
	if err != nil {
		e.add(Finding{Name: "sandbox", Status: Optional, Detail: "staged: " + err.Error(),
			Remedy: "Actions can read undeclared inputs. To prevent that, use Linux 6.2 or newer, with Landlock in " +
				"the kernel's lsm= parameter."})
		return
	}
	f := Finding{Name: "sandbox", Status: OK}
	details := []string{"strict, with linked inputs and a supervisor for rare system calls",
		"each action has its own /dev/shm",
		"the kernel blocks signals to other actions"}
	if s.Supervised != nil {
		f.Status, details[0] = Optional, "strict, without a supervisor: "+s.Supervised.Error()
		f.Remedy = "hexmage copies inputs instead of linking them."
		if s.Mounts != nil {
			f.Remedy += " Actions can change the mode and times of toolchains and of your other files."
		}
	}
	if s.Mounts != nil {
		details[1] = fmt.Sprintf("actions share /dev/shm, because the kernel allows no mounts (%v)", s.Mounts)
	}
	switch {
	case !s.Signals && s.Supervised == nil:
		details[2] = "the supervisor blocks signals to other actions (the kernel from Linux 6.12 on)"
	case !s.Signals:
		details[2] = "actions can signal other processes (blocked from Linux 6.12 on)"
	}
	if !s.Sockets {
		details = append(details, "actions share abstract sockets (separate from Linux 6.12 on)")
	}
	f.Detail = strings.Join(details, "; ")
	e.add(f)
}

// osName returns the system's own name.
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
		f.Remedy = "QAIRT and the Hexagon SDK have tools for x86-64 hosts only; the simulated profile's packages are " +
			"pinned for amd64."
	}
	e.add(f)
}

// wsl reports whether this is the Windows Subsystem for Linux.
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

// meminfo returns the total and the available memory in bytes, 0 if unknown.
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

// disk reports the free space of the store's file system.
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
	if errors.Is(err, syscall.ENOSPC) { // means the limit on namespaces, not a full disk
		f.Detail = "not allowed: the limit user.max_user_namespaces is reached"
	}
	f.Remedy = "The simulated phone of the simulated profile needs user namespaces. " + e.namespaceRemedy()
	e.add(f)
}

// simulatedOnly returns the status of a part that only the simulated profile needs.
func (e *examination) simulatedOnly() Status {
	if e.o.Profile == "device" {
		return Optional
	}
	return Missing
}

func (e *examination) namespaceRemedy() string {
	for _, s := range []struct{ file, value, remedy string }{
		{"proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "Allow them with `sysctl " +
			"kernel.apparmor_restrict_unprivileged_userns=0`."},
		{"proc/sys/kernel/unprivileged_userns_clone", "0", "Allow them with `sysctl " +
			"kernel.unprivileged_userns_clone=1`."},
		{"proc/sys/user/max_user_namespaces", "0", "Allow them with `sysctl user.max_user_namespaces=15000`."},
	} {
		if e.read(s.file) == s.value {
			return s.remedy
		}
	}
	return "In a container, allow the unshare and mount calls (for docker: --security-opt seccomp=unconfined). A " +
		"chroot has no user namespaces: enter the folder with a program that uses pivot_root, such as systemd-nspawn."
}

// binfmt checks whether a user namespace can have its own binfmt_misc, from Linux 6.7 on. On older kernels the
// machine's own binfmt_misc works, if it has the required entries.
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
	e.add(Finding{Name: nameBinfmt, Status: e.simulatedOnly(), Detail: "kernel " + release + " supports it only for " +
		"the whole machine",
		Remedy: "The simulated phone needs binfmt_misc to run AArch64 and Hexagon programs. Use Linux 6.7 or newer" +
			", use a real phone, or run `apt-get install qemu-user-static`."})
}
