package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/devinfo"
)

// Simulated is a running simulated device.
type Simulated interface {
	Addr() string          // address of its adb daemon: "127.0.0.1:5555"
	Done() <-chan struct{} // closed when the device ends
	Close() error          // ends the device
}

// SimulatedOptions configure a simulated device.
type SimulatedOptions struct {
	Image string    // folder made by step "simulated_phone"
	Dir   string    // an empty folder for the device's root
	Data  string    // folder of the device's /data; empty: a new one
	Log   io.Writer // output of the device
}

// lacking is an error that names what this machine lacks, and a remedy.
type lacking interface{ Lacks() (what, remedy string) }

// handset is a simulated device that runs or is being started.
type handset struct {
	Simulated // nil while it is being started
	log       *deviceLog
	release   func() // frees its disk

	image  digest.Digest
	number int  // from 1, among the phones of the image
	busy   bool // in use by an action
}

func (p *handset) dead() bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

// phones are the simulated devices of a Device. They need no leases, because other processes do not know them. Pools
// of actions limit their number.
type phones struct {
	mu  sync.Mutex
	all []*handset
}

// take returns a free, living phone of the image, or a new one without a Simulated.
func (s *phones) take(image digest.Digest) *handset {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, func(p *handset) bool {
		gone := !p.busy && p.dead()
		if gone {
			p.release()
		}
		return gone
	})
	numbers := map[int]bool{}
	for _, p := range s.all {
		if p.image != image {
			continue
		}
		if !p.busy {
			p.busy = true
			return p
		}
		numbers[p.number] = true
	}
	p := &handset{image: image, number: 1, busy: true}
	for numbers[p.number] {
		p.number++
	}
	s.all = append(s.all, p)
	return p
}

