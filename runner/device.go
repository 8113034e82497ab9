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
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/ssh"
	"github.com/hexmage/hexmage/runner/transport"
)

// Executor is the value of the platform property "executor" for actions that need a device.
const Executor = "device"

// Platform properties of actions for a device.
const (
	PropertySoC      = "soc"       // the target's SoC, such as "SM8750"; hexmage rejects devices with another SoC
	PropertyArch     = "arch"      // Hexagon arch, such as "v79"; hexmage rejects devices and files for another arch
	PropertySoCModel = "soc_model" // QNN's number of the SoC, such as "69"; pushed configurations must have it
	PropertyVTCM     = "vtcm_mb"   // VTCM of the target; pushed files must not ask for more
	PropertyADB      = "adb"       // path of the adb toolchain in the exec root
	PropertyImage    = "image"     // path of a simulated phone's image in the exec root: use the simulated phone
	PropertySerial   = "serial"    // serial, address of a board, or name in the pool; overrides the image
	PropertySelect   = "select"    // SoC of the real device, such as "SM8750"; default: the only connected device

	PropertyRepetition = "repetition" // "1", "2", …: distinguishes repetitions of a command, so that each is measured
	PropertyWarmup     = "warmup"     // number of runs before the measured run
	PropertyCooldown   = "cooldown"   // a Cooldown: temperature to reach before the run
	PropertyRecord     = "record"     // path of an output: the RunRecord, as JSON
	PropertyLog        = "log"        // path of an output: the device's log about the NPU during the command
)

// PushDir is the folder in the exec root that hexmage pushes to the device. "push/a/b" becomes "a/b" in the command's
// working directory. Output paths are relative to the same directory.
const PushDir = "push"

// Options configure a Device.
type Options struct {
	Store  store.Blobs
	Trees  *merkle.Trees // folder for unpacked images and adb
	Fn     digest.Function
	Dir    string      // an existing folder for files of this process, on the store's file system
	State  string      // folder for hashes, adb's key and disks of simulated phones between runs; created if missing
	Serial string      // the user's choice of a real device; overrides the property
	Server pool.Server // the user's adb server, tried first, usually at "127.0.0.1:5037"; zero: none
	Pool   *pool.Pool  // the user's phones, for actions without a serial or with a name in the pool; may be nil
	Phones int         // maximum number of simulated phones of an image that run at the same time; at least 1
	ADB    string      // folder with the platform tools, for actions without an adb toolchain
	Home   string      // the user's home folder with the adb key that phones know; empty: a key in State
	SSH    ssh.Options // for boards
	Log    io.Writer   // output of simulated devices, besides the output of failed actions; nil discards it
	// Simulate starts a simulated device. It may be nil.
	Simulate func(context.Context, SimulatedOptions) (Simulated, error)
}

// Device is an execute.Executor that runs actions on devices. It starts an adb server or a simulated phone when an
// action needs it, and keeps it running until Close. A Device is safe for concurrent use: concurrent calls of Execute
// use different devices.
type Device struct {
	o   Options
	tmp func() (string, error) // returns a folder below o.Dir, which Close removes

	phones phones

	mu      sync.Mutex           // guards servers, also while one is being started
	servers map[bool]*adb.Server // by whether they look at USB
}

// New returns a Device. It starts no server or phone.
func New(o Options) *Device {
	tmp := sync.OnceValues(func() (string, error) { return os.MkdirTemp(o.Dir, "device") })
	return &Device{o: o, tmp: tmp, servers: map[bool]*adb.Server{}}
}

// Close ends the adb servers and the simulated phones.
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

// Execute runs the action on a device that fits its platform. If the device fails, another device of the pool runs the
// action.
func (d *Device) Execute(ctx context.Context, a *execute.Request) (*action.Result, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if a.Secrets != nil {
		return nil, &execute.Error{Op: "run on a device", Refused: true, Err: errors.New("a device cannot receive " +
			"secrets, because they would be part of a command line"),
			Remedy: "use the secret in a step of kind exec"}
	}
	q, err := d.request(ctx, a.Action)
	if err != nil {
		return nil, &execute.Error{Op: "read the action's inputs", Err: err}
	}
	return d.onOne(ctx, a, func(ctx context.Context, u *inUse) (*action.Result, error) { return d.runOn(ctx, a, q, u) })
}

// newFolder makes a folder that Close removes.
func (d *Device) newFolder(name string) (string, error) {
	dir, err := d.tmp()
	if err != nil {
		return "", err
	}
	return os.MkdirTemp(dir, name)
}

// failed returns err as an execute.Error, which tells whether a retry may help.
func failed(op string, err error) *execute.Error {
	e := &execute.Error{Op: op, Err: err, Retryable: transport.Retryable(err)}
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

// request reads the files to push and the command from the action.
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
	w.SoCModel, _ = strconv.Atoi(platform[PropertySoCModel]) // 0 is not checked
	w.VTCMMB, _ = strconv.Atoi(platform[PropertyVTCM])
	return w
}
