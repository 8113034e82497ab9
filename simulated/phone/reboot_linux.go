package phone

import (
	"cmp"
	"encoding/json"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// bootTime is the minimum time of a reboot. It is shorter than a phone's half minute, to save time.
const bootTime = 700 * time.Millisecond

// obey handles the signals that the device's own `reboot` sends to its first process.
func (d *device) obey() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGINT)
	go func() {
		for s := range asked {
			switch s {
			case syscall.SIGTERM:
				d.reboot("reboot")
			case syscall.SIGUSR1, syscall.SIGUSR2: // halt, poweroff
				d.log.Print("the device is switched off")
				close(d.off)
				return
			}
		}
	}()
}

// take executes an order of the process that started the device.
func (d *device) take(line []byte) {
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		d.log.Printf("invalid order: %v", err)
		return
	}
	if o.Unplug > 0 {
		d.link.off()
		d.link.hangUp()
		time.AfterFunc(o.Unplug, d.link.on)
	}
	if o.Reboot {
		go d.reboot("reboot,host")
	}
}

// reboot ends all links and processes, and resets the state in memory: the log, and failures of the DSP. /data stays.
func (d *device) reboot(reason string) {
	if !d.rebooting.TryLock() {
		return
	}
	defer d.rebooting.Unlock()
	up := time.Now().Add(bootTime)
	d.link.off()
	defer d.link.on()
	d.link.hangUp()
	// A process that is started during the kill dies in the next round.
	for range 100 {
		_ = syscall.Kill(-1, syscall.SIGKILL) // all processes of the namespace but this one
		if d.procs.idle() && len(pids()) == 1 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	d.dspState.Store(dspWell)
	if err := d.main.Truncate(0); err != nil {
		d.log.Printf("reboot: %v", err)
	}
	reason = cmp.Or(strings.Join(strings.Fields(reason), " "), "reboot")
	if err := d.state.boot(d.soc, d.serialno, reason); err != nil {
		d.log.Printf("reboot: %v", err)
	}
	time.Sleep(time.Until(up))
	d.log.Print("the device has started again")
}
