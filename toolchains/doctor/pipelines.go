package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/qnn"
)

// aptGet checks for apt-get, which provides compilers, emulators and adb.
func (e *examination) aptGet() {
	path, err := e.o.LookPath("apt-get")
	switch {
	case err == nil:
		e.ok("apt-get", "%s", path)
	case e.p.OS == "linux":
		e.add(Finding{Name: "apt-get", Status: e.simulatedOnly(), Detail: "not in PATH; hexmage gets compilers, " +
			"emulators and adb as packages with apt-get, without root",
			Remedy: "Use Debian or Ubuntu. On another system install " +
				"clang 20 or " +
				"newer, lld, qemu-user and adb, and write source = \"installed\" in their toolchain blocks."})
	}
}

// devices lists the phones that a running adb server sees. It starts no server.
func (e *examination) devices(ctx context.Context) {
	e.section = SectionDevices
	if e.p.Devices == nil {
		return
	}
	status := e.unless("device")
	if e.o.Profile == "simulated" {
		status = Optional
	}
	ds, err := e.p.Devices(ctx)
	if err != nil {
		e.add(Finding{Name: "adb server", Status: status, Detail: "not running",
			Remedy: "Run `hexmage device list`, which starts an adb server. The simulated profile has its own server."})
		return
	}
	if len(ds) == 0 {
		e.add(Finding{Name: "phone", Status: status, Detail: "not attached", Remedy: e.connect()})
	}
	for _, d := range ds {
		f := Finding{Name: d.Serial, Status: e.unless("device"), Detail: d.State,
			Remedy: qnn.Sentence(cmp.Or(d.Remedy, "plug it in again"))}
		if d.Usable() {
			f.Status, f.Detail = OK, cmp.Or(strings.TrimSpace(d.Model+" "+e.soc(d.SoC)), "attached")
		}
		e.add(f)
	}
}

// connect returns instructions for attaching a phone.
func (e *examination) connect() string {
	text := "Connect a phone with USB debugging enabled, or run `hexmage device pair HOST:PORT CODE` and `hexmage " +
		"device connect HOST:PORT` for a phone on Wi-Fi."
	if e.wsl() {
		return "In Windows run `usbipd attach --wsl --auto-attach --busid BUSID`; `usbipd list` shows the BUSID. " + text
	}
	return text
}

// soc describes a SoC of the catalog.
func (e *examination) soc(name string) string {
	if name == "" {
		return ""
	}
	s, err := e.o.Catalog.FindSoC(name)
	if err != nil {
		return name + ", which is not in the catalog"
	}
	text := s.Name + ", Hexagon " + s.Arch
	if a := e.o.Catalog.FindArch(s.Arch); a != nil && a.CompileAs != "" {
		text += " (hexmage compiles code for this arch as for " + a.CompileAs + ")"
	}
	if s.MinSDK != "" {
		text += ", QNN " + s.MinSDK + " and newer"
	}
	return text
}

// pipelines reports the parts that each pipeline lacks in each profile.
func (e *examination) pipelines() {
	for _, p := range e.o.Pipelines {
		of := p.Name
		e.section = "pipeline " + p.Name
		if p.Profile != "" {
			e.section, of = e.section+", profile "+p.Profile, of+" --profile "+p.Profile
		}
		if p.SoC != "" {
			e.ok("target", "%s", e.soc(p.SoC))
		}
		if p.Err != "" {
			e.add(Finding{Name: "plan", Status: e.unless(p.Profile), Detail: "cannot plan: " + p.Err, Remedy: fmt.Sprintf("Run `hexmage validate %s`.", of)})
			continue
		}
		e.ok("downloads", "%s", map[bool]string{true: "nothing to download",
			false: bytesize.Decimal(p.Download) + " to download"}[p.Download == 0])
		if len(p.Missing)+len(p.Findings) == 0 {
			e.ok("ready", "hexmage run %s", of)
		}
		seen := map[string]bool{}
		for _, m := range p.Missing {
			name, text, _ := strings.Cut(m, ": ")
			if seen[text] {
				continue // two steps lack the same program
			}
			seen[text] = true
			detail, remedy := cutRemedy(text)
			e.add(Finding{Name: name, Status: e.unless(p.Profile), Detail: detail, Remedy: qnn.Sentence(remedy)})
		}
		for _, f := range p.Findings {
			if f.Section == SectionMachine { // reported above
				continue
			}
			if f.Section = e.section; f.Status == Missing {
				f.Status = e.unless(p.Profile)
			}
			e.add(f)
		}
	}
}

// cutRemedy splits a message into the problem and the remedy.
func cutRemedy(text string) (what, do string) {
	what, do, _ = strings.Cut(text, "; ")
	return what, do
}

// Probes holds functions that examine a machine.
type Probes struct {
	OS, Arch   string // Go's names: "linux", "amd64"
	Root       string // root of its file system: "/"
	Processors int

	Ready      func() error            // error if commands cannot run on this machine; nil: not checked
	Sandbox    func() (Sandbox, error) // error if a strict sandbox is not available
	Namespaces func() error            // tries a user namespace with mounts
	// Free returns the free space on the file system of dir, or of its nearest existing parent.
	Free func(dir string) (bytes int64, err error)
	// Devices lists the devices of a running adb server; nil: not checked. An error means that no server runs.
	Devices func(ctx context.Context) ([]Device, error)
}

// Sandbox describes this machine's support for a strict sandbox.
type Sandbox struct {
	Supervised, Mounts error // errors; nil: the sandbox has a supervisor, or mounts of its own
	Signals, Sockets   bool  // whether the kernel separates the signals and sockets of actions
}

// Device is a device that an adb server or devices.hcl lists.
type Device struct {
	Serial string
	State  string // in the words of `hexmage device list`
	Model  string
	SoC    string // "SM8750"; "" if unknown
	Remedy string // next step, if the device is not usable
}

// Usable reports whether a run can use the device. A device in use counts as usable, because the run waits for it.
func (d Device) Usable() bool { return d.State == "device" || d.State == "in use" }
