package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/link"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/runner/thermal"
	"github.com/hexmage/hexmage/toolchains"
)

// deviceCmd is `hexmage device …`.
type deviceCmd struct {
	List     deviceListCmd     `cmd:"" help:"List devices, and whether hexmage can use them."`
	Info     deviceInfoCmd     `cmd:"" help:"Describe a device: SoC, arch, memory, temperatures."`
	Connect  deviceConnectCmd  `cmd:"" help:"Connect to a device over the network."`
	Pair     devicePairCmd     `cmd:"" help:"Pair this machine with a device by its code."`
	Push     devicePushCmd     `cmd:"" help:"Copy files to a device. Skips files that it has."`
	Pull     devicePullCmd     `cmd:"" help:"Copy files from a device."`
	Shell    deviceShellCmd    `cmd:"" help:"Run a command on a device."`
	Log      deviceLogCmd      `cmd:"" help:"Print a device's log (logcat)."`
	Debug    debugCmd          `cmd:"" takes:"plan,net,build" help:"Start a pipeline's program under a debug server for LLDB."`
	Simulate deviceSimulateCmd `cmd:"" takes:"soc,net,build" help:"Start a simulated phone, and keep it until Ctrl-C."`
	Clean    deviceCleanCmd    `cmd:"" help:"Remove all files of hexmage from a device."`
}

// Help has the examples of `hexmage device --help`.
func (*deviceCmd) Help() string {
	return `Devices are those of your adb server (ADB_SERVER_SOCKET, ANDROID_ADB_SERVER_PORT, else port 5037). If it does not
run, hexmage starts it with the adb of PATH, of ANDROID_HOME or of toolchain "adb". If several devices are usable,
choose one by --serial or ANDROID_SERIAL. ~/.config/hexmage/devices.hcl lists devices for pipelines, also at other
adb servers; --serial takes their names.
The serial of a board is its address, ssh://USER@HOST:PORT. See docs/devices.md and docs/boards.md.

Examples:

    hexmage device list
    hexmage device info --serial R5CXC1AAAAA
    hexmage device push out/qwen3/model.bin /data/local/tmp/qwen3/
    hexmage device shell -- ls -l /vendor/lib64/libQnnHtp.so
    hexmage device pair 192.168.1.7:37099 123456 && hexmage device connect 192.168.1.7:40555
    hexmage device info --serial ssh://ubuntu@192.168.1.9`
}

// deviceTarget is the choice of a device, for every command that needs one.
type deviceTarget struct {
	Serial string `short:"s" placeholder:"SERIAL" help:"The device: a serial of device list, a name of devices.hcl, an address such as 192.168.1.7:5555, or ssh://USER@HOST of a board. Default: ANDROID_SERIAL, else the only one."`
}

// open finds the device.
func (t deviceTarget) open(ctx context.Context, a *app) (link.Device, error) {
	serial := t.Serial
	if serial == "" {
		serial = a.Env.Var("ANDROID_SERIAL")
	}
	d, listed, err := a.inPool(serial)
	if err != nil {
		return nil, err
	}
	if !listed {
		d.Serial = serial
	}
	dev, err := a.reach().Open(ctx, d)
	switch {
	case err == nil || errors.As(err, new(*exitError)):
		return dev, err
	case listed:
		err = fmt.Errorf("device %s (%s): %w", d.Name, d.Serial, err)
	case serial != "" && !ssh.Is(serial):
		err = fmt.Errorf("device %s: %w", serial, err)
	}
	if !listed && !ssh.Is(serial) && !link.Retryable(err) {
		return nil, &exitError{Code: ExitUsage, Err: err}
	}
	return nil, engineError(err)
}

// socOf finds the record of a device's SoC, by its name and else by the kernel's number. It is nil for one that is
// not known.
func socOf(c *toolchains.Catalogue, i devinfo.Info) *qnn.SoC {
	if s, err := c.FindSoC(i.SoC); err == nil && i.SoC != "" {
		return s
	}
	for _, s := range c.SoCs {
		for _, id := range s.AndroidIDs {
			if id == i.SoCID && id != 0 {
				return s
			}
		}
	}
	return nil
}

