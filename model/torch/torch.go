// Package torch reads PyTorch checkpoints (.pth, .pt, .bin) that hold a state dict: the tensors of a model by name.
//
// Since PyTorch 1.6 torch.save writes a zip archive without compression: a pickle, data.pkl, that makes the dict, and one entry, data/KEY, for the bytes of each
// storage, of which tensors are views. (https://pytorch.org/docs/stable/notes/serialization.html)
//
// A pickle is a program that may import and call anything. Here it makes texts, numbers, tuples, lists and dicts, and may name only what a state dict needs; any
// other name is refused with a NameError before anything is made of it. Nothing of a storage is read while a file is opened, entries are found to lie inside the file and
// apart from each other, and a view inside its storage with no element twice; so a File made from hostile bytes is safe to use, and what is written of all its
// tensors is bounded by the file's size.
//
// The package converts no values, and knows nothing of models.
package torch

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/model/safetensors"
)

// ErrFormat is wrapped by every error that says a file is not a checkpoint that can be read.
var ErrFormat = errors.New("not a PyTorch checkpoint of a state dict")

// ErrNoPickle says, beside ErrFormat, that a file is a zip archive of something else.
var ErrNoPickle = errors.New("a zip archive without data.pkl")

// NameError is about a name that a checkpoint imports and a state dict has no use for. Who loads such a file with Python runs it.
type NameError struct{ Name string } // "os.system"

func (e *NameError) Error() string {
	return fmt.Sprintf("it imports %.200s, which no state dict of plain tensors needs, and whoever loads it with Python runs that: save the model's state_dict() alone", e.Name)
}

const (
	maxEntries = 1 << 20
	maxRank    = 64
	maxShared  = 64 // names of the tensors of one view: tied weights have two or three
)

// Tensor is a view of a storage; without a Name, one that the pickle has made and not put into the dict yet.
type Tensor struct {
	Name  string
	DType safetensors.DType
	Shape []int64 // empty for a scalar
	Size  int64   // bytes of all elements

	file    io.ReaderAt
	storage storage
	first   int64   // element of the storage
	strides []int64 // in elements
}

// storage is the bytes of an entry.
type storage struct {
	key    string
	dtype  safetensors.DType // "": bytes, whose type each tensor says
	offset int64             // in the file
	size   int64             // bytes
}

// File is a checkpoint.
type File struct {
	tensors []Tensor // in the order of the state dict
}

// Tensors are those of the state dict, in its order. The slice is the File's own.
func (f *File) Tensors() []Tensor { return f.tensors }

