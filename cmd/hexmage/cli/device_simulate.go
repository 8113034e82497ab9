package cli

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/toolchains"
)

// deviceSimulateCmd is `hexmage device simulate`.
type deviceSimulateCmd struct {
	Port     int      `placeholder:"N" help:"Listen on 127.0.0.1:N. This address is the serial of the phone. Default: a free port."`
	Serialno string   `placeholder:"TEXT" help:"Set the phone's property ro.serialno to TEXT. Default: EMU and the port, such as EMU05555."`
	Data     string   `placeholder:"DIR" help:"Keep the phone's folder /data in folder DIR of this machine. Default: a temporary folder."`
	Linux    bool     `help:"Also run programs for arm64 Linux. Adds the libraries of a Linux distribution, libcdsprpc.so and the program qnn-load. Qualcomm's QNN runtime works, but Qualcomm's DSP code does not."`
	Fault    []string `sep:"none" placeholder:"NAME[=VALUE]" help:"Simulate a fault from the list above. Example: drop-every=20MB. May be repeated."`
	Connect  bool     `help:"Connect your adb server to the phone while it runs."`
	Log      bool     `help:"Print the output of the phone and its DSP."`
	Stdin    bool     `help:"Read commands from standard input, one per line: unplug, unplug 10s or reboot. The phone stops at the end of the input."`
}

// Help returns the list of faults and the examples for `hexmage device simulate --help`.
func (*deviceSimulateCmd) Help() string {
	var b strings.Builder
	b.WriteString(`qemu runs the AArch64 programs and the DSP code of the phone. The phone has its own file system, and
cannot read the files of this machine. The first start takes longer, because hexmage builds the programs of the phone. See
docs/emulator.md.

In the list of faults, SIZE is a number of bytes, such as 20MB. DURATION is a time, such as 2s.

Faults:

`)
	for _, f := range phone.FaultTable() {
		fmt.Fprintf(&b, "    %-32s %s\n", f.Usage(), f.Doc)
	}
	b.WriteString(`
Examples:

    hexmage device simulate --connect                                   a phone that your adb server lists
    hexmage device simulate --soc SM8650 --port 5555 --data ~/phone     a phone that keeps its files in ~/phone
    hexmage device simulate --fault drop-every=20MB --fault refuse=2s   a bad cable
    hexmage device simulate --fault wedge-dsp                           an unresponsive DSP; adb reboot recovers it

    hexmage device simulate --linux                                     a phone that also runs arm64 Linux programs
    hexmage device simulate --stdin                                     a phone that reads commands: type unplug 10s
    (sleep 60; echo unplug 5s; sleep 60) | hexmage device simulate --stdin   a phone that is unplugged after a minute`)
	return b.String()
}

// simulated describes the phone.
type simulated struct {
	Serial   string   `json:"serial"` // HOST:PORT
	Serialno string   `json:"serialno"`
	SoC      string   `json:"soc"`
	SoCID    int      `json:"soc_id,omitempty"`
	Arch     string   `json:"arch"`
	VTCMMB   int      `json:"vtcm_mb,omitempty"`
	Data     string   `json:"data,omitempty"` // "": deleted at the end
	Faults   []string `json:"faults,omitempty"`
}

// Run starts a simulated phone and waits for an interrupt.
func (c *deviceSimulateCmd) Run(ctx context.Context, a *app) error {
	o, err := c.options(a)
	if err != nil {
		return err
	}
	e, err := a.openEngine(ctx)
	if err != nil {
		return err
	}
	defer e.close(false) // not before the phone ends: it uses files of the cache
	if o.Image, err = c.image(ctx, a, e); err != nil {
		return err
	}
	if o.Dir, err = os.MkdirTemp(e.Scratch, "phone"); err != nil {
		return engineError(err)
	}
	if c.Data != "" {
		free, err := a.ownDisk(o.Data)
		if err != nil {
			return err
		}
		defer free()
	}
	if o.Data == "" && o.DiskBytes == 0 {
		if o.Data, err = os.MkdirTemp(e.Scratch, "data"); err != nil {
			return engineError(err)
		}
	}
	p, err := phone.Start(ctx, o)
	if ctx.Err() != nil {
		return nil
	}
	if lacking, ok := errors.AsType[*phone.UnsupportedError](err); ok {
		return engineError(fmt.Errorf("%s\nto do: %s", lacking.What, lacking.Remedy))
	}
	if err != nil {
		return engineError(err)
	}
	defer p.Close()
	if c.Connect {
		server, err := a.adbServer(ctx)
		if err == nil {
			err = server.Connect(ctx, p.Addr())
		}
		if err != nil {
			return engineError(err)
		}
		defer func() { _ = server.Disconnect(context.WithoutCancel(ctx), p.Addr()) }() // the server may be gone
	}
	if err := c.announce(a, p, o); err != nil {
		return err
	}
	return c.wait(ctx, a, p)
}

