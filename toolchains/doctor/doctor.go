// Package doctor says what this machine has and lacks for hexmage, and how to get what is missing.
//
// It changes nothing: it downloads nothing, starts no program and writes no settings. It asks the machine through Probes,
// so tests describe a machine. It does not know how hexmage plans pipelines or talks to devices: the command line tells
// it what they lack. It prints the values of variables that name an SDK's folder or a proxy, without passwords.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/toolchains"
)

// Status is how a finding ends.
type Status string

// The statuses. What is Optional is missing, and what the chosen profile does goes on without it.
const (
	OK       Status = "ok"
	Missing  Status = "missing"
	Optional Status = "optional"
)

// The sections, in the order in which they are shown; after them come those of pipelines.
const (
	SectionMachine = "this machine"
	SectionDevices = "devices"
	sectionProfile = "profile "
)

// Finding is one thing that was looked at.
type Finding struct {
	Section string `json:"section"`
	Name    string `json:"name"`
	Status  Status `json:"status"`
	Detail  string `json:"detail"`            // what was found
	Remedy  string `json:"remedy,omitempty"`  // what to do when it is not OK
	Command string `json:"command,omitempty"` // the next command to type, where it is one
}

// Options say for what to look.
type Options struct {
	Probes    Probes
	Catalogue *toolchains.Catalogue
	Lock      *toolchains.Lock
	Machine   toolchains.Machine
	Profile   string                                   // "": all
	Store     string                                   // the store's folder: its file system must have room
	Stored    func(name, version, profile string) bool // whether the release is in the store; nil: none is
	Pipelines []Pipeline
}

// NoPhone begins the text about a pipeline's run without a phone.
const NoPhone = "No phone is attached"

// Pipeline is what one pipeline lacks in one profile.
type Pipeline struct {
	Name, Profile string
	SoC           string   // what it builds for, "" when it does not say
	Missing       []string // "run.llm: No phone is attached: connect one …"
	Err           string   // why it can't be planned
	Download      int64    // bytes that are left to download, as far as sizes are known
}

// Examine looks at everything, in the order in which it matters.
func Examine(ctx context.Context, o Options) []Finding {
	if o.Stored == nil {
		o.Stored = func(string, string, string) bool { return false }
	}
	e := &examination{o: o, p: o.Probes}
	e.machine()
	e.devices(ctx)
	if o.Profile != "device" { // profile emulator has all that profile simulated has
		e.profile("simulated", []string{"llvm", "qemu", "adb", "busybox", "qairt", "hexagon", "ndk", "mllm"})
	}
	if o.Profile == "" || o.Profile == toolchains.ProfileEmulator {
		e.profile(toolchains.ProfileEmulator, []string{"htp_host", "gnu_runtime", "onnx"})
	}
	if o.Profile == "" || o.Profile == "device" {
		e.profile("device", []string{"adb", "qairt", "hexagon", "ndk"})
	}
	e.pipelines()
	if err := ctx.Err(); err != nil {
		e.add(Finding{Section: SectionMachine, Name: "doctor", Status: Missing, Detail: "interrupted: " + err.Error(), Remedy: "Run it again."})
	}
	return e.found
}

// Prevents returns what keeps this machine from running any action, and, if simulated is set, from running the simulated
// phone.
func Prevents(o Options, simulated bool) []Finding {
	o.Profile = "" // the simulated phone may be part of any profile
	e := &examination{o: o, p: o.Probes, section: SectionMachine}
	e.kernel(simulated)
	return slices.DeleteFunc(e.found, func(f Finding) bool { return f.Status != Missing })
}

// Memory is how much there is, in bytes, and how much of it is free for programs; 0 where the system does not say.
func Memory(o Options) (total, available int64) {
	e := &examination{o: o, p: o.Probes}
	return e.meminfo()
}

type examination struct {
	o       Options
	p       Probes
	section string
	found   []Finding
}

