package safetensors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// entry is a tensor as the header spells it.
type entry struct {
	DType   DType   `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// decodeHeader walks the top-level object by hand, because encoding/json would silently keep the last of two equal names.
func (f *File) decodeHeader(raw []byte) error {
	if len(raw) == 0 || raw[0] != '{' {
		return fmt.Errorf("%w: the header does not begin with '{'", ErrFormat)
	}
	if !utf8.Valid(raw) {
		return fmt.Errorf("%w: the header is not UTF-8", ErrFormat)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("%w: header: %w", ErrFormat, err)
	}
	seen := map[string]bool{}
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return fmt.Errorf("%w: header: %w", ErrFormat, err)
		}
		name, _ := tok.(string) // a key inside an object is always a string
		if seen[name] {
			return fmt.Errorf("%w: %q appears twice in the header", ErrFormat, name)
		}
		seen[name] = true
		if name == "__metadata__" {
			if err := d.Decode(&f.Metadata); err != nil {
				return fmt.Errorf("%w: __metadata__: %w", ErrFormat, err)
			}
			continue
		}
		var e entry
		if err := d.Decode(&e); err != nil {
			return fmt.Errorf("%w: tensor %q: %w", ErrFormat, name, err)
		}
		t, err := e.tensor(name)
		if err != nil {
			return fmt.Errorf("%w: tensor %q: %w", ErrFormat, name, err)
		}
		f.tensors = append(f.tensors, t)
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("%w: header: %w", ErrFormat, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%w: text after the header's object", ErrFormat)
	}
	return nil
}

func (e entry) tensor(name string) (Tensor, error) {
	if len(e.Offsets) != 2 {
		return Tensor{}, fmt.Errorf("data_offsets has %d numbers, not 2", len(e.Offsets))
	}
	if len(e.Shape) > maxRank {
		return Tensor{}, fmt.Errorf("%d dimensions (limit %d)", len(e.Shape), maxRank)
	}
	size, err := byteSize(e.DType, e.Shape)
	if err != nil {
		return Tensor{}, err
	}
	begin, end := e.Offsets[0], e.Offsets[1]
	if begin < 0 || end < begin {
		return Tensor{}, fmt.Errorf("data_offsets [%d, %d] run backwards", begin, end)
	}
	if end-begin != size {
		return Tensor{}, fmt.Errorf("%s %v takes %d bytes, data_offsets say %d", e.DType, e.Shape, size, end-begin)
	}
	return Tensor{Name: name, DType: e.DType, Shape: e.Shape, Offset: begin, Size: size}, nil
}
