package plan

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
)

// DeferReason is the reason why a part of a plan is deferred: the information that the part needs first.
type DeferReason uint8

// Values of DeferReason. A part may first wait for values and then for a listing.
const (
	ForNothing DeferReason = iota
	ForValues              // the contents of value outputs
	ForListing             // the names of the files in trees
)

// ResolvedInputs is the information that a deferred part of a plan has received.
type ResolvedInputs struct {
	Values  map[addrs.Output][]byte // contents of its AwaitValues
	Listing action.Listing          // of the trees in its Await; nil until the part waits for it
}

// Resolver completes deferred parts of a plan when their inputs are known. The methods are deterministic, safe for
// concurrent use, and change neither the plan nor their arguments. A method fails if the part is not deferred or is not
// in the plan.
type Resolver interface {
	// ExtendInstance returns the instance with specs and outputs. If the instance needs a listing next, ExtendInstance
	// returns an instance that waits for the listing. The argument known contains all inputs resolved so far.
	ExtendInstance(at addrs.Instance, known ResolvedInputs) (*Instance, error)

	// ExtendOutput returns the output with the given name, including the literal.
	ExtendOutput(name string, known ResolvedInputs) (Output, error)

	// ExtendCheck evaluates the check at the address, using the values that are available.
	ExtendCheck(at string, known ResolvedInputs) (Verdict, error)
}
