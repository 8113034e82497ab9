package torch

import (
	"encoding/binary"
	"fmt"
	"math"
)

// What a pickle may make. A state dict of ten thousand tensors has half a million operations in 3 MB.
const (
	maxPickle     = 16 << 20 // bytes
	maxOperations = 4 << 20
	maxDepth      = 64 // marks within marks
)

// class is a name that a pickle imports.
type class struct{ module, name string }

func (c class) String() string { return c.module + "." + c.name }

// The values of a pickle, beside nil, bool, int64, float64 and string.
type (
	tuple []any
	list  struct{ items []any }
	dict  struct {
		keys   []any
		values []any
	}
)

// get returns what stands under a name, the last where there are several; nil when there is nothing.
func (d *dict) get(name string) any {
	for i := len(d.keys) - 1; i >= 0; i-- {
		if d.keys[i] == name {
			return d.values[i]
		}
	}
	return nil
}

// pickle is a reading of one. A pickle is a program: this runs of it what makes texts, numbers, tuples, lists and dicts, and asks call and persistent about everything
// else. Of so many operations what it makes takes up to 260 MB (four million empty dicts), and twice that while it grows.
type pickle struct {
	src        []byte
	at         int
	stack      []any
	marks      []int
	numbered   map[uint32]any // values that are used again, by number
	operations int

	load       func(class) (any, error)              // what stands for an imported name
	call       func(fn any, args tuple) (any, error) // of what load returned
	persistent func(id any) (any, error)
}

// run returns the value that the pickle makes.
func (p *pickle) run() (any, error) {
	if len(p.src) > maxPickle {
		return nil, fmt.Errorf("its pickle has %d bytes (limit %d)", len(p.src), maxPickle)
	}
	p.numbered = map[uint32]any{}
	for {
		at := p.at
		op, err := p.byte()
		if err == nil {
			if p.operations++; p.operations > maxOperations {
				return nil, fmt.Errorf("its pickle has more than %d operations", maxOperations)
			}
			if op == '.' {
				return p.pop()
			}
			err = p.do(op)
		}
		if err != nil {
			return nil, fmt.Errorf("byte %d of its pickle: %w", at, err)
		}
	}
}

// do carries out one operation. Its names are those of Python's pickletools.
func (p *pickle) do(op byte) error {
	switch op {
	case 0x80: // PROTO
		v, err := p.byte()
		if err == nil && (v < 2 || v > 5) {
			err = fmt.Errorf("protocol %d; torch writes 2", v)
		}
		return err
	case 0x95: // FRAME
		_, err := p.take(8)
		return err
	case 'N': // NONE
		return p.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		return p.push(op == 0x88)
	case 'K', 'M', 'J', 0x8a: // BININT1, BININT2, BININT, LONG1
		return p.integer(op)
	case 'G': // BINFLOAT
		b, err := p.take(8)
		if err != nil {
			return err
		}
		return p.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case 'X', 0x8c: // BINUNICODE, SHORT_BINUNICODE
		return p.text(op)
	case 'c', 0x93: // GLOBAL, STACK_GLOBAL
		return p.global(op)
	case 'q', 'r', 0x94, 'h', 'j': // BINPUT, LONG_BINPUT, MEMOIZE, BINGET, LONG_BINGET
		return p.remember(op)
	case '(', '0': // MARK, POP
		if op == '(' {
			return p.mark()
		}
		_, err := p.pop()
		return err
	case ')', 0x85, 0x86, 0x87, 't': // EMPTY_TUPLE, TUPLE1, TUPLE2, TUPLE3, TUPLE
		return p.tuple(op)
	case ']', 'a', 'e': // EMPTY_LIST, APPEND, APPENDS
		return p.list(op)
	case '}', 's', 'u': // EMPTY_DICT, SETITEM, SETITEMS
		return p.dict(op)
	case 'Q': // BINPERSID
		id, err := p.pop()
		if err != nil {
			return err
		}
		v, err := p.persistent(id)
		if err != nil {
			return err
		}
		return p.push(v)
	case 'R': // REDUCE
		args, err := p.pop()
		if err != nil {
			return err
		}
		fn, err := p.pop()
		if err != nil {
			return err
		}
		t, ok := args.(tuple)
		if !ok {
			return fmt.Errorf("a call has %T for arguments", args)
		}
		v, err := p.call(fn, t)
		if err != nil {
			return err
		}
		return p.push(v)
	case 'b': // BUILD: attributes of what is on the stack, such as a state dict's _metadata. Nothing here has any.
		if _, err := p.pop(); err != nil {
			return err
		}
		if _, ok := p.top().(*dict); !ok {
			return fmt.Errorf("it sets attributes of %T", p.top())
		}
		return nil
	}
	return fmt.Errorf("operation %#02x is none that a state dict needs", op)
}

func (p *pickle) take(n int) ([]byte, error) {
	if n < 0 || n > len(p.src)-p.at {
		return nil, fmt.Errorf("it ends %d bytes early", n-(len(p.src)-p.at))
	}
	b := p.src[p.at : p.at+n]
	p.at += n
	return b, nil
}

