package onnx

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Graph is a model's main graph, node by node.
type Graph struct {
	Model
	Nodes     []Node
	Constants []Constant // initializers, in the file's order
}

// Node is a node, with its attributes as texts.
type Node struct {
	Name    string
	Op      string // "MatMul", and "com.acme.Op" of another domain than ONNX's own
	Inputs  []string
	Outputs []string
	Attrs   []Attr // sorted by name
}

// Attr is an attribute. Of a long value the text has the beginning and a digest.
type Attr struct{ Name, Value string }

// Constant is an initializer.
type Constant struct {
	Name   string
	DType  string
	Dims   []int64
	Value  string // of a few elements, as people write them
	Digest string // of the content, however it is stored: the beginning of its SHA-256; "" where it could not be read
	File   string // that it is in, beside the model
}

// Opener opens a file beside a model, in which there are weights.
type Opener func(name string) (r io.ReaderAt, size int64, err error)

// How much of a graph is taken.
const (
	maxNodes     = 1 << 20
	maxConstants = 1 << 20
	maxNames     = 256 << 20 // bytes of all names
	maxLinks     = 1 << 16   // inputs, or outputs, of a node
	maxAttrs     = 256       // of a node
	maxShown     = 16        // elements of a list that are in a text
	maxSmall     = 64        // bytes of a tensor that may be in a text
	digits       = 12        // of a digest
	maxTimes     = 16        // that a file of weights is read, as many tensors may share it
)

// ReadGraph reads the whole of the model of the given size behind r. Weights in files that open does not have no digest, and a warning says so. Errors
// wrap ErrFormat unless reading failed.
func ReadGraph(r io.ReaderAt, size int64, open Opener) (*Graph, error) {
	m, err := Parse(r, size)
	if err != nil {
		return nil, err
	}
	x := &reader{parser: parser{r: r, size: size}, g: &Graph{Model: *m}, opener: open, files: map[string]*parser{}, read: map[string]int64{}}
	err = x.walk(field{at: 0, size: size}, func(num protowire.Number, v field) error {
		if num != 7 {
			return nil
		}
		return x.walk(v, func(num protowire.Number, v field) error {
			switch num {
			case 1:
				return x.node(v)
			case 5:
				return x.constant(v)
			}
			return nil
		})
	})
	return x.g, err
}

// reader reads a whole graph.
type reader struct {
	parser
	g      *Graph
	opener Opener
	files  map[string]*parser // nil: could not be opened, as a warning says
	read   map[string]int64   // bytes of these files
	names  int64              // bytes
}

func (x *reader) name(f field) (string, error) {
	if x.names += f.size + 16; x.names > maxNames {
		return "", fmt.Errorf("%w: more than %d bytes of names", ErrFormat, maxNames)
	}
	return x.text(f)
}

func (x *reader) node(f field) error {
	if len(x.g.Nodes) == maxNodes {
		return fmt.Errorf("%w: more than %d nodes", ErrFormat, maxNodes)
	}
	var n Node
	domain := ""
	err := x.walk(f, func(num protowire.Number, v field) (err error) {
		var s string
		switch num {
		case 1, 2:
			if s, err = x.name(v); err != nil {
				return err
			}
			to := &n.Inputs
			if num == 2 {
				to = &n.Outputs
			}
			if len(*to) == maxLinks {
				return fmt.Errorf("%w: a node of more than %d inputs or outputs", ErrFormat, maxLinks)
			}
			*to = append(*to, s)
		case 3:
			n.Name, err = x.name(v)
		case 4:
			n.Op, err = x.name(v)
		case 5:
			if len(n.Attrs) == maxAttrs {
				return fmt.Errorf("%w: a node of more than %d attributes", ErrFormat, maxAttrs)
			}
			var a Attr
			a, err = x.attr(v)
			n.Attrs = append(n.Attrs, a)
		case 7:
			domain, err = x.name(v)
		}
		return err
	})
	if domain != "" && domain != "ai.onnx" {
		n.Op = domain + "." + n.Op
	}
	slices.SortStableFunc(n.Attrs, func(a, b Attr) int { return strings.Compare(a.Name, b.Name) })
	x.g.Nodes = append(x.g.Nodes, n)
	return err
}

