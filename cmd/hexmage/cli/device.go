package cli

import (
	"bufio"
	"cmp"
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
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/runner/thermal"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/toolchains"
)

// deviceCmd is `hexmage device …`.
type deviceCmd struct {
	List     deviceListCmd     `cmd:"" help:"List devices, and whether hexmage can use them."`
	Info     deviceInfoCmd     `cmd:"" help:"Describe a device: SoC, arch, memory, temperatures."`
	Connect  deviceConnectCmd  `cmd:"" help:"Connect to a device over the network."`
	Pair     devicePairCmd     `cmd:"" help:"Pair this machine with a device, for a connection over the network."`
	Push     devicePushCmd     `cmd:"" help:"Copy new and changed files to a device."`
	Pull     devicePullCmd     `cmd:"" help:"Copy files from a device."`
	Shell    deviceShellCmd    `cmd:"" help:"Run a command on a device."`
	Log      deviceLogCmd      `cmd:"" help:"Print a device's log (logcat)."`
	Debug    debugCmd          `cmd:"" takes:"plan,net,build" help:"Use LLDB to debug a program that a pipeline runs on a device."`
	Simulate deviceSimulateCmd `cmd:"" takes:"soc,net,build" soc:"Simulate a phone with this SoC. Example: SM8650. Default: SM8750." help:"Run a simulated phone until you press Ctrl-C."`
	Clean    deviceCleanCmd    `cmd:"" help:"Remove the files that hexmage keeps on a device."`
}

// Help returns the examples of `hexmage device --help`.
func (*deviceCmd) Help() string {
	return `If several devices are connected, choose one with --serial or $ANDROID_SERIAL. The serial of a Linux board is
its address, ssh://USER@HOST:PORT. To give devices names, or to use devices of other adb servers, edit
~/.config/hexmage/devices.hcl.

hexmage uses your adb server at $ADB_SERVER_SOCKET, else at port $ANDROID_ADB_SERVER_PORT, else at port 5037. If the
server is not running, hexmage starts it with adb from $PATH, from $ANDROID_HOME, or from toolchain adb. See
docs/device.md and docs/boards.md.

Examples:

    hexmage device list                                              all devices
    hexmage device info --serial R5CXC1AAAAA                         one device
    hexmage device push out/qwen3/model.bin /data/local/tmp/qwen3/   copy a file to the device

    hexmage device shell -- ls -l /vendor/lib64/libQnnHtp.so         run a command on the device
    hexmage device pair 192.168.1.7:37099 123456 && hexmage device connect 192.168.1.7:40555
    hexmage device info --serial ssh://ubuntu@192.168.1.9            a Linux board`
}

// deviceTarget has the flags that choose a device.
type deviceTarget struct {
	Serial string `short:"s" placeholder:"SERIAL" help:"Use this device. SERIAL is a serial from 'hexmage device list', a name from devices.hcl, HOST:PORT, or ssh://USER@HOST for a Linux board. Default: $ANDROID_SERIAL, else the only connected device."`
}

// open finds the device.
func (t deviceTarget) open(ctx context.Context, a *app) (transport.Device, error) {
	serial := cmp.Or(t.Serial, a.Env.Var("ANDROID_SERIAL"))
	f, err := a.deviceFile()
	if err != nil {
		return nil, err
	}
	d, listed := pool.New(f.Devices).Find(serial)
	if !listed {
		d.Serial = serial
	}
	dev, err := pool.Transports{Server: a.adbServer, SSH: a.ssh()}.Open(ctx, d)
	switch {
	case err == nil || errors.As(err, new(*exitError)):
		return dev, err
	case listed:
		err = fmt.Errorf("device %s (%s): %w", d.Name, d.Serial, err)
	case serial != "" && !ssh.Is(serial):
		err = fmt.Errorf("device %s: %w", serial, err)
	}
	if !listed && !ssh.Is(serial) && !transport.Retryable(err) {
		return nil, usageError("%w", err)
	}
	return nil, engineError(err)
}

// socOf returns the record of a device's SoC, by its name, else by the kernel's number. It returns nil for an unknown
// SoC.
func socOf(c *toolchains.Catalog, i devinfo.Info) *qnn.SoC {
	if s, err := c.FindSoC(i.SoC); err == nil && i.SoC != "" {
		return s
	}
	for _, s := range c.SoCs {
		if i.SoCID != 0 && slices.Contains(s.AndroidIDs, i.SoCID) {
			return s
		}
	}
	return nil
}

