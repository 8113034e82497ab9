package runtool

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/runner"
)

// MetricsVersion is the behaviour version of the tool metrics.
const MetricsVersion = "3"

// maxFile bounds what a device may have printed or written, in bytes.
const maxFile = 64 << 20

// tokens is what a runner and the reference write.
type tokens struct {
	Prompt []int  `json:"prompt_tokens"`
	Tokens []int  `json:"tokens"`
	Text   string `json:"text"`
}

// table is what a report shows of a run: report.Table, as this tool writes it.
type table struct {
	Title   string `json:"title"`
	Profile string `json:"profile"`
	Note    string `json:"note,omitempty"`
	Rows    []row  `json:"rows"`
}

type row struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Value any    `json:"value"`
	Unit  string `json:"unit,omitempty"`
}

// label spells a metric's name for people: "prefill_tokens_per_s" is "prefill speed".
func label(name string) string {
	for suffix, word := range map[string]string{"_tokens_per_s": " speed", "_time_us": " time"} {
		if phase, ok := strings.CutSuffix(name, suffix); ok {
			return phase + word
		}
	}
	return strings.ReplaceAll(name, "_", " ")
}

// Metrics is the tool metrics: it reads what a run printed and compares its tokens with a reference's. Different tokens
// are a failure: then the run's numbers mean nothing.
func Metrics(_ context.Context, args []string, _ io.Reader, _, stderr io.Writer) int {
	f := flag.NewFlagSet("metrics", flag.ContinueOnError)
	f.SetOutput(stderr)
	stdout := f.String("stdout", "", "what the runner printed")
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
	if *stdout == "" || *out == "" || (*got == "") != (*want == "") {
		fmt.Fprintln(stderr, "metrics: --stdout and --out are needed; --tokens and --expect go together")
		return 2
	}
	if err := t.fill(*stdout, *got, *want); err != nil {
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
	return 0
}

func (t *table) fill(stdout, got, want string) error {
	printed, err := readFile(stdout)
	if err != nil {
		return err
	}
	t.Rows = []row{}
	for _, m := range runner.ParseMetrics(printed) {
		t.Rows = append(t.Rows, row{m.Name, label(m.Name), m.Value, m.Unit})
	}
	switch {
	case len(t.Rows) == 0:
		t.Note = "The runner printed no performance summary."
	case t.Profile == "open":
		t.Note = "Measured on the emulated phone of the open stand-in, under qemu: not a phone's speed."
	}
	if got == "" {
		return nil
	}
	g, err := readTokens(got)
	if err != nil {
		return err
	}
	w, err := readTokens(want)
	if err != nil {
		return err
	}
	if !slices.Equal(g.Prompt, w.Prompt) {
		return fmt.Errorf("the device read the prompt as tokens %v, the reference as %v: the tokenizers disagree", g.Prompt, w.Prompt)
	}
	if !slices.Equal(g.Tokens, w.Tokens) {
		n := 0
		for n < len(g.Tokens) && n < len(w.Tokens) && g.Tokens[n] == w.Tokens[n] {
			n++
		}
		return fmt.Errorf("the device's tokens differ from the reference's from token %d on: device %v, reference %v", n, g.Tokens, w.Tokens)
	}
	t.Rows = append(t.Rows, row{"tokens_equal_reference", "tokens as the reference", fmt.Sprintf("%d of %d", len(g.Tokens), len(w.Tokens)), ""})
	return nil
}

func readTokens(path string) (tokens, error) {
	b, err := readFile(path)
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

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", path, maxFile)
	}
	return b, err
}
