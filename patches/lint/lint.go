package lint

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/patches/cpptoken"
	"github.com/hexmage/hexmage/patches/edit"
	"github.com/hexmage/hexmage/patches/rename"
)

// SDK is what is known of the SDK that sources are to be compiled with.
type SDK struct {
	Name    string                 // for messages, such as "qairt 2.41.0.251128"
	Version string                 // such as 2.41.0.251128; "" if unknown
	Names   map[string]bool        // names among its headers' tokens; nil if the headers are not at hand
	Header  func(path string) bool // whether include/QNN has a header; nil if the headers are not at hand
}

// Finding is a place in a source that the SDK does not have what it needs for.
type Finding struct {
	File    string `json:"file"` // slash path under the folder
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	Name    string `json:"name"`
	Certain bool   `json:"certain"`          // it will not compile; else nobody has looked at this release
	Message string `json:"message"`          // what is wrong
	Instead string `json:"instead"`          // what to do
	Rule    string `json:"rule,omitempty"`   // sort and name of the shipped rule that does it
	Source  string `json:"source,omitempty"` // how this is known
	Text    string `json:"text"`             // the source line
}

// maxSource bounds a source, in bytes.
const maxSource = 64 << 20

// Run looks at all C++ sources and headers under a folder. Findings come in order of path, line and column. What the sources
// declare themselves is theirs.
func Run(ctx context.Context, fsys fs.FS, d Data, sdk SDK) ([]Finding, error) {
	l := &linter{data: d, sdk: sdk, own: map[string]bool{}, files: map[string]bool{}}
	var sources []*source
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.IsDir() {
			if name != "." && strings.HasPrefix(e.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() || !isSource(name) {
			return nil
		}
		l.files[name] = true
		s, err := read(fsys, name)
		if err != nil {
			return err
		}
		l.declared(s.code)
		if len(l.interesting(s)) > 0 {
			sources = append(sources, s)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, s := range sources {
		if err := l.check(s); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(l.found, func(a, b Finding) int {
		return rename.Place{File: a.File, Line: a.Line, Col: a.Col}.Compare(rename.Place{File: b.File, Line: b.Line, Col: b.Col})
	})
	return l.found, nil
}

func isSource(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".cpp", ".cc", ".cxx", ".c", ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".ipp":
		return true
	}
	return false
}

// source is one file, cut into tokens.
type source struct {
	name string
	text []byte
	code []cpptoken.Token
}

func read(fsys fs.FS, name string) (*source, error) {
	text, err := boundedfile.ReadFS(fsys, name, maxSource)
	if err != nil {
		return nil, err
	}
	tokens, err := cpptoken.Scan(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return &source{name, text, rename.Significant(tokens)}, nil
}

type linter struct {
	data  Data
	sdk   SDK
	own   map[string]bool // names that the sources declare
	files map[string]bool
	found []Finding
}

// sdkMacro is a name that only an SDK's headers define.
var sdkMacro = lazyregexp.New(`^(DEF_(PACKAGE|TENSOR|TILE)_\w+|(BEGIN|END|DECLARE|INIT|REGISTER)_(PKG|PACKAGE)_\w+|LIST_PACKAGE_\w+)$`)

// sdkHeader is a header that only an SDK has.
var sdkHeader = lazyregexp.New(`^(HTP/|CPU/|GPU/|DSP/|System/|Qnn\w*\.h$)`)

// declared takes note of the names that a file declares: macros, classes, functions with their types.
func (l *linter) declared(code []cpptoken.Token) {
	for i, k := range code {
		if k.Kind != cpptoken.Identifier || i == 0 {
			continue
		}
		before := code[i-1]
		next := ""
		if i+1 < len(code) {
			next = code[i+1].Name
		}
		switch {
		case k.Directive && before.Name == "define" && before.Directive:
		case before.Name == "class" || before.Name == "struct" || before.Name == "enum" || before.Name == "union":
			if next != "{" && next != ":" && next != "final" {
				continue
			}
		case before.Name == "using" && next == "=":
		case next == "(" && before.Kind == cpptoken.Identifier && !statement(before.Name):
		case next == "(" && (before.Name == "*" || before.Name == "&" || before.Name == ">") && i > 1 && code[i-2].Kind == cpptoken.Identifier && declaration(code, i):
		default:
			continue
		}
		l.own[k.Name] = true
	}
}

// statement says whether a word before a call is no type.
func statement(word string) bool {
	switch word {
	case "return", "else", "do", "throw", "case", "goto", "new", "delete", "co_return", "co_yield", "co_await", "and", "or", "not", "defined":
		return true
	}
	return false
}

// declaration says whether TYPE * name( at i begins a declaration, and is no product: it stands at the beginning of a statement.
func declaration(code []cpptoken.Token, i int) bool {
	for i -= 2; i > 0; i-- {
		switch m := code[i-1].Name; {
		case m == ";" || m == "{" || m == "}" || m == ")":
			return true
		case code[i-1].Kind == cpptoken.Identifier && !statement(m), m == "::", m == "<", m == ">", m == "*", m == "&":
		default:
			return false
		}
	}
	return true
}

// interesting returns the changes, shapes and so on that a file may have to do with; only whether there are any is asked.
func (l *linter) interesting(s *source) []string {
	var names []string
	for _, k := range s.code {
		if k.Kind == cpptoken.HeaderName || k.Kind == cpptoken.Identifier && (l.changed(k.Name) || sdkMacro.MatchString(k.Name)) {
			return append(names, k.Name)
		}
	}
	return names
}

func (l *linter) changed(name string) bool {
	has := func(c Change) bool { return c.Matches(name) }
	return slices.ContainsFunc(l.data.Removed, has) || slices.ContainsFunc(l.data.Added, has)
}

// verdict says whether a name, which has gone or come with a change, is missing from the SDK, and whether that is certain.
func (l *linter) verdict(c Change, name string, removed bool) (missing, certain bool, why string) {
	v := l.sdk.Version
	switch {
	case c.Kind == "header" && l.sdk.Header != nil:
		return !l.sdk.Header(name), true, l.sdk.Name + " has no such header"
	case c.Kind != "header" && l.sdk.Names != nil:
		return !l.sdk.Names[name], true, "no header of " + l.sdk.Name + " declares it"
	case v == "":
		return false, false, ""
	}
	old, new := c.Until != "" && version.CompareShared(v, c.Until) <= 0, version.CompareShared(v, c.Since) >= 0
	gone := new
	if !removed {
		gone = old
	}
	switch {
	case gone:
		return true, true, l.sdk.Name + " does not have it"
	case !old && !new:
		return true, false, "nobody knows whether " + l.sdk.Name + " has it"
	}
	return false, false, ""
}

func (l *linter) check(s *source) error {
	said := map[int]bool{} // offsets
	for _, set := range []struct {
		changes []Change
		removed bool
	}{{l.data.Removed, true}, {l.data.Added, false}} {
		for _, c := range set.changes {
			for _, k := range l.uses(s, c) {
				missing, certain, why := l.verdict(c, k.Name, set.removed)
				if missing {
					said[k.Start] = true
					what := c.Kind
					if c.Receiver != "" {
						what += " of " + c.Receiver
					}
					l.add(s, k, Finding{Certain: certain, Message: fmt.Sprintf("%s (a %s, %s)", why, what, c.when()), Instead: c.Instead, Rule: c.Rule, Source: c.Source})
				}
			}
		}
	}
	for i, k := range s.code {
		if said[k.Start] {
			continue
		}
		switch {
		case k.Kind == cpptoken.HeaderName:
			name := strings.Trim(string(s.text[k.Start:k.End]), `"<>`)
			if l.sdk.Header == nil || !sdkHeader.MatchString(name) || l.sdk.Header(name) || l.hasFile(s.name, name) {
				continue
			}
			k.Name = name
			l.add(s, k, Finding{Certain: true, Message: l.sdk.Name + " has no such header", Instead: "drop the line, or find out what this SDK has for it"})
		case k.Kind == cpptoken.Identifier && l.sdk.Names != nil && sdkMacro.MatchString(k.Name) && !l.sdk.Names[k.Name] && !l.own[k.Name]:
			if i+1 < len(s.code) && s.code[i+1].Name == "(" && !k.Directive {
				l.add(s, k, Finding{Certain: true, Message: "no header of " + l.sdk.Name + " declares it (a macro for op packages)", Instead: "what the op packages of this SDK's examples have in its place"})
			}
		}
	}
	for _, sh := range l.data.Shapes {
		if l.since(sh.Since) {
			l.shape(s, sh)
		}
	}
	for _, u := range l.data.Unguarded {
		if !l.since(u.Since) {
			continue
		}
		got, err := edit.Guard{Macro: u.Macro, UsedBy: u.UsedBy}.Rewrite(s.name, s.text)
		if err != nil {
			return err
		}
		for _, p := range got.Changed {
			l.found = append(l.found, Finding{File: p.File, Line: p.Line, Col: p.Col, Name: u.Macro, Text: s.line(p.Line),
				Message: "only " + strings.Join(u.UsedBy, " or ") + " uses this function, which may not compile where " + u.Macro + " is defined", Instead: u.Instead, Rule: u.Rule, Source: u.Source})
		}
	}
	return nil
}

// since says whether the SDK is of a release or a newer one. One of an unknown version is taken to be new.
func (l *linter) since(v string) bool {
	return l.sdk.Version == "" || version.CompareShared(l.sdk.Version, v) >= 0
}

// uses returns where a source uses a change's names.
func (l *linter) uses(s *source, c Change) (out []cpptoken.Token) {
	at := map[rename.Place]bool{} // members of the receiver
	for _, n := range c.Names {
		if c.Receiver == "" || !rename.MayHave(s.text, n) {
			continue
		}
		if got, err := (rename.Rule{From: n, To: n + "_", Receiver: c.Receiver}).Rewrite(s.name, s.text); err == nil {
			for _, p := range got.Changed {
				at[rename.Place{Line: p.Line, Col: p.Col}] = true
			}
		}
	}
	for _, k := range s.code {
		if c.Kind == "header" {
			if k.Kind == cpptoken.HeaderName {
				if k.Name = strings.Trim(string(s.text[k.Start:k.End]), `"<>`); c.Matches(k.Name) && !l.hasFile(s.name, k.Name) {
					out = append(out, k)
				}
			}
			continue
		}
		if k.Kind != cpptoken.Identifier || !c.Matches(k.Name) || l.own[k.Name] || c.Receiver != "" && !at[rename.Place{Line: k.Line, Col: k.Col}] {
			continue
		}
		out = append(out, k)
	}
	return out
}

// hasFile says whether an #include of a source names one of the sources.
func (l *linter) hasFile(from, name string) bool {
	if l.files[path.Join(path.Dir(from), name)] {
		return true
	}
	for f := range l.files {
		if f == name || strings.HasSuffix(f, "/"+name) {
			return true
		}
	}
	return false
}

// shape checks an argument of each call of a macro.
func (l *linter) shape(s *source, sh Shape) {
	for i, k := range s.code {
		if k.Kind != cpptoken.Identifier || k.Name != sh.Macro || k.Directive || l.own[k.Name] || i+1 >= len(s.code) || s.code[i+1].Name != "(" {
			continue
		}
		depth, argument := 0, 1
		for _, a := range s.code[i+1:] {
			isText := a.Kind == cpptoken.String || a.Kind == cpptoken.RawString
			if depth == 1 && argument == sh.Argument && a.Name != "," && a.Name != ")" {
				if isText != (sh.Is == "string") {
					word := string(s.text[a.Start:a.End])
					a.Name = sh.Macro
					l.add(s, a, Finding{Certain: true, Message: fmt.Sprintf("argument %d is %s, and must be another since %s", sh.Argument, word, sh.Since), Instead: sh.Instead, Source: sh.Source})
				}
				break
			}
			switch a.Name {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			case ",":
				if depth == 1 {
					argument++
				}
			}
			if depth == 0 {
				break
			}
		}
	}
}

func (l *linter) add(s *source, k cpptoken.Token, f Finding) {
	f.File, f.Line, f.Col, f.Name, f.Text = s.name, k.Line, k.Col, k.Name, s.line(k.Line)
	l.found = append(l.found, f)
}

// line returns a source line without its end.
func (s *source) line(n int) string {
	at := 1
	for line := range strings.Lines(string(s.text)) {
		if at == n {
			return strings.TrimRight(line, "\r\n")
		}
		at++
	}
	return ""
}