// attr reads an attribute. Values of a kind follow each other; of one that holds a graph or a type the text is a digest of its bytes.
func (x *reader) attr(f field) (Attr, error) {
	var a Attr
	var l list
	err := x.walk(f, func(num protowire.Number, v field) (err error) {
		switch num {
		case 1:
			a.Name, err = x.name(v)
		case 2:
			l.add(float(uint32(v.n)))
		case 3:
			l.add(strconv.FormatInt(int64(v.n), 10))
		case 4, 9:
			l.many = l.many || num == 9
			err = x.string(v, &l)
		case 5, 10:
			l.many = l.many || num == 10
			var c Constant
			if c, err = x.tensor(v); err == nil {
				l.add(c.text())
			}
		case 6, 11, 14, 15, 22, 23:
			l.many = l.many || num == 11 || num == 15 || num == 23
			h := sha256.New()
			if err = x.sum(h, v.at, v.size); err == nil {
				what := map[protowire.Number]string{6: "graph ", 11: "graph "}[num]
				l.add(what + short(h))
			}
		case 7:
			l.many = true
			err = x.elements(v, protowire.Fixed32Type, func(n uint64) { l.add(float(uint32(n))) })
		case 8:
			l.many = true
			err = x.elements(v, protowire.VarintType, func(n uint64) { l.add(strconv.FormatInt(int64(n), 10)) })
		case 21:
			var s string
			s, err = x.name(v)
			l.add("$" + s)
		}
		return err
	})
	a.Value = l.text()
	if x.names += int64(len(a.Value)); x.names > maxNames {
		return a, fmt.Errorf("%w: more than %d bytes of names", ErrFormat, maxNames)
	}
	return a, err
}

func float(bits uint32) string {
	return strconv.FormatFloat(float64(math.Float32frombits(bits)), 'g', -1, 32)
}

// string adds a text to a list: as it is if it is short, else a digest.
func (x *reader) string(v field, l *list) error {
	if v.size <= maxSmall {
		s, err := x.text(v)
		l.add(strconv.Quote(s))
		return err
	}
	h := sha256.New()
	err := x.sum(h, v.at, v.size)
	l.add(fmt.Sprintf("%d bytes %s", v.size, short(h)))
	return err
}

// list is a value in the making. All elements are in its digest, the first ones in its text.
type list struct {
	many  bool
	count int
	shown []string
	all   hash.Hash
}

func (l *list) add(s string) {
	if l.count++; l.count <= maxShown {
		l.shown = append(l.shown, s)
	}
	if l.all == nil {
		l.all = sha256.New()
	}
	fmt.Fprintf(l.all, "%d:%s", len(s), s)
}

func (l *list) text() string {
	s := strings.Join(l.shown, ", ")
	if l.count > maxShown {
		s += fmt.Sprintf(", … %d elements %s", l.count, short(l.all))
	}
	if l.many || l.count > 1 {
		return "[" + s + "]"
	}
	return s
}

func short(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil))[:digits] }

// sum digests bytes of the file.
func (p *parser) sum(to io.Writer, at, n int64) error {
	for n > 0 {
		b, err := p.bytes(at, min(n, window))
		if err != nil {
			return err
		}
		if len(b) == 0 {
			return fmt.Errorf("%w: it ends at %d", ErrFormat, p.size)
		}
		_, _ = to.Write(b) // a digest takes all
		at, n = at+int64(len(b)), n-int64(len(b))
	}
	return nil
}

// elements calls each for every number of a field: one of its own, or many that are packed.
func (p *parser) elements(v field, typ protowire.Type, each func(uint64)) error {
	if v.typ != protowire.BytesType {
		each(v.n)
		return nil
	}
	for at, end := v.at, v.at+v.size; at < end; {
		b, err := p.bytes(at, min(window, end-at))
		if err != nil {
			return err
		}
		last := at+int64(len(b)) == end
		used := 0
		for used < len(b) && (last || len(b)-used >= 10) {
			n, k := number(b[used:], typ)
			if k < 0 {
				return fmt.Errorf("%w: a list of numbers at %d: %w", ErrFormat, at+int64(used), protowire.ParseError(k))
			}
			each(n)
			used += k
		}
		if used == 0 {
			return fmt.Errorf("%w: a list of numbers ends at %d", ErrFormat, at)
		}
		at += int64(used)
	}
	return nil
}

