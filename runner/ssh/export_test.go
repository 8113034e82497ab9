package ssh

import "time"

// Impatient has a link that is silent given up sooner than users have it.
func Impatient(o Options, every, wait time.Duration) Options {
	o.every, o.wait = every, wait
	return o
}
