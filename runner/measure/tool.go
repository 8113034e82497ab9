package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/runner/sample"
)

// Tool is the name and version of the metrics tool.
const Tool tool.Name[Spec] = "metrics/14"

// maxFile is the largest file of a run that is read, in bytes.
const maxFile = 64 << 20

// tokens is the file of a runner and of the reference.
type tokens struct {
	Prompt []int  `json:"prompt_tokens"`
	Tokens []int  `json:"tokens"`
	Text   string `json:"text"`
}

// Metrics reads the runs and compares their tokens with a reference's tokens. If the tokens differ, Metrics fails,
// because the measurements are meaningless.
func Metrics(_ context.Context, spec Spec, env tool.Env) error {
	half := func(r Run) bool { return (r.Tokens == "") != (r.Expect == "") }
	if len(spec.Runs) == 0 || spec.Out == "" || slices.ContainsFunc(spec.Runs, half) {
		return errors.New("\"runs\" and \"out\" are required; a run with \"tokens\" also needs \"expect\"")
	}
	t := table{Title: spec.Title, Profile: spec.Profile}
	err := t.measure(spec)
	if err == nil {
		err = t.sameTokens(spec.Runs)
	}
	if err != nil {
		return err
	}
	err = write(spec.Out, t)
	if err == nil && spec.Measured != "" {
		err = write(spec.Measured, t.measured)
	}
	if err != nil || len(t.breaches) == 0 {
		return err
	}
	for _, bad := range t.breaches {
		fmt.Fprintf(env.Stderr, "%s: %s\n", Tool, bad)
	}
	return tool.ErrSaid
}

func write(file string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
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
	if compared == 0 {
		return nil
	}
	n, unit := tokens, ""
	if compared > 1 {
		n, unit = compared, "runs"
	}
	t.Rows = append(t.Rows, row{
		Name: "tokens_equal_reference", Label: "tokens as the reference", Value: fmt.Sprintf("%d of %d", n, n), Unit: unit,
	})
	return nil
}

// sameTokens compares the tokens of one run, and returns their number.
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
		text := "the device read the prompt as tokens %v, the reference as %v: the tokenizers disagree"
		return 0, fmt.Errorf(text, g.Prompt, w.Prompt)
	}
	if !slices.Equal(g.Tokens, w.Tokens) {
		n := 0
		for n < len(g.Tokens) && n < len(w.Tokens) && g.Tokens[n] == w.Tokens[n] {
			n++
		}
		text := "the device's tokens differ from the reference's from token %d on: device %v, reference %v"
		return 0, fmt.Errorf(text, n, g.Tokens, w.Tokens)
	}
	return len(g.Tokens), nil
}

func readTokens(path string) (*tokens, error) {
	t, err := readJSON[tokens](path)
	if err == nil && len(t.Tokens) == 0 {
		err = fmt.Errorf("%s: the list of tokens is empty", path)
	}
	return t, err
}

// sampleLabel returns a readable name of a sampled metric.
func sampleLabel(name string) (string, bool) {
	if !isSampled(name) {
		return "", false
	}
	short := strings.NewReplacer("rss", "RSS", "pss", "PSS", "cpu", "CPU", "gpu", "GPU", "dmabuf", "DMA buffers",
		"mem_available_drop", "drop of available memory", "_", " ")
	return short.Replace(name), true
}

// isSampled reports whether a metric comes from samples.
func isSampled(name string) bool { return slices.Contains(sample.SummaryNames(), name) }

// warnOnce adds a warning that several runs may share.
func (t *table) warnOnce(note string) {
	if note != "" && !slices.Contains(t.Warnings, note) {
		t.Warnings = append(t.Warnings, note)
	}
}
