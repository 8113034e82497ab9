package flatbuffer

import "fmt"

// Reader reads lists and texts of tables, and counts what it gave: lists of a small buffer may all be one place of it, and so add up to any size.
type Reader struct{ left, most int }

// NewReader returns a reader that gives at most so many elements of lists and bytes of texts.
func NewReader(most int) *Reader { return &Reader{most, most} }

func (r *Reader) take(n int) error {
	if r.left -= n; r.left < 0 {
		return fmt.Errorf("%w: its lists have more than %d elements and letters", ErrMalformed, r.most)
	}
	return nil
}

// Tables is that of the table.
func (r *Reader) Tables(t Table, i, limit int) ([]Table, error) {
	list, err := t.Tables(i, limit)
	if err == nil {
		err = r.take(len(list))
	}
	return list, err
}

// String is that of the table.
func (r *Reader) String(t Table, i int) (string, error) {
	s, err := t.String(i)
	if err == nil {
		err = r.take(len(s))
	}
	return s, err
}

// Int32s returns a list of at most so many numbers with a sign.
func (r *Reader) Int32s(t Table, i, limit int) ([]int32, error) {
	list, err := t.Uint32s(i, limit)
	if err == nil {
		err = r.take(len(list))
	}
	if err != nil {
		return nil, err
	}
	out := make([]int32, len(list))
	for k, n := range list {
		out[k] = int32(n)
	}
	return out, nil
}

// Indices returns a list of at most so many places in a list of length all. -1 in it stands for nothing, and is left out.
func (r *Reader) Indices(t Table, i, limit, all int) ([]int, error) {
	list, err := r.Int32s(t, i, limit)
	var out []int
	for _, n := range list {
		switch {
		case n == -1:
		case n < 0 || int(n) >= all:
			return nil, fmt.Errorf("%w: an index %d of %d elements", ErrMalformed, n, all)
		default:
			out = append(out, int(n))
		}
	}
	return out, err
}
