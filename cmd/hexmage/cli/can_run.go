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

// sectionPlan is the section of findings about what the plan's actions take.
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
// memory, disk, the kernel, devices. It does not repeat what the plan's instances miss.
func (a *app) canRun(ctx context.Context, w *reasons, e *expected, workspace string) (
	found []doctor.Finding, err error,
) {
	if !slices.ContainsFunc(w.seen.Actions, func(v engine.Previewed) bool { return pending(&v) }) {
		return found, nil
	}
	d, err := a.domain(workspace)
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
	unfit, err := a.unfitDevices(ctx, d.catalogue(), targets)
	return append(found, unfit...), err
}

// memoryFindings compares what steps declare, and what an action took in its last run, with the machine's memory. A
// machine has somewhat less memory than its label says, so a tenth too much passes.
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
	now := bytesize.Binary(available) + " of " + bytesize.Binary(total) + " are available now"
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
				"%d GB, and this machine has %s", n.GB, bytesize.Binary(total))
		case takes > available:
			add(n.Step, doctor.Optional, free, "%d GB, and %s", n.GB, now)
		}
	}
	if peak != nil && peak.Bytes > available {
		add(peak.Step, doctor.Optional, free, "%s in its last run, and %s", bytesize.Binary(peak.Bytes), now)
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
// plan's instances miss one already. A device that does not answer now says nothing: it may answer when the run starts.
func (a *app) unfitDevices(ctx context.Context, c *toolchains.Catalogue, wanted []wantedDevice) (
	[]doctor.Finding, error,
) {
	listed, err := a.deviceFile()
	if err != nil {
		return nil, err
	}
	rows, _ := a.deviceRows(ctx, c, listed.Devices, a.runningADB) // fails if no adb server runs: none is attached
	rows = slices.DeleteFunc(rows, func(r deviceRow) bool { return !doctor.Device{State: r.State}.Usable() })
	if len(rows) == 0 {
		return nil, nil
	}
	var found []doctor.Finding
	for _, w := range wanted {
		f := doctor.Finding{Section: sectionPlan, Name: "phone" + also(w.soc != "", " with "+w.soc),
			Status: doctor.Missing, Detail: doctor.NoPhone + " that is called " + w.serial,
			Remedy: "Run `hexmage device list`, which lists the phones."}
		if strings.Contains(w.serial, ":") { // the run connects to it
			f.Status = doctor.OK
		}
		for _, r := range rows {
			if w.serial != "" && w.serial != r.Serial && w.serial != r.Name {
				continue
			}
			if f.Status, f.Detail, f.Remedy = r.fits(qnn.Target{SoC: w.soc, Arch: w.arch}); f.Status == doctor.OK {
				break
			}
		}
		if f.Status != doctor.OK {
			f.Command = doctor.Quoted(f.Remedy)
			found = append(found, f)
		}
	}
	return found, nil
}

// fits tells whether a run can use the device for the target.
func (r *deviceRow) fits(want qnn.Target) (status doctor.Status, detail, remedy string) {
	err := devinfo.CheckDevice(devinfo.Info{Serial: r.Serial, SoC: r.SoC, Arch: r.Arch}, want)
	var mismatch *devinfo.Mismatch
	if errors.As(err, &mismatch) {
		return doctor.Missing, mismatch.What, qnn.Sentence(mismatch.Remedy)
	}
	return doctor.OK, "", ""
}
