package inspect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// errCheckpoint is the error for a PyTorch checkpoint that is whole, and is not one of a plain state dict. The text says
// how to save it.
var errCheckpoint = errors.New("PyTorch checkpoint")

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errCheckpoint, fmt.Sprintf(format, args...))
}

const (
	maxPickle  = 4 << 20 // bytes of a pickle; each may be a value on the stack
	maxViews   = 64      // of a storage that are compared with each other
	maxDims    = 64      // of a tensor
	stateAlone = "save the model's state_dict() alone: torch.save(model.state_dict(), FILE)"
)

// checkpoint describes the files of a zip as a PyTorch checkpoint: data.pkl is a pickle that makes a dict of tensors, which are views of
// storages in files of their own. ok is false if it is none.
func (d *Description) checkpoint(l *listing) (ok bool, err error) {
	i := slices.IndexFunc(l.names, func(n string) bool { return path.Base(n) == "data.pkl" && strings.Count(n, "/") == 1 })
	if i < 0 {
		return false, nil
	}
	d.Format, d.Tensors = "pytorch", &Tensors{}
	if _, is := l.sizes[path.Dir(l.names[i])+"/constants.pkl"]; is {
		return true, refused("it is a TorchScript program, not a state dict: in Python, %s", stateAlone)
	}
	b, err := l.read(l.names[i], maxPickle)
	if err != nil {
		return true, refused("data.pkl cannot be read: %v", err)
	}
	tensors, err := stateDict(b)
	for _, t := range tensors {
		d.Tensors.List = append(d.Tensors.List, Tensor{Name: t.name, DType: t.dtype, Shape: t.shape, Size: t.bytes()})
	}
	d.Tensors.Count = len(tensors)
	return true, err
}

// stateDict returns the tensors of a state dict, sorted by name. It leaves out what step convert leaves out.
func stateDict(b []byte) ([]view, error) {
	p := &pickle{b: b, saved: map[uint64]any{}}
	made := p.run()
	switch {
	case len(p.foreign) > 0 && strings.HasPrefix(p.foreign[0], "torch._utils._rebuild_"):
		return nil, refused("it has quantized, sparse or other special tensors (%s): save what dequantize() or to_dense() returns", p.foreign[0])
	case len(p.foreign) > 0:
		return nil, refused("it imports %s, which a state dict does not need: %s", strings.Join(p.foreign, ", "), stateAlone)
	case p.bad:
		return nil, refused("data.pkl is no pickle that torch.save writes: load it with PyTorch and save the model's state_dict() again")
	}
	top, _ := made.(*dict)
	if inner, _ := top.get("model").(*dict); inner != nil {
		top = inner
	}
	if top == nil {
		return nil, refused("it has no dict of tensors: %s", stateAlone)
	}
	var tensors []view
	for i, k := range top.keys {
		name, isText := k.(string)
		t, isTensor := top.values[i].(view)
		if _, isDict := top.values[i].(*dict); isText && isDict && !strings.HasPrefix(name, "_") {
			return nil, refused("%s is a dict, not a tensor: save the state_dict() of one model", name)
		}
		if !isText {
			return nil, refused("its dict has a key that is an integer or another object, not a name: save {str(k): v for k, v in d.items()}")
		}
		if t.name = name; isTensor && !strings.HasPrefix(name, "_") {
			tensors = append(tensors, t)
		}
	}
	slices.SortFunc(tensors, func(a, b view) int { return strings.Compare(a.name, b.name) })
	return tensors, checkViews(tensors)
}

// checkViews says which tensors show elements twice, or show what another tensor has in another way.
func checkViews(tensors []view) error {
	of := map[string][]view{}
	for _, t := range tensors {
		if t.elements() > t.reach() {
			return refused("%s is expanded: shape %v shows %d elements more than once. Save contiguous() or clone() of it", t.name, t.shape, t.reach())
		}
		for _, o := range of[t.storage] {
			same := o.first == t.first && slices.Equal(o.shape, t.shape) && slices.Equal(o.strides, t.strides)
			if !same && t.first < o.first+o.reach() && o.first < t.first+t.reach() {
				return refused("%s and %s are different views of one storage (shapes %v and %v, strides %v and %v), which formats without views refuse. "+
					"Save each as contiguous().clone(); step convert copies them, too", o.name, t.name, o.shape, t.shape, o.strides, t.strides)
			}
		}
		if len(of[t.storage]) < maxViews {
			of[t.storage] = append(of[t.storage], t)
		}
	}
	return nil
}

