package action

import (
	"fmt"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/addrs"
)

// Spec is an action whose inputs have names, but no digests yet. The planner creates Specs. The engine turns a Spec
// into an Action as soon as it knows the digest of each input.
type Spec struct {
	// unique within the step's instance, such as "debug/src/a.o"; "" if the step is one action
	Name        string `json:"name"`
	Description string `json:"description,omitempty"` // short text for users, such as "compile src/a.cpp for debug"

	// argv; relative paths are relative to the exec root, where the command starts
	Args []string `json:"argv,omitempty"`
	// the whole environment, except variables that the executor adds (HEXMAGE_ROOT, TMPDIR, HOME)
	Env map[string]string `json:"env,omitempty"`
	// path in the exec root of the file that the command gets as standard input; "": empty input
	Stdin   string   `json:"stdin,omitempty"`
	Inputs  []Input  `json:"inputs,omitempty"`
	Outputs []Output `json:"outputs,omitempty"`
	// requirements for the machine that runs the command: see the Property constants
	Platform map[string]string `json:"platform,omitempty"`

	// Depfile is the path in the exec root of the file in which the command lists the files that it read (gcc -MD), or
	// "". With a Depfile, the key covers all file names in an input folder, but only the content of files that the
	// command read. If Input.Whole is set, the key covers the content of the whole folder.
	Depfile string `json:"depfile,omitempty"`

	// host programs that the command starts in addition to argv[0], by name or absolute path
	Programs []string `json:"-"`

	Timeout     time.Duration `json:"-"`                       // 0: no limit; not in the key
	NoCache     bool          `json:"no_cache,omitempty"`      // run in each build, and do not cache the result
	OKExitCodes []int         `json:"ok_exit_codes,omitempty"` // exit codes, in addition to 0, that mean success
	// exit codes after which hexmage may retry the command; TimeoutExitCode stands for a timeout
	RetryExitCodes []int `json:"-"`
}

// TimeoutExitCode is the exit code of a command that timed out, as in timeout(1).
const TimeoutExitCode = 124

// UnableExitCode is the exit code of a built-in tool that could not do its work for an external reason, such as a
// network error. hexmage then reports that the action could not run, not that it failed.
const UnableExitCode = 3

// Output is a file or folder that the command must write.
type Output struct {
	Path string `json:"path"`           // slash path in the exec root
	Tree bool   `json:"tree,omitempty"` // the output is a folder, not a file
	// reason why two runs may write different bytes; "": two runs must write identical bytes; not part of the key
	Varies string `json:"varies,omitempty"`
}

// Input places a file or folder at a path in the exec root or in an Artifact. Exactly one of the fields Artifact, Spec,
// Host and Content is set.
type Input struct {
	// slash path; "": for a folder the root itself, for a file the artifact itself
	Path string `json:"path,omitempty"`

	Artifact *addrs.Output `json:"artifact,omitempty"` // an output of an instance
	Spec     *SpecOutput   `json:"action,omitempty"`   // an output of another spec of the same instance
	Host     *HostPath     `json:"host,omitempty"`     // a file or folder of the workspace
	Content  *Content      `json:"content,omitempty"`  // content that the planner computed

	Sub string `json:"sub,omitempty"` // use only the part of the tree at this slash path
	// the input is a large read-only folder, such as a toolchain, which executors may link instead of copy
	Shared bool `json:"-"`
	// the key always covers the content of all files in the folder, even with a Depfile
	Whole bool `json:"-"`
}

// As returns a copy of the input with the given path.
func (i Input) As(path string) Input {
	i.Path = path
	return i
}

// SpecOutput is a reference to an output of another Spec of the same instance.
type SpecOutput struct {
	Spec string `json:"name"`
	Path string `json:"path"`
}

// HostPath is a file or folder of the machine on which hexmage runs.
type HostPath struct {
	Path string `json:"path"` // absolute, or relative to the workspace
}

// Content is a small file whose content the planner computes.
type Content struct {
	Data       []byte
	Executable bool
}

