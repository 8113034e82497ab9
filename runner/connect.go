package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/pool"
)

// A phone on USB may take up to findWait to appear at a server that was just started. hexmage polls every findPoll.
const (
	findWait = 3 * time.Second
	findPoll = 100 * time.Millisecond
)

// reach returns the transports to the action's devices.
func (d *Device) reach(a *action.Action) pool.Transports {
	return pool.Transports{SSH: d.o.SSH, Server: func(ctx context.Context) (*adb.Client, error) { return d.client(ctx, a) }}
}

// client returns a client of the user's adb server if that server runs, else of a private one: two servers cannot
// share one phone on USB.
func (d *Device) client(ctx context.Context, a *action.Action) (*adb.Client, error) {
	if d.o.Server != (pool.Server{}) {
		c := adb.NewClient(d.o.Server.Network, d.o.Server.Address)
		_, err := c.Version(ctx)
		if err == nil {
			return c, nil
		}
		if !d.o.Server.Local() { // a private server on this machine cannot reach its phones
			return nil, d.o.Server.Silent(err)
		}
	}
	s, err := d.adbServer(ctx, a, true)
	if err != nil {
		return nil, err
	}
	return s.Client, nil
}

// size returns the total size of the files below dir. It skips files that it cannot read.
func size(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil {
			if fi, err := e.Info(); err == nil && fi.Mode().IsRegular() {
				sum += fi.Size()
			}
		}
		return nil
	})
	return sum
}

// adbServer returns the private server and starts it on first use.
func (d *Device) adbServer(ctx context.Context, a *action.Action, usb bool) (*adb.Server, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.servers[usb]; s != nil {
		return s, nil
	}
	s, err := d.startServer(ctx, a, usb)
	if err != nil {
		return nil, err
	}
	d.servers[usb] = s
	if serial := cmp.Or(d.o.Serial, a.Command.Platform[PropertySerial]); usb && !strings.Contains(serial, ":") {
		shown(ctx, s.Devices)
	}
	return s, nil
}

// shown waits until a new server lists a usable phone: at first it lists phones as offline or without authorization.
func shown(ctx context.Context, devices func(context.Context) ([]adb.Info, error)) {
	for end := time.Now().Add(findWait); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(findPoll) {
		if all, err := devices(ctx); err != nil || slices.ContainsFunc(all, adb.Info.Usable) {
			return
		}
	}
}

func (d *Device) startServer(ctx context.Context, a *action.Action, usb bool) (*adb.Server, error) {
	tools := d.o.ADB
	if at := a.Command.Platform[PropertyADB]; at != "" {
		root, err := d.inputFolder(ctx, a, at)
		if err != nil {
			return nil, fmt.Errorf("toolchain adb: %w", err)
		}
		if tools, err = d.o.Trees.Path(ctx, d.o.Store, root); err != nil {
			return nil, err
		}
	}
	o, err := FindADB(tools)
	if err != nil {
		return nil, err
	}
	if o.Dir, err = d.newFolder("adb"); err != nil {
		return nil, err
	}
	o.Home, o.USB = d.o.Home, usb
	if !usb || o.Home == "" {
		o.Home = filepath.Join(d.o.State, "adb")
		if err := os.MkdirAll(o.Home, 0o700); err != nil {
			return nil, err
		}
	}
	return adb.Start(ctx, o)
}

// FindADB finds adb and its libraries in dir, which has the layout of the Debian packages or of Google's archive.
func FindADB(dir string) (adb.Options, error) {
	if dir == "" {
		return adb.Options{}, errors.New("adb not found; declare toolchain \"adb\" in the pipeline, or start an adb " +
			"server")
	}
	var tried []string
	for _, at := range []string{"usr/lib/android-sdk/platform-tools/adb", "platform-tools/adb", "usr/bin/adb", "adb", "adb.exe", "platform-tools/adb.exe"} {
		p := filepath.Join(dir, filepath.FromSlash(at))
		if fi, err := os.Stat(p); err != nil || !fi.Mode().IsRegular() {
			tried = append(tried, at)
			continue
		}
		o := adb.Options{Path: p}
		libs, err := filepath.Glob(filepath.Join(dir, "usr/lib/*/android"))
		if err != nil {
			return o, err
		}
		for _, lib := range libs {
			o.LibraryPath = lib + string(filepath.ListSeparator) + filepath.Dir(lib)
		}
		return o, nil
	}
	return adb.Options{}, fmt.Errorf("no adb in %s (expected %s)", dir, strings.Join(tried, ", "))
}

// inputFolder returns the digest of the folder at among the action's inputs.
func (d *Device) inputFolder(ctx context.Context, a *action.Action, at string) (digest.Digest, error) {
	sub, err := merkle.Ref(a.InputRoot).Sub(ctx, execute.Inputs(d.o.Store, a), at)
	if err != nil {
		return digest.Digest{}, err
	}
	if root, ok := sub.Ref(); ok {
		return root, nil
	}
	return sub.Put(ctx, d.o.Store, d.o.Fn)
}