// Parse reads what the file of the given size behind r says of its tensors. Errors wrap ErrFormat unless reading failed; one about what a pickle imports is a *NameError, too.
func Parse(r io.ReaderAt, size int64) (*File, error) {
	storages, pickled, err := entries(r, size)
	if err != nil {
		return nil, err
	}
	c := &checkpoint{storages}
	p := &pickle{src: pickled, load: c.load, call: c.call, persistent: c.persistent}
	v, err := p.run()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	d, ok := v.(*dict)
	if !ok {
		return nil, fmt.Errorf("%w: it holds %s, not a dict of tensors; save the model's state_dict()", ErrFormat, said(v))
	}
	if inner, ok := d.get("model").(*dict); ok { // as upstream's converter does
		d = inner
	}
	f := &File{}
	if err := f.add(d, r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return f, nil
}

// entries finds the storages by their keys, and reads the pickle.
func entries(r io.ReaderAt, size int64) (map[string]storage, []byte, error) {
	var magic [4]byte
	if n, err := r.ReadAt(magic[:], 0); n < len(magic) {
		if err == io.EOF {
			err = fmt.Errorf("%w: %d bytes are too few", ErrFormat, size)
		}
		return nil, nil, err
	}
	if magic[0] == 0x80 {
		return nil, nil, fmt.Errorf("%w: torch.save of before 1.6 wrote it, or another program: load it with PyTorch and save it again", ErrFormat)
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if len(z.File) > maxEntries {
		return nil, nil, fmt.Errorf("%w: %d entries (limit %d)", ErrFormat, len(z.File), maxEntries)
	}
	if !slices.ContainsFunc(z.File, func(e *zip.File) bool { return path.Base(e.Name) == "data.pkl" }) {
		return nil, nil, fmt.Errorf("%w: %w", ErrFormat, ErrNoPickle)
	}
	storages := map[string]storage{}
	var pickled *zip.File
	all := make([]storage, 0, len(z.File))
	for _, e := range z.File {
		folder, name := path.Split(e.Name)
		at, err := e.DataOffset()
		if err != nil {
			return nil, nil, fmt.Errorf("%w: entry %q: %w", ErrFormat, e.Name, err)
		}
		switch {
		case e.Method != zip.Store || e.UncompressedSize64 != e.CompressedSize64:
			return nil, nil, fmt.Errorf("%w: entry %q is compressed, which torch.save never does", ErrFormat, e.Name)
		case e.UncompressedSize64 > uint64(size) || at > size-int64(e.UncompressedSize64):
			return nil, nil, fmt.Errorf("%w: entry %q ends after the file's end; is the file truncated?", ErrFormat, e.Name)
		}
		s := storage{key: name, offset: at, size: int64(e.UncompressedSize64)}
		all = append(all, s)
		switch {
		case name == "data.pkl":
			if pickled != nil {
				return nil, nil, fmt.Errorf("%w: there are two of %q", ErrFormat, name)
			}
			pickled = e
		case name == "constants.pkl":
			return nil, nil, fmt.Errorf("%w: it is a TorchScript program; save the model's state_dict()", ErrFormat)
		case name == "byteorder":
			if err := littleEndian(e); err != nil {
				return nil, nil, err
			}
		case strings.HasSuffix(folder, "/data/"):
			if _, ok := storages[name]; ok {
				return nil, nil, fmt.Errorf("%w: there are two storages %q", ErrFormat, name)
			}
			storages[name] = s
		}
	}
	slices.SortFunc(all, func(a, b storage) int { return cmp.Compare(a.offset, b.offset) })
	for i := 1; i < len(all); i++ {
		if before := all[i-1]; before.offset+before.size > all[i].offset {
			return nil, nil, fmt.Errorf("%w: entries %q and %q lie on each other", ErrFormat, before.key, all[i].key)
		}
	}
	b, err := small(pickled, maxPickle)
	return storages, b, err
}

// small reads an entry of at most so many bytes.
func small(e *zip.File, limit uint64) ([]byte, error) {
	if e.UncompressedSize64 > limit {
		return nil, fmt.Errorf("%w: entry %q has %d bytes (limit %d)", ErrFormat, e.Name, e.UncompressedSize64, limit)
	}
	r, err := e.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: entry %q: %w", ErrFormat, e.Name, err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("%w: entry %q: %w", ErrFormat, e.Name, err)
	}
	return b, nil
}

func littleEndian(e *zip.File) error {
	b, err := small(e, 64)
	if err == nil && string(b) != "little" {
		err = fmt.Errorf("%w: its bytes are in %.16q order; save it on a machine with little-endian ones", ErrFormat, b)
	}
	return err
}

// said is what a value is called in an error.
func said(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case *Tensor:
		return "one tensor"
	case *list, tuple:
		return "a list"
	case *dict:
		return "a dict"
	case class:
		return v.String()
	}
	return fmt.Sprintf("%T", v)
}

// add takes in the tensors of a state dict. What begins with _ is left out, and what is no tensor, as upstream's converter does.
func (f *File) add(d *dict, file io.ReaderAt) error {
	seen := map[string]bool{}
	for i, k := range d.keys {
		name, ok := k.(string)
		if !ok {
			return fmt.Errorf("a name is the number %v", k)
		}
		if strings.HasPrefix(name, "_") {
			continue
		}
		v, ok := d.values[i].(*Tensor)
		if _, inner := d.values[i].(*dict); inner {
			return fmt.Errorf("%q is a dict, not a tensor: save the state_dict() of one model", name)
		}
		if !ok {
			continue
		}
		if seen[name] {
			return fmt.Errorf("tensor %q appears twice", name)
		}
		seen[name] = true
		t := *v // tied weights are one value under two names
		t.Name, t.file = name, file
		f.tensors = append(f.tensors, t)
	}
	if len(f.tensors) == 0 {
		return errors.New("there is no tensor in it")
	}
	return f.apart()
}