// giveBack frees the phone. It removes a phone that is dead or was never started.
func (s *phones) giveBack(p *handset) {
	gone := p.Simulated == nil || p.dead()
	if gone && p.release != nil {
		p.release()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.busy = false
	if gone {
		s.all = slices.DeleteFunc(s.all, func(o *handset) bool { return o == p })
	}
}

// close ends all phones. No action may use one.
func (s *phones) close() (errs []error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.all {
		if p.Simulated != nil {
			errs = append(errs, p.Close())
			p.release()
		}
	}
	s.all = nil
	return errs
}

// useEmulated returns a phone of the image at the path at among the action's inputs. It starts one if none is free.
func (d *Device) useEmulated(ctx context.Context, a *execute.Request, at string, n *notes) (*inUse, error) {
	if d.o.Simulate == nil {
		return nil, errors.New("this build of hexmage cannot start simulated devices")
	}
	image, err := d.inputFolder(ctx, a.Action, at)
	if err != nil {
		return nil, fmt.Errorf("cannot read the image of the simulated phone: %w", err)
	}
	s, err := d.adbServer(ctx, a.Action, false)
	if err != nil {
		return nil, err
	}
	p := d.phones.take(image)
	u, err := d.usePhone(ctx, p, s, n)
	if err != nil {
		d.phones.giveBack(p)
	}
	return u, err
}

// usePhone connects to the phone, and starts it if it is new.
func (d *Device) usePhone(ctx context.Context, p *handset, s *adb.Server, n *notes) (*inUse, error) {
	if p.Simulated == nil {
		if err := d.startPhone(ctx, p); err != nil {
			return nil, err
		}
		if err := s.Connect(ctx, p.Addr()); err != nil {
			return nil, err
		}
	}
	u := &inUse{dev: s.Device(p.Addr()), log: p.log, release: func() { d.phones.giveBack(p) }}
	u.lost = func(err error) {
		text := "the connection works again"
		if p.dead() {
			text = "the phone exited, and hexmage starts another one"
		} else if err := u.dev.Reconnect(ctx); err != nil {
			text = err.Error()
		}
		n.add(fmt.Sprintf("the run on %s was interrupted (%v), and hexmage repeats the run: %s", u.info, err, text))
		d.phones.giveBack(p)
	}
	var err error
	u.info, err = devinfo.Describe(ctx, u.dev)
	if d.o.Phones > 1 {
		u.info.Name = fmt.Sprintf("simulated phone %d", p.number)
	}
	return u, err
}

func (d *Device) startPhone(ctx context.Context, p *handset) error {
	image, err := d.o.Trees.Path(ctx, d.o.Store, p.image)
	if err != nil {
		return err
	}
	root, err := d.newFolder("phone")
	if err != nil {
		return err
	}
	data, release, err := d.disk(root)
	if err != nil {
		os.RemoveAll(root)
		return err
	}
	at := filepath.Join(root, "root")
	if err := os.Mkdir(at, 0o755); err != nil {
		release()
		return err
	}
	p.log = &deviceLog{next: d.o.Log}
	p.Simulated, err = d.o.Simulate(ctx, SimulatedOptions{Image: image, Dir: at, Data: data, Log: p.log})
	if err != nil {
		p.Simulated = nil
		release()
		return err
	}
	p.release = release
	return nil
}

// maxDisk is the maximum size of a simulated phone's disk at start, in bytes. A larger disk is emptied.
const maxDisk = 8 << 30

// disk returns a folder that serves as a simulated phone's disk. Like a phone's disk, it is kept between runs, and
// one phone uses it at a time. If other processes use all Phones disks, disk returns an empty one that release
// removes.
func (d *Device) disk(root string) (data string, release func(), err error) {
	for i := 1; i <= max(1, d.o.Phones); i++ {
		data = filepath.Join(d.o.State, "simulated", fmt.Sprintf("data-%d", i))
		unlock, err := LockDisk(data + ".lock")
		if err != nil {
			continue
		}
		if size(data) > maxDisk {
			err = os.RemoveAll(data)
		}
		if err = errors.Join(err, os.MkdirAll(data, 0o755)); err != nil {
			unlock()
		}
		return data, func() { unlock(); os.RemoveAll(root) }, err
	}
	data = filepath.Join(root, "data")
	return data, func() { os.RemoveAll(root) }, os.Mkdir(data, 0o755)
}

// lockWait is enough to take a lock that is free. A process that has the lock keeps it as long as its phone.
const lockWait = 300 * time.Millisecond

// LockDisk makes this process the only user of a simulated phone's disk. It locks a file beside the disk. If another
// process uses the disk, the error is context.DeadlineExceeded.
func LockDisk(name string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	return atomicfile.Lock(ctx, name)
}

// deviceLog receives the output of a simulated device. While an action runs on the device, the action gets a copy.
// Real devices have a nil deviceLog.
type deviceLog struct {
	next io.Writer // may be nil

	mu  sync.Mutex
	now io.Writer
}

// Write never fails: a failing log must not stop the device.
func (l *deviceLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range []io.Writer{l.next, l.now} {
		if w != nil {
			_, _ = w.Write(p)
		}
	}
	return len(p), nil
}

// divert sends a copy of all later output to w, which may be nil.
func (l *deviceLog) divert(w io.Writer) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = w
}

// withLog appends the device's log to the command's standard error.
func withLog(stderr, log []byte) []byte {
	log = bytes.TrimSpace(log)
	if len(log) == 0 {
		return stderr
	}
	return slices.Concat(stderr, []byte("[device log]\n"), log, []byte("\n"))
}

// stopwatch calls a function after a time limit. It can be paused.
type stopwatch struct {
	timer *time.Timer
	left  time.Duration
	since time.Time
}

// newStopwatch calls end after limit. Without a limit, it never calls end.
func newStopwatch(limit time.Duration, end func()) *stopwatch {
	if limit <= 0 {
		return &stopwatch{}
	}
	return &stopwatch{timer: time.AfterFunc(limit, end), left: limit, since: time.Now()}
}

func (s *stopwatch) pause() {
	if s.timer != nil && s.timer.Stop() {
		s.left -= time.Since(s.since)
	}
}

func (s *stopwatch) resume() {
	if s.timer != nil {
		s.since = time.Now()
		s.timer.Reset(max(s.left, 0))
	}
}
