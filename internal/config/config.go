// Package config parses pipeline files into blocks, names and meta-arguments. It keeps the bodies of blocks as HCL and
// evaluates no expressions. It does not know the kinds of steps, nor the meaning of a reference.
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

// Pipeline holds the parsed files of one pipeline and of all modules that the pipeline calls.
type Pipeline struct {
	Name string
	*Module

	VarFiles []*VarFile // a later file overrides values of an earlier file
	// all read files, for source lines in diagnostics; keys are slash paths in the workspace or absolute paths
	Files map[string]*hcl.File
	Dirs  []string // all folders that hexmage listed, with paths as in Files
	Roots []Root   // folders outside the workspace that contain modules
	// folders of modules that are missing, and files that cannot be read
	Absent []string
}

// Root is a folder with modules on this machine; see ModuleFolder.Root.
type Root struct{ Dir, ID string }

// Module holds all declarations of a pipeline, or of one module. Each list is in the order of the files.
type Module struct {
	Source      string // as in the first call that hexmage read; "" for a pipeline
	Dir         string // folder of the files: slash path in the workspace, or absolute path
	Description string

	Variables []*Variable
	Profiles  []*Profile
	Targets   []*Target
	ProfileBlocks
}

// ProfileBlocks holds the declarations that are allowed inside a profile.
type ProfileBlocks struct {
	Locals     []*Local
	Toolchains []*Block
	Steps      []*Block
	Calls      []*Call
	Outputs    []*Output
	Checks     []*Check
}

// Call is a `module` block: a named call of a module, with values for the module's variables.
type Call struct {
	Name        string
	Source      string
	Description string

	ForEach, When, Target hcl.Expression // nil if unset
	DependsOn             []Dependency
	Arguments             hcl.Attributes
	Module                *Module // nil if the module is unreadable, for which there is a diagnostic

	Range       hcl.Range // position of the block's header
	SourceRange hcl.Range
}

// Variable is a `variable` block.
type Variable struct {
	Name        string
	Description string
	Type        cty.Type // DynamicPseudoType if unset
	Defaults    *typeexpr.Defaults
	Default     hcl.Expression // nil: no default, so users must set a value unless Optional is true
	Optional    bool           // the type is optional(…), so an unset variable is null
	Sensitive   bool
	Validations []Validation
	Range       hcl.Range
}

// Validation is a `validation` block of a variable.
type Validation struct {
	Condition hcl.Expression // may refer to the variable
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
	Name          string
	Description   string
	Default       bool
	Inherited     bool           // only modules declare it, so it is never the default just because it is alone
	Variables     hcl.Expression // an object, or nil
	ProfileBlocks                // a toolchain here overrides the toolchain with the same name outside profiles
	Range         hcl.Range
}

// Target is a `target` block.
type Target struct {
	Name      string // "" if the block has no label
	Arguments hcl.Attributes
	Range     hcl.Range
}

// Block is a `step` or `toolchain` block, split into the meta-arguments and the rest of the body.
type Block struct {
	At   addrs.Step
	Body hcl.Body // without the meta-arguments and output blocks

	ForEach, When                                        hcl.Expression // nil if unset, like the others
	Timeout, Retries, Resources, Env, Cache, SideEffects hcl.Expression
	Target                                               hcl.Expression
	RetryExitCodes                                       hcl.Expression
	DependsOn                                            []Dependency
	Description                                          string
	Default                                              bool // the calling module's toolchain replaces it
	Outputs                                              []*StepOutput
	SecretFiles                                          []*SecretFile

	Range     hcl.Range // position of the header: step "patch" "ops"
	KindRange hcl.Range // position of the label with the kind
	Whole     hcl.Range // position of the whole block
	Names     []Name    // arguments and blocks of the body, for suggestions
}

// Dependency is one element of depends_on: a step, an instance of a step, or a toolchain.
type Dependency struct {
	Step hcl.Traversal
	Key  hcl.Expression // key of the instance if it is an expression: step.exec.gen[each.key]
}

// Name is the name of an argument or block in a body, with its position.
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
	Name    string // name of the environment variable that holds the file's path
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

// Check is a `check` block: a condition on the results of a build.
type Check struct {
	Name        string
	Description string
	Severity    string // "error" or "warning"
	Condition   hcl.Expression
	Message     hcl.Expression // shown when the condition is false

	ForEach, When hcl.Expression // nil if unset
	Range         hcl.Range
}

// VarFile is a *.hexvars.hcl file.
type VarFile struct {
	Name   string // slash path in the workspace
	Own    bool   // the file is only for this pipeline, which must declare all variables in it
	Values hcl.Attributes
}

// Shown returns the files from which diagnostics may quote lines. If a variable is sensitive, Shown omits the files
// with values of variables.
func (p *Pipeline) Shown() map[string]*hcl.File {
	if !slices.ContainsFunc(p.Variables, func(v *Variable) bool { return v.Sensitive }) {
		return p.Files
	}
	shown := maps.Clone(p.Files)
	maps.DeleteFunc(shown, func(name string, _ *hcl.File) bool { return strings.HasSuffix(name, workspace.VarSuffix) })
	return shown
}

// Source returns the source lines that the range touches, or "" if hexmage did not read the file.
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
