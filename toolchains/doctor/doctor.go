// Package doctor says what this machine has and lacks for hexmage, and how to get what is missing.
//
// It changes nothing: it downloads nothing, starts no program and writes no settings. It asks the machine through Probes,
// so tests describe a machine. It does not know how hexmage plans pipelines or talks to devices: the command line tells
// it what they lack.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	LookPath  func(program string) (string, error)
	Profile   string // "": all
	Store     string // the store's folder
	Pipelines []Pipeline
}

// NoPhone begins the text about a pipeline's run without a phone.
const NoPhone = "No phone is attached"

// Pipeline is what one pipeline lacks in one profile.
type Pipeline struct {
	Name, Profile string
	SoC           string    // what it builds for, "" when it does not say
	Missing       []string  // "run.llm: No phone is attached: connect one …"
	Findings      []Finding // why this machine cannot run its plan, or may fail to
	Err           string    // why it can't be planned
	Download      int64     // bytes that are left to download, as far as sizes are known
}

// Examine looks at everything, in the order in which it matters.
func Examine(ctx context.Context, o Options) []Finding {
	e := &examination{o: o, p: o.Probes}
	e.machine()
	e.devices(ctx)
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

// unless returns the status of what a profile lacks. Without --profile, what profile device lacks is optional.
func (e *examination) unless(profile string) Status {
	if profile == "device" && e.o.Profile == "" {
		return Optional
	}
	return Missing
}
