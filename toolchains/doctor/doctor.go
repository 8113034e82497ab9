// Package doctor says what this machine has and lacks for hexmage, and how to get what is missing.
//
// It looks and changes nothing: no downloads, no devices, no settings. It does not know pipelines, only what the two
// profiles can need.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/hexmage/hexmage/toolchains"
)

// Status is how a finding ends.
type Status string

// The statuses. What is Optional is missing, and only some pipelines need it.
const (
	OK       Status = "ok"
	Missing  Status = "missing"
	Optional Status = "optional"
)

// Finding is one thing that was looked at.
type Finding struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`           // what was found
	Remedy string `json:"remedy,omitempty"` // what to do when it is not OK
}

// Options say for what to look.
type Options struct {
	Catalogue *toolchains.Catalogue
	Lock      *toolchains.Lock
	Machine   toolchains.Machine
	Profile   string // "open", "device", or "" for both
	Store     string // the store's folder: its file system must have room
	AptLists  string // the system's package lists; "" is /var/lib/apt/lists
}

// Examine looks at everything, in the order in which it matters.
func Examine(ctx context.Context, o Options) []Finding {
	var fs []Finding
	fs = append(fs, system(), disk(o.Store))
	fs = append(fs, programs(o)...)
	if runtime.GOOS == "linux" {
		fs = append(fs, kernel(o)...)
	}
	if o.Profile != "device" {
		fs = append(fs, catalogue(o, "open", openToolchains())...)
	}
	if o.Profile != "open" {
		fs = append(fs, catalogue(o, "device", deviceToolchains())...)
	}
	if err := ctx.Err(); err != nil {
		fs = append(fs, Finding{"doctor", Missing, "interrupted: " + err.Error(), "Run it again."})
	}
	return fs
}

func openToolchains() []string {
	return []string{"llvm", "qemu", "adb", "busybox", "qairt", "hexagon", "ndk", "mllm"}
}

func deviceToolchains() []string { return []string{"adb", "qairt", "hexagon", "ndk"} }

func system() Finding {
	f := Finding{Name: "system", Status: OK, Detail: runtime.GOOS + "/" + runtime.GOARCH}
	if runtime.GOOS != "linux" {
		f.Status = Optional
		f.Remedy = "Actions run on Linux only; here hexmage plans, inspects, lints and talks to devices. On Windows use WSL."
	} else if runtime.GOARCH != "amd64" {
		f.Status = Optional
		f.Remedy = "The vendors' SDKs have tools for x86-64 hosts only; the open profile's packages are pinned for amd64."
	}
	return f
}

// programs looks for the few programs of the system that are used.
func programs(o Options) []Finding {
	var fs []Finding
	for _, p := range []struct {
		name   string
		status Status
		use    string
		remedy string
	}{
		{"apt-get", Missing, "brings compilers, emulators and adb as packages, without root", "It is part of Debian and Ubuntu. On another system install clang 20 or newer, lld, qemu-user and adb, and write use = \"installed\" in their toolchain blocks."},
		{"make", Optional, "runs generated makefiles outside of hexmage", "Install make; hexmage itself compiles without it."},
		{"git", Optional, "your own checkouts; hexmage reads repositories itself", "Install git if you work on the sources."},
	} {
		f := Finding{Name: p.name, Status: OK}
		if path, err := look(o.Machine, p.name); err == nil {
			f.Detail = path
		} else {
			f.Status, f.Detail, f.Remedy = p.status, "not in PATH: it "+p.use, p.remedy
			if p.status == Missing && runtime.GOOS != "linux" {
				f.Status = Optional
			}
		}
		fs = append(fs, f)
	}
	lists := o.AptLists
	if lists == "" {
		lists = "/var/lib/apt/lists"
	}
	if names, err := filepath.Glob(filepath.Join(lists, "*Packages*")); err == nil && len(names) > 0 {
		fs = append(fs, Finding{Name: "package lists", Status: OK, Detail: fmt.Sprintf("%d in %s", len(names), lists)})
	} else if fs[0].Status == OK {
		fs = append(fs, Finding{Name: "package lists", Status: OK, Detail: "none in " + lists + ": hexmage keeps its own"})
	}
	return fs
}

func look(m toolchains.Machine, name string) (string, error) {
	if m.LookPath == nil {
		return "", os.ErrNotExist
	}
	return m.LookPath(name)
}

// catalogue says how each toolchain of a profile would be had.
func catalogue(o Options, profile string, names []string) []Finding {
	var fs []Finding
	for _, n := range names {
		f := Finding{Name: profile + ": " + n, Status: OK}
		ch, err := o.Catalogue.Choose(toolchains.Request{Name: n, Profile: profile, Lock: o.Lock, Machine: o.Machine})
		switch {
		case err == nil:
			f.Detail = ch.Spec.Name + ", " + how(ch)
		case errors.Is(err, toolchains.ErrNotAvailable):
			f.Status, f.Detail, f.Remedy = Missing, "can't be had here", err.Error()+"."
		default:
			f.Status, f.Detail, f.Remedy = Missing, "not pinned", err.Error()+"."
		}
		if f.Status == Missing && profile == "device" && o.Profile == "" {
			f.Status = Optional // the open profile does without
		}
		fs = append(fs, f)
	}
	return fs
}

func how(ch *toolchains.Choice) string {
	switch ch.Source.Kind {
	case "embedded":
		return "open stand-in, part of hexmage"
	case "deb":
		var size int64
		for _, p := range ch.Spec.Packages {
			size += p.Size
		}
		if len(ch.Spec.Packages) == 1 {
			return "1 package of the distribution, " + bytes(size)
		}
		return fmt.Sprintf("%d packages of the distribution, %s", len(ch.Spec.Packages), bytes(size))
	case "archive":
		if ch.Spec.Size > 0 {
			return "download of " + bytes(ch.Spec.Size)
		}
		return "download"
	case "installed":
		if ch.Host != "" {
			return "installed at " + ch.Host
		}
		var ps []string
		for _, p := range ch.Spec.Programs {
			ps = append(ps, p.Target)
		}
		return "installed: " + strings.Join(ps, ", ")
	}
	return ch.Source.Kind
}

func bytes(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d kB", n/1000)
}
