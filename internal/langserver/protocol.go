package langserver

// Part of the Language Server Protocol 3.17, with the protocol's names. Lines and characters count from 0; characters
// are UTF-16 code units.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

// documentParams are the parameters of all messages about a document; each message uses some of them.
type documentParams struct {
	TextDocument struct {
		URI  string `json:"uri"`
		Text string `json:"text"`
	} `json:"textDocument"`
	Position       position `json:"position"`
	ContentChanges []struct {
		Text string `json:"text"`
	} `json:"contentChanges"`
}

type diagnosticsParams struct {
	URI         string       `json:"uri"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"` // 1: error, 2: warning
	Source   string `json:"source"`
	Message  string `json:"message"`
}

type completionItem struct {
	Label         string   `json:"label"`
	Detail        string   `json:"detail,omitempty"`
	Documentation *markup  `json:"documentation,omitempty"`
	SortText      string   `json:"sortText,omitempty"`
	TextEdit      textEdit `json:"textEdit"`
}

type markup struct {
	Kind  string `json:"kind"` // "markdown"
	Value string `json:"value"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    span   `json:"range"`
}
