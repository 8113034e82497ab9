package cli

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// parse makes sense of the arguments. To make a model of all commands takes kong milliseconds, so it makes one of the
// command alone that an argument names. Where that does not fit (the name was a flag's value, help is asked for,
// something is wrong), the model of all commands decides, and has the words for it.
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

// refused says what kong refuses, in words for people who know no types, and the command whose help is to be looked
// at.
func refused(err error) (see string, _ error) {
	text, see, usage := err.Error(), "hexmage", ""
	if p := (*kong.ParseError)(nil); errors.As(err, &p) && p.Context.Selected() != nil {
		n := p.Context.Selected()
		see, usage = n.FullPath(), strings.TrimSuffix(n.Summary(), " [flags]")
	}
	if strings.HasPrefix(text, "--var: expected ") { // it shows what may be a secret
		return see, errors.New("--var takes NAME=VALUE, such as --var model=tiny")
	}
	if word, ok := strings.CutPrefix(text, "unexpected argument "); ok && see == "hexmage" {
		return see, fmt.Errorf("there is no command %s", word)
	}
	for _, p := range plainWords {
		text = p.was.ReplaceAllString(text, p.is)
	}
	if usage != "" && strings.Contains(text, " is missing") {
		text += ": hexmage " + usage
	}
	return see, errors.New(text)
}

// plainWords are what is said in place of kong's words.
var plainWords = []struct {
	was *lazyregexp.Regexp
	is  string
}{
	{lazyregexp.New(`^(.*): expected a valid \d+ bit u?int but got "(.*)"$`), `$1: "$2" is no whole number`},
	{lazyregexp.New(`^(.*): expected a float but got "(.*)".*$`), `$1: "$2" is no number`},
	{lazyregexp.New(`^(--\S+): expected \S+ value but got "(-.*)" \((?:short|long) flag\).*$`),
		`$1 has no value, as $2 is read as a flag: a value that begins with - is written $1=$2`},
	{lazyregexp.New(`^expected "(.*)"$`), `$1 is missing`},
	{lazyregexp.New(`^missing flags: (.*)$`), `$1 is missing`},
}

// notCommands is how many of the fields of commands come before the commands.
const notCommands = 2

// grammarOf returns the part of commands that is about every command and the one of that name; nil if there is none.
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

// noHelp is the help of a model that has not all commands.
func noHelp(kong.HelpOptions, *kong.Context) error { return errors.New("help is asked for") }

// newParser makes kong's model of commands, or of a part of them.
func newParser(grammar any, env Env, more ...kong.Option) *kong.Kong {
	return kong.Must(grammar, append([]kong.Option{
		kong.Name("hexmage"),
		kong.Description("Builds, converts and runs models for Qualcomm's Hexagon NPUs from declarative pipelines. " +
			"Nothing is done twice. To begin: hexmage init"),
		kong.Writers(env.Stdout, env.Stderr),
		kong.Exit(func(code int) { panic(exitCode(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.Help(help),
		kong.WithAfterApply(checkFlags),
		kong.TypeMapper(reflect.TypeFor[stepsFlag](), stepsMapper{}),
	}, more...)...)
}

// exitCode is what kong's --help and --version want to end with.
type exitCode int

// stepsMapper has kong read a StepsFlag.
type stepsMapper struct{}

// Decode takes what the flag is given, if it is.
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

// IsBool tells kong that the flag may stand without a value.
func (stepsMapper) IsBool() bool { return true }
