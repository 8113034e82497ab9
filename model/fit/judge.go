package fit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/qnn"
)

// judge finds what does not fit. What is only inferred does not refuse.
func (e *Estimate) judge(k Known) {
	say := func(f Fact, do, format string, args ...any) {
		severity := qnn.SeverityError
		if f.Sure == qnn.Inferred {
			severity = qnn.SeverityWarning
		}
		e.Findings = append(e.Findings, Finding{severity, fmt.Sprintf(format, args...), do, f.Sure, f.Source})
	}
	t, size := k.Target, bytesize.Decimal
	can := func(feature string) bool { return k.Features == nil || slices.Contains(k.Features, feature) }
	if e.Way.Scheme == "lpbq" && !can("lpbq") {
		say(k.Feature, "Take another scheme: --scheme a16w8, or a16w4.", "Hexagon %s, of %s, has no lpbq.", t.Arch, t.SoC)
	}
	if e.Way.Sharing && !can("weight_sharing") {
		say(k.Feature, "Reckon without: --no-sharing.", "On Hexagon %s, of %s, graphs cannot share weights.", t.Arch, t.SoC)
	}
	if e.Way.KV != "uint8" && !can("matmul_16x16") {
		say(k.Feature, "Take a cache of 8 bits: --kv uint8.", "Hexagon %s, of %s, has no products of 16 by 16 bits, which attention with a cache of %s is.", t.Arch, t.SoC, e.Way.KV)
	}
	if limit := int64(k.Context.Value); limit > 0 && e.Largest > limit {
		do := fmt.Sprintf("Split it: --splits %d.", e.Needed)
		if e.Needed == 0 {
			do = e.smaller(can)
		}
		say(k.Context, do, "The largest context has %s, and one may have %s.", size(e.Largest), size(limit))
	}
	if limit := int64(k.Process.Value); limit > 0 && e.Process > limit {
		say(k.Process, e.smaller(can), "Contexts, cache and buffers take %s together, and a process of the DSP can map %s: it takes several, or contexts that are loaded in turns.", size(e.Process), size(limit))
	}
	if limit := int64(k.VTCM.Value); limit > 0 && e.Widest.Bytes > limit {
		e.Findings = append(e.Findings, Finding{Severity: qnn.SeverityNote, Do: fmt.Sprintf("A smaller chunk keeps more of it there: --chunk %d.", max(1, e.Way.Chunk/2)),
			Says: fmt.Sprintf("Prefill's %s have %s, more than the VTCM of %s: they are worked on in pieces, and go to memory in between.", e.Widest.Name, size(e.Widest.Bytes), size(limit))})
	}
}

// smaller says what makes a model take less, of what the way has not yet.
func (e *Estimate) smaller(can func(feature string) bool) string {
	var do []string
	if e.Way.Scheme == "a16w8" {
		scheme := "a16w4"
		if can("lpbq") {
			scheme = "lpbq"
		}
		do = append(do, "4 bits a weight (--scheme "+scheme+")")
	}
	if !e.Way.Outside {
		do = append(do, "the embedding outside (--embedding outside)")
	}
	if !e.Way.Sharing && can("weight_sharing") {
		do = append(do, "weights shared by prefill and decode (--sharing)")
	}
	if e.Way.KV != "uint8" {
		do = append(do, "a cache of 8 bits (--kv uint8)")
	}
	do = append(do, "a shorter context (--context), a smaller model")
	return "What makes it smaller: " + strings.Join(do, ", ") + "."
}