// view is a tensor. Its numbers are elements of the storage.
type view struct {
	name, storage, dtype string
	first                int64
	shape, strides       []int64
}

func (t view) elements() int64 {
	n := int64(1)
	for _, s := range t.shape {
		n = product(n, s)
	}
	return n
}

// reach is how many elements lie from the first to the last.
func (t view) reach() int64 {
	n := int64(1)
	for i, s := range t.shape {
		if s == 0 {
			return 0
		}
		n = min(n+product(s-1, t.strides[i]), math.MaxInt64/4)
	}
	return n
}

// bytes is the size of the tensor in a file of its own.
func (t view) bytes() int64 {
	size := map[string]int64{"double": 8, "long": 8, "complexfloat": 8, "float": 4, "int": 4, "half": 2, "bfloat16": 2, "short": 2, "uint16": 2, "uint32": 4, "uint64": 8}[t.dtype]
	return product(t.elements(), max(size, 1))
}

// product is a × b, bounded.
func product(a, b int64) int64 {
	if b != 0 && a > math.MaxInt64/4/b {
		return math.MaxInt64 / 4
	}
	return a * b
}

// pickle is a program for a stack, of which this follows what makes a state dict. It calls nothing. Values are string, int64, tuple, *dict,
// view, global and storage; nil stands for all that no state dict is made of.
type pickle struct {
	b       []byte
	at      int
	bad     bool // the pickle ends early, or does what torch.save does not
	stack   []any
	marks   []int
	saved   map[uint64]any
	foreign []string // imports that a state dict does not need, the first few
}

type (
	global  string // MODULE.NAME
	tuple   []any
	storage struct{ key, dtype string }
	dict    struct{ keys, values []any }
)

func (d *dict) get(name string) any {
	if d != nil {
		for i, k := range d.keys {
			if k == any(name) {
				return d.values[i]
			}
		}
	}
	return nil
}

// take returns the next n bytes.
func (p *pickle) take(n uint64) []byte {
	if n > uint64(len(p.b)-p.at) {
		p.bad, n = true, 0
	}
	b := p.b[p.at : p.at+int(n)]
	p.at += int(n)
	return b
}

// number returns the next n bytes as a number, little-endian.
func (p *pickle) number(n uint64) uint64 {
	var full [8]byte
	copy(full[:], p.take(n))
	return binary.LittleEndian.Uint64(full[:])
}

func (p *pickle) line() string {
	n := slices.Index(p.b[p.at:], '\n')
	if n < 0 {
		p.bad = true
		return ""
	}
	return string(p.take(uint64(n) + 1)[:n])
}

func (p *pickle) push(v any) { p.stack = append(p.stack, v) }

// pop returns the topmost n values, or with -1 those above the last mark.
func (p *pickle) pop(n int) tuple {
	if n < 0 && len(p.marks) > 0 {
		last := len(p.marks) - 1
		n = len(p.stack) - p.marks[last]
		p.marks = p.marks[:last]
	}
	if n < 0 || n > len(p.stack) {
		p.bad = true
		return make(tuple, max(n, 1))
	}
	cut := len(p.stack) - n
	values := slices.Clone(p.stack[cut:])
	p.stack = p.stack[:cut]
	return values
}

// run follows the pickle to its end and returns what it makes.
func (p *pickle) run() any {
	for !p.bad {
		op := p.number(1)
		if op == '.' {
			return p.pop(1)[0]
		}
		if !p.bad {
			p.step(byte(op))
		}
	}
	return nil
}

