package session

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/thermal"
)

// Record is what is known of one run beside what its program printed: where it ran, how hot that was, what went before. It is an
// output of the run's action.
type Record struct {
	Started    string            `json:"started"` // when the measured command began, by this machine's clock: RFC 3339, UTC
	Serial     string            `json:"serial"`
	Name       string            `json:"name,omitempty"` // in devices.hcl; of emulated phones beside each other: "emulator 2"
	Model      string            `json:"model,omitempty"`
	SoC        string            `json:"soc"`
	Emulated   bool              `json:"emulated,omitempty"`
	ExitCode   int               `json:"exit_code"`
	DurationUS int64             `json:"duration_us"` // of the command, as seen from this machine
	WarmupsUS  []int64           `json:"warmups_us,omitempty"`
	Cooldown   *thermal.Cooled   `json:"cooldown,omitempty"`
	Before     []thermal.Reading `json:"thermal_before,omitempty"` // right before the measured command
	After      []thermal.Reading `json:"thermal_after,omitempty"`  // right after it
	SentBytes  int64             `json:"sent_bytes"`               // to have the files there
}

// Phone names the phone for people.
func (r Record) Phone() string {
	if r.Name != "" {
		return r.Name
	}
	return r.Serial
}

// RecordOf puts together what is known of a run.
func RecordOf(i devinfo.Info, res Result, cooled *thermal.Cooled) Record {
	r := Record{
		Started: res.Started.UTC().Format("2006-01-02T15:04:05.000Z"), Serial: i.Serial, Name: i.Name, Model: i.Model, SoC: i.SoC, Emulated: i.Emulated,
		ExitCode: res.ExitCode, DurationUS: res.Duration.Microseconds(), Cooldown: cooled, Before: res.Before, After: res.After, SentBytes: res.Pushed.Sent,
	}
	for _, d := range res.Warmups {
		r.WarmupsUS = append(r.WarmupsUS, d.Microseconds())
	}
	return r
}

// Write puts the record into a file at the slash path below dir.
func (r Record) Write(dir, name string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return WriteBelow(dir, name, append(b, '\n'))
}

// WriteBelow writes a file at the slash path below dir.
func WriteBelow(dir, name string, content []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("the path %s leads out of the run's folder", name)
	}
	to := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
