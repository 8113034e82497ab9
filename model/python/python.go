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
		for _, name := range imports(string(data)) {
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
	slices.SortFunc(files, func(a, b File) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	return files, nil
}

// imports returns the modules that a program imports on lines of their own.
func imports(program string) (names []string) {
	for line := range strings.Lines(program) {
		word, rest, _ := strings.Cut(line, " ")
		if word != "import" && word != "from" {
			continue
		}
		if end := strings.IndexAny(rest, " .,;\r\n"); end > 0 {
			names = append(names, rest[:end])
		}
	}
	return names
}

//go:embed texts/*.txt
var texts embed.FS

// Text returns a small text of ours, such as calibration.txt.
func Text(name string) ([]byte, error) { return texts.ReadFile("texts/" + name) }
