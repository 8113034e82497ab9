package langserver

// What the Language Server Protocol, version 3.17, has of what is used here, spelt as there. Lines and characters
// count from 0, characters in units of UTF-16.

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

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type textDocument struct {
	URI     string `json:"uri"`
	Version int    `json:"version,omitempty"`
	Text    string `json:"text,omitempty"`
}

type initializeResult struct {
	Capabilities capabilities `json:"capabilities"`
	ServerInfo   serverInfo   `json:"serverInfo"`
}

type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type capabilities struct {
	TextDocumentSync           syncOptions       `json:"textDocumentSync"`
	CompletionProvider         completionOptions `json:"completionProvider"`
	HoverProvider              bool              `json:"hoverProvider"`
	DefinitionProvider         bool              `json:"definitionProvider"`
	RenameProvider             renameOptions     `json:"renameProvider"`
	DocumentFormattingProvider bool              `json:"documentFormattingProvider"`
}

type syncOptions struct {
	OpenClose bool `json:"openClose"`
	Change    int  `json:"change"` // 1: whole texts
	Save      bool `json:"save"`
}

type completionOptions struct {
	TriggerCharacters []string `json:"triggerCharacters"`
}

type renameOptions struct {
	PrepareProvider bool `json:"prepareProvider"`
}

type didOpenParams struct {
	TextDocument textDocument `json:"textDocument"`
}

type didChangeParams struct {
	TextDocument   textDocument `json:"textDocument"`
	ContentChanges []struct {
		Text string `json:"text"`
	} `json:"contentChanges"`
}

type documentParams struct {
	TextDocument textDocument `json:"textDocument"`
}

type positionParams struct {
	TextDocument textDocument `json:"textDocument"`
	Position     position     `json:"position"`
}

type renameParams struct {
	positionParams
	NewName string `json:"newName"`
}

type diagnosticsParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"` // 1: error, 2: warning
	Source   string `json:"source"`
	Message  string `json:"message"`
}

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

type completionItem struct {
	Label         string   `json:"label"`
	Kind          int      `json:"kind"`
	Detail        string   `json:"detail,omitempty"`
	Documentation *markup  `json:"documentation,omitempty"`
	SortText      string   `json:"sortText,omitempty"`
	TextEdit      textEdit `json:"textEdit"`
}

// Kinds of completion items.
const (
	itemFunction = 3
	itemField    = 5
	itemVariable = 6
	itemModule   = 9
	itemProperty = 10
	itemValue    = 12
	itemKeyword  = 14
)

type markup struct {
	Kind  string `json:"kind"` // "markdown"
	Value string `json:"value"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    *span  `json:"range,omitempty"`
}

type prepared struct {
	Range       span   `json:"range"`
	Placeholder string `json:"placeholder"`
}
