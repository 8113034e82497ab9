package torch

import (
	"fmt"
	"io"
)

// maxGather bounds the bytes of a storage that are read at once for a tensor whose elements do not stand in their order.
const maxGather = 4 << 30

// At tells where the tensor's first element is in the file, and whether the others follow it in their order.
func (t *Tensor) At() (offset int64, ok bool) {
	next := int64(1)
	for i := len(t.Shape) - 1; i >= 0; i-- {
		if t.Shape[i] != 1 && t.Size > 0 && t.strides[i] != next {
			return t.storage.offset + t.begin(), false
		}
		next *= t.Shape[i]
	}
	return t.storage.offset + t.begin(), true
}

// Data reads the tensor's elements in their order, little-endian. Those of a transposed view are gathered in memory.
func (t *Tensor) Data() (io.Reader, error) {
	if at, ok := t.At(); ok {
		return io.NewSectionReader(t.file, at, t.Size), nil
	}
	n := t.end() - t.begin()
	if n > maxGather {
		return nil, fmt.Errorf("its elements are spread over %d bytes: make it contiguous() and save it again", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(t.file, t.storage.offset+t.begin(), n), b); err != nil {
		return nil, err
	}
	return &gather{t: t, src: b, at: make([]int64, len(t.Shape))}, nil
}

// gather reads the elements of a view one after another.
type gather struct {
	t    *Tensor
	src  []byte  // from the view's first element on
	at   []int64 // indices of the next element
	done bool
}

// Read implements io.Reader.
func (g *gather) Read(p []byte) (n int, err error) {
	width := int(g.t.DType.Size())
	if len(p) < width && !g.done {
		return 0, io.ErrShortBuffer
	}
	for !g.done && n+width <= len(p) {
		off := int64(0)
		for i, x := range g.at {
			off += x * g.t.strides[i]
		}
		n += copy(p[n:], g.src[off*int64(width):][:width])
		g.step()
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// step goes to the next element.
func (g *gather) step() {
	for i := len(g.at) - 1; i >= 0; i-- {
		if g.at[i]++; g.at[i] < g.t.Shape[i] {
			return
		}
		g.at[i] = 0
	}
	g.done = true
}