func (p *pickle) byte() (byte, error) {
	b, err := p.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func (p *pickle) push(v any) error {
	p.stack = append(p.stack, v)
	return nil
}

// floor is where the stack ends for what is on top of the last mark.
func (p *pickle) floor() int {
	if len(p.marks) == 0 {
		return 0
	}
	return p.marks[len(p.marks)-1]
}

func (p *pickle) pop() (any, error) {
	last := len(p.stack) - 1
	if last < p.floor() {
		return nil, fmt.Errorf("it takes from an empty stack")
	}
	v := p.stack[last]
	p.stack = p.stack[:last]
	return v, nil
}

// top is what is on the stack, nil if nothing is.
func (p *pickle) top() any {
	if len(p.stack) <= p.floor() {
		return nil
	}
	return p.stack[len(p.stack)-1]
}

func (p *pickle) mark() error {
	if len(p.marks) == maxDepth {
		return fmt.Errorf("more than %d values within each other", maxDepth)
	}
	p.marks = append(p.marks, len(p.stack))
	return nil
}

// sinceMark takes what was pushed since the last mark, and the mark.
func (p *pickle) sinceMark() ([]any, error) {
	if len(p.marks) == 0 {
		return nil, fmt.Errorf("it goes back to a mark that is not there")
	}
	at := p.floor()
	p.marks = p.marks[:len(p.marks)-1]
	items := append([]any(nil), p.stack[at:]...)
	p.stack = p.stack[:at]
	return items, nil
}

func (p *pickle) integer(op byte) error {
	width := map[byte]int{'K': 1, 'M': 2, 'J': 4}[op]
	if op == 0x8a {
		n, err := p.byte()
		if err != nil {
			return err
		}
		if width = int(n); width > 8 {
			return fmt.Errorf("a whole number of %d bytes", width)
		}
	}
	b, err := p.take(width)
	if err != nil {
		return err
	}
	var whole [8]byte
	if signed := op == 'J' || op == 0x8a; signed && width > 0 && b[width-1] >= 0x80 {
		whole = [8]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	}
	copy(whole[:], b)
	return p.push(int64(binary.LittleEndian.Uint64(whole[:])))
}

func (p *pickle) text(op byte) error {
	n := 0
	if op == 'X' {
		b, err := p.take(4)
		if err != nil {
			return err
		}
		n = int(binary.LittleEndian.Uint32(b))
	} else {
		b, err := p.byte()
		if err != nil {
			return err
		}
		n = int(b)
	}
	b, err := p.take(n)
	if err != nil {
		return err
	}
	return p.push(string(b))
}

// global imports a name.
func (p *pickle) global(op byte) error {
	var c class
	if op == 'c' {
		for _, to := range []*string{&c.module, &c.name} {
			end := p.at
			for end < len(p.src) && p.src[end] != '\n' {
				end++
			}
			b, err := p.take(end - p.at + 1)
			if err != nil {
				return err
			}
			*to = string(b[:len(b)-1])
		}
	} else {
		name, err := p.pop()
		if err != nil {
			return err
		}
		module, err := p.pop()
		if err != nil {
			return err
		}
		var ok1, ok2 bool
		if c.name, ok1 = name.(string); ok1 {
			c.module, ok2 = module.(string)
		}
		if !ok2 {
			return fmt.Errorf("it imports something whose name is no text")
		}
	}
	v, err := p.load(c)
	if err != nil {
		return err
	}
	return p.push(v)
}

// remember lays down the value on the stack under a number, or takes one up again.
func (p *pickle) remember(op byte) error {
	width := map[byte]int{'q': 1, 'h': 1, 'r': 4, 'j': 4}[op]
	b, err := p.take(width)
	if err != nil {
		return err
	}
	var key uint32
	switch {
	case op == 0x94:
		key = uint32(len(p.numbered))
	case width == 1:
		key = uint32(b[0])
	default:
		key = binary.LittleEndian.Uint32(b)
	}
	if op == 'h' || op == 'j' {
		v, ok := p.numbered[key]
		if !ok {
			return fmt.Errorf("it takes up %d, which it has not laid down", key)
		}
		return p.push(v)
	}
	if len(p.stack) <= p.floor() {
		return fmt.Errorf("it lays down what is not there")
	}
	p.numbered[key] = p.top()
	return nil
}

func (p *pickle) tuple(op byte) error {
	switch op {
	case ')':
		return p.push(tuple{})
	case 't':
		items, err := p.sinceMark()
		if err != nil {
			return err
		}
		return p.push(tuple(items))
	}
	t := make(tuple, int(op-0x85)+1)
	for i := len(t) - 1; i >= 0; i-- {
		var err error
		if t[i], err = p.pop(); err != nil {
			return err
		}
	}
	return p.push(t)
}

func (p *pickle) list(op byte) error {
	if op == ']' {
		return p.push(&list{})
	}
	var items []any
	var err error
	if op == 'a' {
		items = make([]any, 1)
		items[0], err = p.pop()
	} else {
		items, err = p.sinceMark()
	}
	if err != nil {
		return err
	}
	l, ok := p.top().(*list)
	if !ok {
		return fmt.Errorf("it appends to %T", p.top())
	}
	l.items = append(l.items, items...)
	return nil
}

func (p *pickle) dict(op byte) error {
	if op == '}' {
		return p.push(&dict{})
	}
	var items []any
	var err error
	if op == 's' {
		items = make([]any, 2)
		for i := 1; i >= 0 && err == nil; i-- {
			items[i], err = p.pop()
		}
	} else {
		items, err = p.sinceMark()
	}
	if err != nil {
		return err
	}
	d, ok := p.top().(*dict)
	if !ok || len(items)%2 != 0 {
		return fmt.Errorf("it sets items of %T", p.top())
	}
	for i := 0; i < len(items); i += 2 {
		switch items[i].(type) {
		case string, int64: // a list as a key would not be comparable
		default:
			return fmt.Errorf("a key is %T", items[i])
		}
		d.keys, d.values = append(d.keys, items[i]), append(d.values, items[i+1])
	}
	return nil
}
