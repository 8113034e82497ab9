// Package doctor reports which of hexmage's requirements this machine meets, and a remedy for each missing requirement.
//
// It downloads nothing, starts no program and writes no settings. It reads the machine through Probes, so tests can
// simulate a machine. It does not plan pipelines or connect to devices: the command line passes in the parts that
// pipelines and devices lack.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/toolchains"
)

// Status is the outcome of a check.
type Status string

// Statuses. A part with status Optional is missing, but the chosen profile works without it.
const (
	OK       Status = "ok"
	Missing  Status = "missing"
	Optional Status = "optional"
)

// Sections in the order of the report. The sections of pipelines follow.
const (
	SectionMachine = "this machine"
	SectionDevices = "devices"
)

// Finding is the result of one check.
type Finding struct {
	Section string `json:"section"`
	Name    string `json:"name"`
	Status  Status `json:"status"`
	Detail  string `json:"detail"`            // result of the check
	Remedy  string `json:"remedy,omitempty"`  // next step, if the status is not OK
	Command string `json:"command,omitempty"` // the next step, if it is a command
}

// Options select the checks.
type Options struct {
	Probes    Probes
	Catalog   *toolchains.Catalog
	LookPath  func(program string) (string, error)
	Profile   string // "": all profiles
	Store     string // folder of the store
	Pipelines []Pipeline
}

// NoPhone is the beginning of the message for a run without a phone.
const NoPhone = "No phone is attached"

// Pipeline lists the missing parts of a pipeline in one profile.
type Pipeline struct {
	Name, Profile string
	SoC           string    // SoC of its target; "" if unknown
	Missing       []string  // "run.llm: No phone is attached: connect one …"
	Findings      []Finding // reasons why this machine cannot run its plan, or may fail
	Err           string    // error of planning
	Download      int64     // remaining bytes to download, except files of unknown size
}

// Examine runs all checks. It returns the findings in order of importance.
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

// Prevents returns the findings that prevent all actions on this machine. If simulated is true, it also returns the
// findings that prevent the simulated phone.
func Prevents(o Options, simulated bool) []Finding {
	o.Profile = "" // the simulated phone may be part of any profile
	e := &examination{o: o, p: o.Probes, section: SectionMachine}
	e.kernel(simulated)
	return slices.DeleteFunc(e.found, func(f Finding) bool { return f.Status != Missing })
}

// Memory returns the total and the available memory in bytes, or 0 if unknown.
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

// ok adds a finding with status OK.
func (e *examination) ok(name, format string, args ...any) {
	e.add(Finding{Name: name, Status: OK, Detail: fmt.Sprintf(format, args...)})
}

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

// unless returns the status of a part that only this profile needs. Without --profile, the parts of profile device are
// optional.
func (e *examination) unless(profile string) Status {
	if profile == "device" && e.o.Profile == "" {
		return Optional
	}
	return Missing
}