// archOf is the Hexagon arch that a device itself says it has, as simulated ones do, else that of its SoC's record.
func archOf(c *toolchains.Catalogue, i devinfo.Info) string {
	if s := socOf(c, i); s != nil && i.Arch == "" {
		return s.Arch
	}
	return i.Arch
}

// deviceShellCmd is `hexmage device shell [COMMAND…]`.
type deviceShellCmd struct {
	deviceTarget
	Command []string `arg:"" optional:"" passthrough:"" help:"The command and its arguments, for the device's shell; none: the shell reads commands from standard input."`
}

// Help has the examples of `hexmage device shell --help`.
func (*deviceShellCmd) Help() string {
	return `There is no terminal on the other side: output comes as the command writes it, standard output and error apart. One argument is
a line for the device's shell; several are a command and its arguments, and the shell changes nothing of them. Flags of hexmage come
before the command. The exit code is the command's.

Examples:

    hexmage device shell getprop ro.soc.model
    hexmage device shell --serial R5CXC1AAAAA 'cat /proc/meminfo | head -3'
    hexmage device shell cat <local.txt
    echo 'ls /data/local/tmp; uptime' | hexmage device shell`
}

// Run runs.
func (c *deviceShellCmd) Run(ctx context.Context, a *app) error {
	dev, err := c.open(ctx, a)
	if err != nil {
		return err
	}
	words := c.Command
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	line := "exec sh"
	switch {
	case len(words) == 1:
		line = words[0]
	case len(words) > 1:
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = link.Quote(w)
		}
		line = strings.Join(quoted, " ")
	}
	isData(a.Env.Stdout, a.Env.Stderr)
	code, err := dev.Shell(ctx, line, link.Streams{Stdin: a.Env.Stdin, Stdout: a.Env.Stdout, Stderr: a.Env.Stderr})
	if err != nil {
		return engineError(err)
	}
	if code != 0 {
		return &exitError{Code: code}
	}
	return nil
}

// deviceConnectCmd is `hexmage device connect ADDRESS`.
type deviceConnectCmd struct {
	Address string `arg:"" help:"HOST:PORT, as Wireless debugging shows it, or HOST for port 5555."`
	Off     bool   `help:"Disconnect instead."`
}

// Help has the examples of `hexmage device connect --help`.
func (*deviceConnectCmd) Help() string {
	return `A device with Android 11 or newer must have been paired once: device pair.

Examples:

    hexmage device connect 192.168.1.7:40555
    hexmage device connect 192.168.1.7:40555 --off`
}

// Run connects.
func (c *deviceConnectCmd) Run(ctx context.Context, a *app) error {
	if ssh.Is(c.Address) {
		return usageError("a board is connected to when it is used: name it with --serial %s, or in devices.hcl",
			ssh.Shown(c.Address))
	}
	client, err := a.adbServer(ctx)
	if err != nil {
		return err
	}
	at := c.Address
	if !strings.Contains(at, ":") {
		at += ":5555"
	}
	if c.Off {
		if err := client.Disconnect(ctx, at); err != nil {
			return engineError(err)
		}
		fmt.Fprintln(a.Env.Stdout, "disconnected", at)
		return nil
	}
	if err := client.Connect(ctx, at); err != nil {
		return engineError(fmt.Errorf(
			"%w; is Wireless debugging on, is the port the one shown now, and was the device paired?", err))
	}
	fmt.Fprintln(a.Env.Stdout, "connected", at)
	return nil
}

// devicePairCmd is `hexmage device pair ADDRESS CODE`.
type devicePairCmd struct {
	Address string `arg:"" help:"HOST:PORT, as the device shows it beside the code."`
	Code    string `arg:"" help:"The code that the device shows."`
}

// Help has the examples of `hexmage device pair --help`.
func (*devicePairCmd) Help() string {
	return `On the device: Settings, Developer options, Wireless debugging, Pair device with pairing code. The port of the dialog is another
one than that to connect to afterwards.

Examples:

    hexmage device pair 192.168.1.7:37099 123456`
}

