package cli

import (
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var noOutput = Env{Stdout: io.Discard, Stderr: io.Discard}

// describeCommand writes down what a model has of a command: names, flags, arguments, texts.
func describeCommand(w io.Writer, n *kong.Node) {
	fmt.Fprintf(w, "%s %q %q %v %v\n", n.Path(), n.Help, n.Detail, n.Aliases, n.Hidden)
	values := func(vs ...*kong.Value) {
		for _, v := range vs {
			fmt.Fprintf(w, "  %s %q %q %q %v %v %v %v %v %v\n", v.Summary(), v.Help, v.Default, v.Enum, v.Required,
				v.HasDefault, v.Passthrough, v.Position, v.Tag.Sep, v.Target.Type())
		}
	}
	for _, f := range n.Flags {
		fmt.Fprintf(w, "  %q %v %v %v %v\n", f.Short, f.PlaceHolder, f.Aliases, f.Envs, f.Hidden)
		values(f.Value)
	}
	values(n.Positional...)
	if n.DefaultCmd != nil {
		fmt.Fprintf(w, "  default %s\n", n.DefaultCmd.Name)
	}
	for _, c := range n.Children {
		describeCommand(w, c)
	}
}

// What kong is told of one command is what it is told of it among all of them.
func TestGrammarOfOneCommand(t *testing.T) {
	all := newParser(new(commands), noOutput).Model
	if len(all.Children) != reflect.TypeFor[commands]().NumField()-notCommands {
		t.Fatalf("%d commands", len(all.Children))
	}
	for _, child := range all.Children {
		grammar, global := grammarOf(child.Name)
		if grammar == nil || global == nil {
			t.Errorf("%s: no grammar", child.Name)
			continue
		}
		one := newParser(grammar, noOutput).Model
		want := *all.Node
		want.Children = []*kong.Node{child}
		var a, b strings.Builder
		describeCommand(&a, &want)
		describeCommand(&b, one.Node)
		if a.String() != b.String() {
			t.Errorf("%s: among all:\n%s\nalone:\n%s", child.Name, a.String(), b.String())
		}
	}
	for _, no := range []string{"", "global", "Run", "cmd", "nosuch"} {
		if grammar, _ := grammarOf(no); grammar != nil {
			t.Errorf("%q is a command", no)
		}
	}
}

// Arguments mean the same, and what is wrong with them is said in the same words, whether the model of one command is
// tried first or not.
func TestParse(t *testing.T) {
	for _, line := range []string{
		"run p", "run p exec.a exec.b -k --out o --force=exec.a --verify --var a=1,b=2 --var c=3",
		"-C dir --json run p", "--profile=device run p",
		// values that are named like commands
		"-C run run p", "-C watch run p", "--profile device run p --soc SM8650,+SM8750",
		"-vj 3 plan run", "device shell -- ls -h", "device shell ls --help", "patch check a --sdk x", "patch a",
		"cache gc", "toolchain list watch", "ide", "version",
		"run", "run p --nosuch", "rnu p", "p run", "--color=pink run p", "--color", "run --keep-goin p",
		"--keep-going run p", "--var a run p", "run p -j many", "cache",
		"device shell --nosuch", "nosuch",
	} {
		args := strings.Fields(line)
		got, global, err := parse(args, noOutput)
		var all commands
		want, wantErr := newParser(&all, noOutput).Parse(args)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: %v, by all commands %v", line, err, wantErr)
			continue
		}
		if err != nil {
			continue
		}
		if n := len(got.Model.Children); n != 1 {
			t.Errorf("%s: understood by a model of %d commands", line, n)
		}
		if got.Command() != want.Command() || !reflect.DeepEqual(*global, all.Global) {
			t.Errorf("%s: %s %+v, by all commands %s %+v", line, got.Command(), *global, want.Command(), all.Global)
		}
		if a, b := got.Selected().Target.Interface(), want.Selected().Target.Interface(); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %+v, by all commands %+v", line, a, b)
		}
	}
}

// Help and version are those of all commands, wherever they are asked for.
func TestParseHelp(t *testing.T) {
	for _, args := range []string{"--help", "run --help", "run p -h", "--help run", "--profile run --help",
		"-C device --help", "device --help", "device shell --help", "patch -h", "run -vh p", "--version",
		"run --version", "--json plan p --version"} {
		help := func(parse func(args []string, env Env)) (text string) {
			var out strings.Builder
			defer func() {
				if r := recover(); r != exitCode(0) {
					t.Errorf("%s: %v", args, r)
				}
				text = out.String()
			}()
			parse(strings.Fields(args), Env{Stdout: &out, Stderr: &out})
			return ""
		}
		got := help(func(args []string, env Env) { _, _, _ = parse(args, env) })
		want := help(func(args []string, env Env) { _, _ = newParser(new(commands), env).Parse(args) })
		if got != want || got == "" {
			t.Errorf("%s:\n%s\nby all commands:\n%s", args, got, want)
		}
	}
}

// TestHelpExamples: each command is in a group, and its help has two examples, which parse.
func TestHelpExamples(t *testing.T) {
	description := regexp.MustCompile(`\s{2,}.*`)
	for _, n := range newParser(new(commands), noOutput).Model.Leaves(true) {
		if n.ClosestGroup() == nil {
			t.Errorf("%s is in no group", n.Path())
		}
		_, examples, _ := strings.Cut(n.Detail, "Examples:\n")
		var lines []string
		for line := range strings.Lines(examples) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, description.ReplaceAllString(line, ""))
			}
		}
		if len(lines) < 2 {
			t.Errorf("%s: %d examples", n.Path(), len(lines))
		}
		for _, line := range lines {
			command, ok := strings.CutPrefix(line, "hexmage ")
			if !ok || strings.ContainsAny(command, "|&>\"'`") {
				continue // for a shell
			}
			if _, _, err := parse(strings.Fields(command), noOutput); err != nil {
				t.Errorf("%s: %s: %v", n.Path(), line, err)
			}
		}
	}
}
