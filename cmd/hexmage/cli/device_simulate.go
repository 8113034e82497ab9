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

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/toolchains"
)

// deviceSimulateCmd is `hexmage device simulate`.
type deviceSimulateCmd struct {
	Port     int      `placeholder:"N" help:"Listen at 127.0.0.1:N, the phone's serial for adb. Default: a free port."`
	Serialno string   `placeholder:"TEXT" help:"Its property ro.serialno. Default: EMU and the port."`
	Data     string   `placeholder:"DIR" help:"Folder that is the phone's /data and stays. Default: an empty one that goes with the phone."`
	Linux    bool     `help:"Also run programs of arm64 Linux, such as Qualcomm's own QNN runtime as far as the skel: libraries of the distribution, a libcdsprpc.so, and qnn-load."`
	Fault    []string `sep:"none" placeholder:"NAME[=VALUE]" help:"Misbehave; may be repeated. The faults are listed below."`
	Connect  bool     `help:"Connect the user's adb server to it, and disconnect it at the end."`
	Log      bool     `help:"Print what the phone and its DSP print."`
	Stdin    bool     `help:"Take orders from standard input, one a line: unplug [DURATION], reboot. Its end ends the phone, too."`
}

// Help has the faults and the examples of `hexmage device simulate --help`.
func (*deviceSimulateCmd) Help() string {
	var b strings.Builder
	b.WriteString(`Starts a simulated phone and keeps it until Ctrl-C. Programs for AArch64 run on it by qemu, and so does its DSP; it is of its own file
system, and nothing of this machine shows. Its first start makes what it needs; later ones take a fraction of a second. docs/devices.md
tells more.

Faults:

`)
	for _, f := range phone.FaultTable() {
		fmt.Fprintf(&b, "    %-32s %s\n", f.Usage(), f.Doc)
	}
	b.WriteString(`
Examples:

    hexmage device simulate --connect                                         and in another terminal: hexmage device info
    hexmage device simulate --soc SM8650 --port 5555 --data ~/phone
    hexmage device simulate --fault drop-every=20MB --fault refuse=2s         a bad cable
    hexmage device simulate --linux                                           and on it: qnn-load libQnnHtp.so
    hexmage device simulate --fault wedge-dsp                                 adb reboot brings the DSP back
    hexmage device simulate --stdin                                           then type: unplug 10s
    (sleep 60; echo unplug 5s; sleep 60) | hexmage device simulate --stdin --json`)
	return b.String()
}

// simulated is what is told of the phone.
type simulated struct {
	Serial   string   `json:"serial"` // HOST:PORT
	Serialno string   `json:"serialno"`
	SoC      string   `json:"soc"`
	SoCID    int      `json:"soc_id,omitempty"`
	Arch     string   `json:"arch"`
	VTCMMB   int      `json:"vtcm_mb,omitempty"`
	Data     string   `json:"data,omitempty"` // "": not kept
	Faults   []string `json:"faults,omitempty"`
}

// Run starts the phone and waits.
func (c *deviceSimulateCmd) Run(ctx context.Context, a *app) error {
	o, err := c.options(a)
	if err != nil {
		return err
	}
	e, err := a.openEngine(ctx)
	if err != nil {
		return err
	}
	defer e.close() // not before the phone ends: what it runs from must not be collected
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
		defer disconnect(ctx, server, p.Addr())
	}
	if err := c.announce(a, p, o); err != nil {
		return err
	}
	return c.wait(ctx, a, p)
}

// ownDisk makes this the only phone of the cache whose /data is the folder.
func (a *app) ownDisk(dir string) (free func(), err error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	sum := sha256.Sum256([]byte(dir)) // a path can be too long for a file name
	free, err = runner.LockDisk(filepath.Join(a.deviceState(), "simulated", hex.EncodeToString(sum[:8])+".lock"))
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, &exitError{Code: ExitLocked,
			Err: fmt.Errorf("--data %s: another simulated phone has it: two cannot write to one disk", dir)}
	}
	if err != nil {
		return nil, engineError(err)
	}
	return free, nil
}

