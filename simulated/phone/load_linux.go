package phone

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"time"
)

// heatTick is how often temperatures are computed while something runs or is warm.
const heatTick = 250 * time.Millisecond

// domains are the DSP's protection domains: those that run, and the processor time of those that have ended.
type domains struct {
	mu    sync.Mutex
	pids  map[int]bool
	ended time.Duration
}

func (s *domains) started(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pids == nil {
		s.pids = map[int]bool{}
	}
	s.pids[pid] = true
}

func (s *domains) end(pid int, used time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pids, pid)
	s.ended += used
}

// used returns the processor time that programs and the DSP have had since the device started.
func (s *domains) used() (cpu, dsp time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dsp = s.ended
	for _, pid := range pids() {
		p, ok := readStat(pid)
		if !ok {
			continue
		}
		own := p.own
		if pid == 1 { // adbd is no program; but what has ended is added to its account
			own = 0
		}
		cpu += own + p.children
		if s.pids[pid] {
			dsp += p.own
		}
	}
	return cpu - dsp, dsp
}

// keepWarm computes the device's temperatures for as long as it runs.
func (d *device) keepWarm() {
	all := parts(d.faults.Celsius)
	factor := d.faults.HeatFactor
	if factor == 0 {
		factor = 1
	}
	at := time.Now()
	cpu, dsp := d.domains.used()
	for {
		time.Sleep(heatTick)
		now := time.Now()
		passed := now.Sub(at).Seconds()
		cpuNow, dspNow := d.domains.used()
		l := load{share(cpuNow-cpu, passed), share(dspNow-dsp, passed)}
		at, cpu, dsp = now, cpuNow, dspNow
		still := l == load{}
		for _, p := range all {
			p.step(passed*factor, l)
			still = still && p.settled()
		}
		if err := d.state.sensors(all, l); err != nil {
			d.log.Printf("sensors: %v", err)
		}
		if still && d.procs.idle() {
			d.procs.waitForOne()
			at = time.Now()
		}
	}
}

func share(used time.Duration, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return min(1, max(0, used.Seconds()/seconds))
}

// stat is what /proc says of a process.
type stat struct {
	own, children time.Duration // processor time; of children that have ended and were waited for
	rss           int64         // bytes
	name          string
}

// clockTick is the unit of times in /proc: Linux shows it as a hundredth of a second everywhere.
const clockTick = 10 * time.Millisecond

// readStat reads "PID (NAME) STATE PPID …"; a name may hold anything, even a bracket.
func readStat(pid int) (stat, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return stat{}, false
	}
	fields := bytes.Fields(b[end+1:])
	if len(fields) < 22 {
		return stat{}, false
	}
	n := func(i int) int64 { v, _ := strconv.ParseInt(string(fields[i]), 10, 64); return v }
	return stat{
		own: time.Duration(n(11)+n(12)) * clockTick, children: time.Duration(n(13)+n(14)) * clockTick,
		rss: n(21) * int64(os.Getpagesize()), name: string(b[open+1 : end]),
	}, true
}

// pids are the processes of the device.
func pids() (all []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, pid)
		}
	}
	return all
}