// MarshalJSON writes only the size in bytes, because a plan in JSON omits the content of files.
func (c Content) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"bytes":%d}`, len(c.Data)), nil
}

// Class tells whether an output is a file, a tree or a value.
type Class uint8

// The classes of outputs. The planner knows the path of a File or Tree. A Value is unknown until the step has run.
const (
	File Class = 1 + iota
	Tree
	Value // content of a file, parsed as JSON if possible, else as text without the last newline
)

// MarshalText returns the class as String formats it.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// String returns "file", "tree" or "value".
func (c Class) String() string {
	switch c {
	case File:
		return "file"
	case Tree:
		return "tree"
	case Value:
		return "value"
	}
	return "none"
}

// Artifact is an output of an instance: either one file, or a tree that hexmage assembles from parts without running an
// action.
type Artifact struct {
	Class Class
	Parts []Input // a File or Value has one part, with Path ""
}

// Listing maps the Input.Path of each input from an earlier step to the sorted slash paths of the input's files.
type Listing map[string][]string

// HostFile is the path of a text file in a toolchain of host programs. Each line is the absolute path of a host file
// that the programs read outside the toolchain's folder.
const HostFile = ".hexmage/host"

// Names of Platform properties, which executors and Route understand.
const (
	PropertyExecutor = "executor" // ExecutorLocal (the default), or the name of another executor
	// name and behavior version of a built-in tool, such as "patch/1"; argv[0] is then hexmage
	PropertyTool    = "tool"
	PropertyNetwork = "network" // "true": the action may use the network
	PropertyStdin   = "stdin"   // path of the input that is standard input; the engine copies it from Spec.Stdin
	PropertyStdout  = "stdout"  // path of the output to which the executor writes all standard output
	PropertyPool    = "pool"    // resources that the action needs, such as "memory_gb=4,downloads=1"

	// DownloadsPool is the resource that actions hold while they wait for the network. These actions do not count
	// toward the limit of -j.
	DownloadsPool = "downloads"

	// PropertyAddresses is AddressesFixed if the command must run with the same memory addresses each time. The outputs
	// of some programs depend on the order of addresses.
	PropertyAddresses = "addresses"

	// PropertyHost names the reason why a command runs without a sandbox, such as "apt". Only the built-in step kinds
	// can set this property; a pipeline cannot.
	PropertyHost = "host"

	// PropertyCheckpoint is the slash path of a folder in the exec root where a long command saves its progress. The
	// folder is neither an input nor an output. If an action fails or is killed, the next action with the same key
	// starts with the saved folder.
	PropertyCheckpoint = "checkpoint"

	// PropertyCPULevel is the level of the processor's instruction set, such as "x86-64-v4". It is set only if the
	// level changes the last bits of the command's results. Then a shared cache keeps results of different processors
	// apart. Executors may ignore it.
	PropertyCPULevel = "cpu_level"

	// PropertyProgram is the prefix of properties such as "program:clang" or "program:/bin/sh". The value is the digest
	// of a host program that the command starts. The engine sets these properties, which only affect the key; executors
	// may ignore them.
	PropertyProgram = "program:"
	// PropertyEffects is the place in the pipeline of an action with side effects, so that equal actions in two places
	// both run. The engine sets this property, which only affects the key.
	PropertyEffects = "effects"
	// PropertySecret is the prefix of properties such as "secret:TOKEN", which stand for an environment variable with
	// secrets. The property's value is the variable's secret.Text, which refers to the secrets by name, so the key
	// contains no secret. The secrets themselves are in execute.Request. PropertySecretFile is the prefix for a
	// variable that holds the path of a file with secrets.
	PropertySecret     = "secret:"
	PropertySecretFile = "secret-file:"
	// PropertyReads marks the actions of Reads, which serve as cache keys and never run. The engine sets this property.
	PropertyReads = "reads"
)

// AddressesFixed is the only value of PropertyAddresses. It disables address space layout randomization.
const AddressesFixed = "fixed"

// ExecutorLocal is the name of the executor that runs actions on this machine.
const ExecutorLocal = "local"

// ToolArg0 is argv[0] of an action that runs a built-in tool of hexmage. The whole command is ["hexmage", "tool", NAME,
// …].
const ToolArg0 = "hexmage"

// Quote joins arguments into a command line that a POSIX shell splits into the same arguments.
func Quote(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		plain := a != ""
		for _, r := range a {
			if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
				strings.ContainsRune("-_./=:,+@%^", r)) {
				plain = false
			}
		}
		if out[i] = a; !plain {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
