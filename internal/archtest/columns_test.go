package archtest_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// narrow are the folders whose Go files have lines of at most 120 columns.
func narrow() []string { return []string{"internal", "cmd"} }

const (
	maxColumns = 120
	tabColumns = 4
)

// TestColumns excepts raw strings, which are texts of other languages and tags of fields.
func TestColumns(t *testing.T) {
	for _, dir := range narrow() {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") {
				return err
			}
			src, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			raw := rawLines(src)
			for i, line := range strings.Split(string(src), "\n") {
				columns := utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
				if columns > maxColumns && !raw[i+1] {
					t.Errorf("%s:%d: %d columns, want at most %d", p, i+1, columns, maxColumns)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// rawLines returns the numbers of the lines that a raw string has a part of.
func rawLines(src []byte) map[int]bool {
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	lines := map[int]bool{}
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok != token.STRING || lit[0] != '`' {
			continue
		}
		first := file.Line(pos)
		for i := range strings.Count(lit, "\n") + 1 {
			lines[first+i] = true
		}
	}
}
