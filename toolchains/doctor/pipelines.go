package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/qnn"
)

// aptGet looks for the program that brings compilers, emulators and adb.
func (e *examination) aptGet() {
	path, err := e.o.LookPath("apt-get")
	switch {
	case err == nil:
		e.ok("apt-get", "%s", path)
	case e.p.OS == "linux":
		e.add(Finding{Name: "apt-get", Status: e.simulatedOnly(), Detail: "not in PATH: it brings compilers, emulators and " +
			"adb as packages, without root", Remedy: "Debian and Ubuntu have it. On another system install clang 20 or " +
			"newer, lld, qemu-user and adb, and write source = \"installed\" in their toolchain blocks."})
	}
}

// devices lists the phones that an adb server sees. It starts no server.
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
		e.add(Finding{Name: "adb server", Status: status, Detail: "none runs",
			Remedy: "Run `hexmage device list`, which starts one. The simulated profile has a server of its own."})
		return
	}
	if len(ds) == 0 {
		e.add(Finding{Name: "phone", Status: status, Detail: "none is attached", Remedy: e.connect()})
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

// connect returns the way to attach a phone.
func (e *examination) connect() string {
	text := "Connect one with USB debugging on, until `hexmage device list` shows it; or over Wi-Fi, run `hexmage device " +
		"pair HOST:PORT CODE` and `hexmage device connect HOST:PORT`."
	if e.wsl() {
		return "In Windows run `usbipd attach --wsl --auto-attach --busid BUSID`; `usbipd list` has the BUSID. " + text
	}
	return text
}

// soc describes a SoC of the catalog.
func (e *examination) soc(name string) string {
	if name == "" {
		return ""
	}
	s, err := e.o.Catalogue.FindSoC(name)
	if err != nil {
		return name + ", which the catalogue does not know"
	}
	text := s.Name + ", Hexagon " + s.Arch
	if a := e.o.Catalogue.FindArch(s.Arch); a != nil && a.CompileAs != "" {
		text += " (code for it is compiled as for " + a.CompileAs + ")"
	}
	if s.MinSDK != "" {
		text += ", QNN " + s.MinSDK + " and newer"
	}
	return text
}

// pipelines says what each pipeline lacks in each profile.
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
			e.add(Finding{Name: "plan", Status: e.unless(p.Profile), Detail: "it can't be planned: " + p.Err, Remedy: fmt.Sprintf("Run `hexmage validate %s`.", of)})
			continue
		}
		e.ok("downloads", "%s", map[bool]string{true: "nothing is to be downloaded", false: bytesize.Decimal(p.Download) + " to be downloaded"}[p.Download == 0])
		if len(p.Missing)+len(p.Findings) == 0 {
			e.ok("ready", "hexmage run %s", of)
		}
		seen := map[string]bool{}
		for _, m := range p.Missing {
			name, text, _ := strings.Cut(m, ": ")
			if seen[text] {
				continue // two steps lack one program
			}
			seen[text] = true
			detail, remedy := cutRemedy(text)
			e.add(Finding{Name: name, Status: e.unless(p.Profile), Detail: detail, Remedy: qnn.Sentence(remedy)})
		}
		for _, f := range p.Findings {
			if f.Section == SectionMachine { // it is above
				continue
			}
			if f.Section = e.section; f.Status == Missing {
				f.Status = e.unless(p.Profile)
			}
			e.add(f)
		}
	}
}

// cutRemedy parts what is missing from what to do.
func cutRemedy(text string) (what, do string) {
	i := strings.LastIndex(text, ": ")
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i+2:]
}

// Probes are what is asked of a machine. System asks the one that hexmage runs on.
type Probes struct {
	OS, Arch   string // as Go calls them: "linux", "amd64"
	Root       string // where its file system is: "/"
	Processors int

	Ready      func() error            // why no command can run here; nil: not asked
	Sandbox    func() (Sandbox, error) // the error says why there can be no strict one
	Namespaces func() error            // tries a user namespace with mounts
	// Free is the room on the file system of dir, or of the nearest folder above that is there.
	Free func(dir string) (bytes int64, err error)
	// Devices lists what an adb server that runs already sees; nil: not asked. The error says that none runs.
	Devices func(ctx context.Context) ([]Device, error)
}

// Sandbox is what a strict sandbox can do.
type Sandbox struct {
	Supervised, Mounts error // why it has no supervisor, and no mounts of its own; nil: it has
	Signals, Sockets   bool  // the kernel keeps actions from those of others
}

// Device is one that an adb server sees, or that devices.hcl names.
type Device struct {
	Serial string
	State  string // as `hexmage device list` prints it
	Model  string
	SoC    string // "SM8750"; "" when it does not say
	Remedy string // if it cannot be used
}

// Usable tells whether the device is there. A run waits for a device that is in use.
func (d Device) Usable() bool { return d.State == "device" || d.State == "in use" }