func number(b []byte, typ protowire.Type) (n uint64, k int) {
	switch typ {
	case protowire.Fixed32Type:
		m, k := protowire.ConsumeFixed32(b)
		return uint64(m), k
	case protowire.Fixed64Type:
		return protowire.ConsumeFixed64(b)
	}
	return protowire.ConsumeVarint(b)
}

func (x *reader) constant(f field) error {
	if len(x.g.Constants) == maxConstants {
		return fmt.Errorf("%w: more than %d initializers", ErrFormat, maxConstants)
	}
	c, err := x.tensor(f)
	x.g.Constants = append(x.g.Constants, c)
	return err
}

// tensor reads a tensor: what it is, and then its content, which may stand before that in the file.
func (x *reader) tensor(f field) (Constant, error) {
	c := Constant{Dims: []int64{}}
	kind := uint64(0)
	offset, length := int64(0), int64(-1)
	far := false
	err := x.walk(f, func(num protowire.Number, v field) (err error) {
		switch num {
		case 1:
			err = x.elements(v, protowire.VarintType, func(n uint64) {
				if len(c.Dims) < maxRank {
					c.Dims = append(c.Dims, int64(n))
				}
			})
		case 2:
			kind = v.n
		case 8:
			c.Name, err = x.name(v)
		case 13:
			err = x.place(v, &c.File, &offset, &length)
		case 14:
			far = v.n == 1
		}
		return err
	})
	c.DType = dtype(kind)
	if err != nil {
		return c, err
	}
	d := &digest{Hash: sha256.New()}
	if !far {
		c.File = ""
		err = x.content(f, kind, d)
	} else if !x.away(&c, d, offset, length) {
		return c, nil
	}
	c.Digest = short(d)
	c.Value = values(d.head, d.size, kind)
	return c, err
}

// digest is a digest that keeps the first bytes.
type digest struct {
	hash.Hash
	head []byte
	size int64
}

func (d *digest) Write(b []byte) (int, error) {
	if room := maxSmall - len(d.head); room > 0 {
		d.head = append(d.head, b[:min(room, len(b))]...)
	}
	d.size += int64(len(b))
	return d.Hash.Write(b)
}

// place reads a part of where the content of a tensor is.
func (x *reader) place(f field, file *string, offset, length *int64) error {
	var key, value string
	err := x.walk(f, func(num protowire.Number, v field) (err error) {
		switch num {
		case 1:
			key, err = x.text(v)
		case 2:
			value, err = x.text(v)
		}
		return err
	})
	if err != nil {
		return err
	}
	switch key {
	case "location":
		*file = value
	case "offset":
		*offset, err = strconv.ParseInt(value, 10, 64)
	case "length":
		*length, err = strconv.ParseInt(value, 10, 64)
	}
	if err != nil {
		return fmt.Errorf("%w: the %s of a tensor's content is %.32q", ErrFormat, key, value)
	}
	return nil
}

// away digests content that is in another file, and tells whether it could.
func (x *reader) away(c *Constant, d *digest, offset, length int64) bool {
	p, known := x.files[c.File]
	if !known && len(x.files) < maxFiles {
		p = x.open(c.File)
		x.files[c.File] = p
	}
	if p == nil {
		return false
	}
	if length < 0 {
		length = p.size - offset
	}
	if offset < 0 || length < 0 || offset > p.size || length > p.size-offset {
		x.warn("%s: %d bytes at %d of %s, which has %d", c.Name, length, offset, c.File, p.size)
		return false
	}
	if x.read[c.File] += length; x.read[c.File]/maxTimes > p.size {
		x.warn("tensors share more of %s than is compared, from %s on", c.File, c.Name)
		return false
	}
	if err := p.sum(d, offset, length); err != nil {
		x.warn("%s: %v", c.File, err)
		return false
	}
	return true
}

