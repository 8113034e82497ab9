// Package statefile reads and writes the files in which hexmage keeps something from one run to the next.
//
// A file is a line with its kind, version and a checksum, and a JSON value. A file that is corrupt, cut off, of
// another kind or of another version is never taken for what it is not. A file is a shortcut: a caller that cannot
// read it goes on as if there were none. The package does not know what is in a file, who else has it open, or where
// files are.
package statefile

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/zeebo/blake3"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/boundedfile"
)

// Kind says what files hold.
type Kind struct {
	Name    string // one word
	Version int    // of the value's form
	Max     int64  // bytes of a file: a larger one is neither written nor read
	Shared  bool   // other users of the machine may read it
}

// ErrCorrupt is the error, wrapped, for a file that this version of hexmage did not write.
var ErrCorrupt = errors.New("corrupt, or of another version of hexmage")

const (
	// staleTemp is the age at which a temporary file of a dead process is removed. tempPrefix begins its name.
	staleTemp  = time.Hour
	tempPrefix = "new"
)

// header is the first line of a file with the value.
func (k Kind) header(value []byte) []byte {
	sum := blake3.Sum256(value)
	return fmt.Appendf(nil, "hexmage %s state %d %s\n", k.Name, k.Version, hex.EncodeToString(sum[:]))
}

// Read reads the file at path into v, a pointer.
func Read(path string, k Kind, v any) error {
	b, err := boundedfile.Read(path, k.Max)
	if large := (*boundedfile.LargeError)(nil); errors.As(err, &large) {
		return fmt.Errorf("%s: %w", path, ErrCorrupt)
	}
	if err != nil {
		return err
	}
	at := bytes.IndexByte(b, '\n') + 1
	if at == 0 || !bytes.Equal(b[:at], k.header(b[at:])) {
		return fmt.Errorf("%s: %w", path, ErrCorrupt)
	}
	if err := json.Unmarshal(b[at:], v); err != nil {
		return fmt.Errorf("%s: %w: %w", path, ErrCorrupt, err)
	}
	return nil
}

// Write makes the file at path hold v, in place of what it held. It does not sync: after a power cut the checksum
// tells whether the file is whole.
func Write(path string, k Kind, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("keep the %s: %w", k.Name, err)
	}
	perm, dirPerm := os.FileMode(0o600), os.FileMode(0o700)
	if k.Shared {
		perm, dirPerm = 0o644, 0o755
	}
	header := k.header(value)
	if int64(len(header)+len(value)) > k.Max {
		return fmt.Errorf("keep the %s: more than %d bytes", k.Name, k.Max)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, dirPerm); err != nil {
		return fmt.Errorf("keep the %s: %w", k.Name, err)
	}
	_ = atomicfile.SweepNamed(dir, tempPrefix, staleTemp) // of killed processes; what cannot be removed does no harm
	f, err := atomicfile.Temp(dir, tempPrefix)
	if err != nil {
		return fmt.Errorf("keep the %s: %w", k.Name, err)
	}
	if _, err := f.Write(append(header, value...)); err != nil {
		f.Close()
		os.Remove(f.Name())
		return fmt.Errorf("keep the %s: %w", k.Name, err)
	}
	return atomicfile.Place(f, path, perm)
}