func (e *examination) add(f Finding) {
	if f.Section == "" {
		f.Section = e.section
	}
	if f.Status == OK {
		f.Remedy, f.Command = "", ""
	} else if f.Command == "" {
		f.Command = Quoted(f.Remedy)
	}
	e.found = append(e.found, f)
}

// ok adds that something is there.
func (e *examination) ok(name, format string, args ...any) {
	e.add(Finding{Name: name, Status: OK, Detail: fmt.Sprintf(format, args...)})
}

// Quoted returns the command that a text tells people to run, "" when it tells none.
func Quoted(text string) string {
	_, after, ok := strings.Cut(text, "un `")
	if !ok {
		_, after, ok = strings.Cut(text, "with `")
	}
	if cmd, _, end := strings.Cut(after, "`"); ok && end {
		return cmd
	}
	if cmd := text; strings.HasPrefix(cmd, "apt-get install ") {
		if end := strings.IndexAny(cmd, ",;("); end >= 0 {
			cmd = cmd[:end]
		}
		return strings.TrimRight(cmd, ". ")
	}
	return ""
}

// profile says how each toolchain of a profile would be had.
func (e *examination) profile(profile string, names []string) {
	e.section = sectionProfile + profile
	o := e.o
	for _, n := range names {
		t, r, err := o.Catalogue.Find(n, "")
		if err != nil {
			e.add(Finding{Name: n, Status: e.unless(profile), Detail: err.Error(), Remedy: "Correct the workspace's toolchains/*.hcl."})
			continue
		}
		f := Finding{Name: n, Status: OK}
		ch, err := o.Catalogue.Choose(toolchains.Request{Name: n, Profile: profile, Lock: o.Lock, Machine: o.Machine})
		switch {
		case err == nil:
			f.Detail = origin(ch, o.Stored(n, r.Version, profile))
		case errors.Is(err, toolchains.ErrNotAvailable):
			f.Status, f.Detail, f.Remedy = e.unless(profile), t.Name+" "+r.Version+" can't be had here", qnn.Sentence(err.Error())
		default:
			f.Status, f.Detail, f.Remedy = e.unless(profile), t.Name+" "+r.Version+" is not pinned yet", qnn.Sentence(strings.TrimPrefix(err.Error(), t.Name+" "+r.Version+": "))
		}
		e.add(f)
	}
}

// unless returns the status of a toolchain that a profile lacks. Without --profile, those of profile device are optional.
func (e *examination) unless(profile string) Status {
	if profile == "device" && e.o.Profile == "" {
		return Optional
	}
	return Missing
}

// origin says where a release comes from.
func origin(ch *toolchains.Choice, stored bool) string {
	text := ch.Release.Version + ", "
	switch ch.Source.Kind {
	case "archive":
		text = ch.Release.Version
	case "installed":
		if ch.Host != "" {
			return text + "installed at " + ch.Host
		}
		var ps []string
		for _, p := range ch.Spec.Programs {
			ps = append(ps, p.Target)
		}
		return text + "installed: " + strings.Join(ps, ", ")
	case "embedded":
		text += "simulation"
	case "deb":
		text += fmt.Sprintf("%d packages of the distribution", len(ch.Spec.Packages))
		if len(ch.Spec.Packages) == 1 {
			text = ch.Release.Version + ", a package of the distribution"
		}
	case "pypi":
		text += "a wheel of a package index"
	case "python":
		text = fmt.Sprintf("%d packages for Python %s", len(ch.Packages.Wheels), ch.Packages.Asked.Python)
	default:
		text += ch.Source.Kind
	}
	switch {
	case stored:
		return text + ", in the store"
	case ch.Source.Kind == "embedded":
		return text + ", part of hexmage"
	case ch.Size() > 0:
		return text + ", to be downloaded: " + bytesize.Decimal(ch.Size())
	}
	return text + ", to be downloaded"
}
