package doctor_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/doctor"
)

var update = flag.Bool("update", false, "write the golden files")

func options(t *testing.T) doctor.Options {
	t.Helper()
	c, diags := toolchains.Load(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return doctor.Options{Probes: doctor.System(), Catalog: c, LookPath: exec.LookPath, Store: filepath.Join(t.TempDir(), "not", "there")}
}

func find(t *testing.T, fs []doctor.Finding, section, name string) doctor.Finding {
	t.Helper()
	for _, f := range fs {
		if f.Section == section && f.Name == name {
			return f
		}
	}
	t.Fatalf("nothing is said of %s in %q: %+v", name, section, fs)
	return doctor.Finding{}
}

func TestThisMachine(t *testing.T) {
	fs := doctor.Examine(t.Context(), options(t))
	for _, f := range fs {
		if f.Section == "" || f.Detail == "" || f.Status != doctor.OK && f.Status != doctor.Missing && f.Status != doctor.Optional {
			t.Errorf("%+v says nothing", f)
		}
		if f.Status != doctor.OK && f.Remedy == "" {
			t.Errorf("%s is missing and nothing is said about how to get it", f.Name)
		}
	}
}

// fake is a machine in a folder: its files, programs and what it answers.
type fake struct {
	t        *testing.T
	root     string
	programs map[string]bool
}

func newFake(t *testing.T, release, kernel, meminfo string) *fake {
	f := &fake{t: t, root: t.TempDir(), programs: map[string]bool{}}
	f.write("etc/os-release", release)
	f.write("proc/sys/kernel/osrelease", kernel+"\n")
	f.write("proc/meminfo", meminfo)
	return f
}

func (f *fake) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

func (f *fake) write(name, text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.path(name), []byte(text), 0o755); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fake) options() doctor.Options {
	o := options(f.t)
	o.Store = f.path("home/ana/.cache/hexmage")
	o.LookPath = func(n string) (string, error) {
		if !f.programs[n] {
			return "", exec.ErrNotFound
		}
		return f.path("usr/bin/" + n), nil
	}
	o.Probes = doctor.Probes{OS: "linux", Arch: "amd64", Root: f.root, Processors: 16,
		Sandbox:    func() (doctor.Sandbox, error) { return doctor.Sandbox{Signals: true, Sockets: true}, nil },
		Namespaces: func() error { return nil },
		Free:       func(string) (int64, error) { return 812e9, nil },
	}
	return o
}

// golden compares findings as people see them with a file, without the folder that the machine is in.
func (f *fake) golden(name string, found []doctor.Finding) {
	f.t.Helper()
	for i := range found {
		for _, s := range []*string{&found[i].Detail, &found[i].Remedy, &found[i].Command} {
			*s = strings.ReplaceAll(*s, f.root, "")
		}
	}
	var b bytes.Buffer
	if err := doctor.Text(&b, found, doctor.TextOptions{}); err != nil {
		f.t.Fatal(err)
	}
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(want, b.Bytes()) {
		f.t.Errorf("%v; %s is not what is printed (-update writes it):\n%s", err, file, b.Bytes())
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if len([]rune(line)) > 100 && strings.Count(strings.TrimSpace(line), " ") > 12 {
			f.t.Errorf("a line of %d columns: %s", len([]rune(line)), line)
		}
	}
}

// TestFullMachine examines a machine that has everything.
func TestFullMachine(t *testing.T) {
	f := newFake(t, "PRETTY_NAME=\"Ubuntu 22.04.5 LTS\"\n", "6.8.0-45-generic", "MemTotal:       131072000 kB\nMemAvailable:   120000000 kB\n")
	f.programs["apt-get"] = true
	o := f.options()
	o.Probes.Devices = func(context.Context) ([]doctor.Device, error) {
		return []doctor.Device{{Serial: "1b2c3d4e", State: "device", Model: "Pineapple 8", SoC: "SM8750"}}, nil
	}
	o.Pipelines = []doctor.Pipeline{{Name: "qwen3-aot-v79", SoC: "SM8750", Profile: "simulated"}, {Name: "qwen3-aot-v79", SoC: "SM8750", Profile: "device"}}
	found := doctor.Examine(t.Context(), o)
	for _, x := range found {
		if x.Status != doctor.OK {
			t.Errorf("%+v", x)
		}
	}
	f.golden("full.txt", found)
}

