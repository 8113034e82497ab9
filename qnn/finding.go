package qnn

import "strings"

// Severities of a finding.
const (
	SeverityError   = "error"   // the combination fails
	SeverityWarning = "warning" // the combination may fail or misbehave
	// SeverityNote marks information for choosing versions. `hexmage compat` prints it, but a plan does not.
	SeverityNote = "note"
	SeverityOff  = "off" // the finding is dropped
)

// Finding reports that a compatibility rule is broken.
type Finding struct {
	Rule       string `json:"rule"` // the rule's id: "qairt-arch"
	Severity   string `json:"severity"`
	Reason     string `json:"reason"`               // conflict and its effect
	Remedy     string `json:"remedy"`               // next step
	Source     string `json:"source,omitempty"`     // document or observation behind the rule
	Confidence string `json:"confidence,omitempty"` // Documented, Observed, Inferred or Declared
	Doubt      bool   `json:"doubt,omitempty"`      // a fact is unknown, so the combination may work
	Argument   string `json:"argument,omitempty"`
}

// Text returns reason, remedy, rule and provenance in one paragraph.
func (f Finding) Text() string {
	var b strings.Builder
	b.WriteString(Sentence(f.Reason))
	if f.Remedy != "" {
		b.WriteString(" ")
		b.WriteString(Sentence(f.Remedy))
	}
	b.WriteString(" [compat " + f.Rule)
	if said := strings.Trim(f.Confidence+": "+f.Source, ": "); said != "" {
		b.WriteString("; " + said)
	}
	b.WriteString("]")
	return b.String()
}

// Error returns the same as Text.
func (f Finding) Error() string { return f.Text() }

// Sentence capitalizes the first letter, unless it starts a name, and adds a period.
func Sentence(s string) string {
	s = strings.TrimSuffix(strings.TrimSpace(s), ".")
	if s == "" {
		return s
	}
	if word, _, _ := strings.Cut(s, " "); s[0] >= 'a' && s[0] <= 'z' && !strings.ContainsAny(word, "-./:_=`0123456789") {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	return s + "."
}

// Info describes a rule that is written in Go.
type Info struct {
	ID, Severity, Summary, Source, Confidence string
}

// Coded returns the rules that are written in Go, sorted by id.
func Coded() []Info {
	return []Info{
		{"context-arch", SeverityError, "a context binary is run on the Hexagon arch that it was compiled for", sourceLoad, Documented},
		{"context-build", SeverityWarning, "a context binary's build is not newer than that of the runtime that loads it", "libQnnHtp.so of 2.48.0 accepts a context of 2.48.40, up to device creation", Inferred},
		{"context-newer", SeverityError, "a context binary is not newer than the runtime that loads it", sourceLoad, Documented},
		{"context-soc", SeverityWarning, "a context binary is run on the SoC that it was compiled for", sourceLoad, Documented},
		{"context-vtcm", SeverityError, "a context binary needs at most the SoC's VTCM", "executorch#9084", Observed},
		{"push-arch", SeverityError, "DSP libraries of a push set are for the target's Hexagon arch", "QNN: errors 0x80000406, 1009", Observed},
		{"push-one-sdk", SeverityError, "all QNN libraries of a push set come from one SDK", "QNN: stub and skel compare build ids", Observed},
	}
}

const sourceLoad = "QNN: order of checks when it loads a context"

func coded(id, argument, reason, remedy string) Finding {
	for _, i := range Coded() {
		if i.ID == id {
			return Finding{Rule: id, Severity: i.Severity, Source: i.Source, Confidence: i.Confidence, Argument: argument, Reason: reason, Remedy: remedy}
		}
	}
	return Finding{Rule: id, Severity: SeverityError, Argument: argument, Reason: reason, Remedy: remedy}
}