// Run pairs.
func (c *devicePairCmd) Run(ctx context.Context, a *app) error {
	client, err := a.adbServer(ctx)
	if err != nil {
		return err
	}
	if err := client.Pair(ctx, c.Address, c.Code); err != nil {
		if strings.Contains(err.Error(), "unknown host service") {
			err = fmt.Errorf("%w; this adb server cannot pair: Debian's has no part for it, that of Google's "+
				"platform-tools has", err)
		}
		return engineError(err)
	}
	fmt.Fprintln(a.Env.Stdout, "paired; now connect to the address that Wireless debugging shows: hexmage device "+
		"connect HOST:PORT")
	return nil
}

// deviceInfoCmd is `hexmage device info`.
type deviceInfoCmd struct {
	deviceTarget
}

// Help has the examples of `hexmage device info --help`.
func (*deviceInfoCmd) Help() string {
	return `Arch and VTCM come from the catalogue's record of the SoC, which the device names; hexmage compat --soc SOC says what can be built for it.

Examples:

    hexmage device info
    hexmage device info --json | jq -r .target.arch`
}

// deviceInfo is the output of `hexmage device info`.
type deviceInfo struct {
	devinfo.Details
	Target *deviceTargetInfo `json:"target,omitempty"` // nil: the catalogue does not know the SoC
}

// deviceTargetInfo is the record of the SoC.
type deviceTargetInfo struct {
	SoC           string `json:"soc"`
	MarketingName string `json:"marketing_name,omitempty"`
	Arch          string `json:"arch"`
	SoCModel      int    `json:"soc_model"`
	VTCMMB        int    `json:"vtcm_mb,omitempty"`
	MinSDK        string `json:"min_sdk,omitempty"`
}

// Run tells.
func (c *deviceInfoCmd) Run(ctx context.Context, a *app) error {
	dev, err := c.open(ctx, a)
	if err != nil {
		return err
	}
	d, err := a.domain(a.here())
	if err != nil {
		return err
	}
	h, err := devinfo.Inspect(ctx, dev)
	if err != nil {
		return engineError(err)
	}
	i := deviceInfo{Details: h}
	if s := socOf(d.catalogue(), h.Info); s != nil {
		i.Target = &deviceTargetInfo{s.Name, s.MarketingName, archOf(d.catalogue(), h.Info), s.SoCModel, s.VTCMMB,
			s.MinSDK}
	}
	if a.JSON {
		return a.printJSON(i)
	}
	a.printDevice(i)
	return nil
}

func (a *app) printDevice(i deviceInfo) {
	line := func(name, format string, args ...any) {
		if text := strings.TrimSpace(fmt.Sprintf(format, args...)); text != "" {
			fmt.Fprintf(a.Env.Stdout, "%-12s %s\n", name, text)
		}
	}
	line("serial", "%s", i.Serial)
	line("model", "%s", i.Model)
	soc := i.SoC
	if i.SoCID != 0 {
		soc += fmt.Sprintf(" (soc_id %d)", i.SoCID)
	}
	line("SoC", "%s", soc)
	if t := i.Target; t != nil {
		text := fmt.Sprintf("Hexagon %s, soc_model %d", t.Arch, t.SoCModel)
		if t.VTCMMB > 0 {
			text += fmt.Sprintf(", VTCM %d MB", t.VTCMMB)
		}
		if t.MarketingName != "" {
			text = t.MarketingName + ": " + text
		}
		line("target", "%s", text)
		if t.MinSDK != "" {
			line("SDK", "QAIRT %s or newer", t.MinSDK)
		}
	} else {
		line("target", "the catalogue does not know this SoC: declare it in toolchains/*.hcl")
	}
	if i.Machine != "" {
		line("system", "%s, %s", i.Machine, i.System)
	}
	if i.Android != "" {
		line("Android", "%s, API %d, %s", i.Android, i.API, i.ABI)
	}
	line("build", "%s", i.Fingerprint)
	line("memory", "%s, %s available", bytesize.Decimal(i.Memory.Total), bytesize.Decimal(i.Memory.Free))
	where := "/data"
	if i.Machine != "" {
		where = "disk"
	}
	line(where, "%s, %s free, %s of it are hexmage's", bytesize.Decimal(i.Disk.Total), bytesize.Decimal(i.Disk.Free),
		bytesize.Decimal(i.Store))
	if i.Charging != "" {
		line("battery", "%d %%, %s", i.Battery, strings.ToLower(i.Charging))
	}
	if len(i.Thermal) > 0 {
		hot := slices.MaxFunc(i.Thermal,
			func(x, y thermal.Reading) int { return int(x.Celsius*1000) - int(y.Celsius*1000) })
		line("temperature", "%.1f °C (%s, the hottest of %d)", hot.Celsius, hot.Zone, len(i.Thermal))
	}
	for _, l := range i.Libraries {
		line("vendor", "%s %s", l.Path, l.BuildID)
	}
}

