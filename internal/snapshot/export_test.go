package snapshot

import "github.com/hexmage/hexmage/internal/statefile"

// Kind is what the tests seal damaged blocks with.
func Kind() statefile.Kind { return kind() }

// Parse reads what a snapshot's file holds.
func Parse(b []byte) (*Reader, error) {
	f, err := statefile.Parse(b, kind())
	if err != nil {
		return nil, err
	}
	return read(f)
}
