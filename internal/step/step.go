// Package step has what a kind of step provides: its arguments, its outputs, and the actions it plans.
//
// The way in is New: a kind is a struct whose tagged fields are its arguments, and a function that says to a Plan
// what a step with such arguments does. A kind is pure: from its arguments, and files that it opens through the Plan,
// it makes Specs. It runs nothing, and does not know which other steps exist beyond the outputs its arguments refer
// to.
package step

import (
	"io/fs"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
)

// Kind is a kind of step: `step "<kind>" "<name>"`. What it plans follows from the request, from how hexmage was
// built, and from what it says it has read (Planned.Reads), also when it gives errors: then it plans nothing. Both
// methods may be called from many goroutines at once; a request is read only, what is planned is the caller's.
//
// A decorator passes on the request, and all of the answer: what it changes in the actions, it changes in those that
// Expand makes, too.
type Kind interface {
	Schema() Schema // the same each time
	// Plan makes the step's actions. It is called once per instance, with arguments that are wholly known.
	Plan(r Request) (Planned, hcl.Diagnostics)
}

// Schema is what a kind accepts and gives.
type Schema struct {
	Summary   string            // one line, for docs/language.md and `hexmage help`
	Args      hcldec.ObjectSpec // arguments and blocks, beside the meta-arguments
	ArgDocs   map[string]string // a line for each argument
	Arguments []Argument        // the same for people, sorted by name; set by New
	Outputs   []OutputSpec      // the outputs that steps of this kind have

	// OwnOutputs allows `output` blocks in the step. OutputsFrom names a list argument whose elements are also names
	// of file outputs, such as "targets".
	OwnOutputs  bool
	OutputsFrom string

	// Matrix names an argument, a map whose keys are axes, and InVariants the arguments, env among them, in which
	// ${matrix.AXIS} may stand. It has no value while planning: there the text "${matrix.AXIS}" is found by the kind,
	// which knows the variants.
	Matrix     string
	InVariants []string

	// Toolchains are the toolchain blocks that the kind uses without being told: the step depends on each that the
	// pipeline declares, and Request.Toolchains has it.
	Toolchains []string

	// Secrets allows sensitive values in `env`, and `secret_file` blocks: the kind gives Request.Secrets to its
	// actions.
	Secrets bool

	Example string // a step of the kind, in HCL
}

// OutputSpec is an output of each step of a kind. An optional output is null in a step that did not plan it.
type OutputSpec struct {
	Name     string
	Class    action.Class
	Doc      string
	Optional bool
}

// File, Tree and Value return outputs of steps of a kind.
func File(name, doc string) OutputSpec  { return OutputSpec{Name: name, Class: action.File, Doc: doc} }
func Tree(name, doc string) OutputSpec  { return OutputSpec{Name: name, Class: action.Tree, Doc: doc} }
func Value(name, doc string) OutputSpec { return OutputSpec{Name: name, Class: action.Value, Doc: doc} }

// Request is what Plan is given.
type Request struct {
	At addrs.Instance
	// decoded by Schema.Args, unmarked, wholly known; those that are set. Whoever keeps it copies it
	Args    map[string]cty.Value
	Uses    []Use // which argument uses which output
	Outputs []DeclaredOutput
	Env     map[string]string // the `env` meta-argument, but for what is sensitive
	// what is sensitive of it, and `secret_file` blocks, as properties of an action's platform: see
	// action.PropertySecret
	Secrets map[string]string

	Profile    string
	CPULevel   string    // level of this machine's processor, for action.PropertyCPULevel
	Target     cty.Value // what whoever knows targets made of the target block: an object, or null
	Toolchains map[string]Toolchain
	Range      hcl.Range // of the step block's header, for diagnostics
	// where the name of an argument or block is, "env" among them, if it is set; nil: nobody knows
	ArgAt func(name string) (at hcl.Range, ok bool)
	Roots []Root // that modules are in, which are not in the workspace

	// Open opens a file or folder of this machine, at an absolute path or one relative to the workspace. It is for
	// Plan.Open, which says that planning depends on it.
	Open func(name string) (fs.File, error)
}

// ArgRange returns where the argument is set, or else the step block's header: the subject of a diagnostic about it.
func (r Request) ArgRange(name string) *hcl.Range {
	if r.ArgAt != nil {
		if at, ok := r.ArgAt(name); ok {
			return &at
		}
	}
	at := r.Range
	return &at
}

// Used returns the outputs that the argument was made from, sorted.
func (r Request) Used(name string) []addrs.Output {
	var out []addrs.Output
	for _, u := range r.Uses {
		if len(u.Path) == 0 {
			continue
		}
		if a, ok := u.Path[0].(cty.GetAttrStep); ok && a.Name == name {
			out = append(out, *u.Output)
		}
	}
	return addrs.SortOutputs(out)
}

// Use says that the string at Path, which holds Output.Path(), was made from Output.
type Use struct {
	Path   cty.Path
	Output *addrs.Output // not to be changed
}

// UseOf returns a Use of an output.
func UseOf(path cty.Path, o addrs.Output) Use { return Use{Path: path, Output: &o} }

// DeclaredOutput is an `output` block of the step: label, and the attribute that gives its class.
type DeclaredOutput struct {
	Name  string
	Class action.Class
	Path  string // slash path relative to the folder the command starts in
}

// Toolchain is a toolchain block as other steps see it.
type Toolchain struct {
	Output addrs.Output // its tree; it appears at Output.Path() = "toolchains/<name>"
	Attrs  cty.Value    // object of what is known at plan time: version, build_id, tools_version, …
}

// Input returns the whole toolchain as an input at its own path.
func (t Toolchain) Input() action.Input {
	o := t.Output
	return action.Input{Path: o.Path(), Artifact: &o, Shared: true}
}

// Planned is what a step will do.
type Planned struct {
	Specs   []action.Spec
	Outputs map[string]action.Artifact // by output name; must hold all of Schema.Outputs and the declared ones
	// for toolchains: attributes known at plan time; paths in their outputs have marks InTree
	Attrs map[string]cty.Value

	// Expand, when set, makes the specs and outputs when the trees in Await are there (one compile action per source
	// file, for sources that another step makes). Then Specs and Outputs hold only a preview for `hexmage plan`, with
	// "*" where names are not known yet.
	Await  []action.Input
	Expand func(l action.Listing) ([]action.Spec, map[string]action.Artifact, error)

	// Missing says what this machine lacks to run the step and how to get it, a line each. The plan still shows what
	// would run; running is refused.
	Missing []string
	// OutputBytes is the size of all outputs together, at least; 0: not known.
	OutputBytes int64
	// Programs are programs of the host that the actions start without naming them as argv[0].
	Programs []string

	// Reads is what the kind looked at beside the request. Most kinds look at nothing.
	Reads Reads

	// Explain, when set, turns a failed action's output into hints for people: cause and remedy, one a line.
	Explain func(spec string, output []byte) []string
}

// InTree is the mark of a path in an attribute of a toolchain that is relative to one of its outputs, a tree, which
// it names. Who uses the path uses that output.
type InTree string

// Reads is what of this machine planning depended on. With the same of it, the same request gives the same answer.
type Reads struct {
	Paths []string // files and folders, there or not: absolute, or relative to the workspace
	Env   []string // names of variables of the environment, set or not
}