func (x *reader) open(name string) *parser {
	if !filepath.IsLocal(name) || x.opener == nil {
		x.warn("weights in %q are not compared: it is no file beside the model", name)
		return nil
	}
	r, size, err := x.opener(name)
	if err != nil {
		x.warn("weights in %s are not compared: %v", name, err)
		return nil
	}
	return &parser{r: r, size: size}
}

func (x *reader) warn(format string, args ...any) {
	if len(x.g.Warnings) < maxFiles {
		x.g.Warnings = append(x.g.Warnings, fmt.Sprintf(format, args...))
	}
}

// content digests content that is in the model's own file, as the bytes that it would be if it were stored as such.
func (x *reader) content(f field, kind uint64, to io.Writer) error {
	width := widths(kind)
	put := func(n uint64, width int) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], n)
		_, _ = to.Write(b[:width])
	}
	return x.walk(f, func(num protowire.Number, v field) error {
		switch num {
		case 4:
			return x.elements(v, protowire.Fixed32Type, func(n uint64) { put(n, 4) })
		case 5:
			return x.elements(v, protowire.VarintType, func(n uint64) { put(n, width) })
		case 6:
			put(uint64(v.size), 8)
			return x.sum(to, v.at, v.size)
		case 7:
			return x.elements(v, protowire.VarintType, func(n uint64) { put(n, 8) })
		case 9:
			return x.sum(to, v.at, v.size)
		case 10:
			return x.elements(v, protowire.Fixed64Type, func(n uint64) { put(n, 8) })
		case 11:
			return x.elements(v, protowire.VarintType, func(n uint64) { put(n, width) })
		}
		return nil
	})
}

// widths is how many bytes an element has that is stored as a larger number; 4 bits are stored in pairs.
func widths(kind uint64) int {
	switch dtype(kind) {
	case "int8", "uint8", "bool", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "int4", "uint4", "float4e2m1":
		return 1
	case "int16", "uint16", "float16", "bfloat16":
		return 2
	case "int64", "uint64":
		return 8
	}
	return 4
}

// values are the elements of a small tensor, as people write them.
func values(b []byte, size int64, kind uint64) string {
	if size > int64(len(b)) || size == 0 {
		return ""
	}
	var of func([]byte) string
	width := widths(kind)
	switch name := dtype(kind); name {
	case "float32":
		of = func(b []byte) string { return float(binary.LittleEndian.Uint32(b)) }
	case "float64":
		width = 8
		of = func(b []byte) string {
			return strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)), 'g', -1, 64)
		}
	case "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool":
		of = func(b []byte) string {
			n := binary.LittleEndian.Uint64(append(bytes.Clone(b), make([]byte, 8-len(b))...))
			if shift := 64 - 8*len(b); strings.HasPrefix(name, "int") {
				return strconv.FormatInt(int64(n<<shift)>>shift, 10)
			}
			return strconv.FormatUint(n, 10)
		}
	default:
		return ""
	}
	if size%int64(width) != 0 || size/int64(width) > maxShown/2 {
		return ""
	}
	var parts []string
	for i := 0; i < len(b); i += width {
		parts = append(parts, of(b[i:i+width]))
	}
	return strings.Join(parts, ", ")
}

// text is a constant in short: float32[2×3] 0.5, 1, or with its digest.
func (c Constant) text() string {
	s := c.DType + strings.ReplaceAll(fmt.Sprint(c.Dims), " ", "×")
	switch {
	case c.Value != "":
		return s + " " + c.Value
	case c.Digest != "":
		return s + " " + c.Digest
	case c.File != "":
		return s + " in " + c.File
	}
	return s
}

// text is a node as people write it: y = MatMul(x, w).
func (n Node) text() string {
	parts := make([]string, 0, len(n.Inputs)+len(n.Attrs))
	for _, in := range n.Inputs {
		if in == "" {
			in = "_"
		}
		parts = append(parts, in)
	}
	for _, a := range n.Attrs {
		parts = append(parts, a.Name+"="+a.Value)
	}
	return fmt.Sprintf("%s = %s(%s)", strings.Join(n.Outputs, ", "), n.Op, strings.Join(parts, ", "))
}
