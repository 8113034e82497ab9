// Package python contains the Python programs of profile emulator, which run in a locked environment. The programs
// export static graphs of a decoder, quantize them, compile them with Qualcomm's compiler, and run them on Qualcomm's
// emulator.
//
//	a Hugging Face folder or a GGUF ─► onnx_llm ─► onnx_quantize ─► htp_context ─► onnx_say ─► accuracy
//
// A program's files are inputs of its actions, so a change of one file runs only the actions that use it. The package
// does not know which step runs a program, or with which arguments: package steps does.
package python

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed programs/*.py
var programs embed.FS

// File is a source file of a Python program.
type File struct {
	Name string // "onnx_llm.py"
	Data []byte
}

// Program returns the files of Python programs, such as onnx_llm, and of all imported modules in this package. The
// files are sorted by name.
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
		for line := range strings.Lines(string(data)) {
			keyword, rest, _ := strings.Cut(line, " ")
			if keyword != "import" && keyword != "from" {
				continue // imports are on lines of their own
			}
			name, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
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
			return nil, fmt.Errorf("cannot read the Python program %s: %w", name, err)
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

//go:embed texts/*.txt
var texts embed.FS

// Text returns a small text that hexmage ships, such as calibration.txt.
func Text(name string) ([]byte, error) { return texts.ReadFile("texts/" + name) }
