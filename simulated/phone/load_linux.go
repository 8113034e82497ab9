package phone

import (
	"math"
	"os"
	"strconv"
	"time"
)

const (
	heatTick = 250 * time.Millisecond // period of the temperatures
	coolTime = 8 * time.Second        // in which the distance to the surroundings falls by the factor e
)

// coolDown lowers the device's temperature until it is that of its surroundings.
func (d *device) coolDown() {
	start := time.Now()
	for celsius := d.faults.Celsius; celsius > ambient+0.05; time.Sleep(heatTick) {
		celsius = ambient + (d.faults.Celsius-ambient)*math.Exp(-time.Since(start).Seconds()/coolTime.Seconds())
		if err := d.state.heat(celsius); err != nil {
			d.log.Printf("temperature: %v", err)
		}
	}
}

// pids returns the processes of the device.
func pids() (all []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, pid)
		}
	}
	return all
}
