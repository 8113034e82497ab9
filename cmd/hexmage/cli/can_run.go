package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/doctor"
)

// sectionPlan is the section of findings about the plan's needs.
const sectionPlan = "plan"

// failedChecks returns the checks that fail whatever the steps give, on any machine.
func failedChecks(p *plan.Plan) (found []doctor.Finding) {
	for _, c := range p.Checks {
		if c.Settled != nil && c.Settled.Known && !c.Settled.Passed {
			f := doctor.Finding{Section: sectionPlan, Name: c.At, Status: doctor.Missing, Detail: c.Settled.Message}
			if c.Severity == plan.SeverityWarning {
				f.Status = doctor.Optional
			}
			found = append(found, f)
		}
	}
	return found
}

// canRun returns why this machine cannot run the plan's actions (doctor.Missing), or may fail to (doctor.Optional):
// memory, disk, kernel, devices. It leaves out findings that the plan's instances have.
func (a *app) canRun(ctx context.Context, w *reasons, e *expected) (found []doctor.Finding, err error) {
	if !slices.ContainsFunc(w.seen.Actions, func(v engine.Previewed) bool { return pending(&v) }) {
		return found, nil
	}
	d, err := a.domain()
	if err != nil {
		return nil, err
	}
	o := a.doctorOptions(d)
	simulated, targets := w.devices()
	found = slices.Concat(doctor.Prevents(o, simulated), e.memoryFindings(doctor.Memory(o)))
	if full := e.full(); full != "" {
		found = append(found, doctor.Finding{Section: sectionPlan, Name: "disk", Status: doctor.Missing, Detail: full,
			Remedy: qnn.Sentence(makeRoom), Command: doctor.Quoted(makeRoom)})
	}
	if len(targets) == 0 {
		return found, nil
	}
	unfit, err := a.unfitDevices(ctx, d.catalog, targets)
	return append(found, unfit...), err
}

// memoryFindings compares the machine's memory with the steps' declarations and the last peaks of actions. It tolerates
// a tenth too much, since a machine has somewhat less memory than its label.
func (e *expected) memoryFindings(total, available int64) (found []doctor.Finding) {
	const (
		gb   = int64(1) << 30
		free = "Close other programs, or the kernel may kill the step."
	)
	add := func(step string, status doctor.Status, remedy, format string, args ...any) {
		found = append(found, doctor.Finding{Section: sectionPlan, Name: "memory of " + step, Status: status,
			Detail: fmt.Sprintf(format, args...), Remedy: remedy})
	}
	if total == 0 {
		return nil
	}
	now := bytesize.Binary(available) + " of " + bytesize.Binary(total) + " are available"
	peak := e.Peak
	for _, n := range e.Steps {
		takes := int64(n.GB) * gb
		if takes > available && peak != nil && peak.Step == n.Step {
			peak = nil
		}
		switch {
		case takes*9/10 > total:
			add(n.Step, doctor.Missing,
				"Use a larger machine or a smaller model. If the step takes less, correct its memory_gb.",
				"the step needs %d GB, but this machine has %s", n.GB, bytesize.Binary(total))
		case takes > available:
			add(n.Step, doctor.Optional, free, "the step needs %d GB, but only %s", n.GB, now)
		}
	}
	if peak != nil && peak.Bytes > available {
		add(peak.Step, doctor.Optional, free, "the step used %s in its last run, but only %s",
			bytesize.Binary(peak.Bytes), now)
	}
	return found
}

// wantedDevice is a device that an action needs; empty fields match every device.
type wantedDevice struct{ serial, soc, arch string }

// devices returns the devices that pending actions need, and whether one of them needs the simulated phone.
func (w *reasons) devices() (simulated bool, wanted []wantedDevice) {
	for i := range w.seen.Actions {
		v := &w.seen.Actions[i]
		if !pending(v) || v.Spec == nil || v.Spec.Platform[action.PropertyExecutor] != runner.Executor {
			continue
		}
		p := v.Spec.Platform
		if p[runner.PropertyImage] != "" && p[runner.PropertySerial] == "" {
			simulated = true
			continue
		}
		soc := cmp.Or(p[runner.PropertySoC], p[runner.PropertySelect])
		one := wantedDevice{p[runner.PropertySerial], soc, p[runner.PropertyArch]}
		if !slices.Contains(wanted, one) {
			wanted = append(wanted, one)
		}
	}
	return simulated, wanted
}

// unfitDevices returns a finding for each wanted device that no attached device fits. If no device is attached, the
// plan's instances already report one as missing. It ignores devices that do not answer: they may answer when the run
// starts.
func (a *app) unfitDevices(ctx context.Context, c *toolchains.Catalog, wanted []wantedDevice) (
	[]doctor.Finding, error,
) {
	listed, err := a.deviceFile()
	if err != nil {
		return nil, err
	}
	rows, _ := a.deviceRows(ctx, c, listed.Devices, a.runningADB) // fails without an adb server: no device is attached
	rows = slices.DeleteFunc(rows, func(r deviceRow) bool { return !doctor.Device{State: r.State}.Usable() })
	if len(rows) == 0 {
		return nil, nil
	}
	var found []doctor.Finding
	for _, w := range wanted {
		f := doctor.Finding{Section: sectionPlan, Name: "phone" + also(w.soc != "", " with "+w.soc),
			Status: doctor.Missing, Detail: doctor.NoPhone + " with the name or serial number " + w.serial,
			Remedy: "Run `hexmage device list` to list the phones."}
		if strings.Contains(w.serial, ":") { // the run connects to it
			f.Status = doctor.OK
		}
		for _, r := range rows {
			if w.serial != "" && w.serial != r.Serial && w.serial != r.Name {
				continue
			}
			var mismatch *devinfo.Mismatch
			if !errors.As(devinfo.CheckDevice(devinfo.Info{Serial: r.Serial, SoC: r.SoC, Arch: r.Arch},
				qnn.Target{SoC: w.soc, Arch: w.arch}), &mismatch) {
				f.Status = doctor.OK
				break
			}
			f.Status, f.Detail, f.Remedy = doctor.Missing, mismatch.What, qnn.Sentence(mismatch.Remedy)
		}
		if f.Status != doctor.OK {
			f.Command = doctor.Quoted(f.Remedy)
			found = append(found, f)
		}
	}
	return found, nil
}
