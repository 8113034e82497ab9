package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/verify"
)

// program is one of the system that is used.
type program struct {
	name    string   // how it is called in the findings; "" is the first of names
	names   []string // any of them
	status  Status   // when it is not there
	version []string // arguments with which it prints its version; nil: not asked
	want    string   // what the version must begin with
	use     string
	remedy  string
}

func (e *examination) list() []program {
	ps := []program{
		{names: []string{"apt-get"}, status: e.simulatedOnly(), use: "brings compilers, emulators and adb as packages, without root",
			remedy: "It is part of Debian and Ubuntu. On another system install clang 20 or newer, lld, qemu-user and adb, and write use = \"installed\" in their toolchain blocks."},
		{names: []string{"git"}, status: Optional, version: []string{"--version"}, use: "is for your own checkouts; hexmage reads repositories itself", remedy: "apt-get install git"},
		{names: []string{"make"}, status: Optional, version: []string{"--version"}, use: "runs generated makefiles outside of hexmage, which itself compiles without it", remedy: "apt-get install make"},
		{name: "C compiler", names: []string{"clang", "gcc", "cc"}, status: Optional, version: []string{"--version"}, use: "compiles your own host programs; hexmage brings its own for the SDKs", remedy: "apt-get install clang"},
	}
	if e.o.Profile != "simulated" {
		ps = append(ps, program{names: []string{"python3.10", "python3"}, status: Optional, version: []string{"--version"}, want: "Python 3.10.", use: "runs the SDK's converters, which know Python 3.10 only",
			remedy: e.python() + "; then make a virtual environment of it for the SDK's scripts."})
	}
	return ps
}

// python says how Python 3.10 is had here: of the distributions that are usual, only Ubuntu 22.04 has it.
func (e *examination) python() string {
	if strings.Contains(e.read("etc/os-release"), "Ubuntu 22.04") {
		return "apt-get install python3.10 python3.10-venv"
	}
	for _, c := range [][2]string{{"uv", "uv python install 3.10"}, {"pyenv", "pyenv install 3.10"}} {
		if _, err := e.lookPath(c[0]); err == nil {
			return "Run `" + c[1] + "`"
		}
	}
	return "This distribution has none: install uv (`uv python install 3.10` gets it), or work in a container of Ubuntu 22.04"
}

var versionNumber = lazyregexp.New(`\d+\.\d+[0-9.]*`)

// programs looks for the few programs of the system that are used.
func (e *examination) programs(ctx context.Context) {
	e.section = SectionPrograms
	apt := false
	for _, p := range e.list() {
		if p.name == "" {
			p.name = p.names[0]
		}
		f := Finding{Name: p.name, Status: p.status, Detail: "not in PATH: it " + p.use, Remedy: p.remedy}
		if e.p.OS != "linux" && f.Status == Missing {
			f.Status = Optional
		}
		for _, name := range p.names {
			path, err := e.lookPath(name)
			if err != nil {
				continue
			}
			said := ""
			if p.version != nil && e.p.Output != nil {
				if out, err := e.p.Output(ctx, path, p.version...); err == nil {
					said, _, _ = strings.Cut(strings.TrimSpace(out), "\n")
				}
			}
			if p.want != "" && !strings.HasPrefix(said, p.want) {
				f.Detail = fmt.Sprintf("%s is %s: it %s", path, orUnknown(said), p.use)
				continue
			}
			f.Status, f.Detail = OK, path
			if v := versionNumber.FindString(said); v != "" {
				f.Detail += ", " + strings.TrimRight(v, ".")
			}
			break
		}
		e.add(f)
		apt = apt || p.name == "apt-get" && f.Status == OK
	}
	if apt {
		e.packageLists()
	}
}

func orUnknown(s string) string {
	if s == "" {
		return "of an unknown version"
	}
	return s
}

func (e *examination) packageLists() {
	lists := e.o.AptLists
	if lists == "" {
		lists = filepath.Join(e.p.Root, "var/lib/apt/lists")
	}
	names, err := filepath.Glob(filepath.Join(lists, "*Packages*"))
	if err == nil && len(names) > 0 {
		e.ok("package lists", "%d in %s", len(names), lists)
		return
	}
	e.ok("package lists", "none in %s: hexmage keeps its own", lists)
}

