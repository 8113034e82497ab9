package hf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/model/safetensors"
)

// stored is a tensor with the name of its file.
type stored struct {
	safetensors.Tensor
	file string
}

// weights reads the headers of the safetensors files. It compares them with the model if its shapes are known.
func (r *reader) weights(known bool) {
	m := &r.folder.Model
	files, listed := r.files()
	if files == nil {
		return
	}
	found := map[string]stored{}
	r.shards(files, listed, found)
	if r.needs.Types == nil {
		_, separate := found[head]
		m.Tied = !separate
	}
	if !r.float(found) || r.quantized {
		return
	}
	if !r.partial {
		r.indexed(listed, found)
	}
	if known {
		r.compare(found)
	}
}

// files returns the names of the safetensors files and the tensors that an index assigns to them, or nil.
func (r *reader) files() ([]string, map[string]string) {
	switch {
	case slices.Contains(r.names, indexFile):
		raw := r.read(indexFile, safetensors.MaxIndex, true)
		if raw == nil {
			return nil, nil
		}
		listed, err := safetensors.ParseIndex(raw)
		if err != nil {
			r.say("Damaged file", indexFile, download, "file is not an index (%v)", err)
			return nil, nil
		}
		return slices.Compact(slices.Sorted(maps.Values(listed))), listed
	case slices.Contains(r.names, weightsFile):
		return []string{weightsFile}, nil
	case r.needs.Types == nil:
		return nil, nil
	}
	if pickle := r.first(".bin", ".pth", ".pt", ".pkl"); pickle != "" {
		r.say("Pickled weights", pickle, "save the model with save_pretrained(safe_serialization=True)",
			"weights are a pickle, not safetensors")
	} else {
		r.say("Missing file", weightsFile, "download the model's weights", "file is missing")
	}
	return nil, nil
}

// shards reads the headers of files.
func (r *reader) shards(files []string, listed map[string]string, found map[string]stored) {
	var missing []string
	for _, name := range files {
		f, err := r.open(path.Join(r.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, name)
			continue
		}
		if err != nil {
			r.partial = true
			r.say("Unreadable file", name, "make it readable", "file cannot be opened (%s)", reason(err))
			continue
		}
		r.shard(name, f, found)
		f.Close()
	}
	r.partial = r.partial || len(missing) > 0
	switch {
	case len(missing) > 0 && listed == nil: // a dangling link
		r.say("Missing file", missing[0], download, "file is missing")
	case len(missing) > 0:
		r.say("Missing shard", missing[0], download, "file is missing%s, and %s lists it", more(len(missing)), indexFile)
	}
}

// shard reads the header of one file.
func (r *reader) shard(name string, f fs.File, found map[string]stored) {
	info, err := f.Stat()
	at, ok := f.(io.ReaderAt)
	if err != nil || !info.Mode().IsRegular() || !ok {
		r.partial = true
		r.say("Unreadable file", name, download, "file is not a regular file")
		return
	}
	h, err := safetensors.Parse(at, info.Size())
	if err == nil {
		for _, t := range h.Tensors() {
			found[t.Name] = stored{t, name}
		}
		return
	}
	r.partial = true
	var truncated *safetensors.TruncatedError
	var other *safetensors.DTypeError
	switch {
	case begins(io.NewSectionReader(at, 0, info.Size()), pointer):
		r.say("Git LFS pointer", name, "run `git lfs pull` in the folder", "file is a Git LFS pointer")
	case errors.As(err, &truncated):
		r.say("Truncated file", name, download, "file has %d bytes, its header describes %d", info.Size(), truncated.Want)
	case errors.As(err, &other) && r.quantized: // already reported
	case errors.As(err, &other):
		r.say("Unsupported data type", name, floats, "tensor %s is %s", other.Tensor, other.DType)
	default:
		r.say("Damaged file", name, download, "%v", err)
	}
}

// float reports whether the tensors have not been quantized.
func (r *reader) float(found map[string]stored) bool {
	for _, name := range slices.Sorted(maps.Keys(found)) {
		by := ""
		switch {
		case strings.HasSuffix(name, ".scale1") && slices.Contains(r.needs.Also, MLLM):
			r.folder.Form = MLLM
			return false
		case strings.HasSuffix(name, ".scale1"):
			by = "mllm's quantizer"
		case strings.HasSuffix(name, ".qweight"):
			by = "GPTQ or AWQ"
		default:
			continue
		}
		if !r.quantized {
			r.say("Quantized checkpoint", found[name].file, floats, "tensor %s is quantized by %s", name, by)
		}
		return false
	}
	return true
}

// indexed checks that the files have the tensors that the index assigns to them.
func (r *reader) indexed(index map[string]string, found map[string]stored) {
	var missing []string
	for name := range index {
		if _, ok := found[name]; !ok {
			missing = append(missing, name)
		}
	}
	if slices.Sort(missing); len(missing) > 0 {
		r.partial = true
		r.say("Missing tensor", index[missing[0]], download, "tensor %s is missing%s, and %s lists it", missing[0],
			more(len(missing)), indexFile)
	}
}

// compare checks the types and shapes of the model's tensors.
func (r *reader) compare(found map[string]stored) {
	var missing, types, shapes []Tensor
	has := func(name string) bool {
		_, ok := found[name]
		return ok
	}
	for _, t := range r.folder.Model.tensors(has) {
		switch s, ok := found[t.Name]; {
		case !ok:
			missing = append(missing, t)
		case r.needs.Types != nil && !slices.Contains(r.needs.Types, s.DType):
			types = append(types, t)
		case !slices.Equal(s.Shape, t.Shape):
			shapes = append(shapes, t)
		}
	}
	switch {
	case len(missing) == 0 || r.partial:
	case len(missing) == 1 && missing[0].Name == head:
		r.say("Missing tensor", "", "write tie_word_embeddings = true into config.json if the embedding is the head",
			"tensor %s is missing", head)
	default:
		r.say("Missing tensor", "", together, "tensor %s is missing%s", missing[0].Name, more(len(missing)))
	}
	if len(types) > 0 {
		t := found[types[0].Name]
		r.say("Unsupported data type", t.file, floats, "tensor %s is %s%s", t.Name, t.DType, more(len(types)))
	}
	if len(shapes) > 0 {
		t := found[shapes[0].Name]
		r.say("Shape mismatch", t.file, together, "tensor %s is %v%s, config.json means %v", t.Name, t.Shape,
			more(len(shapes)), shapes[0].Shape)
	}
}

// more counts the other occurrences of a problem.
func more(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n-1)
}
