package action

import (
	"fmt"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/addrs"
)

// Spec is an action whose inputs are not there yet: it says where each input will come from. It is pure data, made at
// plan time; the engine turns it into an Action when its inputs have digests.
type Spec struct {
	// unique within the step's instance; "" when the step is one action; e.g. "debug/src/a.o"
	Name        string `json:"name"`
	Description string `json:"description,omitempty"` // a few words for people: "compile src/a.cpp for debug"

	// argv; relative paths are relative to the exec root, where the command starts
	Args []string `json:"argv,omitempty"`
	// the whole environment, beside what the executor adds (HEXMAGE_ROOT, TMPDIR, HOME)
	Env map[string]string `json:"env,omitempty"`
	// path in the exec root of the input that becomes standard input; "" is empty input
	Stdin   string   `json:"stdin,omitempty"`
	Inputs  []Input  `json:"inputs,omitempty"`
	Outputs []Output `json:"outputs,omitempty"`
	// where it may run and with what: see the Property constants
	Platform map[string]string `json:"platform,omitempty"`

	// Depfile is where the command writes which files it read, as compilers do (gcc -MD): a path in the exec root.
	// Then folders among the inputs count by the names in them and the contents of what was read; see Input.Whole.
	// "": no such file.
	Depfile string `json:"depfile,omitempty"`

	// programs of this machine that the command starts beside argv[0], by name or absolute path
	Programs []string `json:"-"`

	Timeout     time.Duration `json:"-"`                       // 0: no limit; in no key
	NoCache     bool          `json:"no_cache,omitempty"`      // run every time, remember nothing
	OKExitCodes []int         `json:"ok_exit_codes,omitempty"` // exit codes, beside 0, that are not failures
	// exit codes after which trying again may help; TimeoutExitCode is running out of time
	RetryExitCodes []int `json:"-"`
}

// TimeoutExitCode stands for a command that ran out of time, as it does for timeout(1).
const TimeoutExitCode = 124

// UnableExitCode is how a built-in tool ends that could not do its work for something outside of it, such as a
// network: the action could not run, and has not failed.
const UnableExitCode = 3

// Output is a path that the command promises to write.
type Output struct {
	Path string `json:"path"`           // slash path in the exec root
	Tree bool   `json:"tree,omitempty"` // a folder rather than a file
	// why two runs may leave different bytes in it; "": they must not. In no key
	Varies string `json:"varies,omitempty"`
}

// Input places something at a path of the exec root (or, as part of an Artifact, of the artifact).
// Exactly one of Artifact, Spec, Host and Content says what.
type Input struct {
	// slash path; "" is the root itself (for a tree) or the artifact itself (for a file)
	Path string `json:"path,omitempty"`

	Artifact *addrs.Output `json:"artifact,omitempty"` // an output of an instance
	Spec     *SpecOutput   `json:"action,omitempty"`   // an output of another spec of the same instance
	Host     *HostPath     `json:"host,omitempty"`     // a file or folder of the workspace
	Content  *Content      `json:"content,omitempty"`  // bytes known at plan time

	Sub string `json:"sub,omitempty"` // take only this slash path of a tree
	// a large read-only tree (a toolchain): an executor may link to it instead of copying it
	Shared bool `json:"-"`
	// with a Depfile: a folder that counts in full all the same, as shared ones do
	Whole bool `json:"-"`
}

// As is the input at another path.
func (i Input) As(path string) Input {
	i.Path = path
	return i
}

// SpecOutput names an output of a spec of the same instance.
type SpecOutput struct {
	Spec string `json:"name"`
	Path string `json:"path"`
}

// HostPath is a file or folder of the machine that hexmage runs on.
type HostPath struct {
	Path  string   `json:"path"`            // absolute, or relative to the workspace
	Globs []string `json:"globs,omitempty"` // for a folder: doublestar patterns of the files to take; none takes all
}

// Content is a small file written at plan time.
type Content struct {
	Data       []byte
	Executable bool
}

