// Package hf reads the Hugging Face folder of a decoder: config.json, the headers of the safetensors files and the
// names of the other files. Read finds unsupported models before a step runs.
//
// The package reads no weights, and does not know which step calls it.
package hf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/model/safetensors"
)

// Files of a folder.
const (
	configFile    = "config.json"
	tokenizerFile = "tokenizer.json"
	weightsFile   = "model.safetensors"
	indexFile     = "model.safetensors.index.json"
)

// maxConfig limits a config.json in bytes, and maxFiles the files of a folder.
const (
	maxConfig = 1 << 20
	maxFiles  = 10_000
)

// Next steps of several problems.
const (
	download  = "download it again"
	floats    = "use the model's weights in BF16, F16 or F32"
	together  = "use a folder whose config.json and weights belong together"
	ownConfig = "use the model's own config.json"
)

// Open opens a file or folder by name.
type Open func(name string) (fs.File, error)

// Needs describes the models that a step accepts.
type Needs struct {
	Architecture string              // required model_type; "" accepts each of Architectures
	BlockSize    int64               // must divide the widths of matrices; 0 accepts any width
	Types        []safetensors.DType // types of weights; nil for any, or for a folder without safetensors files
	Tokenizer    bool                // tokenizer.json must exist
	Also         []Form              // other forms that Read recognizes and does not check
}

// Form is a model's file format.
type Form string

// Forms of a model.
const (
	Weights Form = "" // config.json and float weights
	GGUF    Form = "gguf"
	MLLM    Form = "mllm" // written by mllm's quantizer
)

// MissingModel is the title of the Problem for a missing folder.
const MissingModel = "Missing model"

// Problem is a reason why a step cannot use a model.
type Problem struct {
	Title string // a noun phrase
	Text  string // "<file>: <problem>: <next step>"
}

// Folder is the result of Read.
type Folder struct {
	Model Model // incomplete if there are problems
	Form  Form
}

// Read reads a model's folder, and returns the problems for a step with the given needs.
func Read(open Open, dir string, n Needs) (Folder, []Problem) {
	r := &reader{open: open, dir: dir, needs: n}
	if r.list() {
		usable := r.config()
		if n.Tokenizer {
			r.tokenizer()
		}
		r.weights(usable)
	}
	return r.folder, r.problems
}

// reader is the state of one Read.
type reader struct {
	open     Open
	dir      string
	needs    Needs
	names    []string // names of the files
	folder   Folder
	problems []Problem

	quantized bool // a problem already reports quantized tensors
	partial   bool // a problem already reports unusable files, so tensors are missing
}

// say adds a problem of a file, or of the folder for "".
func (r *reader) say(title, file, next, format string, args ...any) {
	text := fmt.Sprintf("%s: %s: %s", path.Join(r.dir, file), fmt.Sprintf(format, args...), next)
	r.problems = append(r.problems, Problem{title, text})
}

// list lists the folder. It returns false if later checks have nothing to read.
func (r *reader) list() bool {
	f, err := r.open(r.dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			r.say(MissingModel, "", "correct the path, or download the model there", "folder is missing")
		} else {
			r.say("Unreadable model", "", "make it readable", "folder cannot be opened (%s)", reason(err))
		}
		return false
	}
	defer f.Close()
	d, isDir := f.(fs.ReadDirFile)
	if info, err := f.Stat(); err != nil || !info.IsDir() || !isDir {
		return r.single(f)
	}
	entries, err := d.ReadDir(maxFiles)
	if err != nil && err != io.EOF {
		r.say("Unreadable model", "", "make it readable", "folder cannot be listed (%s)", reason(err))
		return false
	}
	for _, e := range entries {
		r.names = append(r.names, e.Name())
	}
	slices.Sort(r.names)
	if name := r.first(".gguf"); name != "" && !slices.Contains(r.names, configFile) {
		return r.gguf(name)
	}
	return true
}

// single reports a file in place of a folder.
func (r *reader) single(f fs.File) bool {
	if begins(f, "GGUF") {
		return r.gguf("")
	}
	r.say("Model file", "", "name the folder with config.json and model.safetensors", "the path is a file")
	return false
}

// gguf reports a GGUF file, unless the step accepts one.
func (r *reader) gguf(name string) bool {
	r.folder.Form = GGUF
	if !slices.Contains(r.needs.Also, GGUF) {
		r.say("GGUF file", name, "use the model's Hugging Face folder, or convert the file in a step hf_folder",
			"the model is a GGUF file")
	}
	return false
}

// begins reports whether a file begins with a text.
func begins(f io.Reader, text string) bool {
	b := make([]byte, len(text))
	_, err := io.ReadFull(f, b)
	return err == nil && string(b) == text
}

// first returns the first file whose name has one of the endings, or "".
func (r *reader) first(endings ...string) string {
	for _, name := range r.names {
		if slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(name, e) }) {
			return name
		}
	}
	return ""
}

// read returns the text of a file, or nil after adding a problem. A missing file is a problem only if must is true.
func (r *reader) read(name string, limit int64, must bool) []byte {
	f, err := r.open(path.Join(r.dir, name))
	switch {
	case errors.Is(err, fs.ErrNotExist) && must:
		r.say("Missing file", name, "download it with the model", "file is missing")
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		r.say("Unreadable file", name, "make it readable", "file cannot be opened (%s)", reason(err))
		return nil
	}
	defer f.Close()
	b, err := boundedfile.ReadAll(f, name, limit)
	switch {
	case err != nil:
		r.say("Unreadable file", name, download, "file cannot be read (%s)", reason(err))
		return nil
	case begins(bytes.NewReader(b), pointer):
		r.say("Git LFS pointer", name, "run `git lfs pull` in the folder", "file is a Git LFS pointer")
		return nil
	}
	return b
}

// pointer begins a Git LFS file that was not downloaded.
const pointer = "version https://git-lfs"

// reason returns an error without the path, which the problem already names.
func reason(err error) string {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return err.Error()
}

// tokenizer checks that a tokenizer.json exists.
func (r *reader) tokenizer() {
	if !slices.Contains(r.names, tokenizerFile) && slices.Contains(r.names, "tokenizer.model") {
		r.say("Missing file", tokenizerFile, "write it with save_pretrained of transformers' AutoTokenizer",
			"file is missing, and tokenizer.model has another format")
		return
	}
	f, err := r.open(path.Join(r.dir, tokenizerFile))
	if err != nil {
		r.say("Missing file", tokenizerFile, "download it with the model", "file is missing")
		return
	}
	defer f.Close()
	if begins(f, pointer) {
		r.say("Git LFS pointer", tokenizerFile, "run `git lfs pull` in the folder", "file is a Git LFS pointer")
	}
}
