package measure

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/hexmage/hexmage/internal/boundedfile"
)

// MetricsVersion is the behaviour version of the tool metrics.
const MetricsVersion = "8"

// maxFile bounds what a device may have printed or written, in bytes.
const maxFile = 64 << 20

// tokens is what a runner and the reference write.
type tokens struct {
	Prompt []int  `json:"prompt_tokens"`
	Tokens []int  `json:"tokens"`
	Text   string `json:"text"`
}

// Metrics is the tool metrics: it reads what a run printed and compares its tokens with a reference's. Different tokens
// are a failure: then the run's numbers mean nothing.
func Metrics(_ context.Context, args []string, _ io.Reader, _, stderr io.Writer) int {
	f := flag.NewFlagSet("metrics", flag.ContinueOnError)
	f.SetOutput(stderr)
	var stdout list
	f.Var(&stdout, "stdout", "what the runner printed; once for each repetition, in their order")
	samples := f.String("samples", "", "samples.json of the run")
	warmup := f.Int("warmup", 0, "how many of the first repetitions are not counted")
	printed := f.String("printed", "", "file to write what all runs printed to")
	specFile := f.String("spec", "", "what is looked for and compared, as JSON: see Spec")
	before := f.String("previous", "", "what this tool wrote for an earlier run")
	got := f.String("tokens", "", "tokens.json of the run")
	want := f.String("expect", "", "tokens.json of the reference")
	out := f.String("out", "", "file to write")
	var t table
	f.StringVar(&t.Title, "title", "", "title of the table")
	f.StringVar(&t.Profile, "profile", "", "profile of the run")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	spec, err := readSpec(*specFile)
	if err != nil {
		fmt.Fprintln(stderr, "metrics:", err)
		return 1
	}
	for i, name := range stdout {
		spec.Runs = append(spec.Runs, Run{Repetition: i + 1, Stdout: name, Samples: *samples, Facts: spec.Facts, Tokens: *got, Expect: *want})
	}
	if len(spec.Runs) == 0 || *out == "" || (*got == "") != (*want == "") {
		fmt.Fprintln(stderr, "metrics: --stdout (or runs in --spec) and --out are needed; --tokens and --expect go together")
		return 2
	}
	err = t.measure(spec, *warmup, *before, *printed)
	if err == nil {
		err = t.sameTokens(spec.Runs)
	}
	if err != nil {
		fmt.Fprintln(stderr, "metrics:", err)
		return 1
	}
	b, err := json.MarshalIndent(t, "", "  ")
	if err == nil {
		err = os.WriteFile(*out, append(b, '\n'), 0o644)
	}
	if err != nil {
		fmt.Fprintln(stderr, "metrics:", err)
		return 1
	}
	for _, bad := range t.breaches {
		fmt.Fprintln(stderr, "metrics:", bad)
	}
	if len(t.breaches) > 0 {
		return 1
	}
	return 0
}

// sameTokens compares the tokens of the runs with those of their references.
func (t *table) sameTokens(runs []Run) error {
	compared, tokens := 0, 0
	for _, r := range runs {
		if r.Tokens == "" {
			continue
		}
		n, err := sameTokens(r.Tokens, r.Expect)
		if err != nil && len(runs) > 1 {
			err = fmt.Errorf("%s: %w", r, err)
		}
		if err != nil {
			return err
		}
		compared, tokens = compared+1, n
	}
	switch {
	case compared == 1:
		t.Rows = append(t.Rows, row{Name: "tokens_equal_reference", Label: "tokens as the reference", Value: fmt.Sprintf("%d of %d", tokens, tokens)})
	case compared > 1:
		t.Rows = append(t.Rows, row{Name: "tokens_equal_reference", Label: "tokens as the reference", Value: fmt.Sprintf("%d of %d", compared, compared), Unit: "runs"})
	}
	return nil
}

// sameTokens compares the tokens of one run, and returns how many there are.
func sameTokens(got, want string) (int, error) {
	g, err := readTokens(got)
	if err != nil {
		return 0, err
	}
	w, err := readTokens(want)
	if err != nil {
		return 0, err
	}
	if !slices.Equal(g.Prompt, w.Prompt) {
		return 0, fmt.Errorf("the device read the prompt as tokens %v, the reference as %v: the tokenizers disagree", g.Prompt, w.Prompt)
	}
	if !slices.Equal(g.Tokens, w.Tokens) {
		n := 0
		for n < len(g.Tokens) && n < len(w.Tokens) && g.Tokens[n] == w.Tokens[n] {
			n++
		}
		return 0, fmt.Errorf("the device's tokens differ from the reference's from token %d on: device %v, reference %v", n, g.Tokens, w.Tokens)
	}
	return len(g.Tokens), nil
}

func readTokens(path string) (tokens, error) {
	b, err := boundedfile.Read(path, maxFile)
	if err != nil {
		return tokens{}, err
	}
	var t tokens
	if err := json.Unmarshal(b, &t); err != nil {
		return tokens{}, fmt.Errorf("%s: %w", path, err)
	}
	if len(t.Tokens) == 0 {
		return tokens{}, fmt.Errorf("%s has no tokens", path)
	}
	return t, nil
}
