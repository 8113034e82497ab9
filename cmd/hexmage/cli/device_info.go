package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/thermal"
)

// deviceInfoCmd is `hexmage device info`.
type deviceInfoCmd struct {
	deviceTarget
}

// Help has the examples of `hexmage device info --help`.
func (*deviceInfoCmd) Help() string {
	return `Arch and VTCM come from the catalogue's record of the SoC, which the device names; hexmage compat SOC says what can be built for it.

Examples:

    hexmage device info
    hexmage device info --json | jq -r .target.arch`
}

// deviceInfo is what is told of a device.
type deviceInfo struct {
	Serial      string              `json:"serial"`
	Model       string              `json:"model,omitempty"`
	Emulated    bool                `json:"emulated,omitempty"`
	SoC         string              `json:"soc,omitempty"`
	SoCID       int                 `json:"soc_id,omitempty"`
	Target      *deviceTargetInfo   `json:"target,omitempty"` // nil: the catalogue does not know the SoC
	Android     string              `json:"android,omitempty"`
	API         int                 `json:"api,omitempty"`
	ABI         string              `json:"abi,omitempty"`
	Fingerprint string              `json:"fingerprint,omitempty"`
	Memory      devinfo.Space       `json:"memory"`
	Disk        devinfo.Space       `json:"disk"`
	Store       int64               `json:"store"`
	Battery     int                 `json:"battery,omitempty"`
	Charging    string              `json:"charging,omitempty"`
	Thermal     []thermal.Reading   `json:"thermal,omitempty"`
	Libraries   []devinfo.VendorLib `json:"vendor_libraries,omitempty"`
}

// deviceTargetInfo is the record of the SoC.
type deviceTargetInfo struct {
	SoC       string `json:"soc"`
	Marketing string `json:"marketing,omitempty"`
	Arch      string `json:"arch"`
	SoCModel  int    `json:"soc_model"`
	VTCMMB    int    `json:"vtcm_mb,omitempty"`
	MinSDK    string `json:"min_sdk,omitempty"`
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
		return engine(err)
	}
	i := deviceInfo{
		Serial: h.Serial, Model: h.Model, Emulated: h.Emulated, SoC: h.SoC, SoCID: h.SoCID, Android: h.Android, API: h.API, ABI: h.ABI,
		Fingerprint: h.Fingerprint, Memory: h.Memory, Disk: h.Disk, Store: h.Store, Battery: h.Battery, Charging: h.Charging,
		Thermal: h.Thermal, Libraries: h.Libraries,
	}
	if s := socOf(d.catalogue, h.Info); s != nil {
		i.Target = &deviceTargetInfo{s.Name, s.Marketing, s.Arch, s.SoCModel, s.VTCMMB, s.MinSDK}
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
			fmt.Fprintf(a.env.Stdout, "%-12s %s\n", name, text)
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
		if t.Marketing != "" {
			text = t.Marketing + ": " + text
		}
		line("target", "%s", text)
		if t.MinSDK != "" {
			line("SDK", "QAIRT %s or newer", t.MinSDK)
		}
	} else {
		line("target", "the catalogue does not know this SoC: declare it in toolchains/*.hcl")
	}
	if i.Android != "" {
		line("Android", "%s, API %d, %s", i.Android, i.API, i.ABI)
	}
	line("build", "%s", i.Fingerprint)
	line("memory", "%s, %s available", sizeText(i.Memory.Total), sizeText(i.Memory.Free))
	line("/data", "%s, %s free, %s of it are hexmage's", sizeText(i.Disk.Total), sizeText(i.Disk.Free), sizeText(i.Store))
	if i.Charging != "" {
		line("battery", "%d %%, %s", i.Battery, strings.ToLower(i.Charging))
	}
	if len(i.Thermal) > 0 {
		hot := slices.MaxFunc(i.Thermal, func(x, y thermal.Reading) int { return int(x.Celsius*1000) - int(y.Celsius*1000) })
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
	if _, err := dev.Output(ctx, "command -v logcat", nil); err != nil {
		if adb.Retryable(err) {
			return engine(err)
		}
		return engine(errors.New("the device has no logcat: is it an Android device? On Linux, see the kernel's log: hexmage device shell dmesg"))
	}
	line := "logcat -v threadtime"
	if !c.Follow {
		line += " -d"
	}
	for _, f := range c.Filter {
		line += " " + adb.Quote(f)
	}
	if len(c.Filter) == 0 && !c.All {
		buffered := ""
		if c.Follow {
			buffered = "--line-buffered "
		}
		line += " | grep " + buffered + "-iE " + adb.Quote(session.LogWords) + " || true"
	}
	code, err := dev.Shell(ctx, line, adb.Streams{Stdout: a.env.Stdout, Stderr: a.env.Stderr})
	if err != nil {
		return engine(err)
	}
	if code != 0 {
		return &exitError{code: ExitFailed}
	}
	return nil
}

// deviceCleanCmd is `hexmage device clean`.
type deviceCleanCmd struct {
	deviceTarget
}

// Help has the examples of `hexmage device clean --help`.
func (*deviceCleanCmd) Help() string {
	return `It removes /data/local/tmp/hexmage and nothing else; files that device push put elsewhere stay. The next run sends everything again.

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
		return engine(err)
	}
	if a.JSON {
		return a.printJSON(map[string]int64{"removed": n})
	}
	fmt.Fprintf(a.env.Stdout, "%s removed\n", sizeText(n))
	return nil
}
