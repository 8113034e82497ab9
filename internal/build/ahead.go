package build

import "github.com/hexmage/hexmage/internal/digest"

// ahead looks at the exports while the actions run: of ten thousand outputs, few belong to actions that do.
type ahead struct {
	done  chan struct{}
	sum   digest.Digest // as exportsSum; what was found holds while it is the same
	known map[string]exported
	there map[string]bool // by file name: whether it stands as it was left
}

// lookAhead begins to look.
func (o *Options) lookAhead() *ahead {
	a := &ahead{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		sum := o.exportsSum()
		known := readExports(o.exportsFile())
		names := make([]string, 0, len(known))
		for name := range known {
			names = append(names, name)
		}
		stand, err := standing(o.Out, names, known)
		if err != nil {
			return // it is looked at again, and the error comes again
		}
		a.sum, a.known, a.there = sum, known, make(map[string]bool, len(names))
		for i, name := range names {
			a.there[name] = stand[i]
		}
	}()
	return a
}

// holds waits for what was found and tells whether it is of the file as it is now.
func (a *ahead) holds(sum digest.Digest) bool {
	if a == nil {
		return false
	}
	<-a.done
	return !a.sum.IsZero() && a.sum == sum
}

// standing tells which of the outputs stand as they were left.
func (x *exporter) standing(names []string) ([]bool, error) {
	if x.there == nil {
		return standing(x.o.Out, names, x.known)
	}
	stand := make([]bool, len(names))
	for i, name := range names {
		stand[i] = x.there[name]
	}
	return stand, nil
}
