package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"sync"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/link"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/ssh"
)

// Executor is the name by which actions ask for a device.
const Executor = "device"

// Names of Platform properties of actions for a device.
const (
	PropertySoC      = "soc"       // the target's SoC, such as "SM8750"; a device with another one is refused
	PropertyArch     = "arch"      // the target's Hexagon arch, such as "v79"; a device or a pushed Hexagon file with another one is refused
	PropertySoCModel = "soc_model" // QNN's number of the target's SoC, such as "69", which configurations that are pushed have to agree with
	PropertyVTCM     = "vtcm_mb"   // of the target: what is pushed may want no more
	PropertyADB      = "adb"       // path in the exec root of the toolchain that has adb
	PropertyImage    = "image"     // path in the exec root of a simulated phone's image: the device is the simulated one
	PropertySerial   = "serial"    // the real device: its serial, the address of a board, or its name in the pool; with an image too, it is the user's choice over that
	PropertySelect   = "select"    // SoC of the real device, such as "SM8750"; without it, a serial, an image and a pool there must be exactly one

	PropertyRepetition = "repetition" // "1", "2", …: makes the same command another action, to be measured again
	PropertyWarmup     = "warmup"     // how often the command runs before the run that counts
	PropertyCooldown   = "cooldown"   // a Cooldown: how cool the device has to be before
	PropertyRecord     = "record"     // path of an output: the RunRecord, as JSON
	PropertyLog        = "log"        // path of an output: what the device's log says of the NPU since the command began
)

// PushDir is the folder of the exec root whose content goes to the device: "push/a/b" is "a/b" in the folder where the command starts.
// Paths of outputs are relative to that folder.
const PushDir = "push"

// Options say how a Device works.
type Options struct {
	Store  store.Blobs
	Trees  *merkle.Trees // where images and adb are unpacked
	Fn     digest.Function
	Dir    string      // an existing folder for what lasts as long as this process, on the store's file system
	State  string      // a folder that stays between runs, for hashes, adb's key and disks of simulated phones; made when needed
	Serial string      // the user's choice of a real device; overrides the property
	Server pool.Server // the user's own adb server, asked first for real devices, usually at "127.0.0.1:5037"; zero: none
	Pool   *pool.Pool  // the user's phones, for actions that name no serial, or one of the pool; nil: there is none
	Phones int         // how many simulated phones of an image may run at the same time; at least 1
	ADB    string      // folder with the platform tools, for actions that bring none
	Home   string      // the user's home folder: phones know the adb key in it; empty: a key in State
	SSH    ssh.Options // how boards are reached
	Log    io.Writer   // what simulated devices print, beside what goes with a failed action's output; nil discards it
	// Simulate starts a simulated device; nil: there are none.
	Simulate func(context.Context, SimulatedOptions) (Simulated, error)
}

// Device is an execute.Executor that runs actions on a device. It starts what it needs (adb's server, a simulated phone) with the first
// action and keeps it until Close. Execute may be called by many goroutines at once: each has a device for itself.
type Device struct {
	o   Options
	tmp func() (string, error) // a folder below o.Dir, which Close removes

	phones phones

	mu      sync.Mutex           // guards what follows, also while it is being started
	servers map[bool]*adb.Server // by whether they look at USB
}

// New returns a Device. Nothing is started yet.
func New(o Options) *Device {
	tmp := sync.OnceValues(func() (string, error) { return os.MkdirTemp(o.Dir, "device") })
	return &Device{o: o, tmp: tmp, servers: map[bool]*adb.Server{}}
}

// Close ends adb's server and the simulated phones.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	errs := d.phones.close()
	for _, s := range d.servers {
		errs = append(errs, s.Close())
	}
	clear(d.servers)
	if dir, err := d.tmp(); err == nil {
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}

// Execute runs the action on a device that fits its platform, and on another one of the pool if that dies.
func (d *Device) Execute(ctx context.Context, a *execute.Request) (*action.Result, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if a.Secrets != nil {
		return nil, &execute.Error{Op: "run on a device", Refused: true, Err: errors.New("a device gets no secrets: its environment would be part of a command line there"),
			Remedy: "do what needs the secret in a step of kind exec"}
	}
	q, err := d.request(ctx, a.Action)
	if err != nil {
		return nil, &execute.Error{Op: "read the action's inputs", Err: err}
	}
	return d.onOne(ctx, a, func(ctx context.Context, u *inUse) (*action.Result, error) { return d.runOn(ctx, a, q, u) })
}

// newFolder makes a folder that Close removes, if nobody did so before.
func (d *Device) newFolder(name string) (string, error) {
	dir, err := d.tmp()
	if err != nil {
		return "", err
	}
	return os.MkdirTemp(dir, name)
}

// failed says what could not be done, and whether it may be tried again.
func failed(op string, err error) *execute.Error {
	e := &execute.Error{Op: op, Err: err, Retryable: link.Retryable(err)}
	if mismatch := (*devinfo.Mismatch)(nil); errors.As(err, &mismatch) { // the step's or the user's fault
		e.Refused, e.Retryable = true, false
	}
	var l lacking
	if errors.As(err, &l) {
		what, remedy := l.Lacks()
		e.Err, e.Remedy = errors.New(what), remedy
	}
	return e
}

// request reads from the action what is to be pushed and run.
func (d *Device) request(ctx context.Context, a *action.Action) (session.Request, error) {
	q := session.Request{Files: map[string]push.File{}, Links: map[string]string{}, Args: a.Command.Args, Env: a.Command.Env}
	own := []string{a.Command.Platform[action.PropertyStdout], a.Command.Platform[PropertyRecord], a.Command.Platform[PropertyLog], session.SamplesCSV, session.SamplesJSON, session.PhoneJSON} // which the device does not write
	q.Pull = slices.DeleteFunc(slices.Clone(a.Command.Outputs), func(p string) bool { return slices.Contains(own, p) })
	in := execute.Inputs(d.o.Store, a)
	push, err := merkle.Ref(a.InputRoot).Sub(ctx, in, PushDir)
	if errors.Is(err, merkle.ErrNotExist) {
		return q, nil
	}
	if err != nil {
		return q, err
	}
	if root, ok := push.Ref(); ok {
		if push, err = merkle.Load(ctx, in, root); err != nil {
			return q, err
		}
	}
	err = push.Walk(func(p string, e merkle.Entry) error {
		switch {
		case e.File != nil:
			q.Files[p] = d.file(ctx, *e.File)
		case e.Symlink != "":
			if err := merkle.CheckSymlink(path.Dir(p), e.Symlink); err != nil {
				return fmt.Errorf("%s: %w", path.Join(PushDir, p), err)
			}
			q.Links[p] = e.Symlink
		}
		return nil
	})
	return q, err
}

// wanted reads a target from an action's platform.
func wanted(platform map[string]string) qnn.Target {
	w := qnn.Target{SoC: platform[PropertySoC], Arch: platform[PropertyArch]}
	w.SoCModel, _ = strconv.Atoi(platform[PropertySoCModel]) // 0, where it is not said, is not checked
	w.VTCMMB, _ = strconv.Atoi(platform[PropertyVTCM])
	return w
}
