package langserver

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
)

// complete returns the words that may stand at a position.
func (v *view) complete(p position) completionList {
	offset := offsetOf(v.doc.text, p)
	c := cursorAt(v.doc.text, offset)
	rest, _, _ := bytes.Cut(v.doc.text[offset:], []byte("\n"))
	out := completionList{Items: []completionItem{}}
	seen := map[string]bool{}
	for _, e := range v.entries(c) {
		if seen[e.Name] || slices.Contains(c.given, e.Name) && e.Name != string(v.doc.text[c.start:c.end]) && !e.block {
			continue
		}
		seen[e.Name] = true
		i := completionItem{Label: e.Name, Detail: e.Detail}
		i.TextEdit = textEdit{spanOf(v.doc.text, c.start, offset), e.Name}
		i.SortText = fmt.Sprintf("%04d", len(out.Items))
		if e.Doc != "" {
			i.Documentation = &markup{"markdown", e.Doc}
		}
		if c.place == inBody && !e.block && len(bytes.TrimSpace(rest)) == 0 {
			i.TextEdit.NewText += " = "
		}
		out.Items = append(out.Items, i)
	}
	return out
}

// hover explains the word at a position.
func (v *view) hover(p position) *hover {
	c, found := v.word(p)
	for _, e := range found {
		text := "**" + strings.Join(append(c.parts, e.Name), ".") + "** " + e.Detail + "\n\n" + e.Doc
		return &hover{markup{"markdown", strings.TrimSpace(text)}, spanOf(v.doc.text, c.start, c.end)}
	}
	return nil
}

// definition returns the declarations of the word at a position.
func (v *view) definition(p position) []location {
	_, found := v.word(p)
	out := []location{}
	for _, e := range found {
		for _, r := range e.at {
			file := r.Filename
			if v.ws != nil {
				file = absolute(v.ws.Root, file)
			}
			out = append(out, location{v.open.uri(file), spanOf(v.open.read(file), r.Start.Byte, r.End.Byte)})
		}
	}
	return out
}

// word returns the cursor of the word at a position, and the entries of the word.
func (v *view) word(p position) (c cursor, found []entry) {
	c = cursorAt(v.doc.text, offsetOf(v.doc.text, p))
	for _, e := range v.entries(c) {
		if e.Name == string(v.doc.text[c.start:c.end]) {
			found = append(found, e)
		}
	}
	return c, found
}

// entries returns the words that may stand at a cursor.
func (v *view) entries(c cursor) (all []entry) {
	v.load()
	for _, name := range v.names(c) {
		all = append(all, v.words[key{c.place, name}]...)
	}
	return all
}

// names returns the names of a cursor's keys.
func (v *view) names(c cursor) []string {
	if c.place == inValue {
		whole := strings.Join(c.parts, ".")
		switch n := len(c.parts); {
		case n == 2 && c.parts[0] == lang.Module:
			v.addModule(c.parts[1])
		case n == 1 && whole == lang.Target:
			return []string{whole, "target."}
		case n == 2 && (c.parts[0] == lang.Target || c.parts[0] == lang.Targets):
			return []string{"target."}
		}
		return []string{whole}
	}
	if len(c.block) == 0 {
		return []string{""}
	}
	name := c.block[0]
	if inner := c.parent + "/" + name; language()[inner].doc != "" {
		return []string{inner}
	}
	labeled := strings.Join(c.block[:min(2, len(c.block))], " ")
	if name == lang.Module && len(c.block) > 1 {
		v.addModule(c.block[1])
	}
	if c.place == inText || c.place == inKey {
		return []string{labeled + " " + c.argument, name + " " + c.argument}
	}
	return slices.Compact([]string{labeled, name})
}

// format returns the edits that give the document the canonical layout. A document with syntax errors is an error.
func (v *view) format() ([]textEdit, error) {
	out, diags := config.Format(v.doc.text, v.doc.file)
	if diags.HasErrors() {
		return nil, fmt.Errorf("cannot format a file with errors: %w", diags)
	}
	if bytes.Equal(out, v.doc.text) {
		return []textEdit{}, nil
	}
	return []textEdit{{spanOf(v.doc.text, 0, len(v.doc.text)), string(out)}}, nil
}
