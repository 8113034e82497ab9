package runner

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/runner/pool"
)

// suspicious are words of failures after which a DSP does nothing right until the phone is booted again; mistakes in what was pushed have the
// same words. Which of both it is shows on another phone.
func suspicious() []string {
	return []string{"0x80000406", "SSR Detected"}
}

// doubtful is a failed run that may be its phone's fault.
type doubtful struct {
	lent   *pool.Lease
	result *action.Result
	word   string // of those that are suspicious
}

// suspect returns the run if it failed in a way that may be the fault of the phone, one of a pool of several; else nil.
func suspect(a *action.Action, r *action.Result, u *inUse) *doubtful {
	if u.lent == nil || !u.lent.OfSeveral() || a.Succeeded(r.ExitCode) {
		return nil
	}
	printed := slices.Concat(r.Stdout, r.Stderr)
	for _, word := range suspicious() {
		if bytes.Contains(printed, []byte(word)) {
			return &doubtful{u.lent, r, word}
		}
	}
	return nil
}

// compare takes what came of the same action on another phone. Where it was done well there, the first phone is to blame and set aside.
func (d *doubtful) compare(a *action.Action, r *action.Result, u *inUse, n *notes) *action.Result {
	if !a.Succeeded(r.ExitCode) {
		return d.result
	}
	l := d.lent
	why := fmt.Errorf("what failed on it with %s works on %s: boot it again", d.word, u.info.Name)
	l.Blame(why, n.add)
	return r
}
