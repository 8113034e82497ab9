package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/model/fit"
	"github.com/hexmage/hexmage/qnn"
)

// fitCmd is `hexmage fit MODEL --soc NAME`.
type fitCmd struct {
	Model     string  `arg:"" help:"A folder in the Hugging Face layout, or a GGUF: of Llama, Qwen2 or Qwen3 architecture. Of a folder config.json is enough. No weights are read."`
	Scheme    string  `enum:"a16w8,a16w4,lpbq" default:"a16w8" help:"How it is quantised: a16w8, a16w4 or lpbq."`
	BlockSize int64   `default:"32" placeholder:"N" help:"Inputs that share a scale, of lpbq."`
	Chunk     int64   `default:"32" placeholder:"N" help:"Tokens that prefill takes at once."`
	Context   int64   `default:"256" placeholder:"N" help:"Tokens that the cache holds: prompt and answer together."`
	KV        string  `name:"kv" enum:"uint8,uint16,float16" default:"uint16" help:"Type of the key/value cache: uint8, uint16 or float16."`
	Splits    int64   `placeholder:"N" help:"Contexts that the layers are cut into. Default: as few as fit."`
	Embedding string  `enum:"inside,outside" default:"inside" help:"Whether the graphs look up embeddings (inside), or are given them (outside)."`
	Sharing   bool    `negatable:"" default:"true" help:"Whether prefill and decode share their weights in one context."`
	Bandwidth float64 `placeholder:"GB/s" help:"What the phone's memory gives. Default: what is known of the SoC."`
}

// Help has the examples of `hexmage fit --help`.
func (*fitCmd) Help() string {
	return `Reckons before anything is downloaded, quantised or compiled: the size of the contexts against what the target takes, in how many
parts they have to be split, the compiler's memory, the phone's, and the least time a token can take. docs/fit.md has the formulas, and how
near they were to what was compiled. Exit code 1 when it does not fit.

Examples:

    hexmage fit models/Qwen3-1.7B --soc SM8750
    hexmage fit models/Qwen3-1.7B --soc SM8750 --scheme lpbq --chunk 128 --context 4096 --kv uint8
    hexmage fit model.gguf --soc SM8550 --embedding outside --no-sharing
    hexmage fit models/Qwen3-4B --soc SM8850 --splits 2 --json
    hexmage fit models/Qwen3-0.6B --soc QCS8550 --bandwidth 51.2`
}

// Run reckons, and prints what came of it.
func (c *fitCmd) Run(_ context.Context, a *app) error {
	d, err := a.domain(a.here())
	if err != nil {
		return err
	}
	name, err := a.oneSoC("")
	if err != nil {
		return err
	}
	if name == "" {
		return usageError("what a model takes depends on what it is for: say the SoC, --soc SM8750; `hexmage " +
			"compat` lists them")
	}
	soc, err := d.catalogue().FindSoC(name)
	if err != nil {
		return usageError("%v", err)
	}
	m, err := fit.Read(absolute(a.WorkDir, c.Model))
	if err != nil {
		return usageError("%w", err)
	}
	known := fit.KnownOf(&d.catalogue().Facts, soc)
	if c.Bandwidth < 0 {
		return usageError("--bandwidth %g: how many GB/s the phone's memory gives", c.Bandwidth)
	}
	if c.Bandwidth > 0 {
		known.Bandwidth = fit.Fact{Value: 1e9 * c.Bandwidth, Sure: qnn.Declared, Source: "--bandwidth"}
	}
	e, err := fit.Of(m, fit.Way{Scheme: c.Scheme, BlockSize: c.BlockSize, Chunk: c.Chunk, Context: c.Context,
		KV: c.KV, Splits: c.Splits,
		Outside: c.Embedding == "outside", Sharing: c.Sharing}, known)
	if err != nil {
		return usageError("%w", err)
	}
	if a.JSON {
		err = a.printJSON(struct {
			SoC socRecord `json:"soc"`
			*fit.Estimate
			Facts map[string]fit.Fact `json:"facts"`
		}{recordOf(d.catalogue(), soc), e,
			map[string]fit.Fact{"vtcm": known.VTCM, "context": known.Context, "process": known.Process,
				"bandwidth": known.Bandwidth}})
	} else {
		a.printFit(soc, e, known)
	}
	if err == nil && slices.ContainsFunc(e.Findings,
		func(f fit.Finding) bool { return f.Severity == qnn.SeverityError }) {
		err = &exitError{Code: ExitFailed}
	}
	return err
}