// deviceLogCmd is `hexmage device log`.
type deviceLogCmd struct {
	deviceTarget
	Follow bool     `short:"f" help:"Go on until Ctrl-C."`
	All    bool     `help:"All of the log. Default: what programs of the NPU and its drivers say (adsprpc, QNN, fastrpc, mllm), and crashes."`
	Filter []string `arg:"" optional:"" help:"logcat filters such as adsprpc:V; with them only what they let through."`
}

// Help has the examples of `hexmage device log --help`.
func (*deviceLogCmd) Help() string {
	return `Examples:

    hexmage device log                                 what the NPU's drivers said
    hexmage device log --all | hexmage diagnose -      what went wrong?
    hexmage device log -f adsprpc:V '*:F'`
}

// Run prints.
func (c *deviceLogCmd) Run(ctx context.Context, a *app) error {
	dev, err := c.open(ctx, a)
	if err != nil {
		return err
	}
	if _, err := link.Output(ctx, dev, "command -v logcat", nil); err != nil {
		if link.Retryable(err) {
			return engineError(err)
		}
		return engineError(errors.New("the device has no logcat: is it an Android device? On Linux, see the " +
			"kernel's log: hexmage device shell dmesg"))
	}
	line := "logcat -v threadtime"
	if !c.Follow {
		line += " -d"
	}
	for _, f := range c.Filter {
		line += " " + link.Quote(f)
	}
	out := a.Env.Stdout
	if len(c.Filter) == 0 && !c.All {
		lines, to := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			copyLines(a.Env.Stdout, lines, regexp.MustCompile("(?i)"+session.LogWords))
		}()
		defer func() { to.Close(); <-done }()
		out = to
	}
	isData(a.Env.Stdout, a.Env.Stderr)
	code, err := dev.Shell(ctx, line, link.Streams{Stdout: out, Stderr: a.Env.Stderr})
	if err != nil {
		return engineError(err)
	}
	if code != 0 {
		return &exitError{Code: ExitFailed}
	}
	return nil
}

// copyLines passes on each line that has a word, as soon as it has come: a device's own grep keeps lines back.
func copyLines(to io.Writer, from io.Reader, has *regexp.Regexp) {
	for in := bufio.NewReaderSize(from, 64<<10); ; {
		line, err := in.ReadSlice('\n') // or a part of a very long one
		if has.Match(line) {
			_, _ = to.Write(line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// deviceCleanCmd is `hexmage device clean`.
type deviceCleanCmd struct {
	deviceTarget
}

// Help has the examples of `hexmage device clean --help`.
func (*deviceCleanCmd) Help() string {
	return `It removes /data/local/tmp/hexmage (of a board ~/.hexmage-device) and nothing else; files that device push put elsewhere stay. The next run sends everything again.

Examples:

    hexmage device clean --serial R5CXC1AAAAA`
}

// Run cleans.
func (c *deviceCleanCmd) Run(ctx context.Context, a *app) error {
	dev, err := c.open(ctx, a)
	if err != nil {
		return err
	}
	held, err := a.leaseDevice(ctx, dev)
	if err != nil {
		return err
	}
	defer held.Release()
	n, err := push.Clear(ctx, dev)
	if err != nil {
		return engineError(err)
	}
	if a.JSON {
		return a.printJSON(map[string]int64{"removed": n})
	}
	fmt.Fprintf(a.Env.Stdout, "%s removed\n", bytesize.Decimal(n))
	return nil
}
