// Package thermal reads a device's temperatures and waits until the device is cool enough to measure. It knows the
// names of phones' sensors. It does not know the measurement.
package thermal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/runner/transport"
)

// Reading is the value of a sensor.
type Reading struct {
	Zone    string  `json:"zone"`
	Celsius float64 `json:"celsius"`
}

// maxListed is the largest number of sensors of a device.
const maxListed = 500

// Cooldown is the temperature that a device must reach before a measurement.
type Cooldown struct {
	Celsius  float64  `arg:"celsius" default:"40" json:"celsius"`  // maximum temperature of the hottest chosen sensor
	Timeout  Duration `arg:"timeout" default:"10m" json:"timeout"` // 0: read the temperature once
	Zones    []string `arg:"zones" json:"zones,omitempty"`         // names or patterns: "cpu-*"; none: see Sensible
	Required bool     `arg:"required" json:"required,omitempty"`   // a hot device is an error, not a warning
}

// Duration is a time.Duration that JSON shows as "10m0s".
type Duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return errors.New(`want a duration such as "10m" or "90s"`)
	}
	*d = Duration(v)
	return nil
}

// String returns the cool-down as a platform property.
func (c Cooldown) String() string {
	b, err := json.Marshal(c)
	if err != nil { // NaN
		return ""
	}
	return string(b)
}

// ParseCooldown parses the value that String returned.
func ParseCooldown(s string) (Cooldown, error) {
	var c Cooldown
	if err := json.Unmarshal([]byte(s), &c); err != nil {
		return c, fmt.Errorf("cool-down %q: %w", s, err)
	}
	return c, c.Check()
}

// Check validates temperature, timeout and patterns.
func (c Cooldown) Check() error {
	if c.Celsius < 10 || c.Celsius > 100 {
		return fmt.Errorf("invalid temperature %v °C; use a temperature from 10 to 100", c.Celsius)
	}
	if c.Timeout < 0 || time.Duration(c.Timeout) > 24*time.Hour {
		return fmt.Errorf("invalid timeout %v; use at most one day", time.Duration(c.Timeout))
	}
	for _, z := range c.Zones {
		if _, err := path.Match(z, ""); err != nil || z == "" {
			return fmt.Errorf("invalid thermal zone name or pattern %q", z)
		}
	}
	return nil
}

// Sensible reports whether a thermal zone belongs to the processors, their memory or the skin.
func Sensible(zone string) bool {
	for _, p := range []string{"cpu", "gpu", "nsp", "npu", "cdsp", "hvx", "ddr", "aoss", "soc", "skin"} {
		if strings.HasPrefix(strings.ToLower(zone), p) {
			return true
		}
	}
	return false
}

// chosen returns the readings of the chosen sensors.
func (c Cooldown) chosen(all []Reading) []Reading {
	var out []Reading
	for _, t := range all {
		if len(c.Zones) == 0 && Sensible(t.Zone) || slices.ContainsFunc(c.Zones, func(z string) bool {
			ok, err := path.Match(z, t.Zone)
			return ok && err == nil
		}) {
			out = append(out, t)
		}
	}
	return out
}

// Hottest returns the highest reading of the sensors that Sensible accepts, or of all sensors if Sensible accepts none.
func Hottest(all []Reading) (Reading, bool) {
	if counted := (Cooldown{}).chosen(all); len(counted) > 0 {
		return hottest(counted), true
	}
	if len(all) == 0 {
		return Reading{}, false
	}
	return hottest(all), true
}

func hottest(all []Reading) Reading {
	return slices.MaxFunc(all, func(a, b Reading) int { return cmp.Compare(a.Celsius, b.Celsius) })
}

// Cooled is the result of a cool-down.
type Cooled struct {
	Below    float64  `json:"below_celsius"`
	Reached  bool     `json:"reached"`
	WaitedUS int64    `json:"waited_us"`
	From     *Reading `json:"from,omitempty"` // the hottest sensor at the start; nil: no sensor is readable
	To       *Reading `json:"to,omitempty"`   // the hottest sensor at the end
	Warning  string   `json:"warning,omitempty"`
}

// CooldownError means that a device did not become cool enough.
type CooldownError struct{ Text string }

// Error returns the message.
func (e *CooldownError) Error() string { return e.Text }

// coolPoll is the interval of readings: each one warms the device.
const coolPoll = 2 * time.Second

// CoolDown waits until the device is cool, and reports progress. If the device stays hot or hides its temperature, the
// result contains a warning. If c.Required is set, CoolDown returns a CooldownError instead.
func CoolDown(ctx context.Context, dev transport.Device, c Cooldown, report func(string)) (Cooled, error) {
	start := time.Now()
	out := Cooled{Below: c.Celsius}
	for {
		all, err := Read(ctx, dev)
		if err != nil {
			return out, fmt.Errorf("cannot read the device's temperature: %w", err)
		}
		out.WaitedUS = time.Since(start).Microseconds()
		counted := c.chosen(all)
		if len(counted) == 0 {
			return out, c.give(&out, nothingToRead(c, all))
		}
		now := hottest(counted)
		if out.From == nil {
			out.From = &now
		}
		out.To = &now
		if now.Celsius < c.Celsius {
			out.Reached = true
			return out, nil
		}
		left := time.Duration(c.Timeout) - time.Since(start)
		if left <= 0 {
			return out, c.give(&out, fmt.Sprintf("the device did not cool below %g °C within %v: sensor %s has %.1f "+
				"°C", c.Celsius, time.Duration(c.Timeout), now.Zone, now.Celsius))
		}
		report(fmt.Sprintf("cooling down: sensor %s has %.1f °C, target below %g °C", now.Zone, now.Celsius, c.Celsius))
		select {
		case <-ctx.Done():
			return out, context.Cause(ctx)
		case <-time.After(min(coolPoll, left)):
		}
	}
}

func (c Cooldown) give(out *Cooled, text string) error {
	if c.Required {
		return &CooldownError{text}
	}
	out.Warning = text + "; hexmage measured anyway"
	return nil
}

func nothingToRead(c Cooldown, all []Reading) string {
	var have []string
	for _, t := range all {
		have = append(have, t.Zone)
	}
	switch {
	case len(all) == 0:
		return "the device does not report its temperature"
	case len(c.Zones) > 0:
		return fmt.Sprintf("the device has no thermal zone %s. Available: %s",
			strings.Join(c.Zones, ", "), strings.Join(have, ", "))
	}
	return "hexmage knows none of the device's thermal zones; set `zones` to some of " + strings.Join(have, ", ")
}

// Read returns a device's sensors. It omits impossible values, which disabled sensors report.
func Read(ctx context.Context, dev transport.Device) ([]Reading, error) {
	out, err := transport.Output(ctx, dev, script, nil)
	if err != nil {
		return nil, err
	}
	return parse(out), nil
}

const script = `for z in /sys/class/thermal/thermal_zone*; do read -r t <$z/temp && read -r n <$z/type && echo "$t $n"; done 2>/dev/null
exit 0`

// parse reads lines of a value and a zone. Values are thousandths of a degree. Some kernels print tenths or whole
// degrees, which are impossible values in thousandths.
func parse(out string) []Reading {
	var all []Reading
	for line := range strings.Lines(out) {
		value, zone, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || zone == "" || len(all) >= maxListed {
			continue
		}
		c := float64(n) / 1000
		switch {
		case n > 0 && n < 150:
			c = float64(n)
		case n > 0 && n < 1500:
			c = float64(n) / 10
		}
		if c > 0 && c < 150 {
			all = append(all, Reading{zone, c})
		}
	}
	return all
}