// printFit prints an estimate for people.
func (a *app) printFit(soc *qnn.SoC, e *fit.Estimate, k fit.Known) {
	w, size := a.Env.Stdout, bytesize.Decimal
	m, way := e.Model, e.Way
	fmt.Fprintf(w, "%s: %d layers of %d, %s of %d tokens, %s parameters; from %s\n", a.painted("1", m.Architecture),
		m.Layers, m.Hidden, "a vocabulary", m.Vocabulary, short(m.Parameters()), m.From)
	fmt.Fprintf(w, "%s, Hexagon %s: %s, chunk %d, context %d, cache %s, embedding %s, %s\n\n",
		a.painted("1", soc.Name), soc.Arch, way.Scheme, way.Chunk, way.Context, way.KV,
		map[bool]string{false: "inside", true: "outside"}[way.Outside],
		map[bool]string{false: "weights in each context", true: "weights shared"}[way.Sharing])
	notes := &grounds{}
	limit := func(f fit.Fact, text string) string {
		if f.Value == 0 {
			return "not known"
		}
		return text + " " + notes.mark(f)
	}
	rows := [][]string{{"", "estimate", "limit", ""}}
	add := func(what, estimate, most, note string) { rows = append(rows, []string{what, estimate, most, note}) }
	for i, c := range e.Contexts {
		what := "context"
		if len(e.Contexts) > 1 {
			what = fmt.Sprintf("context %d of %d", i+1, len(e.Contexts))
		}
		add(what, size(c.Bytes), limit(k.Context, size(int64(k.Context.Value))), contains(c, m))
	}
	needed := "not known"
	switch {
	case e.Needed > 0:
		needed = fmt.Sprint(e.Needed)
	case k.Context.Value > 0:
		needed = "none fits"
	}
	add("splits needed", needed, "",
		fmt.Sprintf("layers %s, head %s, embedding %s", size(e.Weights.Layers), size(e.Weights.Head),
			size(max(e.Weights.Embedding, e.Phone.Embedding))))
	add("a process on the DSP", size(e.Process), limit(k.Process, size(int64(k.Process.Value))),
		"contexts, cache, buffers")
	add("VTCM", size(e.Widest.Bytes), limit(k.VTCM, size(int64(k.VTCM.Value))),
		"the widest tensor of prefill: "+e.Widest.Name)
	add("compiler's memory", size(e.Compile), "", "at its peak, one compile at a time")
	add("phone's memory", size(e.Phone.Total), "",
		fmt.Sprintf("contexts %s, cache %s, buffers %s, embedding outside %s", size(e.Phone.Contexts),
			size(e.Phone.Cache), size(e.Phone.Buffers), size(e.Phone.Embedding)))
	if e.Token.Floor > 0 {
		add("a token", fmt.Sprintf("%.1f ms at least", e.Token.Floor),
			limit(k.Bandwidth, fmt.Sprintf("%.1f GB/s", k.Bandwidth.Value/1e9)),
			fmt.Sprintf("%s read: %.0f tokens/s at most", size(e.Token.Bytes), e.Token.PerSecond))
	} else {
		add("a token", "not known", "not known",
			fmt.Sprintf("%s read; say what the phone's memory gives: --bandwidth 51.2", size(e.Token.Bytes)))
	}
	fmt.Fprint(w, columns(rows))
	fmt.Fprintln(w)
	for _, f := range e.Findings {
		label := map[string]string{qnn.SeverityError: a.painted("31", "does not fit"),
			qnn.SeverityWarning: a.painted("33", "may not fit "),
			qnn.SeverityNote:    a.painted("1", "good to know")}[f.Severity]
		text := f.Says + " " + f.Do
		if f.Source != "" {
			text += " [" + f.Sure + ": " + f.Source + "]"
		}
		fmt.Fprintf(w, "%s  %s\n", label, strings.Join(wrap(text, a.width()-14), "\n              "))
	}
	if !slices.ContainsFunc(e.Findings, func(f fit.Finding) bool { return f.Severity != qnn.SeverityNote }) {
		fmt.Fprintf(w, "%s  nothing that is known speaks against it\n", a.painted("32", "fits        "))
	}
	fmt.Fprint(w, "\nAn estimate: nothing was compiled, and no phone was asked. docs/fit.md says how it is "+
		"reckoned, and how near it was.\n")
	for i, s := range notes.said {
		fmt.Fprintf(w, "%3d  %s\n", i+1, s)
	}
}

// grounds numbers where numbers are known from.
type grounds struct{ said []string }

func (s *grounds) mark(f fit.Fact) string {
	text := f.Sure + ": " + f.Source
	i := slices.Index(s.said, text)
	if i < 0 {
		i = len(s.said)
		s.said = append(s.said, text)
	}
	return fmt.Sprintf("[%d]", i+1)
}

// contains says what a context has.
func contains(c fit.Part, m fit.Model) string {
	has := strings.Join(c.Graphs, " and ")
	if c.Layers < m.Layers {
		has += fmt.Sprintf(", layers %d to %d", c.First, c.First+c.Layers-1)
	}
	if c.Embedding {
		has += ", embedding"
	}
	if c.Head {
		has += ", head"
	}
	return has
}

// short writes a count as people say it: 134.5M, 1.7B.
func short(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1fB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0fk", float64(n)/1e3)
}
