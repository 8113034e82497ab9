package cli

import (
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/oppackage"
)

// once has the errors of a source shown once, and not again for every target that it is compiled for: the failures after the
// first say only which they are.
type once struct {
	next  event.Sink
	shown map[string]string // step and errors: the action that had them first
}

// Send implements event.Sink.
func (o *once) Send(e event.Event) {
	if n, ok := e.(event.ActionFinished); ok && n.Failure != nil {
		if errs := oppackage.Fingerprint(n.Failure.Output); errs != "" {
			key := n.Step + "\n" + errs
			if first, ok := o.shown[key]; ok {
				f := *n.Failure
				first, _, _ = strings.Cut(first, "/")
				f.Output, f.Hints, f.Source, f.Command = fmt.Sprintf("the same errors as for %s: %s", first, oppackage.Summary(n.Failure.Output)), nil, nil, nil
				n.Failure = &f
				e = n
			} else {
				if o.shown == nil {
					o.shown = map[string]string{}
				}
				o.shown[key] = n.Name
			}
		}
	}
	o.next.Send(e)
}
