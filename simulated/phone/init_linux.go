package phone

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/simulated/phone/adbd"
)

// Init is the device's first process. Options.Self must call it with standard input, standard output and file
// descriptor 3. Init replaces the root file system and serves adb until stdin ends. It then ends the process, so it
// returns only with an error.
func Init(stdin io.Reader, stdout io.Writer, listener *os.File) error {
	in := bufio.NewReader(stdin)
	d, err := boot(in, listener)
	a := answer{}
	if err != nil {
		a.Error = err.Error()
		if lacking, ok := errors.AsType[*UnsupportedError](err); ok {
			a.Error, a.Remedy = lacking.What, lacking.Remedy
		}
	}
	if e := json.NewEncoder(stdout).Encode(a); e != nil && err == nil {
		err = fmt.Errorf("simulated phone: cannot report that the device is ready: %w", e)
	}
	if err != nil {
		return err
	}
	d.obey()
	go func() {
		// The parent holds the other end. When the parent ends in any way, stdin ends, and with this process the
		// whole device.
		for line, err := in.ReadBytes('\n'); err == nil; line, err = in.ReadBytes('\n') {
			d.take(line)
		}
		os.Exit(0)
	}()
	go func() {
		<-d.off
		os.Exit(0)
	}()
	return d.serve()
}

// device is the state of Init.
type device struct {
	soc      SoCProps // of the image; source of the properties
	serialno string
	faults   Faults
	out      *os.File      // log for the user
	off      chan struct{} // closed when the device is switched off
	log      *log.Logger
	main     *os.File // log for logcat
	state    *state
	procs    *processes
	link     *link
	dsp      *net.UnixListener // nil: no DSP
	qemu     *os.File          // qemu-hexagon, which the device's file system does not have

	dspState  atomic.Int32
	killAtDSP atomic.Bool
	rebooting sync.Mutex
}

func boot(stdin *bufio.Reader, listener *os.File) (*device, error) {
	if os.Getpid() != 1 {
		return nil, errors.New("only the simulated phone may run this command, as the first process of a namespace")
	}
	line, err := stdin.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("read the setup: %w", err)
	}
	var s setup
	if err := json.Unmarshal(line, &s); err != nil {
		return nil, fmt.Errorf("read the setup: %w", err)
	}
	d := &device{faults: s.Faults, serialno: s.Serialno, out: os.Stderr, off: make(chan struct{})}
	if s.Faults.WedgeDSP {
		d.dspState.Store(dspCrashes)
	}
	d.killAtDSP.Store(s.Faults.KillAtDSP)
	if d.soc, err = ReadSoC(s.Image); err != nil {
		return nil, err
	}
	l, err := net.FileListener(listener)
	if err != nil {
		return nil, fmt.Errorf("inherit the listener: %w", err)
	}
	listener.Close()
	d.link = newLink(l, s.Faults)
	if d.qemu, err = os.Open(filepath.Join(s.Image, hiddenDir, qemuHexagon)); err != nil {
		return nil, err
	}
	if d.state, err = d.enterRoot(s); err != nil {
		return nil, err
	}
	if err := d.state.heat(cmp.Or(s.Faults.Celsius, ambient)); err != nil {
		return nil, err
	}
	if d.main, err = openLog(); err != nil {
		return nil, err
	}
	d.log = log.New(d.logger("adbd"), "", 0)
	if err := unix.Sethostname([]byte("hexmage")); err != nil {
		return nil, fmt.Errorf("set the host name: %w", err)
	}
	if err := loopbackUp(); err != nil {
		return nil, err
	}
	d.procs = newProcesses()
	if d.dsp, err = listenDSP(); err != nil {
		return nil, err
	}
	return d, lockRoot()
}

func (d *device) serve() error {
	if d.dsp != nil {
		go d.serveDSP()
	}
	// A phone's log is never empty.
	_, _ = d.main.WriteString(logLine("init", 'I', d.faults.Skew, "the simulated "+d.soc.Model+" has started"))
	go d.coolDown()
	return adbd.Serve(d.link, adbd.Config{
		Banner: map[string]string{
			"ro.product.name":   "hexmage_simulated_phone",
			"ro.product.model":  d.soc.productModel(),
			"ro.product.device": "hexmage_simulated_phone",
		},
		Shell:  d.shellCommand,
		Start:  d.procs.Start,
		Wait:   d.procs.Wait,
		Reboot: d.reboot,
		Log:    d.log,
	})
}

// environ returns the environment of a phone's adb shell.
func (d *device) environ() []string {
	return []string{
		"ANDROID_DATA=/data",
		"ANDROID_ROOT=/system",
		"HOME=/",
		"HOSTNAME=hexmage",
		"LOGNAME=shell",
		"PATH=/system/bin:/vendor/bin",
		"SHELL=/system/bin/sh",
		"TERM=dumb",
		"TMPDIR=/data/local/tmp",
		"USER=shell",
	}
}

func (d *device) shellCommand(line string) *exec.Cmd {
	if d.faults.Skew != 0 && line != "" {
		// Programs that ask the kernel see the host's clock, because a namespace cannot set it.
		const date = "date() { /system/bin/date -d \"@$(($(/system/bin/date +%%s) + %.0f))\" \"$@\"; }\n"
		line = fmt.Sprintf(date, d.faults.Skew.Seconds()) + line
	}
	cmd := exec.Command("/system/bin/sh", "-c", line)
	if line == "" {
		cmd = exec.Command("/system/bin/sh")
	}
	cmd.Dir = "/"
	cmd.Env = d.environ()
	return cmd
}

// loopbackUp sets up the device's only network.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	req.SetUint16(syscall.IFF_UP | syscall.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	return nil
}
