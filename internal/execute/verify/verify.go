// Package verify runs actions twice and tells whether their outputs are the same, and if not, in what they differ:
// which section of an ELF file, which member of an archive, which line of a text, and the usual reason. One enters it
// with New, an execute.Executor around another. It does not know what a step or a plan is, and takes what a file is
// from its bytes, which may be anything.
package verify

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/store"
)

type stepName struct{ step, name string }

// Options are what New needs.
type Options struct {
	Next   execute.Executor       // executes and remembers
	Again  execute.Executor       // executes and remembers nothing
	Store  store.Blobs            // has the outputs of both
	Roots  string                 // a folder that all exec roots are below, of earlier processes too
	Select func(step string) bool // which steps are verified; nil: all
}

// New returns an Executor that runs each action once more than needed and compares what the two runs left, bit by bit:
// an action whose result is known is run once, another twice. What the cache knows stays as it is, and it is what
// Execute returns.
func New(o Options) *Verifier {
	return &Verifier{o: o, found: map[stepName]event.ActionVerified{}}
}

// Verifier is what New returns.
type Verifier struct {
	o Options

	mu    sync.Mutex
	found map[stepName]event.ActionVerified
	sum   event.VerifyFinished
}

// Take returns what came of verifying the step's action, once; false if it was not to be verified or did not run.
func (v *Verifier) Take(step, name string) (event.ActionVerified, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e, ok := v.found[stepName{step, name}]
	delete(v.found, stepName{step, name})
	return e, ok
}

// Summary returns how many actions had which verdict so far.
func (v *Verifier) Summary() event.VerifyFinished {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.sum
}

func (v *Verifier) record(s stepName, e event.ActionVerified) {
	e.Step, e.Name = s.step, s.name
	v.mu.Lock()
	defer v.mu.Unlock()
	v.found[s] = e
	switch e.Verdict {
	case event.Same:
		v.sum.Same++
	case event.Different:
		v.sum.Different++
	case event.Declared:
		v.sum.Declared++
	default:
		v.sum.Unverified++
	}
}

// selected tells whether the action is to be verified.
func (v *Verifier) selected(a *execute.Request) (stepName, bool) {
	return stepName{a.Step, a.Name}, v.o.Select == nil || v.o.Select(a.Step)
}

// unverifiable says why the action cannot be run twice and compared, or "".
func unverifiable(a *action.Action) string {
	executor := a.Command.Platform[action.PropertyExecutor]
	switch {
	case executor != "" && executor != action.ExecutorLocal:
		return "it runs on a " + executor + ", where no two runs are alike"
	case a.DoNotCache:
		return "it may do something else each time (cache = false)"
	case a.Command.Platform[action.PropertyEffects] != "":
		return "it has effects beside its outputs (cache = \"inputs\")"
	case len(a.Command.Outputs) == 0:
		return "it has no outputs"
	}
	return ""
}

// Execute implements Executor.
func (v *Verifier) Execute(ctx context.Context, a *execute.Request) (*action.Result, error) {
	s, ok := v.selected(a)
	if !ok {
		return v.o.Next.Execute(ctx, a)
	}
	if reason := unverifiable(a.Action); reason != "" {
		r, err := v.o.Next.Execute(ctx, a)
		if err == nil {
			v.record(s, event.ActionVerified{Verdict: event.Unverified, Reason: reason, Known: r.Cached})
		}
		return r, err
	}
	first, known, err := execute.Lookup(ctx, v.o.Next, a)
	switch {
	case err != nil:
	case known:
		err = a.Begin() // whoever watches sees it run
	default:
		first, err = v.o.Next.Execute(ctx, a)
	}
	if err != nil {
		return nil, err
	}
	if !a.Succeeded(first.ExitCode) {
		v.record(s, event.ActionVerified{Verdict: event.Unverified, Reason: fmt.Sprintf("it ended with exit code %d, and is not remembered", first.ExitCode)})
		return first, nil
	}
	a.Report(0, 0, "runs again, to compare")
	second, err := v.o.Again.Execute(ctx, a)
	if err != nil {
		return nil, err
	}
	c := comparer{blobs: v.o.Store, roots: v.o.Roots, varies: a.Varies, all: second.Varies}
	if err := c.results(ctx, first, second); err != nil {
		return nil, &execute.Error{Op: "compare the outputs of two runs", Err: err}
	}
	e := event.ActionVerified{Verdict: event.Same, Known: known, Differences: c.found, More: c.more}
	if len(c.found) > 0 {
		e.Verdict = event.Declared
		if c.wrong > 0 {
			e.Verdict = event.Different
		}
	}
	v.record(s, e)
	own := *first
	own.Cached = false // it did run, if not for the outputs
	if known {
		own.Duration, own.Worker = second.Duration, second.Worker
	}
	return &own, nil
}

