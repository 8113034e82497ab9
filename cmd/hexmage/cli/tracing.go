package cli

import (
	"fmt"
	"time"

	"github.com/hexmage/hexmage/internal/trace"
)

// startTrace begins the trace that --trace asks for.
func (r *running) startTrace() (err error) {
	if r.c.Trace == "" {
		return nil
	}
	if r.trace, err = trace.Create(absolute(r.a.dir, r.c.Trace), time.Now()); err != nil {
		return usage("--trace %s: %w", r.c.Trace, err)
	}
	return nil
}

// phase begins a phase of the run; what it returns ends it.
func (r *running) phase(name string) func() {
	if r.trace == nil {
		return func() {}
	}
	return r.trace.Phase(name)
}

func (r *running) endTrace() {
	if r.trace == nil {
		return
	}
	if err := r.trace.Close(); err != nil {
		fmt.Fprintln(r.a.env.Stderr, "hexmage:", err)
	}
	r.trace = nil
}
