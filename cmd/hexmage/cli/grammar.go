package cli

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// parse parses the arguments. kong takes milliseconds to build the model of all commands, so parse builds only the
// model of the command that an argument names. If that fails (the name was a flag's value, help, an error), the model
// of all commands decides and gives the message.
func parse(args []string, env Env) (*kong.Context, *globalFlags, error) {
	for _, arg := range args {
		grammar, global := grammarOf(arg)
		if grammar == nil {
			continue
		}
		if kctx, err := newParser(grammar, env, kong.Help(noHelp)).Parse(args); err == nil {
			return kctx, global, nil
		}
	}
	var all commands
	kctx, err := newParser(&all, env).Parse(args)
	return kctx, &all.Global, err
}

// refused rewrites kong's error without Go types, and returns the command whose help to read.
func refused(err error) (see string, _ error) {
	text, see, usage := err.Error(), "hexmage", ""
	if p := (*kong.ParseError)(nil); errors.As(err, &p) && p.Context.Selected() != nil {
		n := p.Context.Selected()
		see, usage = n.FullPath(), strings.TrimSuffix(n.Summary(), " [flags]")
	}
	if strings.HasPrefix(text, "--var: expected ") { // the text may contain a secret
		return see, errors.New("--var takes NAME=VALUE, such as --var model=tiny")
	}
	if word, ok := strings.CutPrefix(text, "unexpected argument "); ok && see == "hexmage" {
		return see, fmt.Errorf("unknown command %s", word)
	}
	for _, p := range plainWords {
		text = p.was.ReplaceAllString(text, p.is)
	}
	if usage != "" && strings.Contains(text, " is missing") {
		text += ": hexmage " + usage
	}
	return see, errors.New(text)
}

// plainWords replaces kong's messages.
var plainWords = []struct {
	was *lazyregexp.Regexp
	is  string
}{
	{lazyregexp.New(`^(.*): expected a valid \d+ bit u?int but got "(.*)"$`), `$1: want a whole number, not "$2"`},
	{lazyregexp.New(`^(.*): expected a float but got "(.*)".*$`), `$1: want a number, not "$2"`},
	{lazyregexp.New(`^(--\S+): expected \S+ value but got "(-.*)" \((?:short|long) flag\).*$`),
		`$1: the value $2 looks like a flag; write $1=$2`},
	{lazyregexp.New(`^expected "(.*)"$`), `$1 is missing`},
	{lazyregexp.New(`^missing flags: (.*)$`), `$1 is missing`},
}

// notCommands is the number of fields of commands before the first command.
const notCommands = 2

// grammarOf returns the fields of commands for all commands and for the named one, or nil if the name is unknown.
func grammarOf(name string) (grammar any, global *globalFlags) {
	all := reflect.TypeFor[commands]()
	for i := notCommands; i < all.NumField(); i++ {
		field := all.Field(i)
		if named, ok := field.Tag.Lookup("name"); ok && named == name || !ok && strings.ToLower(field.Name) == name {
			part := reflect.New(reflect.StructOf([]reflect.StructField{all.Field(0), all.Field(1), field}))
			return part.Interface(), part.Elem().Field(0).Addr().Interface().(*globalFlags)
		}
	}
	return nil, nil
}

// noHelp is the help of a model with one command.
func noHelp(kong.HelpOptions, *kong.Context) error { return errors.New("help requested") }

// newParser builds kong's model of commands, or of a part of them.
func newParser(grammar any, env Env, more ...kong.Option) *kong.Kong {
	return kong.Must(grammar, append([]kong.Option{
		kong.Name("hexmage"),
		kong.Description("Builds, converts and runs models for Qualcomm's Hexagon NPUs from declarative pipelines. " +
			"Caches every result. To begin, run: hexmage init"),
		kong.Writers(env.Stdout, env.Stderr),
		kong.Exit(func(code int) { panic(exitCode(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.Help(help),
		kong.ExplicitGroups(groups()),
		kong.WithAfterApply(checkFlags),
		kong.TypeMapper(reflect.TypeFor[stepsFlag](), stepsMapper{}),
	}, more...)...)
}

// groups are the headings of the list of commands.
func groups() []kong.Group {
	return []kong.Group{
		{Key: "build", Title: "Pipelines:"},
		{Key: "runs", Title: "Runs:"},
		{Key: "sdk", Title: "SDKs and other toolchains:"},
		{Key: "src", Title: "Sources, models and editors:"},
		{Key: "dev", Title: "Devices:"},
		{Key: "self", Title: "hexmage:"},
	}
}

// exitCode is the exit code of kong's --help and --version.
type exitCode int

// stepsMapper parses a stepsFlag for kong.
type stepsMapper struct{}

// Decode parses the flag's value, if any.
func (stepsMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	f := target.Addr().Interface().(*stepsFlag)
	f.On = true
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		if s, ok := ctx.Scan.Pop().Value.(string); ok {
			f.Steps = append(f.Steps, s)
		}
	}
	return nil
}

// IsBool tells kong that the flag's value is optional.
func (stepsMapper) IsBool() bool { return true }