// archOf returns the Hexagon arch that a device reports, as simulated devices do, else that of its SoC's record.
func archOf(c *toolchains.Catalog, i devinfo.Info) string {
	if s := socOf(c, i); s != nil && i.Arch == "" {
		return s.Arch
	}
	return i.Arch
}

// deviceShellCmd is `hexmage device shell [COMMAND…]`.
type deviceShellCmd struct {
	deviceTarget
	Command []string `arg:"" optional:"" passthrough:"" help:"Command with its arguments, or a command line in quotes. Default: commands from standard input."`
}

// Help returns the examples of `hexmage device shell --help`.
func (*deviceShellCmd) Help() string {
	return `If you give one argument, the device's shell reads it as a command line. If you give more, the first is the
command. Write hexmage's flags before the command.

The command runs without a terminal, with separate standard output and standard error. hexmage exits with the exit code
of the command.

Examples:

    hexmage device shell getprop ro.soc.model                                 a command and its argument
    hexmage device shell --serial R5CXC1AAAAA 'cat /proc/meminfo | head -3'   a command line
    hexmage device shell cat <local.txt                                       standard input from this machine
    echo 'ls /data/local/tmp; uptime' | hexmage device shell                  commands from standard input`
}

// Run runs a command or an interactive shell on a device.
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
			quoted[i] = transport.Quote(w)
		}
		line = strings.Join(quoted, " ")
	}
	isData(a.Env.Stdout, a.Env.Stderr)
	code, err := dev.Shell(ctx, line, transport.Streams{Stdin: a.Env.Stdin, Stdout: a.Env.Stdout, Stderr: a.Env.Stderr})
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
	Address string `arg:"" help:"HOST:PORT from the Wireless debugging screen of the device. Default port: 5555."`
	Off     bool   `help:"Disconnect from the device instead."`
}

// Help returns the examples of `hexmage device connect --help`.
func (*deviceConnectCmd) Help() string {
	return `A device with Android 11 or newer accepts only paired machines. To pair this machine once, run
'hexmage device pair'.

Examples:

    hexmage device connect 192.168.1.7:40555         connect to the device
    hexmage device connect 192.168.1.7:40555 --off   disconnect from the device`
}

