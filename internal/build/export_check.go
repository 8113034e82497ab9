package build

import (
	"maps"
	"slices"

	"github.com/hexmage/hexmage/internal/digest"
)

// exportCheck looks at the outputs that stand in their places while the actions run: of ten thousand outputs, few belong to actions that do.
type exportCheck struct {
	*exports
	done  chan struct{}
	of    digest.Digest   // what is remembered; what was found holds while it is the same
	there map[string]bool // by file name: whether it stands as it was left
}

// checkExports begins to look.
func (o *Options) checkExports() *exportCheck {
	a := &exportCheck{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		x := knownExports(o.exportsFile())
		names := slices.Collect(maps.Keys(x.known))
		ok, err := intact(o.Out, names, x.known)
		if err != nil {
			return // it is looked at again, and the error comes again
		}
		a.of, a.exports, a.there = x.id(), x, make(map[string]bool, len(names))
		for i, name := range names {
			a.there[name] = ok[i]
		}
	}()
	return a
}

// holds waits for what was found and tells whether it is of the file as it is now.
func (a *exportCheck) holds(id digest.Digest) bool {
	if a == nil {
		return false
	}
	<-a.done
	return !a.of.IsZero() && a.of == id
}

// intact tells which of the outputs stand as they were left.
func (x *exporter) intact(names []string) ([]bool, error) {
	if x.there == nil {
		return intact(x.o.Out, names, x.known)
	}
	ok := make([]bool, len(names))
	for i, name := range names {
		ok[i] = x.there[name]
	}
	return ok, nil
}