// apart checks that tensors of one storage are the same view, as tied weights are, or have no byte in common.
func (f *File) apart() error {
	of := map[string][]int{}
	for i, t := range f.tensors {
		if t.Size > 0 {
			of[t.storage.key] = append(of[t.storage.key], i)
		}
	}
	for _, all := range of {
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(f.tensors[a].begin(), f.tensors[b].begin()) })
		shared, end := 1, int64(0)
		for i, k := range all {
			t := &f.tensors[k]
			if i > 0 {
				before := &f.tensors[all[i-1]]
				switch {
				case t.same(before):
					if shared++; shared > maxShared {
						return fmt.Errorf("more than %d tensors are %q", maxShared, before.Name)
					}
					continue
				case t.begin() < end:
					return fmt.Errorf("tensors %q and %q reach over the same bytes: only the same tensor may have two names; make them contiguous() and save them again", before.Name, t.Name)
				}
			}
			shared, end = 1, max(end, t.end())
		}
	}
	return nil
}

// begin and end are where a tensor's bytes are in its storage.
func (t *Tensor) begin() int64 { return t.first * t.DType.Size() }
func (t *Tensor) end() int64   { return t.begin() + span(t.Shape, t.strides)*t.DType.Size() }

func (t *Tensor) same(o *Tensor) bool {
	return t.DType == o.DType && t.first == o.first && slices.Equal(t.Shape, o.Shape) && slices.Equal(t.strides, o.strides)
}

// span is how many elements of a storage a view reaches over, from its first; 0 for one without elements.
func span(shape, strides []int64) int64 {
	n := int64(1)
	for i, d := range shape {
		if d == 0 {
			return 0
		}
		n += (d - 1) * strides[i]
	}
	return n
}

// checkpoint is what a pickle's names stand for.
type checkpoint struct{ storages map[string]storage }

// The functions that a state dict calls.
var rebuilds = map[class]bool{
	{"collections", "OrderedDict"}:         true,
	{"torch._utils", "_rebuild_tensor"}:    true,
	{"torch._utils", "_rebuild_tensor_v2"}: true,
	{"torch._utils", "_rebuild_tensor_v3"}: true,
	{"torch._utils", "_rebuild_parameter"}: true,
}

// dtypes are the classes of storages, and the types that tensors of untyped ones name.
var dtypes = map[string]safetensors.DType{
	"FloatStorage": safetensors.F32, "HalfStorage": safetensors.F16, "BFloat16Storage": safetensors.BF16, "DoubleStorage": safetensors.F64,
	"CharStorage": safetensors.I8, "ByteStorage": safetensors.U8, "BoolStorage": safetensors.Bool, "ShortStorage": safetensors.I16,
	"IntStorage": safetensors.I32, "LongStorage": safetensors.I64, "ComplexFloatStorage": safetensors.C64, "UntypedStorage": "",
	"float32": safetensors.F32, "float16": safetensors.F16, "bfloat16": safetensors.BF16, "float64": safetensors.F64,
	"int8": safetensors.I8, "uint8": safetensors.U8, "bool": safetensors.Bool, "int16": safetensors.I16, "int32": safetensors.I32, "int64": safetensors.I64,
	"uint16": safetensors.U16, "uint32": safetensors.U32, "uint64": safetensors.U64, "complex64": safetensors.C64,
	"float8_e4m3fn": safetensors.F8E4M3, "float8_e5m2": safetensors.F8E5M2,
}

// load accepts the names that a state dict needs.
func (c *checkpoint) load(name class) (any, error) {
	_, typed := dtypes[name.name]
	if rebuilds[name] || typed && (name.module == "torch" || name.module == "torch.storage") {
		return name, nil
	}
	return nil, &NameError{name.String()}
}

// persistent is a storage, as torch.save refers to it: ("storage", class, key, device, number of elements).
func (c *checkpoint) persistent(id any) (any, error) {
	t, ok := id.(tuple)
	if !ok || len(t) != 5 || t[0] != "storage" {
		return nil, errors.New("it refers to something that is no storage")
	}
	of, ok1 := t[1].(class)
	key, ok2 := t[2].(string)
	n, ok3 := t[4].(int64)
	dtype, ok4 := dtypes[of.name]
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return nil, errors.New("it refers to a storage that is none")
	}
	s, ok := c.storages[key]
	if !ok {
		return nil, fmt.Errorf("storage %.40q is not in the archive", key)
	}
	width := max(1, dtype.Size())
	if n < 0 || n > s.size/width {
		return nil, fmt.Errorf("storage %.40q is to have %d elements of %d bytes, and has %d bytes", key, n, width, s.size)
	}
	s.dtype = dtype
	return s, nil
}

