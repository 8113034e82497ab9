package event

// ActionVerified follows ActionFinished in a build that verifies: the action was run once more, or why it was not.
type ActionVerified struct {
	Step        string       `json:"step"`
	Name        string       `json:"name,omitempty"`
	Verdict     Verdict      `json:"verdict"`
	Reason      string       `json:"reason,omitempty"` // of Unverified
	Known       bool         `json:"known"`            // compared with a result that was in the cache, not with a run just before
	Differences []Difference `json:"differences,omitempty"`
	More        int          `json:"more,omitempty"` // how many differences are left out
}

// Verdict is what came of verifying an action.
type Verdict string

// The verdicts.
const (
	Same       Verdict = "same"       // bit by bit
	Different  Verdict = "different"  // something differs
	Unverified Verdict = "unverified" // it cannot be verified
)

// Difference is one file or folder that two runs of an action left differently. "First" is the run whose result the cache
// has, "second" the one that verified it.
type Difference struct {
	Path   string   `json:"path"`             // slash path in the exec root
	Kind   string   `json:"kind"`             // missing, extra, type, mode, size, content, exit code
	Detail string   `json:"detail,omitempty"` // what of it: "12 of 4096 bytes in 2 ranges, the first at 0x1f0"
	First  string   `json:"first,omitempty"`  // digest of the file, where there is one
	Second string   `json:"second,omitempty"`
	Offset int64    `json:"offset"`          // of the first byte that differs; -1: not of that kind
	Parts  []string `json:"parts,omitempty"` // ELF sections and archive members that differ: ".rodata: 12 bytes, the first at +0x10 (build_time)"
	Lines  []string `json:"lines,omitempty"` // of text files: the first line that differs, of both
	Hints  []string `json:"hints,omitempty"` // typical causes that it looks like
}

// VerifyFinished comes before BuildFinished in a build that verifies.
type VerifyFinished struct {
	Same       int `json:"same"`
	Different  int `json:"different"`
	Unverified int `json:"unverified"`
}

func (ActionVerified) event() {}
func (VerifyFinished) event() {}