// cause is a typical reason why two runs differ, and what it looks like near the first difference.
type cause struct {
	pattern string
	hint    string
}

// A date needs more than digits to be one; a time in seconds has the ten digits of this decade and the next.
func typical() []cause {
	return []cause{
		{`\b(19|20)\d\d-[01]\d-[0-3]\d|\b[0-2]\d:[0-5]\d:[0-5]\d([.,]\d+)?\b|\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ 0-3]\d\b`,
			"a date or time of day: take it out, or set SOURCE_DATE_EPOCH in the step's env where the tool heeds it"},
		{`\b(1[7-9]|20)\d{8}([.]?\d{3,9})?\b`, "the time in seconds since 1970: take it out, or set SOURCE_DATE_EPOCH"},
		{`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`, "a random identifier (UUID): give the tool a fixed one or a seed"},
		{`/tmp/[^\s"'\x00]*\.[A-Za-z0-9_]{6,}`, "the name of a temporary file"},
	}
}

// causes guesses from what is around the first difference of both files. A cause counts when both have it, with
// another text.
func causes(a, b []byte, roots string) []string {
	var hints []string
	if p := []byte(roots); len(p) > 1 && bytes.Contains(a, p) && bytes.Contains(b, p) {
		hints = append(hints, "the path of the exec root, which is another each time: have the tool write relative paths "+
			"(compilers: -ffile-prefix-map=$HEXMAGE_ROOT=.)")
	}
	for _, c := range typical() {
		re := regexp.MustCompile(c.pattern)
		x, y := re.FindAll(a, -1), re.FindAll(b, -1)
		if len(x) > 0 && len(y) > 0 && !slices.EqualFunc(x, y, bytes.Equal) {
			hints = append(hints, c.hint)
		}
	}
	if len(hints) == 0 && digitsOnly(a, b) {
		hints = append(hints, "only digits differ: a time, a process id, a counter or a random number")
	}
	return hints
}

// digitsOnly tells whether the two are the same once their numbers are taken out.
func digitsOnly(a, b []byte) bool {
	const digits = "0123456789"
	drop := func(r rune) rune {
		if strings.ContainsRune(digits, r) {
			return -1
		}
		return r
	}
	x, y := bytes.Map(drop, a), bytes.Map(drop, b)
	n := min(len(x), len(y)) // a window ends somewhere
	return len(x) < len(a) && len(a)-len(x) < 256 && n >= 0 && bytes.Equal(x[:n], y[:n]) && max(len(x), len(y))-n < 32
}

// maxSorted is the most lines of a file that are sorted to see whether only their order differs.
const maxSorted = 1_000_000

// orderHint tells when two texts have the same lines in another order.
func orderHint(a, b []byte) []string {
	if len(a) != len(b) || !isText(a) || bytes.Count(a, []byte("\n")) > maxSorted {
		return nil
	}
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	if len(x) != len(y) || len(x) < 3 {
		return nil
	}
	slices.SortFunc(x, bytes.Compare)
	slices.SortFunc(y, bytes.Compare)
	if !slices.EqualFunc(x, y, bytes.Equal) {
		return nil
	}
	return []string{fmt.Sprintf("the same %d lines in another order: sort them (folders list their files in any order)", len(x)-1)}
}
