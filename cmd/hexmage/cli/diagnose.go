package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/patches"
	"github.com/hexmage/hexmage/runner/diagnose"
	"github.com/hexmage/hexmage/steps/failures"
)

// diagnoseCmd is `hexmage diagnose FILE|-`.
type diagnoseCmd struct {
	File string `arg:"" help:"A log of a compiler, a tool, a run or logcat; - is standard input."`
}

// Help has the examples of `hexmage diagnose --help`.
func (*diagnoseCmd) Help() string {
	return `It looks for failures that are known, and tells the one that explains the others first: cause, remedy, the line that
shows it, what its codes mean. Lines that look like errors and are known to mean nothing are counted only. A step that
fails is diagnosed like this by itself. docs/diagnosis.md lists what is known; files diagnosis/*.hcl of a workspace add to it.

Exit code: 0 nothing, or noise and warnings only; 1 a failure shows, known or not.

Examples:

    hexmage diagnose build.log
    adb logcat -d | hexmage diagnose -
    hexmage diagnose run.log --json | jq -r '.findings[0].remedy'
    hexmage show error 0x80000406                      what a code of QNN, FastRPC or Windows means`
}

// Run diagnoses.
func (c *diagnoseCmd) Run(_ context.Context, a *app) error {
	cat, err := a.failures(a.here())
	if err != nil {
		return err
	}
	in, name := a.Env.Stdin, "standard input"
	if c.File != "-" {
		name = absolute(a.WorkDir, c.File)
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return usageError("there is no file %s: name a log file, or - for standard input", c.File)
		}
		if err != nil {
			return usageError("%w", err)
		}
		defer f.Close()
		in = f
	}
	r, err := read(cat, in)
	if err != nil {
		return engineError(fmt.Errorf("read %s: %w", name, err))
	}
	if a.JSON {
		err = a.printJSON(struct {
			Format string `json:"format"`
			*diagnose.Report
		}{"hexmage-diagnosis/0", r})
	} else {
		a.printReport(r)
	}
	if err == nil && wrong(r) {
		return &exitError{Code: ExitFailed}
	}
	return err
}

// wrong tells whether the report has more than warnings.
func wrong(r *diagnose.Report) bool {
	return len(r.Unknown) > 0 ||
		slices.ContainsFunc(r.Findings, func(f diagnose.Finding) bool { return !f.Entry.Warning() })
}

// printReport tells people: the first finding whole, the others shorter.
func (a *app) printReport(r *diagnose.Report) {
	w := a.Env.Stdout
	for i, f := range r.Distinct() {
		switch i {
		case 0:
			fmt.Fprintf(w, "%s\n\n  remedy   %s\n  seen     line %d: %s\n", f.Cause, indented(f.Remedy), f.Number,
				f.Text)
			for _, c := range f.Codes {
				fmt.Fprintf(w, "  code     %s\n", c)
			}
			fmt.Fprintf(w, "  known    %s (%s)\n", f.ID, f.Source)
			continue
		case 1:
			fmt.Fprint(w, "\nAlso, probably since the first failed:\n\n")
		}
		fmt.Fprintf(w, "  line %-5d %s: %s\n", f.Number, f.ID, f.Cause)
		if f.Entry.Rank == diagnose.Cause && !f.Explained {
			fmt.Fprintf(w, "  %10s remedy: %s\n", "", f.Remedy)
		}
	}
	if len(r.Unknown) > 0 {
		fmt.Fprint(w, "\nLines that look like errors and are in no catalogue:\n\n"[btoi(len(r.Findings) == 0):])
		for _, l := range r.Unknown {
			fmt.Fprintf(w, "  line %-5d %s\n", l.Number, l.Text)
			for _, c := range l.Codes {
				fmt.Fprintf(w, "  %10s %s\n", "", c)
			}
		}
		if r.More > 0 {
			fmt.Fprintf(w, "  and %d more\n", r.More)
		}
	}
	if r.Clean() {
		fmt.Fprintf(w, "No failure shows in %d lines.\n", r.Lines)
	} else {
		fmt.Fprintf(w, "\n%d lines.\n", r.Lines)
	}
	if r.Benign > 0 {
		fmt.Fprintf(w, "%d of them look like errors and are known to mean nothing.\n", r.Benign)
	}
	if r.Skipped > 0 {
		fmt.Fprintf(w, "%d lines were not looked at: the log is very long.\n", r.Skipped)
	}
}

func indented(s string) string { return strings.ReplaceAll(s, "\n", "\n           ") }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// failures reads the catalogue of failures, with the workspace's own files on top.
func (a *app) failures(workspace string) (*diagnose.Catalogue, error) {
	files, err := dataFiles(rooted.FS(workspace), workspace, failures.Dir)
	if err != nil {
		return nil, err
	}
	cat, diags := failures.Load(files)
	if diags.HasErrors() {
		return nil, a.printData(diags, workspace, files)
	}
	return cat, nil
}

