// Package action defines commands (Spec, Action) and the results of running them (Result). An action's cache key is the
// digest of the action's canonical encoding.
//
// The encoding is the Action message of the Remote Execution API v2, REAPI (build.bazel.remote.execution.v2). The
// package writes the message field by field, so that hexmage, a remote cache and a remote worker compute the same key:
// fields are in ascending order, and environments, properties and outputs are sorted. It writes no unknown fields. The
// package runs nothing, reads no files and does not know where blobs are stored.
package action

import (
	"context"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/internal/digest"
)

// Command describes a process to start. It corresponds to REAPI's Command message.
type Command struct {
	Args     []string
	Env      map[string]string
	Outputs  []string          // slash paths of output files and folders
	Platform map[string]string // keys are the Property constants
}

// Action is a Command with the digest of its inputs. It corresponds to REAPI's Action message. Executors must not
// change an Action.
type Action struct {
	Command    Command
	InputRoot  digest.Digest // digest of the root Directory message
	DoNotCache bool

	// The fields below are not encoded, so they are not in the key: they do not change the command's outputs.

	Limit       time.Duration // maximum run time of the command; 0: no limit
	OKExitCodes []int         // exit codes, in addition to 0, that mean success and allow caching
	LocalOnly   bool          // the results must not leave this machine
	Depfile     string        // path of the output that lists the files that the command read
	Reads       Reads         // if not nil, the action has the two keys of Reads

	// Varies maps the path of an output to the reason why two runs may write different bytes to the output. Two runs
	// must write identical bytes to all other outputs.
	Varies map[string]string

	// Directories maps digests to the Directory messages of the inputs. Executors look for a message here first, and
	// then in the store.
	Directories map[digest.Digest][]byte
}

// Succeeded reports whether the exit code means success.
func (a *Action) Succeeded(exitCode int) bool {
	return exitCode == 0 || slices.Contains(a.OKExitCodes, exitCode)
}

// Reads caches an action by the content of the files that the command actually reads, as listed in a depfile. It uses
// two actions with different cache keys:
//
//   - Broad returns the action for the first key. This key covers the names of files in input folders, but not the
//     content. The result under this key lists the files that the command read.
//   - Narrow returns the action for the second key. This key covers the content of the listed files. The result under
//     this key is the command's result.
type Reads interface {
	Broad() *Action
	// Narrow returns the action for the second key. It fails if a path in reads is missing from the folders of the
	// Broad action.
	Narrow(ctx context.Context, reads []string) (*Action, error)
	// Read parses a depfile and returns the relevant files, as sorted slash paths in the exec root. The parameter root
	// is the host path of the exec root in which the command ran, or "" if unknown. Errors are written for the author
	// of the step.
	Read(ctx context.Context, depfile []byte, root string) ([]string, error)
}

// Encoded is an Action in wire form, together with the wire form of the Command and the cache key.
type Encoded struct {
	Key     digest.Digest // digest of Action
	Action  []byte
	Command []byte
}

// Encode returns the action's canonical wire form. All digests in it use the hash function fn.
func (a *Action) Encode(fn digest.Function) Encoded {
	cmd := a.Command.encode()
	b := make([]byte, 0, 256)
	b = AppendDigest(b, 1, fn.Bytes(cmd))
	b = AppendDigest(b, 2, a.InputRoot)
	b = AppendBool(b, 7, a.DoNotCache)
	if len(a.Command.Platform) > 0 {
		b = AppendMessage(b, 10, encodeProperties(a.Command.Platform))
	}
	return Encoded{Key: fn.Bytes(b), Action: b, Command: cmd}
}

// Key returns the action's cache key, which is a digest computed with the hash function fn.
func (a *Action) Key(fn digest.Function) digest.Digest { return a.Encode(fn).Key }

func (c *Command) encode() []byte {
	b := make([]byte, 0, 512)
	for _, s := range c.Args {
		b = AppendString(b, 1, s)
	}
	for _, k := range slices.Sorted(maps.Keys(c.Env)) {
		b = AppendMessage(b, 2, appendPair(nil, k, c.Env[k]))
	}
	if len(c.Platform) > 0 {
		b = AppendMessage(b, 5, encodeProperties(c.Platform))
	}
	for _, s := range slices.Compact(slices.Sorted(slices.Values(c.Outputs))) {
		b = AppendString(b, 7, s)
	}
	return b
}

func encodeProperties(m map[string]string) []byte {
	var b []byte
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b = AppendMessage(b, 1, appendPair(nil, k, m[k]))
	}
	return b
}

func encodeDuration(d time.Duration) []byte {
	return appendNumber(appendNumber(nil, 1, int64(d/time.Second)), 2, int64(d%time.Second))
}

// AppendDigest appends d to b, as a Digest message in the given field.
func AppendDigest(b []byte, field protowire.Number, d digest.Digest) []byte {
	return AppendMessage(b, field, appendNumber(AppendString(nil, 1, d.Hex()), 2, d.Size()))
}

func appendPair(b []byte, name, value string) []byte {
	b = AppendString(b, 1, name)
	if value != "" {
		b = AppendString(b, 2, value)
	}
	return b
}

// appendNumber appends a number in the given field, and nothing for zero.
func appendNumber(b []byte, field protowire.Number, n int64) []byte {
	if n == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(n))
}

// AppendBool appends true in the given field. It appends nothing for false.
func AppendBool(b []byte, field protowire.Number, v bool) []byte {
	if !v {
		return b
	}
	return appendNumber(b, field, 1)
}

// AppendString appends a string in the given field.
func AppendString(b []byte, field protowire.Number, s string) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	return protowire.AppendString(b, s)
}

// AppendMessage appends a message, or other bytes, in the given field.
func AppendMessage(b []byte, field protowire.Number, m []byte) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	return protowire.AppendBytes(b, m)
}