// step does what an operation says. The names are those of Python's module pickletools.
func (p *pickle) step(op byte) {
	switch op {
	case 0x80: // PROTO
		p.take(1)
	case 0x95: // FRAME
		p.take(8)
	case '(':
		p.marks = append(p.marks, len(p.stack))
	case 'K':
		p.push(int64(p.number(1)))
	case 'M':
		p.push(int64(p.number(2)))
	case 'J':
		p.push(int64(int32(p.number(4))))
	case 0x8a: // LONG1, which has a sign
		n := p.number(1)
		shift := 64 - 8*min(n, 8)
		p.push(int64(p.number(min(n, 8))<<shift) >> shift)
		p.take(n - min(n, 8))
	case 'X':
		p.push(string(p.take(p.number(4))))
	case 0x8c: // SHORT_BINUNICODE
		p.push(string(p.take(p.number(1))))
	case 'N', ']', 0x8f, 0x88, 0x89: // None, an empty list or set, True, False
		p.push(nil)
	case 'G': // BINFLOAT
		p.take(8)
		p.push(nil)
	case 'C', 'U': // bytes
		p.take(p.number(1))
		p.push(nil)
	case 'B', 'T':
		p.take(p.number(4))
		p.push(nil)
	case 'c': // GLOBAL
		p.imported(p.line() + "." + p.line())
	case 0x93: // STACK_GLOBAL
		v := p.pop(2)
		p.imported(fmt.Sprintf("%v.%v", v[0], v[1]))
	case '}':
		p.push(&dict{})
	case ')':
		p.push(tuple{})
	case 0x85, 0x86, 0x87: // TUPLE1, TUPLE2, TUPLE3
		p.push(p.pop(int(op) - 0x84))
	case 't':
		p.push(p.pop(-1))
	case 'q':
		p.put(p.number(1))
	case 'r':
		p.put(p.number(4))
	case 0x94: // MEMOIZE
		p.put(uint64(len(p.saved)))
	case 'h':
		p.push(p.saved[p.number(1)])
	case 'j':
		p.push(p.saved[p.number(4)])
	case '0', 'a', 'b': // POP, APPEND, BUILD
		p.pop(1)
	case '1', 'e', 0x90: // POP_MARK, APPENDS, ADDITEMS
		p.pop(-1)
	case 's':
		p.set(p.pop(2))
	case 'u':
		p.set(p.pop(-1))
	case 'Q':
		p.push(stored(p.pop(1)[0]))
	case 'R':
		v := p.pop(2)
		p.push(call(v[0], v[1]))
	case 0x81: // NEWOBJ
		p.pop(2)
		p.push(nil)
	default:
		p.bad = true
	}
}

func (p *pickle) put(at uint64) {
	if len(p.stack) > 0 {
		p.saved[at] = p.stack[len(p.stack)-1]
	}
}

// set puts keys with values into the dict on top of the stack.
func (p *pickle) set(pairs tuple) {
	if len(p.stack) == 0 || len(pairs)%2 != 0 {
		p.bad = true
	} else if d, ok := p.stack[len(p.stack)-1].(*dict); ok {
		for i := 0; i < len(pairs); i += 2 {
			d.keys, d.values = append(d.keys, pairs[i]), append(d.values, pairs[i+1])
		}
	}
}

// needed are the names that a state dict is made with.
var needed = lazyregexp.New(`^(?:collections\.OrderedDict|torch\._utils\._rebuild_(?:tensor(?:_v[23])?|parameter)|torch\.storage\.UntypedStorage|` +
	`torch\.(?:[A-Za-z0-9]+Storage|b?float[0-9a-z_]+|u?int[0-9]+|bool|complex[0-9]+))$`)

// imported pushes a global, and notes one that a state dict does not need.
func (p *pickle) imported(name string) {
	p.push(global(name))
	if shown := fmt.Sprintf("%.100s", clean(name)); !needed.MatchString(name) && len(p.foreign) < 3 && !slices.Contains(p.foreign, shown) {
		p.foreign = append(p.foreign, shown)
	}
}

// stored is the storage that a persistent id names: a tuple of "storage", its class, its key, and more.
func stored(id any) any {
	t, _ := id.(tuple)
	if len(t) < 3 {
		return nil
	}
	class, _ := t[1].(global)
	key, _ := t[2].(string)
	return storage{key, strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(string(class), "torch."), "Storage"))}
}

// call returns what a function that a state dict needs returns, and nil for any other.
func call(f, args any) any {
	a, _ := args.(tuple)
	switch name, _ := f.(global); {
	case name == "collections.OrderedDict":
		return &dict{}
	case name == "torch._utils._rebuild_parameter" && len(a) > 0:
		return a[0]
	case strings.HasPrefix(string(name), "torch._utils._rebuild_tensor") && len(a) > 3:
		s, isStorage := a[0].(storage)
		first, isNumber := a[1].(int64)
		shape, _ := a[2].(tuple)
		strides, _ := a[3].(tuple)
		if isStorage && isNumber && first >= 0 && first < math.MaxInt64/4 && len(shape) == len(strides) && len(shape) <= maxDims {
			if of, _ := a[len(a)-1].(global); s.dtype == "storage.untyped" { // the third version says it last
				s.dtype = strings.TrimPrefix(string(of), "torch.")
			}
			return view{storage: s.key, dtype: s.dtype, first: first, shape: numbers(shape), strides: numbers(strides)}
		}
	}
	return nil
}

// numbers are those of a tuple of sizes.
func numbers(t tuple) []int64 {
	out := make([]int64, len(t))
	for i, x := range t {
		n, _ := x.(int64)
		out[i] = max(n, 0)
	}
	return out
}
