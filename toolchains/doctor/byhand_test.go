package doctor_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/doctor"
	"github.com/hexmage/hexmage/toolchains/sources/qpm"
)

// vendorScript answers as people have shown qpm-cli to: its list of products, and a prompt when nobody is logged in.
const vendorScript = `#!/bin/sh
[ "$1" = --product-list ] || exit 2
[ -f "$HOME/account" ] || { printf 'Username: '; exit 1; }
echo "---- List of products ----"
cat "$HOME/account"
`

const (
	wsl1 = "Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com) (gcc version 5.4.0 (GCC) ) #1237-Microsoft Sat Sep 11 14:32:00 PST 2021\n"
	wsl2 = "Linux version 5.15.153.1-microsoft-standard-WSL2 (root@941d701f84f1) (gcc (GCC) 11.2.0, GNU ld (GNU Binutils) 2.37) #1 SMP Fri Mar 29 23:14:13 UTC 2024\n"
)

// TestByHand goes the whole way that a person goes, in WSL, to SDKs, one of them for an account only, and a phone. After each thing that the person does, the
// step that is next is another; nothing is noted but what was done.
func TestByHand(t *testing.T) {
	f := newFake(t, "PRETTY_NAME=\"Ubuntu 22.04.5 LTS\"\n", "5.15.153.1-microsoft-standard-WSL2", "MemTotal:       32768000 kB\nMemAvailable:   30000000 kB\n")
	f.write("proc/version", wsl1)
	f.write("proc/1/comm", "init\n")
	var phones []doctor.Device
	server := errors.New("connection refused")
	free := int64(9e9)
	missing := []string{"module.aot.exec.aot_tools: The program cmake is not in PATH: apt-get install cmake.", "module.aot.exec.aot_tools: The program ninja is not in PATH: apt-get install ninja-build.",
		"module.aot.quantize.llm: The folder of the Hugging Face model is not given: download it (such as Qwen/Qwen3-1.7B) and name it with --var model=FOLDER.",
		"module.aot.toolchain.hexagon: it is missing: said elsewhere.", "module.aot.run.llm: No phone is attached: connect one."}
	stored := map[string]bool{}
	f.programs["adb"] = "Android Debug Bridge version 1.0.41\nVersion 29.0.6-debian\nInstalled as /usr/lib/android-sdk/platform-tools/adb\n"
	walk := func() []doctor.Step {
		o := f.options()
		o.Profile = "device"
		o.Vendor = qpm.Client{Search: []string{f.path("usr/bin"), "/usr/bin", "/bin"}, Home: f.path("home/ana"), Logs: []string{"~/logs"}}
		o.Probes.Free = func(dir string) (int64, string, error) { return free, dir, nil }
		o.Probes.Devices = func(context.Context) ([]doctor.Device, error) { return phones, server }
		o.Stored = func(name, _, _ string) (string, bool) { return "", stored[name] }
		o.Pipelines = []doctor.Pipeline{{Name: "qwen3", SoC: "SM8750", Profile: "device", Missing: missing, Asked: []toolchains.Request{{Name: "qairt", Version: "2.41.0.251128"},
			{Name: "hexagon", Version: "6.2.0.1"}, {Name: "ndk", Version: "r28b"}, {Name: "adb"}, {Name: "hexagon", Version: "6.2.0.1"}}},
			{Name: "qwen3", SoC: "SM8650", Profile: "simulated", Asked: []toolchains.Request{{Name: "llvm"}}}}
		steps := doctor.ByHand(t.Context(), o)
		for i := range steps {
			for _, s := range []*string{&steps[i].What, &steps[i].Do, &steps[i].Command} {
				*s = strings.ReplaceAll(*s, f.root, "")
			}
		}
		return steps
	}
	last := -1
	for _, c := range []struct {
		does             string
		do               func()
		next             string
		says, command    string
		back             bool // what was done before is not done any more
		doneSays, doneOf string
	}{
		{"nothing yet", func() {}, "system", "WSL 1", "wsl --set-version DISTRIBUTION 2", false, "", ""},
		{"goes to WSL 2", func() { f.write("proc/version", wsl2) }, "room", "21.5 GB are wanted", "", false, "in WSL 2", "system"},
		{"frees disk", func() { free = 90e9 }, "qairt", "accepts the licence of https://softwarecenter", "hexmage lock qairt 2.41.0.251128 --profile device", false, "33.6 GB of memory", "room"},
		{"unpacks QAIRT and sets the variable", func() {
			f.sdk("sdks/qairt", "qairt", "")
			f.vars["QAIRT_SDK_ROOT"] = f.path("sdks/qairt")
		}, "qpm-cli", "hexagon 6.2.0.1 comes through it only", "", false, "installed at /sdks/qairt", "qairt"},
		{"installs the client", func() { f.write("usr/bin/qpm-cli", vendorScript); f.programs["qpm-cli"] = "" }, "login", "Nobody is logged in", "qpm-cli --login USER", false, "/usr/bin/qpm-cli", "qpm-cli"},
		{"logs in with an account that may have little", func() { f.write("home/ana/account", "qpm\npcat\n") }, "licence", "offered 2 products, and not hexagonsdk6.x", "", false, "", ""},
		{"accepts the agreements", func() { f.write("home/ana/account", "qpm\nHexagonSDK6.x\n") }, "hexagon", "accepts the licence of hexagonsdk6.x", "hexmage lock hexagon 6.2.0.1 --profile device", false, "qpm-cli offers hexagonsdk6.x", "login"},
		{"locks, and is refused", func() { f.write("home/ana/logs/qik.log", "2026-01-01 ERROR HTTP status code 401\n") }, "hexagon", "refused: 2026-01-01 ERROR HTTP status code 401 (/home/ana/logs/qik.log)", "hexmage lock hexagon 6.2.0.1 --profile device", false, "", ""},
		{"locks", func() { stored["hexagon"] = true }, "programs", "not in PATH: cmake, ninja", "apt-get install cmake ninja-build", false, "6.2.0.1, in the store", "hexagon"},
		{"installs them", func() { missing = missing[2:] }, "module.aot.quantize.llm", "--var model=FOLDER", "", false, "r28b, pinned: the build downloads it", "ndk"},
		{"names the model", func() { missing = missing[1:] }, "phone", "no adb server runs", "hexmage device list", false, "29.0.6-debian, which cannot pair: over Wi-Fi take Google's", "adb"},
		{"starts the server", func() { server = nil }, "phone", "WSL sees no USB until Windows hands it over", "usbipd attach --wsl --auto-attach --busid BUSID", false, "", ""},
		{"attaches the phone", func() {
			for name, text := range map[string]string{"bInterfaceClass": "ff", "bInterfaceSubClass": "42", "bInterfaceProtocol": "01"} {
				f.write("sys/bus/usb/devices/1-1:1.1/"+name, text+"\n")
			}
		}, "phone", "on USB with debugging on", "adb kill-server", false, "", ""},
		{"starts it again", func() {
			phones = []doctor.Device{{Serial: "1b2c", State: "no permissions (user in plugdev group; are your udev rules wrong?)"}}
		}, "phone", "without systemd WSL has no udev", "wsl --shutdown", false, "", ""},
		{"has systemd", func() { f.write("proc/1/comm", "systemd\n") }, "phone", "no udev rule", "apt-get install android-sdk-platform-tools-common", false, "", ""},
		{"has rules", func() { f.write("lib/udev/rules.d/51-android.rules", "") }, "phone", "plugdev", "sudo usermod -aG plugdev $USER", false, "", ""},
		{"is in the group", func() { phones[0].State = "unauthorized" }, "phone", "does not trust this machine", "", false, "", ""},
		{"has it go offline", func() { phones[0].State = "offline" }, "phone", "is offline", "adb -s 1b2c reconnect", false, "", ""},
		{"allows debugging on the wrong one", func() { phones[0] = doctor.Device{Serial: "1b2c", State: "device", SoC: "SM8650"} }, "phone", "is SM8650, and what is built is for SM8750", "", false, "", ""},
		{"takes the right one", func() {
			phones = append(phones, doctor.Device{Serial: "10.0.0.7:5555", State: "device", Model: "Pineapple", SoC: "SM8750"})
		}, "", "", "", false, "10.0.0.7:5555 Pineapple SM8750", "phone"},
		{"logs out", func() {
			if err := os.Remove(f.path("home/ana/account")); err != nil {
				t.Fatal(err)
			}
		}, "", "", "", false, "", ""}, // what is here needs no account any more
		{"loses an SDK", func() { f.vars["QAIRT_SDK_ROOT"] = f.path("gone") }, "qairt", "is no folder", "hexmage lock qairt 2.41.0.251128 --profile device", true, "", ""},
	} {
		c.do()
		steps := walk()
		i := slices.IndexFunc(steps, func(s doctor.Step) bool { return s.State == doctor.Next })
		if c.next == "" {
			if i >= 0 || slices.ContainsFunc(steps, func(s doctor.Step) bool { return s.State != doctor.Done }) {
				t.Errorf("%s: not done: %+v", c.does, steps)
			}
		} else if i < 0 || steps[i].Name != c.next || !strings.Contains(steps[i].What+" "+steps[i].Do, c.says) || steps[i].Command != c.command {
			t.Errorf("%s: next is %d of %+v, want %s: %q, %q", c.does, i, steps, c.next, c.says, c.command)
		}
		for n, s := range steps {
			if want := map[bool]doctor.State{true: doctor.Done, false: doctor.Later}[n < i || i < 0]; n < i && s.State != want || n > i && s.State == doctor.Next {
				t.Errorf("%s: step %s is %s", c.does, s.Name, s.State)
			}
			if s.State != doctor.Done && s.Do == "" || s.State == doctor.Done && s.Command != "" || s.What == "" {
				t.Errorf("%s: %+v", c.does, s)
			}
			if s.Name == c.doneOf && (s.State != doctor.Done || !strings.Contains(s.What, c.doneSays)) {
				t.Errorf("%s: %+v, want done and %q", c.does, s, c.doneSays)
			}
		}
		if at := (i + len(steps) + 1) % (len(steps) + 1); at < last && !c.back {
			t.Errorf("%s: it goes back from step %d to %d", c.does, last, at)
		} else if last = at; c.does == "unpacks QAIRT and sets the variable" {
			stepsGolden(t, steps)
			last = 0 // the client's own steps go when the SDK is here
		}
	}
}

