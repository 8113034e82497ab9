// Package step defines the interface of a kind of step. A kind has arguments and outputs, and plans the actions of a
// step.
//
// To define a kind, call New with a function that plans a step, and with a struct whose tagged fields are the
// arguments. The plan may depend only on the arguments, and on the files that the kind opens through the Plan. A kind
// runs nothing, and knows other steps only through the outputs in its arguments.
package step

import (
	"io/fs"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
)

// Kind is a kind of step: `step "<kind>" "<name>"`. The plan and the errors depend only on the request, the build of
// hexmage, and Planned.Reads. If a kind reports errors, it plans nothing. Many goroutines may call the methods at once.
// The methods must not change the request. The caller owns the returned plan.
//
// A Kind that decorates another Kind passes on the request and returns the whole result. If the decorator changes
// actions, it must also change the actions that Expand returns.
type Kind interface {
	Schema() Schema // always returns the same schema
	// Plan plans the actions of a step. The planner calls it once per instance. All arguments are known.
	Plan(r Request) (Planned, hcl.Diagnostics)
}

// Schema describes the arguments and outputs of a kind.
type Schema struct {
	Summary   string            // one line, for docs/language.md and `hexmage help`
	Args      hcldec.ObjectSpec // arguments and blocks, without the meta-arguments
	ArgDocs   map[string]string // one line per argument
	Arguments []Argument        // Args for users, sorted by name; set by New
	Outputs   []OutputSpec      // the outputs of every step of this kind

	// OwnOutputs allows `output` blocks in the step. OutputsFrom is the name of a list argument, such as "targets".
	// Each element of the list becomes the name of a file output.
	OwnOutputs  bool
	OutputsFrom string

	// Matrix is the name of a map argument whose keys are axes. InVariants are the names of the arguments that may
	// contain ${matrix.AXIS}, and may include env. The kind receives the literal text "${matrix.AXIS}" and replaces it,
	// because only the kind knows the variants.
	Matrix     string
	InVariants []string

	// Toolchains are the names of the toolchains that the kind always uses. If the pipeline declares such a toolchain,
	// the step depends on it, and Request.Toolchains contains it.
	Toolchains []string

	// Secrets allows `secret_file` blocks and sensitive values in `env`. The kind passes Request.Secrets to the
	// actions.
	Secrets bool

	Example string // a step of the kind, in HCL
}

// OutputSpec describes an output that every step of a kind has. An optional output is null if the step does not plan
// it.
type OutputSpec struct {
	Name     string
	Class    action.Class
	Doc      string
	Optional bool
}

// File, Tree and Value return an OutputSpec of the class with the same name.
func File(name, doc string) OutputSpec  { return OutputSpec{Name: name, Class: action.File, Doc: doc} }
func Tree(name, doc string) OutputSpec  { return OutputSpec{Name: name, Class: action.Tree, Doc: doc} }
func Value(name, doc string) OutputSpec { return OutputSpec{Name: name, Class: action.Value, Doc: doc} }

// Request contains the input of Kind.Plan.
type Request struct {
	At addrs.Instance
	// the arguments that the step sets: decoded by Schema.Args, unmarked and known; clone the map if you keep it
	Args    map[string]cty.Value
	Uses    []OutputRef // the outputs that each argument uses
	Outputs []DeclaredOutput
	Env     map[string]string // the `env` meta-argument without sensitive values
	// secrets from env and `secret_file` blocks, as platform properties for actions (see action.PropertySecret)
	Secrets map[string]string

	Profile    string
	CPULevel   string    // level of this machine's processor, for action.PropertyCPULevel
	Target     cty.Value // the decoded target block: an object, or null
	Toolchains map[string]Toolchain
	Range      hcl.Range // of the step block's header, for diagnostics
	// returns the source range of an argument's or block's name, or false if the step does not set it; the name may be
	// "env"; ArgAt may be nil
	ArgAt func(name string) (at hcl.Range, ok bool)
	Roots []Root // folders of modules outside the workspace

	// Open opens a file or folder on this machine. The path is absolute, or relative to the workspace. Kinds must call
	// Plan.Open instead, which records that the plan depends on the path.
	Open func(name string) (fs.File, error)
}

// ArgRange returns the source range of an argument, for the subject of a diagnostic. If the step does not set the
// argument, ArgRange returns the range of the step block's header.
func (r Request) ArgRange(name string) *hcl.Range {
	if r.ArgAt != nil {
		if at, ok := r.ArgAt(name); ok {
			return &at
		}
	}
	at := r.Range
	return &at
}

// Used returns the outputs that the argument with the given name refers to, sorted.
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

// OutputRef records that an argument refers to Output. Path is the location of the string Output.Path() inside the
// argument.
type OutputRef struct {
	Path   cty.Path
	Output *addrs.Output // read-only
}

// OutputRefOf returns the OutputRef for the output o.
func OutputRefOf(path cty.Path, o addrs.Output) OutputRef { return OutputRef{Path: path, Output: &o} }

// DeclaredOutput is an `output` block in the step. The class and path come from the attribute of the block.
type DeclaredOutput struct {
	Name  string
	Class action.Class
	Path  string // slash path relative to the working directory of the command
}

// Toolchain is a toolchain block that a step uses.
type Toolchain struct {
	Output addrs.Output // its tree; it appears at Output.Path() = "toolchains/<name>"
	Attrs  cty.Value    // object with the attributes known during planning: version, build_id, tools_version, …
}

// Input returns an input with the whole toolchain, at the path toolchains/<name>.
func (t Toolchain) Input() action.Input {
	o := t.Output
	return action.Input{Path: o.Path(), Artifact: &o, Shared: true}
}

// Planned is the result of planning a step.
type Planned struct {
	Specs   []action.Spec
	Outputs map[string]action.Artifact // by output name; contains all of Schema.Outputs and the declared ones
	// attributes of a toolchain that are known during planning; paths in the toolchain's outputs have TreePath marks
	Attrs map[string]cty.Value

	// Expand, if not nil, completes the plan. hexmage calls it with the names of the files when the trees in Await
	// exist. For example, if another step writes source files, Expand plans one compile action per file. Until then,
	// Specs and Outputs are a preview for `hexmage plan`, with "*" for unknown names.
	Await  []action.Input
	Expand func(l action.Listing) ([]action.Spec, map[string]action.Artifact, error)

	// Missing lists requirements of the step that this machine does not meet, each with a remedy. If the list is not
	// empty, hexmage prints the plan but does not run it.
	Missing []string
	// OutputBytes is the minimum total size of the outputs in bytes; 0 if unknown.
	OutputBytes int64
	// Programs are all host programs that the actions start, except the program in argv[0].
	Programs []string

	// Reads lists files and environment variables that the kind read in addition to the request. For most kinds it is
	// empty.
	Reads Reads

	// Explain, if not nil, returns hints for users about a failed action, given the action's name and output. Each hint
	// is one line with a cause and a remedy.
	Explain func(spec string, output []byte) []string
}

// TreePath marks a toolchain attribute that is a path. The text of the mark is the name of an output of class Tree, and
// the path is relative to that output. A step that uses the path depends on the output.
type TreePath string

// Reads lists the paths and environment variables that a plan depends on. If they and the request are unchanged,
// planning produces the same plan.
type Reads struct {
	Paths []string // files and folders, existing or not: absolute, or relative to the workspace
	Env   []string // names of environment variables, set or not
}
