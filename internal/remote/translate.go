package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
)

// translated is an action for a server. It has another key: it spells out all that local executors add or interpret,
// since servers silently ignore unknown properties.
type translated struct {
	key      digest.Digest            // of the Action message
	messages map[digest.Digest][]byte // the Action, its Command, and the folders above the inputs
	inputs   digest.Digest            // folder of the inputs
	outputs  []string                 // sorted and unique
}

// The input root on a server has one folder, because some servers use the input root as /. Like a local exec root, the
// folder has the inputs, a home with temporary files, and the hexmage program if the action needs it.
const (
	around  = "hexmage"
	rootDir = "root"
	tmpDir  = "tmp"
	selfExe = "hexmage"
)

// maxScript is the largest script in bytes that a command line can hold.
const maxScript = 100_000

// endLine is the script's last line, with the command's exit code and working folder. Without it, the output is not the
// command's.
const endLine = "hexmage: the command ended with "

// Words that replace the exit code in endLine.
const (
	noProgram = "no program"
	badLink   = "a link" // a link among the outputs leads outside the exec root
)

// LocalOnlyReason returns the reason why a machine with the given platform properties cannot run an action, or "". It
// does not check the toolchains among the inputs.
func LocalOnlyReason(a *action.Action, platform map[string]string) string {
	p := a.Command.Platform
	switch {
	case a.LocalOnly:
		return `the action's results stay on this machine (cache = "local" or side_effects)`
	case p[action.PropertyEffects] != "":
		return "the action has side effects"
	case p[action.PropertyNetwork] != "":
		return "the action may use the network"
	case p[action.PropertyHost] != "":
		return "the action depends on this machine"
	case p[action.PropertyAddresses] != "":
		return "the action needs fixed memory addresses"
	case p[action.PropertyCheckpoint] != "":
		return "the action resumes from a checkpoint on this machine"
	}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if program, ok := strings.CutPrefix(name, action.PropertyProgram); ok {
			return fmt.Sprintf("the action starts the host program %s", program)
		}
		if strings.HasPrefix(name, action.PropertySecret) || strings.HasPrefix(name, action.PropertySecretFile) {
			return getsSecrets
		}
		switch name {
		case action.PropertyTool, action.PropertyStdin, action.PropertyStdout:
		case action.PropertyCPULevel: // unless the platform sets a level, a server may choose any processor
			if platform[name] != p[name] {
				return fmt.Sprintf("the action needs a processor of level %s, but the remote's platform lacks %s = %q",
					p[name], name, p[name])
			}
		case action.PropertyExecutor:
			if p[name] != action.ExecutorLocal {
				return fmt.Sprintf("the action needs the executor %q", p[name])
			}
		default:
			return fmt.Sprintf("servers do not know the property %s of the action", name)
		}
	}
	if len(a.Command.Args) > 0 && strings.Contains(a.Command.Args[0], "=") {
		return "the name of the program contains ="
	}
	outputs := slices.Sorted(slices.Values(a.Command.Outputs))
	for i, o := range outputs {
		if checkPath(o) != nil {
			return fmt.Sprintf("output %q is outside the working folder", o)
		}
		for _, other := range outputs[:i] {
			if strings.HasPrefix(o, other+"/") {
				return fmt.Sprintf("output %s is inside output %s", o, other)
			}
		}
	}
	if len(script(a)) > maxScript {
		return "the action has too many outputs"
	}
	return ""
}

const getsSecrets = "the action uses secrets"

// bound returns why the toolchains among the inputs cannot be sent: a toolchain has programs that read files of this
// machine.
func (x *Executor) bound(ctx context.Context, a *execute.Request) (string, error) {
	in := execute.Inputs(x.o.Inputs, a.Action)
	all, err := a.Root().Sub(ctx, in, "toolchains")
	if errors.Is(err, merkle.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		all, err = all.Open(ctx, in)
	}
	if err != nil {
		return "", err
	}
	for name, dir := range all.Dirs {
		ref, isRef := dir.Ref()
		x.mu.Lock()
		known, ok := x.hosts[ref]
		x.mu.Unlock()
		if !isRef || !ok {
			_, err := dir.Lookup(ctx, in, action.HostFile)
			if err != nil && !errors.Is(err, merkle.ErrNotExist) {
				return "", err
			}
			known = err == nil
			x.mu.Lock()
			x.hosts[ref] = known && isRef
			x.mu.Unlock()
		}
		if known {
			return fmt.Sprintf("toolchain %s uses files of this machine", name), nil
		}
	}
	return "", nil
}

