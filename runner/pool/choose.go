package pool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/runner/devinfo"
)

// waiting says how long to wait, and for whom.
type waiting struct {
	changed <-chan struct{} // nil: changes do not matter
	until   time.Time       // zero: for a change only
	text    string          // empty: for phones that are being asked
}

// choose marks a phone as busy that is to be asked now, and returns how long to wait for it. If none can be asked it returns what to wait
// for, or why that is in vain.
func (p *Pool) choose(w Want, asked map[*poolPhone]bool) (*poolPhone, waiting, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	var fit, free, due, rest []*poolPhone
	wait := waiting{changed: p.changed}
	var users []string
	asking := false
	for _, ph := range p.phones {
		if !ph.fits(w) {
			continue
		}
		fit = append(fit, ph)
		switch {
		case ph.asked:
			asking = true
			continue
		case ph.busy:
			users = append(users, ph.Name+" is in use")
			continue
		case ph.aside != nil && now.Before(ph.again):
			rest = append(rest, ph)
		case ph.aside != nil:
			due = append(due, ph)
			continue
		case now.Before(ph.again):
			users = append(users, ph.Name+" is used by "+ph.owner)
		default:
			free = append(free, ph)
			continue
		}
		if wait.until.IsZero() || ph.again.Before(wait.until) {
			wait.until = ph.again
		}
	}
	if len(users) == 0 && !asking { // rather than give up, each is asked once more
		due = slices.DeleteFunc(append(due, rest...), func(ph *poolPhone) bool { return asked[ph] })
	}
	take := func(ph *poolPhone) (*poolPhone, waiting, error) {
		ph.busy, ph.asked = true, true
		if ph.aside != nil {
			asked[ph] = true
		}
		if ph.aside != nil || ph.away {
			return ph, waiting{until: now.Add(doubt)}, nil
		}
		return ph, waiting{until: now.Add(patience)}, nil
	}
	switch {
	case len(fit) == 0:
		return nil, waiting{}, p.nothingFits(w)
	case len(free) > 0:
		return take(slices.MinFunc(free, func(a, b *poolPhone) int { return a.compare(b, w.Files) }))
	case len(due) > 0:
		return take(slices.MinFunc(due, func(a, b *poolPhone) int { return a.again.Compare(b.again) }))
	case len(users) == 0 && !asking:
		return nil, waiting{}, p.setAside(fit, w)
	}
	if len(users) > 0 {
		wait.text = "waiting for a phone: " + strings.Join(users, ", ")
	}
	return nil, wait, nil
}

// compare orders the phones that could be taken: first who is there, then who has the files, then who was not used for the longest time.
func (ph *poolPhone) compare(other *poolPhone, files string) int {
	last := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return 1
		}
		return -1
	}
	return cmp.Or(last(ph.away, other.away), last(!slices.Contains(ph.had, files), !slices.Contains(other.had, files)), ph.used.Compare(other.used))
}

// fits tells whether the phone is what is wanted, as far as it is known.
func (ph *poolPhone) fits(w Want) bool {
	return (w.Serial == "" || ph.is(w.Serial)) && (w.Except == "" || ph.Name != w.Except) && devinfo.FitsSoC(cmp.Or(ph.soc, ph.SoC), w.SoC)
}

// nothingFits says which phones there are.
func (p *Pool) nothingFits(w Want) error {
	i := slices.IndexFunc(p.phones, func(ph *poolPhone) bool { return w.Serial != "" && ph.is(w.Serial) })
	if i >= 0 {
		if err := devinfo.CheckDevice(devinfo.Info{Serial: w.Serial, SoC: cmp.Or(p.phones[i].soc, p.phones[i].SoC)}, qnn.Target{SoC: w.SoC}); err != nil {
			return err
		}
	}
	what := "no phone of the pool fits"
	switch {
	case w.Serial != "":
		what = fmt.Sprintf("no phone of the pool has the name or serial %s", w.Serial)
	case w.SoC != "":
		what = fmt.Sprintf("no phone of the pool has the SoC %s", w.SoC)
	}
	var list strings.Builder
	for _, ph := range p.phones {
		fmt.Fprintf(&list, "\n  %s  %s  %s", ph.Name, ph.Serial, cmp.Or(ph.soc, ph.SoC))
	}
	return fmt.Errorf("%w: %s; its phones are:%s", devinfo.ErrNoDevice, what, list.String())
}

// setAside says why no phone can be used: none of those that fit or may fit, and the others have another SoC.
func (p *Pool) setAside(fit []*poolPhone, w Want) error {
	var list, others strings.Builder
	for _, ph := range p.phones {
		if slices.Contains(fit, ph) {
			fmt.Fprintf(&list, "\n  %s  %s  %v", ph.Name, ph.Serial, ph.aside)
		} else if w.Serial == "" {
			fmt.Fprintf(&others, "\n  %s  %s  does not fit: %s", ph.Name, ph.Serial, cmp.Or(ph.soc, ph.SoC))
		}
	}
	what := fmt.Sprintf("all %d that fit are set aside", len(fit))
	if len(fit) == 1 {
		what = "the one that fits is set aside"
	}
	return fmt.Errorf("%w: %s:%s%s", ErrSetAside, what, list.String(), others.String())
}
