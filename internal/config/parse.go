package config

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// partSize is about how many bytes of a file are parsed at once. HCL keeps a list of all tokens, 96 bytes each, and grows
// it as it goes: for a file of a megabyte, which has ten thousand steps, that takes 200 MB more than what is made of it.
const partSize = 4 << 10

func parse(workspace fs.FS, name string) (*hcl.File, hcl.Diagnostics) {
	info, err := fs.Stat(workspace, name)
	if err == nil && info.Size() > MaxFile {
		err = fmt.Errorf("it has %d bytes, more than the %d that are allowed", info.Size(), MaxFile)
	}
	var src []byte
	if err == nil {
		src, err = fs.ReadFile(workspace, name)
	}
	if err != nil {
		return nil, errorf(nil, "A file cannot be read", "%s: %s.", name, err)
	}
	if f := parseParts(src, name, partSize); f != nil {
		return f, nil
	}
	return hclsyntax.ParseConfig(src, name, hcl.InitialPos)
}

// parseParts parses a file in parts that begin where a line looks like the header of a block, and puts them together. When each part
// is right by itself, so is the whole, and it has the same blocks: no block, comment, text or heredoc goes on from one to
// the next. Otherwise, and for files that are small, it returns nil; the whole file has to be parsed then.
func parseParts(src []byte, name string, size int) *hcl.File {
	if len(src) < 2*size {
		return nil
	}
	body := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}}
	start := hcl.InitialPos
	for start.Byte < len(src) {
		end := start.Byte + partLength(src[start.Byte:], size)
		part := src[start.Byte:end:end]
		f, diags := hclsyntax.ParseConfig(part, name, start)
		if len(diags) > 0 {
			return nil
		}
		b := f.Body.(*hclsyntax.Body)
		if len(b.Attributes) > 0 { // a second one of the same name would not be noticed
			return nil
		}
		body.Blocks = append(body.Blocks, b.Blocks...)
		if start.Byte == 0 {
			body.SrcRange = b.SrcRange
		}
		body.SrcRange.End, body.EndRange = b.SrcRange.End, b.EndRange
		start.Byte = end
		for _, c := range part {
			if c == '\n' {
				start.Line++
			}
		}
	}
	return &hcl.File{Body: body, Bytes: src, Nav: navigation{body}}
}

// partLength is how long a part of about size bytes is: to the next line that looks like the header of a block.
func partLength(src []byte, size int) int {
	for i := size; i < len(src); i++ {
		if src[i-1] == '\n' && isHeader(src[i:]) {
			return i
		}
	}
	return len(src)
}

// isHeader says whether a line begins with a word, a space, and a label or brace.
func isHeader(line []byte) bool {
	for i, c := range line {
		switch {
		case c >= 'a' && c <= 'z' || c == '_':
		case c == ' ' && i > 0 && i+1 < len(line):
			return line[i+1] == '"' || line[i+1] == '{'
		default:
			return false
		}
	}
	return false
}

// navigation says in which block of a file something is, for diagnostics.
type navigation struct {
	root *hclsyntax.Body
}

// ContextString returns the header of the block at the offset, as HCL's own navigation does.
func (n navigation) ContextString(offset int) string {
	for _, b := range n.root.Blocks {
		if !b.Range().ContainsOffset(offset) {
			continue
		}
		var s strings.Builder
		s.WriteString(b.Type)
		for _, l := range b.Labels {
			fmt.Fprintf(&s, " %q", l)
		}
		return s.String()
	}
	return ""
}
