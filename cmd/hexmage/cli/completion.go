package cli

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/toolchains"
)

// completions are the scripts that shells read. Each calls `hexmage complete`.
//
//go:embed completion
var completions embed.FS

// completionCmd is `hexmage completion SHELL`.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Print the script for this shell: bash, zsh or fish."`
}

// Help returns the examples of `hexmage completion --help`.
func (*completionCmd) Help() string {
	return `The script completes commands, flags and file names, and the names of pipelines, steps, variables, SoCs and
toolchains.

Examples:

    eval "$(hexmage completion bash)"                                   add this line to ~/.bashrc
    eval "$(hexmage completion zsh)"                                    add this line to ~/.zshrc, below compinit
    hexmage completion fish > ~/.config/fish/completions/hexmage.fish   run this command once`
}

// Run prints a shell's completion script.
func (c *completionCmd) Run(_ context.Context, a *app) error {
	b, err := fs.ReadFile(completions, "completion/hexmage."+c.Shell)
	if err != nil {
		return engineError(err)
	}
	_, err = a.Env.Stdout.Write(b)
	return err
}

// completeCmd is `hexmage complete SHELL -- WORD…`, which the completion scripts call. It prints one candidate for the
// last word a line, with its meaning after a tab if the shell shows meanings. A line :files also allows file names. A
// line :nospace suppresses the blank after the word. bash splits words for completion at other characters than for
// commands: it passes the line up to the cursor, and its last word.
type completeCmd struct {
	Shell string   `arg:"" enum:"bash,zsh,fish"`
	Words []string `arg:"" optional:""`
}

// Run prints completions for a command line.
func (c *completeCmd) Run(ctx context.Context, a *app) error {
	words, cut := c.Words, 0
	if c.Shell == "bash" {
		if len(words) != 2 {
			return usageError("`complete bash` takes two arguments: a command line and the last word of the line")
		}
		last := words[1]
		words = shellWords(words[0])
		if strings.Trim(last, "=:") == "" { // bash takes these as a word
			last = ""
		}
		if word := words[len(words)-1]; strings.HasSuffix(word, last) {
			cut = len(word) - len(last)
		}
	}
	if len(words) < 2 {
		return nil
	}
	l := completedLine{a: a, flags: map[string][]string{}, arguments: map[string][]string{}}
	if err := l.complete(ctx, words[1:]); err != nil {
		return err
	}
	var out bytes.Buffer
	if l.files {
		fmt.Fprintln(&out, ":files")
	}
	if l.nospace {
		fmt.Fprintln(&out, ":nospace")
	}
	for _, o := range l.offers {
		switch o.value = l.prefix + o.value; {
		case !strings.HasPrefix(o.value, words[len(words)-1]) || !plainWord(o.value) || len(o.value) < cut:
		case c.Shell == "bash":
			fmt.Fprintln(&out, o.value[cut:])
		default:
			fmt.Fprintf(&out, "%s\t%s\n", o.value, strings.Join(strings.Fields(ansi.Visible(o.means, false)), " "))
		}
	}
	_, err := a.Env.Stdout.Write(out.Bytes())
	return err
}

// plainWord reports whether a word means itself in every shell. Other candidates are left out: anyone can choose a file
// name that a shell would run.
func plainWord(word string) bool {
	return word != "" && strings.IndexFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./=:,+@", r))
	}) < 0
}

