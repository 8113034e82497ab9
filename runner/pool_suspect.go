package runner

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/hexmage/hexmage/internal/action"
)

// suspicious are words of failures after which a DSP does nothing right until the phone is booted again; mistakes in what was pushed have the
// same words. Which of both it is shows on another phone.
func suspicious() []string {
	return []string{"0x80000406", "SSR Detected"}
}

// doubtful is a failed run that may be its phone's fault.
type doubtful struct {
	lent   *Lent
	result *action.Result
	word   string // of those that are suspicious
}

// blame is what is wrong with a phone until it is booted again.
type blame struct {
	why  error
	boot string
}

// suspect returns the run if it failed in a way that may be the fault of the phone, one of a pool of several; else nil.
func suspect(a *action.Action, r *action.Result, u *inUse) *doubtful {
	if u.lent == nil || u.lent.pool.Len() < 2 || a.Succeeded(r.ExitCode) {
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
	l.pool.change(func() {
		l.phone.blame = &blame{why, l.boot}
		if !l.phone.busy { // else it is seen when it is wanted next
			l.pool.putAside(l.phone, why, PoolWant{Note: n.add}, "")
		}
	})
	return r
}

// blamed returns what the phone is blamed of, unless it was booted since.
func (p *Pool) blamed(ph *poolPhone, boot string) *blame {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ph.blame != nil && ph.blame.boot != boot {
		ph.blame = nil
	}
	return ph.blame
}
