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

// bootTime is how long a reboot takes at least. A phone takes half a minute; nobody needs to wait so long here.
const bootTime = 700 * time.Millisecond

// obey does what the device's own `reboot` asks its first process for.
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

// take does what the process that started the device orders.
func (d *device) take(line []byte) {
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		d.log.Printf("an order that is none: %v", err)
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

// reboot ends every link and process, and everything that is only in memory: the log, and what is wrong with the DSP. /data stays.
func (d *device) reboot(reason string) {
	if !d.rebooting.TryLock() {
		return
	}
	defer d.rebooting.Unlock()
	up := time.Now().Add(bootTime)
	d.link.off()
	defer d.link.on()
	d.link.hangUp()
	// What is being started while the others die is killed in the next round.
	for range 100 {
		_ = syscall.Kill(-1, syscall.SIGKILL) // all but this process, and nothing outside of its namespace
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