// shellWords splits a line as a shell does. The last word may be unfinished or empty.
func shellWords(line string) []string {
	words, quote := []string{""}, rune(0)
	escaped, within := false, false
	last := func() *string { return &words[len(words)-1] }
	for _, r := range line {
		switch {
		case escaped:
			*last() += string(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, within = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, within = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if within {
				words, within = append(words, ""), false
			}
		default:
			*last() += string(r)
			within = true
		}
	}
	return words
}

// offer is a candidate for the word at the cursor, with its meaning.
type offer struct{ value, means string }

// completedLine is a command line with an unfinished last word.
type completedLine struct {
	a         *app
	flags     map[string][]string // by name
	arguments map[string][]string // by name

	offers  []offer
	prefix  string // part of the last word before each offer
	files   bool   // also offer file names
	nospace bool
}

// complete finds candidates for the last word. words are the words after the program's name.
func (l *completedLine) complete(ctx context.Context, words []string) error {
	node := newParser(new(commands), l.a.Env).Model.Node
	var wants *kong.Flag // its value is the next word
	literal, given := false, 0
	word := words[len(words)-1]
	for _, w := range words[:len(words)-1] {
		switch {
		case wants != nil:
			l.flags[wants.Name] = append(l.flags[wants.Name], w)
			wants = nil
		case !literal && w == "--":
			literal = true
		case !literal && strings.HasPrefix(w, "-"):
			f, value, valued := flagOf(node, w)
			switch {
			case f == nil:
			case valued:
				l.flags[f.Name] = append(l.flags[f.Name], value)
			case !f.IsBool():
				wants = f
			}
		case len(node.Children) > 0:
			i := slices.IndexFunc(node.Children, func(c *kong.Node) bool { return c.Name == w })
			if i < 0 {
				return nil
			}
			node = node.Children[i]
		default:
			p := argument(node, given)
			if p == nil || p.Passthrough {
				return nil
			}
			l.arguments[p.Name] = append(l.arguments[p.Name], w)
			given++
		}
	}
	if err := l.enter(); err != nil {
		return err
	}
	switch {
	case wants != nil:
		return l.value(wants, word)
	case !literal && strings.HasPrefix(word, "-"):
		if f, value, valued := flagOf(node, word); f != nil && valued && strings.HasPrefix(word, "--") {
			l.prefix = strings.TrimSuffix(word, value)
			return l.value(f, value)
		}
		for _, f := range flagsOf(node) {
			if f.Hidden || !takes(node, f) {
				continue
			}
			l.add("--"+f.Name, f.Help)
			if f.Tag.Negatable != "" {
				l.add("--no-"+f.Name, f.Help)
			}
		}
		return nil
	case len(node.Children) > 0:
		l.commands(node)
		return nil
	}
	if p := argument(node, given); p != nil {
		return l.positional(ctx, node, p)
	}
	return nil
}

// enter applies -C and --profile.
func (l *completedLine) enter() error {
	last := func(flag string) string {
		if given := l.flags[flag]; len(given) > 0 {
			return given[len(given)-1]
		}
		return ""
	}
	a, err := newApp(globalFlags{Dir: last("dir"), Profile: last("profile"), Offline: true}, l.a.Env, l.a.interrupts)
	l.a = a
	return err
}

// flagsOf returns the flags of a command.
func flagsOf(node *kong.Node) (flags []*kong.Flag) {
	for n := node; n != nil; n = n.Parent {
		flags = append(flags, n.Flags...)
	}
	return flags
}

// flagOf returns the flag of a word, or the last of its short flags. value is the flag's value if the word contains it.
func flagOf(node *kong.Node, word string) (f *kong.Flag, value string, valued bool) {
	if name, long := strings.CutPrefix(word, "--"); long {
		name, value, valued = strings.Cut(name, "=")
		for _, f := range flagsOf(node) {
			if f.Name == name {
				return f, value, valued
			}
		}
		return nil, "", false
	}
	for i, r := range word[1:] {
		f = nil
		for _, of := range flagsOf(node) {
			if of.Short == r {
				f = of
			}
		}
		if rest := word[1+i+len(string(r)):]; f != nil && !f.IsBool() {
			return f, rest, rest != ""
		}
	}
	return f, "", false
}

// argument returns the argument at a position, or nil. The last argument may be a list.
func argument(node *kong.Node, at int) *kong.Positional {
	n := len(node.Positional)
	if at < n {
		return node.Positional[at]
	}
	if n > 0 && node.Positional[n-1].IsCumulative() {
		return node.Positional[n-1]
	}
	return nil
}

func (l *completedLine) add(value, means string) { l.offers = append(l.offers, offer{value, means}) }

func (l *completedLine) commands(node *kong.Node) {
	for _, c := range node.Children {
		if !c.Hidden {
			l.add(c.Name, c.Help)
		}
	}
}

func (l *completedLine) offerNames(names []string) {
	for _, name := range names {
		l.add(name, "")
	}
}

// value offers values of a flag. some is the start of the value.
func (l *completedLine) value(f *kong.Flag, some string) error {
	switch f.Name {
	case "soc":
		l.prefix += some[:strings.LastIndexAny(some, ",+")+1]
		d, err := l.a.domain()
		if err != nil {
			return err
		}
		l.offers = append(l.offers, d.socOffers()...)
	case "profile":
		l.profiles()
	case "var":
		l.nospace = true
		if cfg := l.pipeline(); cfg != nil {
			for _, v := range cfg.Variables {
				l.add(v.Name+"=", v.Description)
			}
		}
	case "force", "verify":
		l.steps()
	case "sandbox":
		l.offerNames([]string{"strict", "staged", "off"})
	default:
		switch {
		case f.Enum != "":
			l.offerNames(slices.DeleteFunc(f.EnumSlice(), func(v string) bool { return v == "" }))
		case slices.Contains([]string{"FILE", "DIR", "FOLDER", "PATH", "SDK"}, f.PlaceHolder):
			l.files = true
		}
	}
	return nil
}

// positional offers values of an argument.
func (l *completedLine) positional(ctx context.Context, node *kong.Node, p *kong.Positional) error {
	if p.Enum != "" {
		l.offerNames(p.EnumSlice())
		return nil
	}
	switch path := strings.TrimPrefix(node.Path(), "hexmage "); path + " " + p.Name {
	case "show address":
		all, err := l.a.explainables(ctx)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(all, func(x explainable) bool { return x.word == l.arguments["what"][0] }); i >= 0 {
			l.offers = append(l.offers, all[i].names...)
			return nil
		}
		l.steps()
	case "show what":
		all, err := l.a.explainables(ctx)
		if err != nil {
			return err
		}
		l.pipelines()
		l.add("module", "a module, by its name or folder")
		l.add(allKinds, "all kinds of step")
		l.add(allFacts, "all SoCs, archs, releases, rules and failures")
		for _, x := range all {
			l.add(x.word, x.means)
		}
	case "lock what", "env names":
		l.pipelines()
		return l.toolchains()
	case "toolchain list names", "toolchain fetch names", "toolchain path name":
		return l.toolchains()
	case "toolchain verify what":
		l.files = true
		return l.toolchains()
	case "help command":
		for _, word := range l.arguments["command"] {
			i := slices.IndexFunc(node.Parent.Children, func(c *kong.Node) bool { return c.Name == word })
			if i < 0 {
				return nil
			}
			node = &kong.Node{Parent: node.Parent.Children[i]}
		}
		l.commands(node.Parent)
	default:
		switch p.Name {
		case "pipeline", "pipelines":
			l.pipelines()
		case "steps", "step":
			l.steps()
		default:
			l.files = true
		}
	}
	return nil
}

func (l *completedLine) pipelines() {
	for _, name := range l.a.pipelines() {
		means := ""
		if cfg, _ := l.a.skeleton(name); cfg != nil {
			means = cfg.Description
		}
		l.add(name, means)
	}
}

func (l *completedLine) toolchains() error {
	d, err := l.a.domain()
	if err != nil {
		return err
	}
	l.offers = append(l.offers, d.toolchainOffers()...)
	return nil
}

// pipeline returns the pipeline of the line, or nil if the line names none or the pipeline cannot be read.
func (l *completedLine) pipeline() *config.Pipeline {
	for _, argument := range []string{"pipeline", "what"} {
		if given := l.arguments[argument]; len(given) > 0 {
			cfg, _ := l.a.skeleton(given[0])
			return cfg
		}
	}
	return nil
}

func (l *completedLine) profiles() {
	cfg := l.pipeline()
	if cfg == nil {
		l.offerNames([]string{toolchains.ProfileEmulator, toolchains.ProfileSimulated, "device"})
		return
	}
	for _, p := range cfg.Profiles {
		l.add(p.Name, p.Description)
	}
}

// steps offers the addresses of the pipeline's steps and toolchains in the profile, including those of modules.
func (l *completedLine) steps() {
	cfg := l.pipeline()
	if cfg == nil {
		return
	}
	eachModule("", cfg.Module, l.a.profileOf(cfg.Module), func(at string, p config.ProfileBlocks) {
		for _, b := range slices.Concat(p.Steps, p.Toolchains) {
			if !off(b.When, p) {
				l.add(at+b.At.Short(), b.Description)
			}
		}
	})
}
