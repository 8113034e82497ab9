// Package python carries the programs of profile emulator: Python, run in a locked environment. They export static graphs
// of a decoder, quantize them, compile them with Qualcomm's compiler, and run them on Qualcomm's emulator.
//
//	a Hugging Face folder or a GGUF ─► onnx_llm ─► onnx_quantize ─► htp_context ─► onnx_say ─► accuracy
//
// A program's files are inputs of its actions, so a change of one file runs only the actions that use it. The package
// does not know which step runs which program with which arguments: steps/ does.
package python

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

//go:embed programs/*.py
var programs embed.FS

// File is a file of a program.
type File struct {
	Name string // "onnx_llm.py"
	Data []byte
}

// Program returns the files of a program, such as onnx_llm, and of those that it starts: themselves, and what they import of their neighbors; sorted by name.
func Program(names ...string) ([]File, error) {
	var files []File
	seen := map[string]bool{}
	var add func(module string) error
	add = func(module string) error {
		if seen[module] {
			return nil
		}
		seen[module] = true
		data, err := programs.ReadFile("programs/" + module + ".py")
		if err != nil {
			return err
		}
		files = append(files, File{module + ".py", data})
		for _, m := range importLine.Get().FindAllSubmatch(data, -1) {
			name := string(m[1])
			if _, err := programs.Open("programs/" + name + ".py"); err == nil {
				if err := add(name); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, name := range names {
		if err := add(name); err != nil {
			return nil, fmt.Errorf("no program %s: %w", name, err)
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// importLine is an import on a line of its own.
var importLine = lazyregexp.New(`(?m)^(?:import|from) (\w+)`)

//go:embed texts/*.txt
var texts embed.FS

// Text returns a small text of ours, such as calibration.txt.
func Text(name string) ([]byte, error) { return texts.ReadFile("texts/" + name) }
