package main

import (
	"fmt"
	"strings"
)

// mutant is a way to break a promise.
type mutant struct {
	promise string
	test    string // the test that must fail: a test of cmd/hexmage/promises, with a subtest if one is enough
	edits   []edit // several where one check stands behind another
}

// edit replaces text that occurs exactly once in a file.
type edit struct{ file, old, new string }

// apply returns the text with the edit.
func (e edit) apply(text string) (string, error) {
	if n := strings.Count(text, e.old); n != 1 {
		return "", fmt.Errorf("%s: text occurs %d times, want once: update the mutant in %s\n%s", e.file, n, table,
			e.old)
	}
	return strings.Replace(text, e.old, e.new, 1), nil
}

// The promises, each with at least one mutant.
const (
	key        = "A cache key covers the command, the content of every input, the toolchain's digest and the platform."
	cutoff     = "If an action's outputs are as before, no action that depends on it runs."
	depfile    = "An action with a depfile runs again if a file that it read has changed, and only then."
	undeclared = "An action sees declared inputs only."
	outside    = "An action writes nothing outside of its outputs."
	poisoned   = "Nothing is made from a corrupt result, and no action can corrupt one."
	once       = "Two processes never run one action twice."
	killed     = "After kill -9 of hexmage no process of an action is left, and the next run is right."
	secrets    = "Secrets reach no key, plan, log, report or cached file."
	atomic     = "A reader of an output sees the old one or the new one, as a whole."
	hostile    = "hexmage refuses an archive with an entry or a link that leads out of its folder."
	network    = "An action has no network unless it declares it."
)

func mutants() []mutant {
	return []mutant{
		{key, "TestKey/command", []edit{{
			"internal/action/action.go",
			"appendPair(nil, k, c.Env[k])",
			`appendPair(nil, k, "")`,
		}}},
		{key, "TestKey/inputs", []edit{{
			"internal/action/action.go",
			"b = AppendDigest(b, 2, a.InputRoot)",
			"b = AppendDigest(b, 2, fn.Bytes(nil))",
		}}},
		{key, "TestKey/toolchain", []edit{{
			"internal/engine/work.go",
			"a.InputRoot, a.Directories = root.Encode(w.fn)",
			"keyed := root.Clone()\n	delete(keyed.Dirs, \"toolchains\")\n	a.InputRoot, a.Directories = " +
				"keyed.Encode(w.fn)",
		}}},
		{key, "TestKey/program", []edit{{
			"internal/engine/program.go",
			"a.Command.Platform[action.PropertyProgram+name] = p.digest",
			`a.Command.Platform[action.PropertyProgram+name] = ""`,
		}}},
		{key, "TestKey/platform", []edit{{
			"internal/action/action.go",
			"func encodeProperties(m map[string]string) []byte {\n",
			"func encodeProperties(m map[string]string) []byte {\n	m = nil\n",
		}}},
		{cutoff, "TestEarlyCutoff", []edit{{
			"internal/engine/work.go",
			"req.Force = req.DropCheckpoint",
			"req.Force = req.DropCheckpoint || len(u.spec.Inputs) > 0 && u.spec.Inputs[0].Artifact != nil",
		}}},
		{depfile, "TestDepfile", []edit{{
			"internal/engine/reads.go",
			"if err := root.InsertEntry(ctx, r.w.blobs, p, e); err != nil {",
			"if err := error(nil); err != nil {",
		}}},
		{depfile, "TestDepfile", []edit{{
			"internal/engine/reads.go",
			"if e.Dir == nil || in.Shared || in.Whole {",
			"if true {",
		}}},
		{undeclared, "TestUndeclaredInput", []edit{{
			"internal/execute/sandbox/landlock_linux.go",
			"range a.Read {",
			`range append(a.Read, "/") {`,
		}}},
		{outside, "TestWriteOutside", []edit{{
			"internal/execute/sandbox/landlock_linux.go",
			"range a.Write {",
			`range append(a.Write, "/") {`,
		}}},
		{outside, "TestWriteOutside", []edit{{
			"internal/execute/sandbox/landlock_linux.go",
			"p = policy{meta: ask,",
			"p = policy{meta: allow,",
		}}},
		{poisoned, "TestCorruptBlob", []edit{{
			"internal/store/verify.go",
			"if v.n > v.want.Size() || err == io.EOF && v.want.Function().Sum(v.h, v.n) != v.want {",
			"if v.n > v.want.Size() {",
		}}},
		{poisoned, "TestInputChanged", []edit{{
			"internal/store/disk/trust.go",
			"	perm := fs.FileMode(st.Mode & 0o7777)\n",
			"	perm := permOf(kind)\n	st.MTime = store.LinkTime().UnixNano()\n",
		}}},
		{once, "TestTwoProcesses", []edit{{
			"internal/execute/locks.go",
			"locked, err := tryLock(f, at)",
			"locked, err := f != nil, error(nil)",
		}}},
		{killed, "TestKilled", []edit{{
			"internal/execute/worker/run_linux.go",
			"	if err := endChildren(); err != nil {",
			"	if err := error(nil); err != nil {",
		}}},
		{secrets, "TestSecrets", []edit{{
			"internal/secret/hide.go",
			"	if s == nil || len(s.forms) == 0 {\n		return nil",
			"	if true {\n		return nil",
		}}},
		{atomic, "TestOutputAtomic", []edit{{
			"internal/engine/outputs.go",
			`if err := exchangeOrMove(next, out.Path, next+".old"); err != nil {`,
			"b, err := os.ReadFile(next)\n	if err = errors.Join(err, os.WriteFile(out.Path, b, 0o644)); err != " +
				"nil {",
		}}},
		{hostile, "TestHostileArchive", []edit{{
			"internal/archive/name.go",
			`if e == ".." {`,
			`if e == "..." {`,
		}}},
		{hostile, "TestHostileArchive", []edit{{
			"internal/archive/name.go",
			`return fmt.Errorf("%w: link %q points to %q, outside the target folder", ErrUnsafe, name, target)`,
			"continue",
		}}},
		{network, "TestNetwork", []edit{{
			"internal/execute/sandbox/landlock_linux.go",
			"	if network {",
			"	if true {",
		}}},
	}
}
