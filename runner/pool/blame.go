package pool

// blame is what is wrong with a phone until it is booted again.
type blame struct {
	why  error
	boot string
}

// Blame says that something is wrong with the phone until it is booted again. It may have been given back.
func (l *Lease) Blame(why error, note func(text string)) {
	l.pool.change(func() {
		l.phone.blame = &blame{why, l.boot}
		if !l.phone.busy { // else it is seen when it is wanted next
			l.pool.putAside(l.phone, why, Want{Note: note}, "")
		}
	})
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
