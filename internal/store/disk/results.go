package disk

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/zeebo/blake3"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// UsedEvery is the precision of the recorded time when a result was last used.
const UsedEvery = time.Hour

const (
	// messageField holds one message that was stored with the result. No ActionResult has this field, so other
	// programs skip it.
	messageField = 64999
	// sealField is the last field of the file: the size of the key and a checksum over the key and all that precedes
	// the field.
	sealField = 64998

	sealSize  = 8 + 32
	maxResult = 64 << 20 // bytes of a file; a larger one is corrupt
)

// Results implements store.Results with one file per result. Many processes may use the folder at once.
type Results struct{ root layout.Root }

// NewResults returns the action cache in the folder root, and creates the folder if needed.
func NewResults(root string) (*Results, error) {
	root, err := filepath.Abs(root)
	if err == nil {
		err = layout.Root(root).Prepare(staleAge)
	}
	if err != nil {
		return nil, fmt.Errorf("action cache: %w", err)
	}
	return &Results{root: layout.Root(root)}, nil
}

// Get implements store.Results. It quarantines a corrupt result, and reports it as missing.
func (c *Results) Get(ctx context.Context, key digest.Digest) (*action.Result, error) {
	e, err := c.read(key)
	if err != nil {
		return nil, err
	}
	return e.Result, nil
}

// Messages implements store.Results.
func (c *Results) Messages(ctx context.Context, key digest.Digest) (map[digest.Digest][]byte, error) {
	e, err := c.read(key)
	if err != nil {
		return nil, err
	}
	return e.Messages(), nil
}

func (c *Results) read(key digest.Digest) (*Entry, error) {
	path := c.root.File(layout.Results, key)
	e, err := ReadResult(path, key)
	if errors.Is(err, store.ErrCorrupt) {
		if _, err := c.Quarantine(key); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("action %s: %w: %w", key, err, store.ErrNotFound)
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && e.Key != key {
		return nil, &missing{key}
	}
	if err != nil {
		return nil, fmt.Errorf("action %s: %w", key, err)
	}
	// The modification time is the time of last use, for garbage collection. A read-only cache keeps the old one.
	if now := time.Now(); now.Sub(e.used) > UsedEvery {
		_ = os.Chtimes(path, now, now)
	}
	return e, nil
}

// Quarantine moves the file of the result to damaged/ and returns the new path.
func (c *Results) Quarantine(key digest.Digest) (string, error) {
	to := c.root.Quarantine("ac-", key)
	err := atomicfile.Rename(c.root.File(layout.Results, key), to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process may have moved it
		return "", fmt.Errorf("action %s: quarantine the corrupt result: %w", key, err)
	}
	return to, nil
}

// missing is store.ErrNotFound for a result. Most lookups of a cold build return it and nothing prints it, so it
// formats its text on demand.
type missing struct{ key digest.Digest }

func (e *missing) Error() string { return fmt.Sprintf("action %s: %v", e.key, store.ErrNotFound) }

func (e *missing) Unwrap() error { return store.ErrNotFound }

// Put implements store.Results. The caller must store the blobs of r first.
//
// Other processes never see an incomplete file. After a power cut, the file may lack its content. The checksum then
// does not match, and the result is missing.
func (c *Results) Put(ctx context.Context, key digest.Digest, r *action.Result,
	messages map[digest.Digest][]byte) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	f, err := atomicfile.Temp(c.root.New(), "result")
	if err == nil {
		if _, err = f.Write(encode(key, r, messages)); err == nil {
			err = atomicfile.Place(f, c.root.File(layout.Results, key), 0o444)
		} else {
			_ = errors.Join(f.Close(), os.Remove(f.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("action %s: store the result: %w", key, err)
	}
	return nil
}

// encode returns the file of a result.
func encode(key digest.Digest, r *action.Result, messages map[digest.Digest][]byte) []byte {
	b := r.Encode()
	for _, d := range slices.SortedFunc(maps.Keys(messages), digest.Digest.CompareHash) {
		b = protowire.AppendBytes(protowire.AppendTag(b, messageField, protowire.BytesType), messages[d])
	}
	return append(b, seal(key, b)...)
}

// seal returns the last field of a file that holds the body. The checksum covers the key: a file under another name
// is corrupt.
func seal(key digest.Digest, body []byte) []byte {
	size := binary.LittleEndian.AppendUint64(nil, uint64(key.Size()))
	h := blake3.New()
	h.Write(body)
	h.Write(size)
	h.Write([]byte(key.Function().String() + key.Hex()))
	return protowire.AppendBytes(protowire.AppendTag(nil, sealField, protowire.BytesType), h.Sum(size))
}

// Entry is the content of one result file.
type Entry struct {
	Key    digest.Digest // with its size
	Result *action.Result

	body []byte
	used time.Time
}

// ReadResult reads the result file at path. It ignores the size in key. If the checksum does not match, the error is
// store.ErrCorrupt.
func ReadResult(path string, key digest.Digest) (*Entry, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	b, err := boundedfile.Read(path, maxResult)
	if large := (*boundedfile.LargeError)(nil); errors.As(err, &large) {
		return nil, fmt.Errorf("%s: larger than %d bytes: %w", path, maxResult, store.ErrCorrupt)
	}
	if err != nil {
		return nil, err
	}
	e, err := parseResult(b, key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, err, store.ErrCorrupt)
	}
	e.used = st.ModTime()
	return e, nil
}

func parseResult(b []byte, key digest.Digest) (*Entry, error) {
	at := len(b) - len(seal(key, nil))
	if at < 0 {
		return nil, errors.New("truncated result")
	}
	size := int64(binary.LittleEndian.Uint64(b[len(b)-sealSize:]))
	e := &Entry{Key: key.Sized(size), body: b[:at:at]}
	if size < 0 || size > digest.MaxSize || !bytes.Equal(seal(e.Key, e.body), b[at:]) {
		return nil, errors.New("wrong checksum")
	}
	var err error
	e.Result, err = action.DecodeResult(e.body, key.Function())
	return e, err
}

// Messages returns the messages in the result file, by digest.
func (e *Entry) Messages() map[digest.Digest][]byte {
	found := map[digest.Digest][]byte{}
	_ = action.EachField(e.body, func(num protowire.Number, _ uint64, m []byte) error {
		if num == messageField {
			found[e.Key.Function().Bytes(m)] = m
		}
		return nil
	})
	return found
}
