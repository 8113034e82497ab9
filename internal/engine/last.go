package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/statefile"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// lastRuns remembers, for steps with cache = "inputs", the key with which each action last ran here, if it succeeded.
// Such an action has effects that are in no output: flashing a board, deploying. A run with other inputs undoes them.
// So only the result of the last run counts: no older one, no other machine's, and not that of another action with
// the same command.
type lastRuns struct {
	dir      string // "": nothing is remembered
	pipeline string // with the workspace: step names are unique in it
	fn       digest.Function
}

func newLastRuns(o Options, pipeline string) lastRuns {
	l := lastRuns{pipeline: o.Workspace + "\x00" + pipeline, fn: o.Fn}
	if o.State != "" {
		l.dir = layout.StateDir(o.State).LastRuns()
	}
	return l
}

// name stands for the unit's action, whatever it does.
func (l lastRuns) name(u *unit) string {
	return l.fn.Bytes([]byte(l.pipeline + "\x00" + u.instance.plan.At.String() + "\x00" + u.spec.Name)).Hex()
}

func (l lastRuns) path(u *unit) string { return filepath.Join(l.dir, l.name(u)) }

// lastRunKind is of the file of an action, which has its key.
func lastRunKind() statefile.Kind {
	return statefile.Kind{Name: "last-run", Version: 1, Max: 1 << 10, Shared: true}
}

// counts tells whether a remembered result of the unit may be used.
func (l lastRuns) counts(u *unit, key digest.Digest) bool {
	if u.instance.plan.Cache != plan.CacheInputs {
		return true
	}
	if l.dir == "" {
		return false
	}
	var last string
	err := statefile.Read(l.path(u), lastRunKind(), &last)
	return err == nil && last == key.String()
}

// begin forgets the last run, before the next one has any effect.
func (l lastRuns) begin(u *unit) error {
	if u.instance.plan.Cache != plan.CacheInputs || l.dir == "" {
		return nil
	}
	if err := os.Remove(l.path(u)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return atomicfile.SyncDir(l.dir)
}

// end remembers a run that succeeded. A power cut may lose the file: then the action runs again.
func (l lastRuns) end(u *unit, key digest.Digest) error {
	if u.instance.plan.Cache != plan.CacheInputs || l.dir == "" {
		return nil
	}
	return statefile.Write(l.path(u), lastRunKind(), key.String())
}