func (e *examination) lookPath(name string) (string, error) {
	if e.o.Machine.LookPath == nil {
		return "", os.ErrNotExist
	}
	return e.o.Machine.LookPath(name)
}

// devices says which phones an adb server sees. It starts none.
func (e *examination) devices(ctx context.Context) {
	e.section = SectionDevices
	if e.p.Devices == nil {
		return
	}
	const connect = "Connect one with USB debugging switched on, or by `adb connect HOST:PORT`, until `adb devices` lists it. The simulated profile has a simulated one."
	ds, err := e.p.Devices(ctx)
	if err != nil {
		f := Finding{Name: "adb server", Status: e.unless("device"), Detail: "none runs", Remedy: "Run `adb start-server`."}
		if _, err := e.lookPath("adb"); err != nil {
			f.Remedy = "Run `apt-get install adb`, then `adb start-server`."
			if t, r, err := e.o.Catalogue.Find("adb", ""); err == nil {
				if _, ok := e.o.Stored(t.Name, r.Version, "device"); ok {
					f.Remedy = "Run `$(hexmage toolchain where adb)/usr/bin/adb start-server`."
				}
			}
		}
		f.Remedy += " The simulated profile has a server of its own."
		if e.o.Profile == "simulated" {
			f.Status = Optional
		}
		e.add(f)
		return
	}
	if len(ds) == 0 {
		status := e.unless("device")
		if e.o.Profile == "simulated" {
			status = Optional
		}
		e.add(Finding{Name: "phone", Status: status, Detail: "none is attached", Remedy: connect})
	}
	for _, d := range ds {
		f := Finding{Name: d.Serial, Status: OK, Detail: strings.TrimSpace(d.Model + " " + e.soc(d.SoC))}
		switch d.State {
		case "device":
		case "unauthorized":
			f.Status, f.Detail, f.Remedy = e.unless("device"), "it does not trust this machine yet", "Unlock the phone and allow USB debugging in the dialog that it shows."
		default:
			f.Status, f.Detail, f.Remedy = e.unless("device"), "it is "+d.State, "Run `adb -s "+d.Serial+" reconnect`, or plug it in again."
		}
		if f.Detail == "" {
			f.Detail = "attached"
		}
		e.add(f)
	}
}

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

// network says which hosts of the catalogue answer, when that was asked for.
func (e *examination) network(ctx context.Context) {
	e.section = SectionNetwork
	if e.p.Reach == nil {
		return
	}
	for _, host := range hosts(e.o.Catalogue) {
		if err := e.p.Reach(ctx, host); err != nil {
			e.add(Finding{Name: host, Status: Optional, Detail: "does not answer: " + err.Error(),
				Remedy: "Where the network needs a proxy, set HTTPS_PROXY. What is in the store needs no network."})
			continue
		}
		e.ok(host, "answers")
	}
}

// hosts returns the hosts from which default releases come, each once.
func hosts(c *toolchains.Catalogue) (out []string) {
	seen := map[string]bool{}
	for _, t := range c.Toolchains {
		for _, r := range t.Releases {
			s := r.Source("archive")
			if s == nil || r.Version != t.Default {
				continue
			}
			for _, u := range s.URLs {
				rest, ok := strings.CutPrefix(u, "https://")
				if host, _, _ := strings.Cut(rest, "/"); ok && host != "" && !seen[host] {
					seen[host] = true
					out = append(out, host)
				}
			}
		}
	}
	return out
}

// copies warns of variables that lead nowhere, or to different copies of an SDK.
func (e *examination) copies(t *toolchains.Toolchain, r *toolchains.Release) {
	copies := t.Copies(r, e.o.Machine)
	text := t.Disagreement(copies)
	for _, c := range copies {
		if text == "" && c.Err != nil && len(c.Variables) > 0 {
			e.add(Finding{Name: t.Name + " variables", Status: Optional, Detail: c.Err.Error(), Remedy: "Set it to the root of a copy, or unset it: builds outside of hexmage fail with it.",
				Command: "unset " + strings.Join(c.Variables, " ")})
		}
	}
	if text != "" {
		detail, remedy, _ := strings.Cut(text, "; ")
		e.add(Finding{Name: t.Name + " variables", Status: Optional, Detail: detail, Remedy: qnn.Sentence(remedy),
			Command: `eval "$(hexmage env ` + t.Name + `)"`})
	}
}

