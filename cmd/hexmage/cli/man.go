package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// manCmd is `hexmage man`.
type manCmd struct{}

// Help has the examples of `hexmage man --help`.
func (*manCmd) Help() string {
	return `Examples:

    hexmage man > hexmage.1 && man ./hexmage.1                     read it
    hexmage man > ~/.local/share/man/man1/hexmage.1                once; then: man hexmage`
}

// Run prints the manual page.
func (*manCmd) Run(_ context.Context, a *app) error {
	_, err := a.Env.Stdout.Write([]byte(manPage(newParser(new(commands), a.Env).Model)))
	return err
}

// manPage is the model of all commands as a page for man, in its language (man(7)).
func manPage(model *kong.Application) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH HEXMAGE 1\n.SH NAME\nhexmage \\- %s\n", roff(strings.TrimSuffix(strings.ToLower(model.Help[:1])+model.Help[1:], ".")))
	b.WriteString(".SH SYNOPSIS\n.B hexmage\nCOMMAND [ARGUMENT…] [FLAG…]\n")
	b.WriteString(".SH FLAGS OF EVERY COMMAND\n")
	manFlags(&b, model.Node)
	b.WriteString(".SH COMMANDS\n")
	for _, n := range model.Leaves(true) {
		fmt.Fprintf(&b, ".SS %s\n%s\n", roff(n.FullPath()+arguments(n)), roff(n.Help))
		for _, p := range n.Positional {
			fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", roff(p.Summary()), roff(p.Help))
		}
		manFlags(&b, n)
		if n.Detail != "" {
			fmt.Fprintf(&b, ".PP\n.nf\n%s\n.fi\n", roff(n.Detail))
		}
	}
	b.WriteString(".SH ENVIRONMENT\n")
	for _, v := range environment() {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(v.Name), roff(v.Doc))
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, e := range exitStatuses() {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", e.code, roff(e.doc))
	}
	return b.String()
}

// arguments are the names of a command's arguments.
func arguments(n *kong.Node) string {
	s := ""
	for _, p := range n.Positional {
		s += " " + p.Summary()
	}
	return s
}

func manFlags(b *strings.Builder, n *kong.Node) {
	for _, f := range n.Flags {
		if !f.Hidden {
			fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(f.String()), roff(f.Help))
		}
	}
}

// roff escapes a text: a backslash begins a command wherever it stands, a dot and an apostrophe at the beginning of a
// line; and a hyphen is a minus, which can be copied into a shell.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

type exitStatus struct {
	code int
	doc  string
}

// exitStatuses are what the exit codes mean, for people.
func exitStatuses() []exitStatus {
	return []exitStatus{
		{ExitOK, "done"},
		{ExitFailed, "a step failed"},
		{ExitUsage, "usage or configuration; of plan and preflight: it cannot run"},
		{ExitEngine, "engine or infrastructure, such as a network or a full disk"},
		{ExitLocked, "locked by another process"},
		{ExitCheck, "all steps are done, and a check failed"},
		{ExitInterrupted, "interrupted"},
	}
}
