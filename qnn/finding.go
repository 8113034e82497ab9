package qnn

import "strings"

// Severities of a finding.
const (
	SeverityError   = "error"   // it will fail
	SeverityWarning = "warning" // it may fail, or not do what is expected
	// SeverityNote is for what is good to know when versions are chosen, and no reason to interrupt who has chosen them: `hexmage compat`
	// shows it, a plan does not.
	SeverityNote = "note"
	SeverityOff  = "off" // nobody wants to know
)

// Finding is a rule that is not kept.
type Finding struct {
	Rule       string `json:"rule"` // the rule's id: "qairt-arch"
	Severity   string `json:"severity"`
	Reason     string `json:"reason"`               // what does not go together, and what comes of it
	Remedy     string `json:"remedy"`               // what to do
	Source     string `json:"source,omitempty"`     // where that is known from
	Confidence string `json:"confidence,omitempty"` // and how sure it is: Documented, Observed, Inferred, Declared
	Doubt      bool   `json:"doubt,omitempty"`      // whether it works is unknown
	Argument   string `json:"argument,omitempty"`
}

// Text is the finding in one paragraph: reason, remedy, rule, and on what it rests.
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

// Error is Text: a finding can be returned as an error.
func (f Finding) Error() string { return f.Text() }

// Sentence makes a text one for people: a capital letter first, unless it begins with a name, and a full stop at the end.
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

// Info describes a rule that is code; rules that are data describe themselves.
type Info struct {
	ID, Severity, Summary, Source, Confidence string
}

// Coded are the rules that are code, in the order of their ids.
func Coded() []Info {
	return []Info{
		{"context-arch", SeverityError, "a context binary is run on the Hexagon arch that it was compiled for", sourceLoad, Documented},
		{"context-build", SeverityWarning, "a context binary is of no newer build than the runtime that loads it", "libQnnHtp.so of 2.48.0 takes a context of 2.48.40 as far as the device", Inferred},
		{"context-newer", SeverityError, "a context binary is not newer than the runtime that loads it", sourceLoad, Documented},
		{"context-soc", SeverityWarning, "a context binary is run on the SoC that it was compiled for", sourceLoad, Documented},
		{"context-vtcm", SeverityError, "a context binary wants no more VTCM than the SoC has", "executorch#9084", Observed},
		{"push-arch", SeverityError, "DSP libraries of a push set are for the target's Hexagon arch", "QNN: errors 0x80000406, 1009", Observed},
		{"push-one-sdk", SeverityError, "all QNN libraries of a push set come from one SDK", "QNN: stub and skel compare build ids", Observed},
	}
}

const sourceLoad = "QNN: order of checks when a context is loaded"

func coded(id, argument, reason, remedy string) Finding {
	for _, i := range Coded() {
		if i.ID == id {
			return Finding{Rule: id, Severity: i.Severity, Source: i.Source, Confidence: i.Confidence, Argument: argument, Reason: reason, Remedy: remedy}
		}
	}
	return Finding{Rule: id, Severity: SeverityError, Argument: argument, Reason: reason, Remedy: remedy}
}