// hostNeeds says what the SDK's programs for the host lack on this machine, before one fails with it.
func (e *examination) hostNeeds(ch *toolchains.Choice, profile string) {
	root := ch.Host
	if root == "" {
		root, _ = e.o.Stored(ch.Toolchain.Name, ch.Release.Version, profile)
	}
	patterns := ch.Toolchain.Verify(ch.Release).Host
	if root == "" || len(patterns) == 0 {
		return
	}
	needs := verify.HostNeeds(root, patterns)
	if needs.Programs == 0 {
		return
	}
	libraryPath := ""
	if e.o.Machine.Getenv != nil {
		libraryPath = e.o.Machine.Getenv("LD_LIBRARY_PATH")
	}
	lacks := needs.Lacks(verify.Machine(e.p.Root, libraryPath))
	if len(lacks) == 0 {
		e.ok(ch.Toolchain.Name+" tools", "%d programs of the SDK find their libraries", needs.Programs)
	}
	for _, p := range lacks {
		e.add(Finding{Name: ch.Toolchain.Name + " tools", Status: e.unless(profile), Detail: fmt.Sprintf("%s: found %s, want %s", p.File, p.Found, p.Want), Remedy: qnn.Sentence(p.Remedy)})
	}
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
		e.packages(p)
		e.ok("downloads", "%s", map[bool]string{true: "nothing is to be downloaded", false: bytesize.Decimal(p.Download) + " to be downloaded"}[p.Download == 0])
		if len(p.Missing) == 0 {
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
			f := Finding{Name: name, Status: e.unless(p.Profile), Detail: detail, Remedy: qnn.Sentence(remedy)}
			if cmd := Quoted(f.Remedy); cmd != "" && slices.ContainsFunc(e.found, func(have Finding) bool { return have.Command == cmd && have.Section == sectionProfile+p.Profile }) {
				f.Detail, f.Remedy = "as in profile "+p.Profile+" above", "Run `"+cmd+"`."
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

// packages adds the toolchains that a pipeline takes from package indexes or has to download, with their sizes.
func (e *examination) packages(p Pipeline) {
	for _, q := range p.Asked {
		q.Lock = e.o.Lock
		ch, err := e.o.Catalogue.Choose(q)
		if err != nil {
			continue
		}
		take, known := p.Takes[TakeOf(ch.Toolchain.Name, ch.Release.Version)]
		if !known {
			take.Download = ch.Size()
		}
		if !slices.Contains([]string{"maven", "pypi", "python"}, ch.Source.Kind) && (take.Stored || take.Download == 0) {
			continue
		}
		f := Finding{Name: "toolchain." + ch.Toolchain.Name, Status: OK, Detail: origin(ch, take)}
		if !slices.ContainsFunc(e.found, func(have Finding) bool {
			return have.Section == e.section && have.Name == f.Name && have.Detail == f.Detail
		}) { // of several modules
			e.add(f)
		}
	}
}

// Probes are what is asked of a machine. System asks the one that hexmage runs on.
type Probes struct {
	OS, Arch   string // as Go calls them: "linux", "amd64"
	Root       string // where its file system is: "/"
	Processors int

	Ready      func() error                                         // why no command can run here; nil: not asked
	Sandbox    func() (Sandbox, error)                              // the error says why there can be no strict one
	Namespaces func() error                                         // tries a user namespace with mounts
	Free       func(dir string) (bytes int64, at string, err error) // room on the file system of dir, or of the nearest folder above that is there
	Output     func(ctx context.Context, program string, args ...string) (string, error)

	// Devices lists what an adb server that runs already sees; nil: not asked. The error says that none runs.
	Devices func(ctx context.Context) ([]Device, error)
	// Reach says whether a host answers; nil: not asked.
	Reach func(ctx context.Context, host string) error
}

// Sandbox is what a strict sandbox can do.
type Sandbox struct {
	Supervised, Mounts error // why it has no supervisor, and no mounts of its own; nil: it has
	Signals, Sockets   bool  // the kernel keeps actions from those of others
}

// Device is one that an adb server sees.
type Device struct {
	Serial string
	State  string // "device" when it can be used; "unauthorized", "offline"
	Model  string
	SoC    string // "SM8750"; "" when it does not say
}
