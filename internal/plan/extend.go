package plan

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
)

// Waits is what has to be known before there is more to say.
type Waits uint8

// What there is to wait for. Who was extended with values may wait for a listing then; a listing is the last.
const (
	ForNothing Waits = iota
	ForValues        // the contents of value outputs
	ForListing       // which files there are in trees
)

// Known is what became known of what a part of a plan waits for.
type Known struct {
	Values  map[addrs.Output][]byte // contents of its AwaitValues
	Listing action.Listing          // of the trees in its Await; nil while it does not wait for one
}

// Extender says more of a plan when what its parts wait for is known. It is asked by address: the plan may come from
// a file, and the Extender from planning the same again. It may be asked by several at once, gives the same answer to
// the same question, and changes neither the plan nor what it is told. What waits for nothing, or is in no plan that
// it knows, is an error.
type Extender interface {
	// ExtendInstance returns the instance with its specs and outputs, or waiting for a listing. Known has all that
	// became known of it so far.
	ExtendInstance(at addrs.Instance, known Known) (*Instance, error)

	// ExtendOutput returns the output of that name with its literal.
	ExtendOutput(name string, known Known) (Output, error)

	// ExtendCheck tells what comes of the check with the values that are there.
	ExtendCheck(at string, known Known) (Verdict, error)
}
