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
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/patches"
	"github.com/hexmage/hexmage/runner/diagnose"
	"github.com/hexmage/hexmage/steps/failures"
)

// diagnoseCmd is `hexmage diagnose FILE|-`.
type diagnoseCmd struct {
	File string `arg:"" help:"Log of a tool, such as 'hexmage run', logcat or a compiler. Write - for standard input."`
}

// Help returns the examples of `hexmage diagnose --help`.
func (*diagnoseCmd) Help() string {
	return `Searches the log for known failures. For each failure, prints the cause, the remedy, the line in the
log, and the meaning of error codes. The first failure is the likely cause of the others. At the end, prints how many
lines look like errors but are harmless.

When a step fails, 'hexmage run' prints the same diagnosis. docs/diagnosis.md lists the known failures. To describe
failures of your own, add files such as diagnosis/own.hcl to the workspace.

Exits with 1 if the log contains a failure, else with 0.

Examples:

    hexmage diagnose build.log                                      a log file
    adb logcat -d | hexmage diagnose -                              the log of a phone

    hexmage diagnose run.log --json | jq -r '.findings[0].remedy'   only the remedy
    hexmage show error 0x80000406                                   the meaning of an error code, without a log`
}

// Run diagnoses a log.
func (c *diagnoseCmd) Run(_ context.Context, a *app) error {
	cat, err := a.failures()
	if err != nil {
		return err
	}
	in, name := a.Env.Stdin, "standard input"
	if c.File != "-" {
		name = absolute(a.WorkDir, c.File)
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return usageError("no such file: %s; give a log file, or - for standard input", c.File)
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
	var text strings.Builder
	writeReport(&text, r)
	err = a.show(struct {
		Format string `json:"format"`
		*diagnose.Report
	}{"hexmage-diagnosis/0", r}, "%s", &text)
	if err == nil && (len(r.Unknown) > 0 ||
		slices.ContainsFunc(r.Findings, func(f diagnose.Finding) bool { return !f.Entry.Warning() })) {
		return &exitError{Code: ExitFailed} // if there is an error among the findings
	}
	return err
}

// writeReport prints the first finding completely, the others briefly.
func writeReport(w io.Writer, r *diagnose.Report) {
	for i, f := range r.Distinct() {
		switch i {
		case 0:
			fmt.Fprintf(w, "%s\n\n  remedy   %s\n  seen     line %d: %s\n", f.Cause,
				strings.ReplaceAll(f.Remedy, "\n", "\n           "), f.Number, f.Text)
			for _, c := range f.Codes {
				fmt.Fprintf(w, "  code     %s\n", c)
			}
			fmt.Fprintf(w, "  known    %s (%s)\n", f.ID, f.Source)
			continue
		case 1:
			fmt.Fprint(w, "\nFurther failures, probably consequences of the first:\n\n")
		}
		fmt.Fprintf(w, "  line %-5d %s: %s\n", f.Number, f.ID, f.Cause)
		if f.Entry.Rank == diagnose.Cause && !f.Explained {
			fmt.Fprintf(w, "  %10s remedy: %s\n", "", f.Remedy)
		}
	}
	if len(r.Unknown) > 0 {
		fmt.Fprint(w, "\nUnknown lines that look like errors:\n\n"[btoi(len(r.Findings) == 0):])
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
		fmt.Fprintf(w, "No failure in %d lines.\n", r.Lines)
	} else {
		fmt.Fprintf(w, "\n%d lines.\n", r.Lines)
	}
	if r.Benign > 0 {
		fmt.Fprintf(w, "%d lines look like errors but are harmless.\n", r.Benign)
	}
	if r.Skipped > 0 {
		fmt.Fprintf(w, "The log is too long; hexmage skipped %d lines.\n", r.Skipped)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// failures returns the catalog of failures with the workspace's own files.
func (a *app) failures() (*diagnose.Catalog, error) {
	files, err := a.dataFiles(failures.Dir)
	if err != nil {
		return nil, err
	}
	cat, diags := failures.Load(files)
	if diags.HasErrors() {
		return nil, a.printData(diags, a.here(), files)
	}
	return cat, nil
}

// maxSource is the searched part of a compiler's output, in bytes.
const maxSource = 4 << 20

// renamed is the failure for which rename rules have a better remedy.
const renamed = "qnn-api-renamed"

// read diagnoses a log. For a compile error, the remedy of rename rules replaces the catalog's.
func read(cat *diagnose.Catalog, in io.Reader) (*diagnose.Report, error) {
	head, err := io.ReadAll(io.LimitReader(in, maxSource))
	if err != nil {
		return &diagnose.Report{}, err
	}
	r, err := cat.Read(io.MultiReader(bytes.NewReader(head), in))
	for i := range r.Findings {
		if f := &r.Findings[i]; f.ID == renamed {
			var rules []string
			for _, h := range patches.Diagnose(string(head)) {
				rules = append(rules, h.String())
			}
			if len(rules) > 0 {
				f.Remedy = strings.Join(rules, "\n")
			}
		}
	}
	return r, err
}

// diagnosing adds the catalog's findings to the hints of each failed action, for all kinds and also for steps from the
// state file. Errors of a source are shown once, not for each target of the compilation: later failures only name them.
type diagnosing struct {
	next  event.Sink
	cat   func() (*diagnose.Catalog, error)
	shown map[string]string // step and errors: the first action with them
}

// diagnosed returns a Sink that passes events on to next, and adds diagnoses to failures.
func (a *app) diagnosed(next event.Sink) event.Sink {
	return &diagnosing{next: next, cat: sync.OnceValues(a.failures), shown: map[string]string{}}
}

func (d *diagnosing) Send(e event.Event) {
	if n, ok := e.(event.ActionFinished); ok && n.Failure != nil {
		f := *n.Failure
		n.Failure = &f
		errs := oppackage.Fingerprint(f.Output)
		key := n.Step + "\n" + errs
		if first, ok := d.shown[key]; ok && errs != "" {
			first, _, _ = strings.Cut(first, "/")
			f.Output = fmt.Sprintf("same errors as in %s: %s", first, oppackage.Summary(f.Output))
			f.Hints, f.Source, f.Command = nil, nil, nil
		} else if cat, err := d.cat(); err == nil { // errors of the catalog were printed
			f.Hints = slices.Concat(diagnosis(cat, &f), f.Hints)
		}
		if _, ok := d.shown[key]; !ok {
			d.shown[key] = n.Name
		}
		e = n
	}
	d.next.Send(e)
}

// diagnosis returns the catalog's findings for a failure: from its output, else from its summary if the failure has no
// hints.
func diagnosis(cat *diagnose.Catalog, f *event.Failure) []string {
	r := &diagnose.Report{}
	if log, err := os.Open(f.Log); err == nil {
		defer log.Close()
		if r, err = read(cat, log); err != nil {
			return nil
		}
	} else if r, err = read(cat, strings.NewReader(f.Output)); err != nil {
		return nil
	}
	// A kind may have found the same failure.
	own := strings.Join(f.Hints, "\n")
	if len(r.Findings) > 0 && strings.Contains(own, r.Findings[0].Remedy) {
		return nil
	}
	if strings.Contains(own, local.NetworkHint) { // the action had no network: the machine may have one
		r.Findings = slices.DeleteFunc(r.Findings,
			func(f diagnose.Finding) bool { return f.ID == "fetch-no-network" || f.ID == "ssh-no-network" })
	}
	if strings.Contains(own, local.InputHint) { // says more than that a file is missing
		r.Findings = slices.DeleteFunc(r.Findings, func(f diagnose.Finding) bool { return f.ID == "file-missing" })
	}
	if hints := r.Hints(); len(hints) > 0 || len(f.Hints) > 0 {
		return hints
	}
	said := cat.Text([]byte(f.Summary))
	for i := range said.Findings {
		said.Findings[i].Line = diagnose.Line{} // the summary is shown already
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