// script returns a POSIX shell script for the server. It makes what local executors add, runs its arguments as the
// command, and replaces links among the outputs by their targets. Names are quoted.
func script(a *action.Action) string {
	p := a.Command.Platform
	var b strings.Builder
	quote := func(s string) string { return action.Quote([]string{s}) }
	b.WriteString("r=$(pwd -P); d=${r%/*}\n")
	fmt.Fprintf(&b, "end() { printf '\\n%s%%s in %%s\\n' \"$1\" \"$r\" >&2; }\n", endLine)
	self := ""
	if usesSelf(a) {
		self = ` HEXMAGE_SELF="$d/` + selfExe + `"`
	} else if len(a.Command.Args) > 0 {
		program := a.Command.Args[0]
		test := "(PATH=" + quote(pathOf(a)) + "; command -v " + quote(program) + ") >/dev/null 2>&1"
		if strings.Contains(program, "/") {
			test = "test -f " + quote(program) + " && test -x " + quote(program)
		}
		fmt.Fprintf(&b, "%s || { end '%s'; exit 127; }\n", test, noProgram)
	}
	in, out := p[action.PropertyStdin], p[action.PropertyStdout]
	if in == "" {
		in = "/dev/null"
	}
	redirect := " <" + quote(in)
	if out != "" {
		fmt.Fprintf(&b, "rm -f %s\n", quote("./"+out))
		redirect += " >" + quote(out)
	}
	fmt.Fprintf(&b, "env -i HEXMAGE_ROOT=\"$r\"%s HOME=\"$d/%s\" TMPDIR=\"$d/%[2]s\" \"$@\"%[3]s\nc=$?\n", self, tmpDir,
		redirect)
	if len(a.Command.Outputs) > 0 {
		b.WriteString("for o in")
		for _, o := range a.Command.Outputs {
			b.WriteString(" " + quote("./"+o))
		}
		b.WriteString(`; do
if test -L "$o"; then
t=$(readlink -f "$o")
case $t in
"$r"/*) rm "$o"; test ! -e "$t" || cp -R "$t" "$o";;
*) test $c != 0 || c='` + badLink + `'; rm "$o";;
esac
fi
done
`)
	}
	b.WriteString("end \"$c\"; test \"$c\" != '" + badLink + "' || c=1; exit $c\n")
	return b.String()
}

// pathOf returns the command's PATH.
func pathOf(a *action.Action) string {
	if p, ok := a.Command.Env["PATH"]; ok {
		return p
	}
	return execute.HostPath
}

// usesSelf reports whether the command is or starts a built-in tool.
func usesSelf(a *action.Action) bool { return a.Command.Platform[action.PropertyTool] != "" }

// translate returns the action for a server. self is hexmage's own program if the action needs it.
func (x *Executor) translate(a *action.Action, self digest.Digest) (*translated, error) {
	fn := a.InputRoot.Function()
	t := &translated{outputs: slices.Compact(slices.Sorted(slices.Values(a.Command.Outputs)))}
	beside := &merkle.Dir{Dirs: map[string]*merkle.Dir{rootDir: merkle.Ref(a.InputRoot), tmpDir: {}}}
	if !self.IsZero() {
		beside.Files = map[string]*merkle.File{selfExe: {Digest: self, Executable: true}}
	}
	t.inputs, t.messages = (&merkle.Dir{Dirs: map[string]*merkle.Dir{around: beside}}).Encode(fn)

	args := []string{"/bin/sh", "-c", script(a), "hexmage"}
	env := map[string]string{"LANG": "C.UTF-8"}
	maps.Copy(env, a.Command.Env)
	env["PATH"] = pathOf(a)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		switch name {
		case "HEXMAGE_ROOT", "HEXMAGE_SELF", "HOME", "TMPDIR":
		default:
			args = append(args, name+"="+env[name])
		}
	}
	own := slices.Clone(a.Command.Args)
	if usesSelf(a) && own[0] == action.ToolArg0 {
		own[0] = "../" + selfExe
	}
	c := &repb.Command{Arguments: append(args, own...), OutputPaths: t.outputs,
		WorkingDirectory:      path.Join(around, rootDir),
		OutputDirectoryFormat: repb.Command_TREE_AND_DIRECTORY,
		EnvironmentVariables:  []*repb.Command_EnvironmentVariable{{Name: "PATH", Value: execute.HostPath}}}
	platform := &repb.Platform{}
	for _, name := range slices.Sorted(maps.Keys(x.c.o.Platform)) {
		platform.Properties = append(platform.Properties,
			&repb.Platform_Property{Name: name, Value: x.c.o.Platform[name]})
	}
	if len(platform.Properties) == 0 {
		platform = nil
	}
	//lint:ignore SA1019 Servers before version 2.2 look there.
	c.Platform = platform
	command, err := t.add(c, fn)
	if err != nil {
		return nil, err
	}
	m := &repb.Action{CommandDigest: message(command), InputRootDigest: message(t.inputs), DoNotCache: a.DoNotCache,
		Platform: platform, Salt: []byte(x.c.o.Namespace)}
	if limit := a.Limit; limit > 0 {
		m.Timeout = durationpb.New((limit + time.Second - 1).Truncate(time.Second)) // some servers round down
	}
	t.key, err = t.add(m, fn)
	return t, err
}

// add adds a message.
func (t *translated) add(m proto.Message, fn digest.Function) (digest.Digest, error) {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return digest.Digest{}, err
	}
	d := fn.Bytes(b)
	t.messages[d] = b
	return d, nil
}