// stepsGolden compares steps as people see them with a file, and with docs/device.md.
func stepsGolden(t *testing.T, steps []doctor.Step) {
	t.Helper()
	var b bytes.Buffer
	if err := doctor.Text(&b, nil, doctor.TextOptions{Steps: steps}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	text = text[strings.Index(text, "by hand"):]
	const docs, shown = "../../docs/device.md", "$ hexmage doctor qwen3 --profile device\n…\n"
	doc, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(doc), shown)
	old, after, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatalf("%s has no %q", docs, shown)
	}
	if *update {
		if err := os.WriteFile(docs, []byte(before+shown+text+"```"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if old != text {
		t.Errorf("%s shows another output (-update writes it):\n%s", docs, text)
	}
}

// Without pipelines it is the SDKs of the shipped ones; a copy of another release is said, and where no account is needed none is asked for.
func TestByHandOfDefaults(t *testing.T) {
	f := newFake(t, "PRETTY_NAME=\"Debian\"\n", "6.8.0", "MemTotal: 1000 kB\n")
	f.sdk("sdks/hexagon", "hexagon", "")
	f.write("sdks/hexagon/hexagon_sdk.json", strings.ReplaceAll(read(t, f.path("sdks/hexagon/hexagon_sdk.json")), "6.4.0.2", "6.3.0.0"))
	f.vars["HEXAGON_SDK_ROOT"] = f.path("sdks/hexagon")
	f.vars["ANDROID_HOME"] = f.path("android")
	f.write("android/platform-tools/adb", "")
	f.programs["adb"] = ""
	o := f.options()
	o.Probes.Output = func(_ context.Context, program string, args ...string) (string, error) {
		return "Android Debug Bridge version 1.0.41\nVersion 35.0.2-12147458\n", nil
	}
	steps := doctor.ByHand(t.Context(), o)
	var names []string
	for _, s := range steps {
		names = append(names, s.Name)
		switch {
		case s.Name == "hexagon" && !strings.Contains(s.What, "HEXAGON_SDK_ROOT="+f.path("sdks/hexagon")+" has hexagon 6.3.0.0"),
			s.Name == "adb" && !strings.HasSuffix(s.What, "35.0.2-12147458, which can pair"),
			s.Name == "room" && !strings.Contains(s.What, "1.0 MB of memory (contexts of real models want"):
			t.Errorf("%+v", s)
		}
	}
	if got := strings.Join(names, " "); got != "system room qairt hexagon ndk adb" {
		t.Errorf("steps %s", got)
	}
	if got := doctor.Commands(nil, steps); len(got) != 1 || got[0] != "hexmage lock qairt 2.41.0.251128 --profile device" {
		t.Errorf("commands %q", got)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
