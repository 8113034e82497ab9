package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/statefile"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// lastRuns stores the key of each action's last successful run on this machine, for steps with side_effects. Such an
// action has effects outside its outputs: flashing a board, deploying. A run with other inputs undoes them. So only the
// result of the last run is valid: no older result, none from another machine, and none of another action with the same
// command.
type lastRuns struct {
	dir      string // "" disables lastRuns
	pipeline string // with the workspace path: step names are unique in it
	fn       digest.Function
}

func newLastRuns(o Options, pipeline string) lastRuns {
	l := lastRuns{pipeline: o.Workspace + "\x00" + pipeline, fn: o.Fn}
	if o.State != "" {
		l.dir = layout.StateDir(o.State).LastRuns()
	}
	return l
}

// name identifies the unit's action by its place in the pipeline, not by its content.
func (l lastRuns) name(u *unit) string {
	return l.fn.Bytes([]byte(l.pipeline + "\x00" + u.instance.plan.At.String() + "\x00" + u.spec.Name)).Hex()
}

func (l lastRuns) path(u *unit) string { return filepath.Join(l.dir, l.name(u)) }

// lastRunKind is the kind of the file that holds an action's key.
func lastRunKind() statefile.Kind {
	return statefile.Kind{Name: "last-run", Version: 2, Max: 1 << 10, Shared: true}
}

// counts reports whether a cached result of the unit is valid.
func (l lastRuns) counts(u *unit, key digest.Digest) bool {
	if !u.instance.plan.SideEffects {
		return true
	}
	if l.dir == "" {
		return false
	}
	var last string
	err := statefile.Read(l.path(u), lastRunKind(), &last)
	return err == nil && last == key.String()
}

// begin deletes the record of the last run, before the next run has any effect.
func (l lastRuns) begin(u *unit) error {
	if !u.instance.plan.SideEffects || l.dir == "" {
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

// end records a successful run. If a power cut loses the file, the action runs again.
func (l lastRuns) end(u *unit, key digest.Digest) error {
	if !u.instance.plan.SideEffects || l.dir == "" {
		return nil
	}
	return statefile.Write(l.path(u), lastRunKind(), key.String())
}
