// Package hf reads the Hugging Face folder of a decoder: config.json, the headers of its safetensors files and the
// names of its other files. Read finds what a step does not take, before the step runs. The package reads no weights,
// and it does not know which step asks.
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

// maxConfig bounds a config.json, in bytes, and maxFiles the files of a folder.
const (
	maxConfig = 1 << 20
	maxFiles  = 10_000
)

// Next steps that several problems have.
const (
	download  = "download it again"
	floats    = "use the model's weights in BF16, F16 or F32"
	together  = "use a folder whose config.json and weights belong together"
	ownConfig = "use the model's own config.json"
)

// Open opens a file or folder by its name.
type Open func(name string) (fs.File, error)

// Needs is what a step takes.
type Needs struct {
	Architecture string              // the only model_type; "": each of Architectures
	BlockSize    int64               // must divide the widths of matrices; 0: any width
	Types        []safetensors.DType // of weights; nil: any, and a folder without safetensors files
	Tokenizer    bool                // tokenizer.json must exist
	Also         []Form              // other forms of a model, which Read recognizes and does not check
}

// Form is what a path holds.
type Form string

// The forms.
const (
	Weights Form = "" // config.json and float weights
	GGUF    Form = "gguf"
	MLLM    Form = "mllm" // written by mllm's quantizer
)

// MissingModel is the title of the problem that nothing is at the path.
const MissingModel = "Missing model"

// Problem is a reason for which a step does not take a path.
type Problem struct {
	Title string // a noun phrase
	Text  string // "<file>: <problem>: <next step>"
}

// Folder is what Read found.
type Folder struct {
	Model Model // incomplete if there are problems
	Form  Form
}

// Read reads a folder, and returns all problems that a step with these needs has with it.
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

// reader is a folder being read.
type reader struct {
	open     Open
	dir      string
	needs    Needs
	names    []string // of the files
	folder   Folder
	problems []Problem

	quantized bool // a problem says so: tensors differ from a float model's
	partial   bool // a problem says which files are unusable: tensors are missing
}

// say adds a problem of a file; "" is the folder.
func (r *reader) say(title, file, next, format string, args ...any) {
	text := fmt.Sprintf("%s: %s: %s", path.Join(r.dir, file), fmt.Sprintf(format, args...), next)
	r.problems = append(r.problems, Problem{title, text})
}

// list lists the folder. It returns false if there is nothing to check below it.
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

// single says of a file that it is no folder.
func (r *reader) single(f fs.File) bool {
	if begins(f, "GGUF") {
		return r.gguf("")
	}
	r.say("Model file", "", "name the folder with config.json and model.safetensors", "the path is a file")
	return false
}

// gguf ends the check of a GGUF.
func (r *reader) gguf(name string) bool {
	r.folder.Form = GGUF
	if !slices.Contains(r.needs.Also, GGUF) {
		r.say("GGUF file", name, "use the model's Hugging Face folder, or convert the file in a step hf_folder",
			"the model is a GGUF file")
	}
	return false
}

// begins tells whether a file begins with a text.
func begins(f io.Reader, text string) bool {
	b := make([]byte, len(text))
	_, err := io.ReadFull(f, b)
	return err == nil && string(b) == text
}

// first returns the first file whose name ends in one of the endings, or "".
func (r *reader) first(endings ...string) string {
	for _, name := range r.names {
		if slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(name, e) }) {
			return name
		}
	}
	return ""
}

// read returns the text of a file, or nil if a problem says why not. A file that is missing is a problem if it must
// exist.
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

// pointer is what a file of Git LFS begins with that was not downloaded.
const pointer = "version https://git-lfs"

// reason is an error without the path that the object of a problem has already.
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
