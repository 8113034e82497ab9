package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// RunRecord is what is known of one run beside what its program printed: where it ran, how hot that was, what went before. It is an
// output of the run's action.
type RunRecord struct {
	Started    string    `json:"started"` // when the measured command began, by this machine's clock: RFC 3339, UTC
	Serial     string    `json:"serial"`
	Name       string    `json:"name,omitempty"` // in devices.hcl; of emulated phones beside each other: "emulator 2"
	Model      string    `json:"model,omitempty"`
	SoC        string    `json:"soc"`
	Emulated   bool      `json:"emulated,omitempty"`
	ExitCode   int       `json:"exit_code"`
	DurationUS int64     `json:"duration_us"` // of the command, as seen from this machine
	WarmupsUS  []int64   `json:"warmups_us,omitempty"`
	Cooldown   *Cooled   `json:"cooldown,omitempty"`
	Before     []Thermal `json:"thermal_before,omitempty"` // right before the measured command
	After      []Thermal `json:"thermal_after,omitempty"`  // right after it
	SentBytes  int64     `json:"sent_bytes"`               // to have the files there
}

// Phone names the phone for people.
func (r RunRecord) Phone() string {
	if r.Name != "" {
		return r.Name
	}
	return r.Serial
}

func recordOf(i Info, res RunResult, cooled *Cooled) RunRecord {
	r := RunRecord{
		Started: res.Started.UTC().Format("2006-01-02T15:04:05.000Z"), Serial: i.Serial, Name: i.Name, Model: i.Model, SoC: i.SoC, Emulated: i.Emulated,
		ExitCode: res.ExitCode, DurationUS: res.Duration.Microseconds(), Cooldown: cooled, Before: res.Before, After: res.After, SentBytes: res.Pushed.Sent,
	}
	for _, d := range res.Warmups {
		r.WarmupsUS = append(r.WarmupsUS, d.Microseconds())
	}
	return r
}

// write puts the record into a file at the slash path below dir.
func (r RunRecord) write(dir, name string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return writeBelow(dir, name, append(b, '\n'))
}

// writeBelow writes a file at the slash path below dir.
func writeBelow(dir, name string, content []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("the path %s leads out of the run's folder", name)
	}
	to := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}

// stopwatch ends something after a time that can be stopped meanwhile.
type stopwatch struct {
	timer *time.Timer
	left  time.Duration
	since time.Time
}

// newStopwatch calls end when the limit is over; without a limit never.
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