// maxSource is how much of a compiler's output is searched for renamed calls, in bytes.
const maxSource = 4 << 20

// renamed is the failure whose remedy the rename rules know better.
const renamed = "qnn-api-renamed"

// read diagnoses what in gives. What rename rules say about a compile error takes the place of the catalogue's
// remedy.
func read(cat *diagnose.Catalogue, in io.Reader) (*diagnose.Report, error) {
	var head bytes.Buffer
	r, err := cat.Read(io.TeeReader(in, &capped{&head}))
	for i := range r.Findings {
		if f := &r.Findings[i]; f.ID == renamed {
			var rules []string
			for _, h := range patches.Diagnose(head.String()) {
				rules = append(rules, h.String())
			}
			if len(rules) > 0 {
				f.Remedy = strings.Join(rules, "\n")
			}
		}
	}
	return r, err
}

// capped keeps the first maxSource bytes.
type capped struct{ *bytes.Buffer }

// Write never fails.
func (c *capped) Write(p []byte) (int, error) {
	c.Buffer.Write(p[:min(len(p), maxSource-c.Len())])
	return len(p), nil
}

// diagnosing adds to each failed action's hints what the catalogue says of its output. Every step is diagnosed here,
// whatever its kind, and whether it was planned or remembered.
type diagnosing struct {
	next event.Sink
	cat  func() (*diagnose.Catalogue, error)
}

// diagnosed returns a Sink that passes events on to next, failures with a diagnosis.
func (a *app) diagnosed(workspace string, next event.Sink) event.Sink {
	return &diagnosing{next: &dedupFailures{next: next},
		cat: sync.OnceValues(func() (*diagnose.Catalogue, error) { return a.failures(workspace) })}
}

func (d *diagnosing) Send(e event.Event) {
	if n, ok := e.(event.ActionFinished); ok && n.Failure != nil {
		if cat, err := d.cat(); err == nil { // what is wrong with the catalogue was printed
			f := *n.Failure
			f.Hints = slices.Concat(diagnosis(cat, &f), f.Hints)
			n.Failure = &f
			e = n
		}
	}
	d.next.Send(e)
}

// diagnosis is what the catalogue says of a failure: of all that was printed, else of the summary, unless somebody
// has a hint for that.
func diagnosis(cat *diagnose.Catalogue, f *event.Failure) []string {
	r := &diagnose.Report{}
	if log, err := os.Open(f.Log); err == nil {
		defer log.Close()
		if r, err = read(cat, log); err != nil {
			return nil
		}
	} else if r, err = read(cat, strings.NewReader(f.Output)); err != nil {
		return nil
	}
	// A kind may have found the same by itself.
	own := strings.Join(f.Hints, "\n")
	if len(r.Findings) > 0 && strings.Contains(own, r.Findings[0].Remedy) {
		return nil
	}
	if strings.Contains(own, local.NetworkHint) { // so the machine may well have one
		r.Findings = slices.DeleteFunc(r.Findings,
			func(f diagnose.Finding) bool { return f.ID == "fetch-no-network" || f.ID == "ssh-no-network" })
	}
	if hints := r.Hints(); len(hints) > 0 || len(f.Hints) > 0 {
		return hints
	}
	said := cat.Text([]byte(f.Summary))
	for i := range said.Findings {
		said.Findings[i].Line = diagnose.Line{} // it is shown already
	}
	hints := said.Hints()
	if len(hints) > 0 || len(r.Unknown) == 0 {
		return hints
	}
	u := r.Unknown[0]
	if !slices.ContainsFunc(cat.Text([]byte(f.Output)).Unknown,
		func(l diagnose.Line) bool { return l.Text == u.Text }) {
		hints = []string{fmt.Sprintf("the first line that looks like an error is line %d: %s", u.Number, u.Text)}
	}
	return hints
}

// dedupFailures has the errors of a source shown once, and not again for every target that it is compiled for: the
// failures after the first say only which they are.
type dedupFailures struct {
	next  event.Sink
	shown map[string]string // step and errors: the action that had them first
}

func (o *dedupFailures) Send(e event.Event) {
	if n, ok := e.(event.ActionFinished); ok && n.Failure != nil {
		if errs := oppackage.Fingerprint(n.Failure.Output); errs != "" {
			key := n.Step + "\n" + errs
			if first, ok := o.shown[key]; ok {
				f := *n.Failure
				first, _, _ = strings.Cut(first, "/")
				f.Output = fmt.Sprintf("the same errors as for %s: %s", first, oppackage.Summary(n.Failure.Output))
				f.Hints, f.Source, f.Command = nil, nil, nil
				n.Failure = &f
				e = n
			} else {
				if o.shown == nil {
					o.shown = map[string]string{}
				}
				o.shown[key] = n.Name
			}
		}
	}
	o.next.Send(e)
}