// disconnect makes the adb server forget a phone that is about to go.
func disconnect(ctx context.Context, server *adb.Client, addr string) {
	_ = server.Disconnect(context.WithoutCancel(ctx), addr) // it may be gone, too
}

// options are how to start the phone, as far as the command line says it.
func (c *deviceSimulateCmd) options(a *app) (phone.Options, error) {
	o := phone.Options{Self: []string{a.Env.Self, "tool", "phone-init"}, Port: c.Port, Serialno: c.Serialno}
	if c.Log {
		o.Log = a.Env.Stderr
	}
	if c.Port < 0 || c.Port > 65535 {
		return o, usageError("--port %d: want a number from 1 to 65535", c.Port)
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
		return o, usageError("--data and --fault disk exclude each other: only a disk in memory can have a size")
	}
	o.Data = absolute(a.WorkDir, c.Data)
	if err := os.MkdirAll(o.Data, 0o755); err != nil {
		return o, engineError(err)
	}
	return o, nil
}

// image makes the phone's image by the action that pipelines have for it, so that it is made once, and returns its
// folder.
func (c *deviceSimulateCmd) image(ctx context.Context, a *app, e *engineParts) (string, error) {
	soc, err := a.oneSoC("SM8750")
	if err != nil {
		return "", err
	}
	f := hclwrite.NewEmptyFile()
	profile := f.Body().AppendNewBlock("profile", []string{toolchains.ProfileSimulated})
	profile.Body().SetAttributeValue("default", cty.True)
	names := []string{"llvm", "qemu", "busybox"}
	if c.Linux {
		names = append(names, "linux_arm64")
	}
	for _, name := range names {
		f.Body().AppendNewBlock(addrs.Toolchain, []string{name})
	}
	phone := f.Body().AppendNewBlock("step", []string{"simulated_phone", "phone"}).Body()
	if c.Linux {
		phone.SetAttributeValue("linux", cty.True)
	}
	own := *a
	own.Profile, own.SoC = toolchains.ProfileSimulated, []string{soc} // a simulated phone has no other profile
	p, diags, err := own.planText("simulate", f.Bytes())
	if err != nil {
		return "", err
	}
	if err := a.printDiags(plain(diags), nil); err != nil {
		return "", err
	}
	if missing := p.Missing(); len(missing) > 0 {
		return "", usageError("a simulated phone needs what this machine can't get: %s", strings.Join(missing, " "))
	}
	var out addrs.Output
	for _, n := range p.Instances {
		if n.At.Kind == "simulated_phone" {
			out = n.Output("image")
		}
	}
	res, err := a.buildRoots(ctx, e, p, a.here(), []addrs.Output{out}, false)
	if err != nil {
		return "", err
	}
	dir, err := e.Trees.Path(ctx, e.Blobs, res.Roots[out])
	if err != nil {
		return "", engineError(err)
	}
	return dir, nil
}

// announce says what was started.
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
	fmt.Fprintf(a.Env.Stdout, "connect by: hexmage device connect %s\nend by: Ctrl-C\n", t.Serial)
	return nil
}

// carryOut does what a line of standard input says.
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
				return fmt.Errorf("unplug %s: want a duration such as 500ms or 10s", words[1])
			}
		}
		return p.Unplug(d)
	}
	return fmt.Errorf("%q: the phone takes the orders unplug [DURATION] and reboot", line)
}

// wait waits until the user, or the phone itself, ends it.
func (c *deviceSimulateCmd) wait(ctx context.Context, a *app, p *phone.Device) error {
	defer a.interrupts.notify(nil)() // one Ctrl-C is all it takes
	over := make(chan struct{})
	if c.Stdin {
		go func() {
			defer close(over)
			for in := bufio.NewScanner(a.Env.Stdin); in.Scan(); {
				if err := carryOut(p, in.Text()); err != nil {
					fmt.Fprintln(a.Env.Stderr, "hexmage:", err)
				}
			}
		}()
	}
	select {
	case <-ctx.Done():
	case <-over:
	case <-p.Done():
		fmt.Fprintf(a.Env.Stderr, "hexmage: the phone %s has switched itself off\n", p.Addr())
	}
	return nil
}
