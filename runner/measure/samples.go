package measure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/runner/agent"
)

// sampled reads the samples of a run: their summary as metrics, and what is wrong with them, which is no failure.
func sampled(file string) (found []Metric, note string, err error) {
	b, err := boundedfile.Read(file, maxFile)
	if err != nil {
		return nil, "", err
	}
	s, err := agent.ReadJSON(b)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", file, err)
	}
	for _, v := range s.Summary() {
		found = append(found, Metric(v))
	}
	return found, s.Note, nil
}

// sampleLabel spells the name of such a metric for people.
func sampleLabel(name string) (string, bool) {
	if !isSampled(name) {
		return "", false
	}
	short := strings.NewReplacer("rss", "RSS", "pss", "PSS", "cpu", "CPU", "gpu", "GPU", "dmabuf", "DMA buffers", "mem_available_drop", "drop of available memory", "_", " ")
	return short.Replace(name), true
}

// isSampled tells whether a metric comes from samples, and so says nothing of what the program printed.
func isSampled(name string) bool { return slices.Contains(agent.SummaryNames(), name) }

// warnOnce adds what is to be said of the samples, however many runs it is true of.
func (t *table) warnOnce(note string) {
	if note != "" && !slices.Contains(t.Warnings, note) {
		t.Warnings = append(t.Warnings, note)
	}
}
