package phone

import "math"

// The device's temperature is a model, and a simple one: each part is at some distance from what its load would lead to in the end, and
// that distance falls by the factor e in its time constant. The load is real: the processor time that the device's processes had. The
// numbers are of no phone; they only have the right order, so that what waits for a phone to cool down has something to wait for.
const ambient = 30.0 // °C

// part is a part of the device that has a temperature.
type part struct {
	zone    string  // what /sys/class/thermal calls it
	rise    float64 // °C above its surroundings under full load
	tau     float64 // time constant, s
	load    func(l load) float64
	celsius float64
}

// load is how busy a device was, from 0 to 1 of a core.
type load struct{ cpu, dsp float64 }

func parts(start float64) []*part {
	if start == 0 {
		start = ambient
	}
	all := []*part{
		{zone: "cpu-0-0-0", rise: 40, tau: 6, load: func(l load) float64 { return l.cpu }},
		{zone: "cpu-1-0-0", rise: 35, tau: 6, load: func(l load) float64 { return l.cpu }},
		{zone: "gpuss-0", rise: 10, tau: 12, load: func(l load) float64 { return max(l.cpu, l.dsp) }}, // its neighbours warm it
		{zone: "nsphvx-0", rise: 45, tau: 8, load: func(l load) float64 { return l.dsp }},
		{zone: "nsphmx-0", rise: 40, tau: 8, load: func(l load) float64 { return l.dsp }},
		{zone: "ddr", rise: 20, tau: 15, load: func(l load) float64 { return min(1, l.cpu+l.dsp) }},
		{zone: "skin-msm-therm", rise: 12, tau: 60, load: func(l load) float64 { return min(1, l.cpu+l.dsp) }},
		{zone: "battery", rise: 6, tau: 120, load: func(l load) float64 { return min(1, l.cpu+l.dsp) }},
	}
	for _, p := range all {
		p.celsius = start
	}
	return all
}

// step takes the part through so many seconds under a load.
func (p *part) step(seconds float64, l load) {
	end := ambient + p.rise*p.load(l)
	p.celsius = end + (p.celsius-end)*math.Exp(-seconds/p.tau)
}

// settled reports whether nothing changes any more in a device that does nothing.
func (p *part) settled() bool { return math.Abs(p.celsius-ambient) < 0.05 }