// TestPoorMachine examines a machine on which next to everything is missing, and what is there is wrong.
func TestPoorMachine(t *testing.T) {
	f := newFake(t, "PRETTY_NAME=\"Ubuntu 20.04.6 LTS\"\n", "5.4.0-150-generic", "MemTotal:       8056000 kB\nMemAvailable:   4000000 kB\n")
	f.write("proc/sys/kernel/unprivileged_userns_clone", "0\n")
	o := f.options()
	o.Profile = "device"
	o.Probes.Sandbox = func() (doctor.Sandbox, error) { return doctor.Sandbox{}, syscall.ENOSYS }
	o.Probes.Namespaces = func() error { return syscall.EPERM }
	o.Probes.Free = func(string) (int64, error) { return 1 << 30, nil }
	o.Probes.Devices = func(context.Context) ([]doctor.Device, error) {
		return []doctor.Device{{Serial: "1b2c3d4e", State: "unauthorized", Remedy: "allow USB debugging in the dialog on the device"},
			{Serial: "10.0.0.7:5555", State: "offline"}, {Serial: "2c3d4e5f", State: "no permissions; see [http://developer.android.com/tools/device.html]",
				Remedy: "run `apt-get install android-sdk-platform-tools-common` and plug the phone in again"}}, nil
	}
	o.Pipelines = []doctor.Pipeline{{Name: "qwen3-aot-v79", SoC: "SM8750", Profile: "device", Missing: []string{
		"exec.aot_tools: The program cmake is not in PATH; run `apt-get install cmake`.", "exec.android: The program cmake is not in PATH; run `apt-get install cmake`.",
		"exec.android: The program ninja is not in PATH; run `apt-get install ninja-build`.",
		"toolchain.hexagon: Hexagon 6.4.0.2: no known digest; run `hexmage lock hexagon 6.4.0.2 --profile device`, which pins it."},
		Findings: []doctor.Finding{{Section: doctor.SectionMachine, Name: "user namespaces", Status: doctor.Missing, Detail: "said above"},
			{Section: "plan", Name: "disk", Status: doctor.Missing, Detail: "it takes ~ 4.0 GB of disk, and 1.1 GB are free", Remedy: "Run `hexmage cache gc`."}}},
		{Name: "broken", Profile: "device", Err: "broken.hcl:1: no."}}
	f.golden("poor.txt", doctor.Examine(t.Context(), o))
}

// TestPrevents: without user namespaces only the simulated phone cannot run, in any profile.
func TestPrevents(t *testing.T) {
	o := newFake(t, "", "6.12.0", "").options()
	if found := doctor.Prevents(o, true); len(found) != 0 {
		t.Errorf("a whole machine: %+v", found)
	}
	o.Profile = "device"
	o.Probes.Namespaces = func() error { return syscall.EPERM }
	o.Probes.Sandbox = func() (doctor.Sandbox, error) { return doctor.Sandbox{}, syscall.ENOSYS }
	if found := doctor.Prevents(o, false); len(found) != 0 {
		t.Errorf("no simulated phone: %+v", found)
	}
	found := doctor.Prevents(o, true)
	if len(found) != 1 || found[0].Name != "user namespaces" || found[0].Status != doctor.Missing {
		t.Errorf("a simulated phone: %+v", found)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f := find(t, doctor.Examine(ctx, options(t)), "this machine", "doctor"); f.Status != doctor.Missing {
		t.Errorf("%+v", f)
	}
}

func TestCommands(t *testing.T) {
	found := []doctor.Finding{{Status: doctor.Missing, Command: "apt-get install a b"}, {Status: doctor.Optional, Command: "hexmage lock x"}, {Status: doctor.OK, Command: "never"},
		{Status: doctor.Missing, Command: "apt-get install b c"}, {Status: doctor.Missing, Command: "hexmage lock x"}, {Status: doctor.Missing}}
	if got := strings.Join(doctor.Commands(found), "|"); got != "apt-get install a b c|hexmage lock x" {
		t.Error(got)
	}
}

// What a sandbox cannot do, and what then holds, is said.
func TestSandbox(t *testing.T) {
	all := doctor.Sandbox{Signals: true, Sockets: true}
	for want, change := range map[string]func(*doctor.Sandbox){
		"ok: strict, with linked inputs and a supervisor for rare system calls; each action has its own /dev/shm; the kernel blocks signals to other actions": func(*doctor.Sandbox) {},
		"actions share /dev/shm, because the kernel allows no mounts (operation not permitted)":                                                               func(s *doctor.Sandbox) { s.Mounts = syscall.EPERM },
		"the supervisor blocks signals to other actions":                                                                                                      func(s *doctor.Sandbox) { s.Signals = false },
		"actions share abstract sockets":                                                                     func(s *doctor.Sandbox) { s.Sockets = false },
		"optional: strict, without a supervisor: device or resource busy;":                                   func(s *doctor.Sandbox) { s.Supervised = syscall.EBUSY },
		"actions can signal other processes":                                                                 func(s *doctor.Sandbox) { s.Supervised, s.Signals = syscall.EBUSY, false },
		"hexmage copies inputs instead of linking them. Actions can change the mode and times of toolchains": func(s *doctor.Sandbox) { s.Supervised, s.Mounts = syscall.EBUSY, syscall.EPERM },
	} {
		f := newFake(t, "Debian", "6.18", "MemTotal: 1 kB")
		o, s := f.options(), all
		change(&s)
		o.Probes.Sandbox = func() (doctor.Sandbox, error) { return s, nil }
		examined := doctor.Examine(t.Context(), o)
		if !slices.ContainsFunc(examined, func(f doctor.Finding) bool { return f.Name == "sandbox" }) {
			t.Error("there is nothing about the sandbox")
		}
		for _, found := range examined {
			if text := string(found.Status) + ": " + found.Detail + " " + found.Remedy; found.Name == "sandbox" && !strings.Contains(text, want) {
				t.Errorf("%q is not in %q", want, text)
			}
		}
	}
}
