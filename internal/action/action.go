// Package action has commands to run (Spec, Action) and what came of them (Result), with the canonical encoding that
// makes an action's digest its cache key.
//
// The encoding is that of the Remote Execution API v2 (build.bazel.remote.execution.v2), written field by field so
// that it is canonical by construction: ascending field numbers, sorted environments, properties and outputs, no
// unknown fields. So a local result, a remote cache and a remote worker agree on the key. The package runs nothing
// and reads no files; it does not know where blobs are.
package action

import (
	"context"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/internal/digest"
)

// Command is what a process gets: REAPI's Command.
type Command struct {
	Args     []string
	Env      map[string]string
	Outputs  []string          // slash paths of output files and folders
	Platform map[string]string // see the Property constants
}

// Action is a Command with the digest of all its inputs: REAPI's Action. It is a value; executors do not change it.
type Action struct {
	Command    Command
	InputRoot  digest.Digest // of the root Directory message
	Timeout    time.Duration // REAPI's, and so part of the key; what a pipeline says is in Limit
	DoNotCache bool

	// What follows is in no wire form, and so not in the key: none of it changes what the command writes.

	Limit       time.Duration // how long the command may run; 0: as long as it takes
	OKExitCodes []int         // exit codes, beside 0, whose results count and are remembered
	LocalOnly   bool          // its results stay on this machine
	Depfile     string        // the output that says what was read; for Reads
	Reads       Reads         // not nil: it is remembered by what it read; see Reads

	// Varies says of outputs, by path, why two runs may leave different bytes in them; those that it does not have
	// must be the same.
	Varies map[string]string

	// Directories are Directory messages of the inputs, by their digests, which executors look for here first: they
	// need not be in the store.
	Directories map[digest.Digest][]byte

	sealed *sealed // nil: not sealed
}

// sealed is the wire form of one action. A copy of it, which may be changed, has another address.
type sealed struct {
	of *Action
	fn digest.Function
	Encoded
}

// Seal keeps the wire form for the calls of Encode and Key to come. What is in the key may not be changed any more,
// but in a copy.
func (a *Action) Seal(fn digest.Function) {
	a.sealed = &sealed{a, fn, a.Encode(fn)}
}

// TimeLimit is how long the command may run: the smaller of Limit and Timeout, 0 when there is none.
func (a *Action) TimeLimit() time.Duration {
	if a.Limit == 0 || a.Timeout > 0 && a.Timeout < a.Limit {
		return a.Timeout
	}
	return a.Limit
}

// Succeeded tells whether the exit code is one that the action's results may have.
func (a *Action) Succeeded(exitCode int) bool {
	return exitCode == 0 || slices.Contains(a.OKExitCodes, exitCode)
}

// Reads makes an action remembered by what its command read, for commands that say so in a depfile. There are two
// levels. Broad is an action that stands for all that is known before: the command, and of folders the names in them.
// Under its key it is remembered which files were read. Narrow is the action with the content of just these files.
// The result is under its key.
type Reads interface {
	Broad() *Action
	// Narrow fails for paths that the broad action's folders do not have.
	Narrow(ctx context.Context, reads []string) (*Action, error)
	// Read returns the files that count, as slash paths in the exec root, sorted, from the depfile's content and the
	// host path of the exec root in which the command ran ("" when it is not known). Its errors are for whoever wrote
	// the step.
	Read(ctx context.Context, depfile []byte, root string) ([]string, error)
}

// Encoded is an Action in wire form, with the digests that name its parts.
type Encoded struct {
	Key     digest.Digest // digest of Action: the cache key
	Action  []byte
	Command []byte
}

// Encode returns the canonical wire form under the digest function.
func (a *Action) Encode(fn digest.Function) Encoded {
	if s := a.sealed; s != nil && s.of == a && s.fn == fn {
		return s.Encoded
	}
	cmd := a.Command.encode()
	b := make([]byte, 0, 256)
	b = AppendDigest(b, 1, fn.Bytes(cmd))
	b = AppendDigest(b, 2, a.InputRoot)
	if a.Timeout > 0 {
		b = AppendMessage(b, 6, encodeDuration(a.Timeout))
	}
	if a.DoNotCache {
		b = protowire.AppendTag(b, 7, protowire.VarintType)
		b = protowire.AppendVarint(b, 1)
	}
	if len(a.Command.Platform) > 0 {
		b = AppendMessage(b, 10, encodeProperties(a.Command.Platform))
	}
	return Encoded{Key: fn.Bytes(b), Action: b, Command: cmd}
}

// Key returns the digest that names the action: its cache key.
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
	var b []byte
	if s := int64(d / time.Second); s != 0 {
		b = protowire.AppendTag(b, 1, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(s))
	}
	if n := int64(d % time.Second); n != 0 {
		b = protowire.AppendTag(b, 2, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(n))
	}
	return b
}

// AppendDigest appends d as a Digest message in the given field.
func AppendDigest(b []byte, field protowire.Number, d digest.Digest) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(digestSize(d)))
	b = protowire.AppendTag(b, 1, protowire.BytesType)
	b = d.AppendHex(append(b, 2*hashSize))
	if d.Size() != 0 {
		b = protowire.AppendTag(b, 2, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(d.Size()))
	}
	return b
}

const hashSize = 32 // bytes of every digest's hash

// digestSize is the length in bytes of the message that AppendDigest puts into its field.
func digestSize(d digest.Digest) int {
	n := 2 + 2*hashSize
	if d.Size() != 0 {
		n += 1 + protowire.SizeVarint(uint64(d.Size()))
	}
	return n
}

func appendPair(b []byte, name, value string) []byte {
	b = AppendString(b, 1, name)
	if value != "" {
		b = AppendString(b, 2, value)
	}
	return b
}

// AppendString appends a text in the given field.
func AppendString(b []byte, field protowire.Number, s string) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	return protowire.AppendString(b, s)
}

// AppendMessage appends a message, or other bytes, in the given field.
func AppendMessage(b []byte, field protowire.Number, m []byte) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	return protowire.AppendBytes(b, m)
}