// Run connects to a device.
func (c *deviceConnectCmd) Run(ctx context.Context, a *app) error {
	if ssh.Is(c.Address) {
		return usageError("boards do not need `hexmage device connect`; pass --serial %s to each command",
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
		a.printf("disconnected %s\n", at)
		return nil
	}
	if err := client.Connect(ctx, at); err != nil {
		return engineError(fmt.Errorf(
			"%w; enable Wireless debugging, pair the device, and use the port on the Wireless debugging screen", err))
	}
	a.printf("connected %s\n", at)
	return nil
}

// devicePairCmd is `hexmage device pair ADDRESS CODE`.
type devicePairCmd struct {
	Address string `arg:"" help:"HOST:PORT from the pairing dialog on the device."`
	Code    string `arg:"" help:"Pairing code from this dialog, such as 123456."`
}

// Help returns the examples of `hexmage device pair --help`.
func (*devicePairCmd) Help() string {
	return `On the device, open Settings > Developer options > Wireless debugging > Pair device with pairing code. The
dialog shows the address and the code. After pairing, run hexmage device connect with the address on the Wireless
debugging screen. The port of this address differs from the port in the dialog.

Examples:

    hexmage device pair 192.168.1.7:37099 123456   pair, with address and code from the dialog
    hexmage device connect 192.168.1.7:40555       then connect, with the address from the screen`
}

// Run pairs with a phone.
func (c *devicePairCmd) Run(ctx context.Context, a *app) error {
	client, err := a.adbServer(ctx)
	if err != nil {
		return err
	}
	if err := client.Pair(ctx, c.Address, c.Code); err != nil {
		if strings.Contains(err.Error(), "unknown host service") {
			err = fmt.Errorf("%w; this adb server cannot pair devices. Use adb from Google's platform-tools, "+
				"because Debian's adb lacks pairing",
				err)
		}
		return engineError(err)
	}
	a.print("paired; next, run `hexmage device connect HOST:PORT` with the address on the Wireless debugging screen\n")
	return nil
}

// deviceInfoCmd is `hexmage device info`.
type deviceInfoCmd struct {
	deviceTarget
}

// Help returns the examples of `hexmage device info --help`.
func (*deviceInfoCmd) Help() string {
	return `The device reports its SoC. hexmage's catalog provides the arch and the VTCM size of this SoC. To list the
SDK releases for the SoC, run a command such as 'hexmage compat --soc SM8750'.

Examples:

    hexmage device info                               the only device
    hexmage device info --json | jq -r .target.arch   the Hexagon arch of the device`
}

// deviceInfo is the output of `hexmage device info`.
type deviceInfo struct {
	devinfo.Details
	Target *deviceTargetInfo `json:"target,omitempty"` // nil: the catalog does not know the SoC
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

// Run prints facts about a device.
func (c *deviceInfoCmd) Run(ctx context.Context, a *app) error {
	dev, err := c.open(ctx, a)
	if err != nil {
		return err
	}
	d, err := a.domain()
	if err != nil {
		return err
	}
	h, err := devinfo.Inspect(ctx, dev)
	if err != nil {
		return engineError(err)
	}
	i := deviceInfo{Details: h}
	if s := socOf(d.catalog, h.Info); s != nil {
		i.Target = &deviceTargetInfo{s.Name, s.MarketingName, archOf(d.catalog, h.Info), s.SoCModel, s.VTCMMB,
			s.MinSDK}
	}
	return a.show(i, "%s", i.text())
}

func (i deviceInfo) text() (text string) {
	line := func(name, format string, args ...any) {
		if value := strings.TrimSpace(fmt.Sprintf(format, args...)); value != "" {
			text += fmt.Sprintf("%-12s %s\n", name, value)
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
		line("target", "the catalog does not contain this SoC; declare the SoC in toolchains/*.hcl")
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
	line(where, "%s, %s free, %s used by hexmage", bytesize.Decimal(i.Disk.Total), bytesize.Decimal(i.Disk.Free),
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
	return text
}

// deviceLogCmd is `hexmage device log`.
type deviceLogCmd struct {
	deviceTarget
	Follow bool     `short:"f" help:"Keep printing new messages until you press Ctrl-C."`
	All    bool     `help:"Print the whole log. Default: only crashes and messages about the NPU."`
	Filter []string `arg:"" optional:"" help:"Pass these filters to logcat. Example: adsprpc:V. Default: only crashes and messages about the NPU."`
}

// Help returns the examples of `hexmage device log --help`.
func (*deviceLogCmd) Help() string {
	return `Messages about the NPU contain a word such as adsprpc, fastrpc or QNN.

Examples:

    hexmage device log                              crashes and messages about the NPU
    hexmage device log --all | hexmage diagnose -   find a failure in the whole log
    hexmage device log -f adsprpc:V '*:F'           messages of adsprpc and fatal messages, until Ctrl-C`
}

// Run prints the device's log.
func (c *deviceLogCmd) Run(ctx context.Context, a *app) error {
	dev, err := c.open(ctx, a)
	if err != nil {
		return err
	}
	if _, err := transport.Output(ctx, dev, "command -v logcat", nil); err != nil {
		if transport.Retryable(err) {
			return engineError(err)
		}
		return engineError(errors.New("logcat is missing on the device. If the device runs Linux, print the kernel " +
			"log with `hexmage device shell dmesg`"))
	}
	line := "logcat -v threadtime"
	if !c.Follow {
		line += " -d"
	}
	for _, f := range c.Filter {
		line += " " + transport.Quote(f)
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
	code, err := dev.Shell(ctx, line, transport.Streams{Stdout: out, Stderr: a.Env.Stderr})
	if err != nil {
		return engineError(err)
	}
	if code != 0 {
		return &exitError{Code: ExitFailed}
	}
	return nil
}

// copyLines copies each matching line at once: a device's grep buffers lines.
func copyLines(to io.Writer, from io.Reader, has *regexp.Regexp) {
	for in := bufio.NewReaderSize(from, 64<<10); ; {
		line, err := in.ReadSlice('\n') // or a part of a very long line
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

// Help returns the examples of `hexmage device clean --help`.
func (*deviceCleanCmd) Help() string {
	return `Removes the folder /data/local/tmp/hexmage, or ~/.hexmage-device on a Linux board. The next run sends all
files again. Does not remove files that you copied to other folders with hexmage device push.

Examples:

    hexmage device clean                        the only device
    hexmage device clean --serial R5CXC1AAAAA   one of several devices`
}

// Run removes hexmage's files from a device.
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
	return a.show(map[string]int64{"removed": n}, "%s removed\n", bytesize.Decimal(n))
}
