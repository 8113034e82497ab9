// Package config reads pipeline files into a skeleton: which blocks there are, under which names, with which
// meta-arguments. Bodies and expressions stay as HCL.
//
// It evaluates nothing and does not know which kinds of step exist, nor what a reference refers to.
package config

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/workspace"
)

// Pipeline is the skeleton of one pipeline, and of the modules that it calls.
type Pipeline struct {
	Name string
	*Module

	VarFiles []*VarFile // in the order in which they apply: a later one wins
	// every file read, by its slash path in the workspace, or absolute: sources for diagnostics
	Files map[string]*hcl.File
	Dirs  []string // every folder listed, spelt likewise
	Roots []Root   // folders, not in the workspace, that modules do not lead out of
	// folders that would be modules, were they there, and files that would count, could they be read
	Absent []string
}

// Root is a folder of this machine that modules are in, as in ModuleFolder.
type Root struct{ Dir, ID string }

// Module is what a pipeline's files declare, or those of a folder that a module block names. Lists are in the order
// of the files.
type Module struct {
	Source      string // as the first call that was read names it; "" for a pipeline
	Dir         string // of its files: slash path in the workspace, or absolute
	Description string

	Variables []*Variable
	Profiles  []*Profile
	Targets   []*Target
	Parts
}

// Parts are what a profile may add.
type Parts struct {
	Locals     []*Local
	Toolchains []*Block
	Steps      []*Block
	Calls      []*Call
	Outputs    []*Output
	Checks     []*Check
}

// Call is a `module` block with a name: a module, and the values of its variables.
type Call struct {
	Name        string
	Source      string
	Description string

	ForEach, When, Target hcl.Expression // nil when not set
	DependsOn             []Dependency
	Arguments             hcl.Attributes
	Module                *Module // nil when it could not be read: diagnostics say so

	Range       hcl.Range // of the header
	SourceRange hcl.Range
}

// Variable is a `variable` block.
type Variable struct {
	Name        string
	Description string
	Type        cty.Type // DynamicPseudoType when the block does not say
	Defaults    *typeexpr.Defaults
	Default     hcl.Expression // nil: a value must be given, unless it is optional
	Optional    bool           // its type is optional(…): null when no value is given
	Sensitive   bool
	Validations []Validation
	Range       hcl.Range
}

// Validation is a `validation` block of a variable.
type Validation struct {
	Condition hcl.Expression // may refer to the variable itself
	Message   hcl.Expression
	Range     hcl.Range
}

// Local is an argument of a `locals` block.
type Local struct {
	Name  string
	Expr  hcl.Expression
	Range hcl.Range
}

// Profile is a `profile` block.
type Profile struct {
	Name        string
	Description string
	Default     bool
	Inherited   bool           // the pipeline's modules declare it: never chosen for being the only one
	Variables   hcl.Expression // an object, or nil
	Parts                      // toolchains change those of the same name outside of profiles
	Range       hcl.Range
}

// Target is a `target` block.
type Target struct {
	Name      string // "" when the block has no label
	Arguments hcl.Attributes
	Range     hcl.Range
}

// Block is a `step` or `toolchain` block: its meta-arguments, and the rest as a body.
type Block struct {
	At   addrs.Step
	Body hcl.Body // without the meta-arguments and output blocks

	ForEach, When                           hcl.Expression // nil when not set, as are the others
	Timeout, Retries, Resources, Env, Cache hcl.Expression
	Target                                  hcl.Expression
	RetryExitCodes                          hcl.Expression
	DependsOn                               []Dependency
	Description                             string
	Default                                 bool // of a module's toolchain: a caller's replaces it
	Outputs                                 []*StepOutput
	SecretFiles                             []*SecretFile

	Range     hcl.Range // of the header: step "patch" "ops"
	KindRange hcl.Range // of the label that names the kind
	Whole     hcl.Range // of the whole block
	Names     []Name    // arguments and blocks of the body, for did-you-mean
}

// Dependency is an element of depends_on: a step, a toolchain, or a copy of a step.
type Dependency struct {
	Step hcl.Traversal
	Key  hcl.Expression // of the copy, where it is not part of Step: step.exec.gen[each.key]
}

// Name is an argument or block of a body.
type Name struct {
	Name  string
	Block bool
	Range hcl.Range
}

// StepOutput is an `output` block of a step.
type StepOutput struct {
	Name  string
	Class action.Class
	Path  hcl.Expression
	Range hcl.Range
}

// SecretFile is a `secret_file` block of a step.
type SecretFile struct {
	Name    string // of the variable of the environment that has the file's path
	Content hcl.Expression
	Range   hcl.Range
}

// Output is an `output` block of the pipeline.
type Output struct {
	Name        string
	Description string
	Show        string
	Value       hcl.Expression
	Range       hcl.Range
}

// Check is a `check` block: what must be true when all is done.
type Check struct {
	Name        string
	Description string
	Severity    string // "error" or "warning"
	Condition   hcl.Expression
	Message     hcl.Expression // shown when the condition is false

	ForEach, When hcl.Expression // nil when not set
	Range         hcl.Range
}

// VarFile is a *.hexvars.hcl file.
type VarFile struct {
	Name   string // slash path in the workspace
	Own    bool   // <pipeline>.hexvars.hcl, or in the pipeline's folder: every variable in it must be declared
	Values hcl.Attributes
}

// Shown are the files of which lines may be shown beside a diagnostic: not those with values, if a variable is
// sensitive.
func (p *Pipeline) Shown() map[string]*hcl.File {
	if !slices.ContainsFunc(p.Variables, func(v *Variable) bool { return v.Sensitive }) {
		return p.Files
	}
	shown := maps.Clone(p.Files)
	maps.DeleteFunc(shown, func(name string, _ *hcl.File) bool { return strings.HasSuffix(name, workspace.VarSuffix) })
	return shown
}

// Where returns "pipelines/x.hcl:12".
func Where(r hcl.Range) string { return where(r) }

// Source returns the lines of the range, or nothing when its file is not among those read.
func (p *Pipeline) Source(r hcl.Range) string {
	f := p.Files[r.Filename]
	if f == nil || !r.CanSliceBytes(f.Bytes) {
		return ""
	}
	first, last := bytes.LastIndexByte(f.Bytes[:r.Start.Byte], '\n')+1, len(f.Bytes)
	if n := bytes.IndexByte(f.Bytes[r.End.Byte:], '\n'); n >= 0 {
		last = r.End.Byte + n
	}
	return string(f.Bytes[first:last])
}
