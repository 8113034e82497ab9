package history

// MarkCritical marks the steps on the critical path, which determined the duration of the run. The path leads back from
// the step that ended last, each time to the dependency that ended last. If a dependency has no actions in this run,
// the path continues with the dependencies of that step.
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
		return // the dependencies are unknown
	}
	for at >= 0 {
		d.Steps[at].Critical = true
		at = d.latest(at, map[int]bool{})
	}
}

// latest returns the dependency of the step that ended last, or -1. It looks through dependencies that have no actions
// in this run.
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

// Critical returns the seconds that each step on the critical path adds to the run, by the step's index in Steps. The
// seconds count from the end of the previous step on the path, or from the step's start if that is later.
func (d *Document) Critical() map[int]float64 {
	waited := map[int]float64{}
	end := 0.0
	for i, s := range d.Steps { // dependencies come first
		if s.Critical {
			waited[i] = max(0, s.End-max(s.Start, end))
			end = max(end, s.End)
		}
	}
	return waited
}