// call does what a state dict calls.
func (c *checkpoint) call(fn any, args tuple) (any, error) {
	name, ok := fn.(class)
	if !ok || !rebuilds[name] {
		return nil, fmt.Errorf("it calls %s", said(fn))
	}
	switch name.name {
	case "OrderedDict":
		if len(args) == 0 {
			return &dict{}, nil
		}
		return nil, errors.New("an OrderedDict has arguments")
	case "_rebuild_parameter": // data, requires_grad, hooks
		if len(args) == 3 {
			if v, ok := args[0].(*Tensor); ok {
				return v, nil
			}
		}
		return nil, errors.New("a parameter is no tensor")
	}
	v, err := rebuild(name.name, args)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// rebuild is a tensor: storage, first element, shape, strides, and for _v2 requires_grad, hooks and metadata, for _v3 its type before the metadata.
func rebuild(fn string, args tuple) (*Tensor, error) {
	if len(args) < 4 {
		return nil, fmt.Errorf("%s has %d arguments", fn, len(args))
	}
	s, ok1 := args[0].(storage)
	first, ok2 := args[1].(int64)
	shape, ok3 := numbers(args[2])
	strides, ok4 := numbers(args[3])
	if !ok1 || !ok2 || !ok3 || !ok4 || len(shape) != len(strides) {
		return nil, fmt.Errorf("%s has arguments that make no tensor", fn)
	}
	v := &Tensor{DType: s.dtype, Shape: shape, storage: s, first: first, strides: strides}
	if fn == "_rebuild_tensor_v3" && len(args) >= 7 {
		if of, ok := args[6].(class); ok {
			v.DType = dtypes[of.name]
		}
	}
	return v, v.check()
}

func numbers(v any) ([]int64, bool) {
	t, ok := v.(tuple)
	if !ok {
		return nil, false
	}
	all := make([]int64, len(t))
	for i, x := range t {
		if all[i], ok = x.(int64); !ok {
			return nil, false
		}
	}
	return all, true
}

// check finds that the view is inside its storage and has no element twice.
func (t *Tensor) check() error {
	width := t.DType.Size()
	if width == 0 {
		return errors.New("the type of a tensor's elements is not known")
	}
	if len(t.Shape) > maxRank {
		return fmt.Errorf("a tensor has %d dimensions (limit %d)", len(t.Shape), maxRank)
	}
	room := t.storage.size / width
	count := int64(1)
	order := make([]int, len(t.Shape))
	for i, d := range t.Shape {
		if d < 0 || t.strides[i] < 0 {
			return fmt.Errorf("a tensor has shape %v and strides %v", t.Shape, t.strides)
		}
		if d > 0 && count > math.MaxInt64/width/d {
			return fmt.Errorf("a tensor of shape %v is too large", t.Shape)
		}
		count *= d
		order[i] = i
	}
	t.Size = count * width
	if t.first < 0 || t.first > room {
		return fmt.Errorf("a tensor begins at element %d of storage %.40q, which has %d", t.first, t.storage.key, room)
	}
	if count == 0 {
		return nil
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.strides[a], t.strides[b]) })
	reach := int64(1) // elements from the first to the last of what is inside
	for _, i := range order {
		if t.Shape[i] == 1 {
			continue
		}
		if t.strides[i] < reach {
			return fmt.Errorf("a tensor of shape %v and strides %v has elements twice: make it contiguous() and save it again", t.Shape, t.strides)
		}
		if t.strides[i] > (room-reach)/(t.Shape[i]-1) {
			return fmt.Errorf("a tensor of shape %v and strides %v reaches beyond its storage of %d elements", t.Shape, t.strides, room)
		}
		reach += (t.Shape[i] - 1) * t.strides[i]
	}
	if reach > room-t.first {
		return fmt.Errorf("a tensor of shape %v reaches beyond its storage of %d elements", t.Shape, room)
	}
	return nil
}
