// Package statefile reads and writes the files that hexmage keeps between runs. A file contains a line with kind,
// version and checksum, then a value in Go's gob encoding. A no-op run reads thousands of records, and JSON would take
// twice as long.
//
// Read detects a file that is corrupt or truncated, or has another kind or version. If Read fails, callers continue
// without the file. The package does not know the content of files.
package statefile

import (
	"bytes"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/zeebo/blake3"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/boundedfile"
)

// Kind describes a kind of state file, such as the files of statcache.
type Kind struct {
	Name    string // one word
	Version int    // version of the value's format
	Max     int64  // maximum size in bytes: a larger file is neither written nor read
	Shared  bool   // other users of the machine may read the file
}

// ErrCorrupt means that the file is corrupt, or that another version of hexmage wrote it. Read returns it wrapped.
var ErrCorrupt = errors.New("corrupt, or written by another version of hexmage")

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

// Read decodes the file at path into v, which must be a pointer.
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
	if err := gob.NewDecoder(bytes.NewReader(b[at:])).Decode(v); err != nil {
		return fmt.Errorf("%s: %w: %w", path, ErrCorrupt, err)
	}
	return nil
}

// Write encodes v and replaces the file at path. It does not sync the file. If a power cut damages the file, Read
// detects the damage by the checksum.
func Write(path string, k Kind, v any) error {
	var content bytes.Buffer
	if err := gob.NewEncoder(&content).Encode(v); err != nil {
		return fmt.Errorf("save the %s: %w", k.Name, err)
	}
	value := content.Bytes()
	perm, dirPerm := os.FileMode(0o600), os.FileMode(0o700)
	if k.Shared {
		perm, dirPerm = 0o644, 0o755
	}
	header := k.header(value)
	if int64(len(header)+len(value)) > k.Max {
		return fmt.Errorf("save the %s: the content exceeds %d bytes", k.Name, k.Max)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, dirPerm); err != nil {
		return fmt.Errorf("save the %s: %w", k.Name, err)
	}
	_ = atomicfile.SweepNamed(dir, tempPrefix, staleTemp) // of killed processes; what cannot be removed does no harm
	f, err := atomicfile.Temp(dir, tempPrefix)
	if err != nil {
		return fmt.Errorf("save the %s: %w", k.Name, err)
	}
	if _, err := f.Write(append(header, value...)); err != nil {
		f.Close()
		os.Remove(f.Name())
		return fmt.Errorf("save the %s: %w", k.Name, err)
	}
	return atomicfile.Place(f, path, perm)
}
