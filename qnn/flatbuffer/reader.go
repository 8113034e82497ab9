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
