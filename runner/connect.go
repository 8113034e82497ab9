package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/tree"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/emulator"
)

// findWait is how long phones may take to show up at a server that was just started.
const findWait = 3 * time.Second

// connect finds the device that the action is for, and starts what that takes. The log is nil for a real device.
func (d *Device) connect(ctx context.Context, a *action.Action) (*adb.Device, *deviceLog, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at := a.Command.Platform[PropertyImage]; at != "" && d.o.Serial == "" {
		return d.emulated(ctx, a, at)
	}
	serial := d.o.Serial
	if serial == "" {
		serial = a.Command.Platform[PropertySerial]
	}
	dev, err := d.real(ctx, a, serial)
	return dev, nil, err
}

// real finds a phone, at the user's own adb server if that runs: two servers cannot share one phone on USB.
func (d *Device) real(ctx context.Context, a *action.Action, serial string) (*adb.Device, error) {
	var client *adb.Client
	wait := time.Duration(0)
	if d.o.Server != "" {
		client = adb.NewClient("tcp", d.o.Server)
		if _, err := client.Version(ctx); err != nil {
			client = nil
		}
	}
	if client == nil {
		fresh := d.servers[true] == nil
		s, err := d.adbServer(ctx, a, true)
		if err != nil {
			return nil, err
		}
		client = s.Client
		if fresh {
			wait = findWait
		}
	}
	if strings.Contains(serial, ":") {
		if err := client.Connect(ctx, serial); err != nil {
			return nil, err
		}
	}
	for deadline := time.Now().Add(wait); ; time.Sleep(leasePoll) {
		all, err := client.Devices(ctx)
		if err != nil {
			return nil, err
		}
		one, err := Pick(all, serial)
		if err == nil {
			return client.Device(one.Serial), nil
		}
		if !errors.Is(err, ErrNoDevice) || time.Now().After(deadline) || ctx.Err() != nil {
			return nil, err
		}
	}
}

// emulated starts the phone of an image, unless it runs already.
func (d *Device) emulated(ctx context.Context, a *action.Action, at string) (*adb.Device, *deviceLog, error) {
	image, err := d.inputFolder(ctx, a, at)
	if err != nil {
		return nil, nil, fmt.Errorf("the emulator's image: %w", err)
	}
	s, err := d.adbServer(ctx, a, false)
	if err != nil {
		return nil, nil, err
	}
	if p, ok := d.emulators[image]; ok {
		select {
		case <-p.Done(): // it died: a new one is started
			p.release()
			delete(d.emulators, image)
		default:
			return s.Device(p.Addr()), p.log, nil
		}
	}
	dir, err := d.o.Trees.Path(ctx, d.o.Store, image)
	if err != nil {
		return nil, nil, err
	}
	p, err := d.startPhone(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	d.emulators[image] = p
	return s.Device(p.Addr()), p.log, s.Connect(ctx, p.Addr())
}

func (d *Device) startPhone(ctx context.Context, image string) (*phone, error) {
	root, err := d.newFolder("phone")
	if err != nil {
		return nil, err
	}
	data, release, err := d.disk(root)
	if err != nil {
		os.RemoveAll(root)
		return nil, err
	}
	at := filepath.Join(root, "root")
	if err := os.Mkdir(at, 0o755); err != nil {
		release()
		return nil, err
	}
	log := &deviceLog{next: d.o.Log}
	e, err := emulator.Start(ctx, emulator.Options{Self: d.o.Self, Image: image, Dir: at, Data: data, Log: log, Faults: d.o.Faults})
	if err != nil {
		release()
		return nil, err
	}
	return &phone{e, log, release}, nil
}

// maxDisk is how large the emulated phone's disk may be when it starts. A larger one is emptied.
const maxDisk = 8 << 30

// disk returns the folder that is an emulated phone's disk. It is kept between runs, as a phone's is, but only one phone can have it:
// another process that runs at the same time gets an empty one, which goes away with it.
func (d *Device) disk(root string) (data string, release func(), err error) {
	if d.o.Faults.DiskBytes > 0 {
		return "", func() { os.RemoveAll(root) }, nil
	}
	now, cancel := context.WithCancel(context.Background())
	cancel() // no waiting
	unlock, err := Lease(now, filepath.Join(d.o.State, "leases"), "emulator-disk", nil)
	if err != nil {
		data = filepath.Join(root, "data")
		return data, func() { os.RemoveAll(root) }, os.Mkdir(data, 0o755)
	}
	release = func() { unlock(); os.RemoveAll(root) }
	data = filepath.Join(d.o.State, "emulator", "data")
	if size(data) > maxDisk {
		err = os.RemoveAll(data)
	} else {
		err = nil
	}
	if err == nil {
		err = os.MkdirAll(data, 0o755)
	}
	if err != nil {
		release()
		return "", nil, err
	}
	return data, release, nil
}

// size adds up the files below dir, as far as they can be seen.
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

// adbServer starts a private server, unless it runs already.
func (d *Device) adbServer(ctx context.Context, a *action.Action, usb bool) (*adb.Server, error) {
	if s := d.servers[usb]; s != nil {
		return s, nil
	}
	tools := d.o.ADB
	if at := a.Command.Platform[PropertyADB]; at != "" {
		root, err := d.inputFolder(ctx, a, at)
		if err != nil {
			return nil, fmt.Errorf("the toolchain adb: %w", err)
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
	s, err := adb.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	d.servers[usb] = s
	return s, nil
}

// FindADB finds the program, and the libraries beside it, in a folder as Debian packages or Google's archive have it.
func FindADB(dir string) (adb.Options, error) {
	if dir == "" {
		return adb.Options{}, errors.New("no adb: declare toolchain \"adb\" in the pipeline, or start an adb server")
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
	return adb.Options{}, fmt.Errorf("no adb in %s: looked for %s", dir, strings.Join(tried, ", "))
}

// inputFolder returns the digest of a folder among the action's inputs.
func (d *Device) inputFolder(ctx context.Context, a *action.Action, at string) (digest.Digest, error) {
	sub, err := tree.Ref(a.InputRoot).Sub(ctx, d.o.Store, at)
	if err != nil {
		return digest.Digest{}, err
	}
	if root, ok := sub.Ref(); ok {
		return root, nil
	}
	return sub.Put(ctx, d.o.Store, d.o.Fn)
}