// ownDisk locks the folder, so that only one phone of the cache uses it as /data.
func (a *app) ownDisk(dir string) (free func(), err error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	sum := sha256.Sum256([]byte(dir)) // a path can be too long for a file name
	free, err = runner.LockDisk(filepath.Join(a.deviceState(), "simulated", hex.EncodeToString(sum[:8])+".lock"))
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, &exitError{Code: ExitLocked,
			Err: fmt.Errorf("--data %s: another simulated phone uses this folder; choose another folder", dir)}
	}
	if err != nil {
		return nil, engineError(err)
	}
	return free, nil
}

// options returns the phone's options from the command line.
func (c *deviceSimulateCmd) options(a *app) (phone.Options, error) {
	o := phone.Options{Self: []string{a.Env.Self, "tool", "phone-init"}, Port: c.Port, Serialno: c.Serialno}
	if c.Log {
		o.Log = a.Env.Stderr
	}
	if c.Port < 0 || c.Port > 65535 {
		return o, usageError("invalid --port %d; use a number from 1 to 65535", c.Port)
	}
	for _, text := range c.Fault {
		if err := o.Set(text); err != nil {
			return o, usageError("--fault %s: %w", text, err)
		}
	}
	if c.Data == "" {
		return o, nil
	}
	if o.DiskBytes > 0 {
		return o, usageError("--data cannot be combined with --fault disk, which needs an in-memory disk; remove " +
			"one of the flags")
	}
	o.Data = absolute(a.WorkDir, c.Data)
	if err := os.MkdirAll(o.Data, 0o755); err != nil {
		return o, engineError(err)
	}
	return o, nil
}

// image builds the phone's image with the same action as pipelines, so that it is cached, and returns its folder.
func (c *deviceSimulateCmd) image(ctx context.Context, a *app, e *engineParts) (string, error) {
	soc, err := a.oneSoC("SM8750")
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("profile %q {\n  default = true\n}\n", toolchains.ProfileSimulated) + `toolchain "llvm" {}
toolchain "qemu" {}
toolchain "busybox" {}
`
	if c.Linux {
		text += "toolchain \"linux_arm64\" {}\n"
	}
	text += fmt.Sprintf("step \"simulated_phone\" \"phone\" {\n  linux = %t\n}\n", c.Linux)
	own := *a
	own.Profile, own.SoC = toolchains.ProfileSimulated, []string{soc} // the only profile with a simulated phone
	p, diags, err := own.planText("simulate", text)
	if err != nil {
		return "", err
	}
	if err := a.printDiags(plain(diags), nil); err != nil {
		return "", err
	}
	if missing := p.Missing(); len(missing) > 0 {
		return "", usageError("this machine lacks requirements of the simulated phone: %s", strings.Join(missing, " "))
	}
	var out addrs.Output
	for _, n := range p.Instances {
		if n.At.Kind == "simulated_phone" {
			out = n.Output("image")
		}
	}
	res, err := a.buildRoots(ctx, e, p, []addrs.Output{out}, false)
	if err != nil {
		return "", err
	}
	dir, err := e.Trees.Path(ctx, e.Blobs, res.Roots[out])
	if err != nil {
		return "", engineError(err)
	}
	return dir, nil
}

// announce describes the phone.
func (c *deviceSimulateCmd) announce(a *app, p *phone.Device, o phone.Options) error {
	s, err := phone.ReadSoC(o.Image)
	if err != nil {
		return engineError(err)
	}
	t := simulated{Serial: p.Addr(), Serialno: p.Serialno(), SoC: s.Model, SoCID: s.SoCID, Arch: s.Arch,
		VTCMMB: s.VTCMMB, Faults: c.Fault}
	if c.Data != "" {
		t.Data = o.Data
	}
	if err := a.showRecord(t); err != nil || a.JSON {
		return err
	}
	a.printf("to connect: hexmage device connect %s\nto stop: Ctrl-C\n", t.Serial)
	return nil
}

// carryOut executes a line of standard input.
func carryOut(p *phone.Device, line string) error {
	words := strings.Fields(line)
	switch {
	case len(words) == 0:
		return nil
	case words[0] == "reboot" && len(words) == 1:
		return p.Reboot()
	case words[0] == "unplug" && len(words) <= 2:
		d := 5 * time.Second
		if len(words) == 2 {
			var err error
			if d, err = time.ParseDuration(words[1]); err != nil || d <= 0 {
				return fmt.Errorf("unplug %s: invalid duration; use one such as 500ms or 10s", words[1])
			}
		}
		return p.Unplug(d)
	}
	return fmt.Errorf("unknown command %q; use unplug [DURATION] or reboot", line)
}

// wait waits until the user or the phone ends.
func (c *deviceSimulateCmd) wait(ctx context.Context, a *app, p *phone.Device) error {
	defer a.interrupts.notify(nil)() // one Ctrl-C ends it
	over := make(chan struct{})
	if c.Stdin {
		go func() {
			defer close(over)
			for in := bufio.NewScanner(a.Env.Stdin); in.Scan(); {
				if err := carryOut(p, in.Text()); err != nil {
					a.say("%v", err)
				}
			}
		}()
	}
	select {
	case <-ctx.Done():
	case <-over:
	case <-p.Done():
		a.say("the phone %s has shut down", p.Addr())
	}
	return nil
}