// MarshalJSON returns the number of bytes: what a plan for programs has of it.
func (c Content) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"bytes":%d}`, len(c.Data)), nil
}

// Class is what an output is.
type Class uint8

// The classes. A File's and a Tree's path is known at plan time; a Value is unknown until the step ran.
const (
	File Class = 1 + iota
	Tree
	Value // the content of a file: JSON if it parses as such, else text without the last line end
)

// MarshalText returns what String does.
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

// Artifact is an output of an instance: one file, or a tree put together of parts, which costs no action.
type Artifact struct {
	Class Class
	Parts []Input // for a File or Value: one part with Path ""
}

// Listing has the slash paths of the files below inputs that were waited for, sorted, by Input.Path.
type Listing map[string][]string

// HostFile is a file that a toolchain of this machine's own programs has: absolute paths of the host, one on a line,
// that these programs read beside their toolchain's tree.
const HostFile = ".hexmage/host"

// Names of Platform properties that executors and routing understand.
const (
	PropertyExecutor = "executor" // ExecutorLocal (the default), or the name of another
	// "patch/1": argv[0] is hexmage itself, running the built-in tool of that name and behaviour version
	PropertyTool    = "tool"
	PropertyNetwork = "network" // "true": the action may use the network
	PropertyStdin   = "stdin"   // path of the input that is standard input; set by the engine from Spec.Stdin
	PropertyStdout  = "stdout"  // path of an output: the command's whole standard output goes there too
	PropertyPool    = "pool"    // comma list of name=amount: resources that limit how many run at once

	// DownloadsPool is the resource of actions that wait for the network. They take no slot of -j.
	DownloadsPool = "downloads"

	// PropertyAddresses is AddressesFixed where the command, and what it starts, must have its memory at the same
	// addresses in each run: there are programs that put things in order by address.
	PropertyAddresses = "addresses"

	// PropertyHost has a word that says why a command needs the machine as it is, such as "apt": it runs
	// unrestricted. Only kinds whose commands are known set it; what a user writes into a pipeline cannot.
	PropertyHost = "host"

	// PropertyCheckpoint is a folder of the exec root, as a slash path, in which the command leaves what it has done
	// so far. It is neither input nor output: what an action left there that failed, or was killed, is there when one
	// of the same key runs again.
	PropertyCheckpoint = "checkpoint"

	// PropertyCPULevel is the level of the processor's instruction set, such as "x86-64-v4", of a command whose
	// results differ by it in the last bits. It keeps results of different processors apart in a shared cache.
	// Executors need not look at it.
	PropertyCPULevel = "cpu_level"

	// PropertyProgram and a name ("program:clang", "program:/bin/sh") have the digest of a program of the host that
	// the command starts. Executors need not look at it: it is there to be in the key. Set by the engine.
	PropertyProgram = "program:"
	// PropertyEffects says of a command with effects beside its outputs whose it is, as what another did has had its
	// own effects: it is there to be in the key. Set by the engine.
	PropertyEffects = "effects"
	// PropertySecret and the name of a variable of the environment ("secret:TOKEN") have the secret.Text that the
	// command gets as its value: where values come from is in the key, the values are not. PropertySecretFile is the
	// same for a file that has the text, and a variable that has the file's path. execute.Request has what is meant.
	PropertySecret     = "secret:"
	PropertySecretFile = "secret-file:"
	// PropertyReads marks the two actions of Reads, which are keys and never run. Set by the engine.
	PropertyReads = "reads"
)

// AddressesFixed is the value of PropertyAddresses.
const AddressesFixed = "fixed"

// ExecutorLocal is the executor of this machine.
const ExecutorLocal = "local"

// ToolArg0 is argv[0] of an action that runs one of hexmage's own built-in tools: ["hexmage", "tool", NAME, …].
const ToolArg0 = "hexmage"

// Quote writes a command so that a POSIX shell reads it back as the same arguments.
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
