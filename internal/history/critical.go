package history

// MarkCritical marks the steps that the run waited for: the one that ended last; of those that it needs, the one that
// ended last; and so on. Steps of which the run had nothing are passed through.
func (d *Document) MarkCritical() {
	edges := false
	at := -1
	for i := range d.Steps {
		s := &d.Steps[i]
		edges = edges || len(s.Needs) > 0
		if s.Ran() && (at < 0 || s.End >= d.Steps[at].End) {
			at = i
		}
	}
	if !edges && len(d.Steps) > 1 {
		return // nobody knows
	}
	for at >= 0 {
		d.Steps[at].Critical = true
		at = d.latest(at, map[int]bool{})
	}
}

// latest returns which of those that the step needs, or that these need where the run had nothing of them, ended
// last; -1 if there is none.
func (d *Document) latest(of int, seen map[int]bool) int {
	best := -1
	for _, n := range d.Steps[of].Needs {
		if seen[n] {
			continue
		}
		seen[n] = true
		if !d.Steps[n].Ran() {
			if n = d.latest(n, seen); n < 0 {
				continue
			}
		}
		if best < 0 || d.Steps[n].End > d.Steps[best].End {
			best = n
		}
	}
	return best
}

// Critical returns how long the run waited for each step of the critical path, by its place among the steps: what of
// its time is after the end of the one before. In seconds.
func (d *Document) Critical() map[int]float64 {
	waited := map[int]float64{}
	end := 0.0
	for i, s := range d.Steps { // what a step needs comes before it
		if s.Critical {
			waited[i] = max(0, s.End-max(s.Start, end))
			end = max(end, s.End)
		}
	}
	return waited
}
