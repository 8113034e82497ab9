package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/zeebo/blake3"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/layout"
)

const (
	messageField  = 64999
	checksumField = 65000
	maxEntry      = 64 << 20 // bytes: 300,000 output files; a larger file is damage
	usedEvery     = time.Hour
)

// Results is a store.Results on a folder, which many processes may use at once.
type Results struct {
	dir  *atomicfile.Dir
	sync *atomicfile.Syncer
}

// NewResults returns the cache in the folder root, usually the blob store's, which it creates if needed.
func NewResults(root string) (*Results, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("action cache: %w", err)
	}
	c := &Results{sync: atomicfile.NewSyncer(root)}
	if err := layout.Root(root).Prepare(staleAge); err != nil {
		return nil, fmt.Errorf("action cache: %w", err)
	}
	if c.dir, err = atomicfile.OpenDir(root); err != nil {
		return nil, fmt.Errorf("action cache: %w", err)
	}
	return c, nil
}

// Path returns where the result for key is, or would be.
func (c *Results) Path(key digest.Digest) string { return c.dir.Path(layout.Name(layout.Results, key)) }

// usual is a size in bytes that most results do not exceed: they are read in one go.
const usual = 4 << 10

// Get implements store.Results.
func (c *Results) Get(ctx context.Context, key digest.Digest) (*action.Result, error) {
	file := layout.Name(layout.Results, key)
	b, st, err := c.read(key)
	if err != nil {
		return nil, err
	}
	r, err := decode(key, b)
	if err != nil {
		// Not when another process has replaced it since.
		if now, serr := c.dir.Stat(file); serr == nil && now.Dev == st.Dev && now.Inode == st.Inode {
			if rerr := c.dir.Remove(file); rerr != nil {
				return nil, fmt.Errorf("action %s: %w, and its entry cannot be removed: %w", key, err, rerr)
			}
		}
		return nil, fmt.Errorf("action %s: %w, so its entry is removed: %w", key, err, store.ErrNotFound)
	}
	if now := time.Now(); now.Sub(time.Unix(0, st.MTime)) > usedEvery {
		_ = c.dir.SetTime(file, now) // only a hint for garbage collection
	}
	return r, nil
}

func (c *Results) read(key digest.Digest) ([]byte, stat.Stamp, error) {
	b, st, err := c.dir.Read(layout.Name(layout.Results, key), usual, maxEntry+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = store.ErrNotFound
	case errors.Is(err, atomicfile.ErrUnfit):
		return nil, st, nil // damage, which decoding finds
	}
	if err != nil {
		err = fmt.Errorf("action %s: %w", key, err)
	}
	return b, st, err
}

// Messages implements store.Results.
func (c *Results) Messages(ctx context.Context, key digest.Digest) (map[digest.Digest][]byte, error) {
	b, _, err := c.read(key)
	if err != nil {
		return nil, err
	}
	if _, err := decode(key, b); err != nil {
		return nil, fmt.Errorf("action %s: %w: %w", key, err, store.ErrNotFound)
	}
	found := map[digest.Digest][]byte{}
	for _, m := range messages(b) {
		found[key.Function().Bytes(m)] = m
	}
	return found, nil
}

// Put implements store.Results.
func (c *Results) Put(ctx context.Context, key digest.Digest, r *action.Result, messages map[digest.Digest][]byte) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	b := encode(key, r, messages)
	if len(b) > maxEntry {
		return fmt.Errorf("action %s: a result of %d bytes is too large to remember", key, len(b))
	}
	tmp, file := c.dir.TempName(layout.NewFiles, "result"), layout.Name(layout.Results, key)
	err := c.dir.Create(tmp, b, 0o644, time.Time{})
	if err == nil {
		if err = c.dir.Rename(tmp, file); err != nil {
			_ = c.dir.Remove(tmp)
		}
	}
	if err != nil {
		return fmt.Errorf("action %s: remember its result: %w", key, err)
	}
	c.sync.Later(c.dir.Path(file), nil)
	return nil
}

// Flush returns when every result put so far survives a crash of the machine. A build calls it, after that of the blobs,
// before it reports that it is done.
func (c *Results) Flush(ctx context.Context) error {
	if err := c.sync.Flush(); err != nil {
		return fmt.Errorf("action cache: %w", err)
	}
	return nil
}

func encode(key digest.Digest, r *action.Result, messages map[digest.Digest][]byte) []byte {
	b := r.Encode()
	if m, ok := messages[key]; ok { // the Action first: see KeyOf
		b = appendMessage(b, m)
	}
	for _, d := range slices.SortedFunc(maps.Keys(messages), byHash) {
		if d != key {
			b = appendMessage(b, messages[d])
		}
	}
	sum := checksum(key, b)
	return append(appendHead(b), sum[:]...)
}

func byHash(a, b digest.Digest) int { return bytes.Compare(a.AppendHash(nil), b.AppendHash(nil)) }

func appendMessage(b, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, messageField, protowire.BytesType), m)
}

// messages returns the messages in a result's file.
func messages(b []byte) (found [][]byte) {
	_ = action.EachField(b, func(num protowire.Number, _ uint64, m []byte) error {
		if num == messageField {
			found = append(found, m)
		}
		return nil
	})
	return found
}

func decode(key digest.Digest, b []byte) (*action.Result, error) {
	head := appendHead(nil)
	body := len(b) - len(head) - 32
	if len(b) > maxEntry || body < 0 {
		return nil, fmt.Errorf("%d bytes are no result", len(b))
	}
	sum := checksum(key, b[:body])
	if !bytes.Equal(b[body:body+len(head)], head) || !bytes.Equal(b[body+len(head):], sum[:]) {
		return nil, errors.New("the checksum is wrong")
	}
	return action.DecodeResult(b[:body], key.Function())
}

// appendHead appends what stands before the checksum: the field's tag and length.
func appendHead(b []byte) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, checksumField, protowire.BytesType), 32)
}

func checksum(key digest.Digest, b []byte) [32]byte {
	h := blake3.New()
	io.WriteString(h, key.String())
	h.Write(b)
	var sum [32]byte
	h.Sum(sum[:0])
	return sum
}

// Decode reads what a result's file holds. It fails where the checksum is not that of key and content. Looking after the
// cache takes it; Get is what everyone else wants.
func Decode(key digest.Digest, b []byte) (*action.Result, error) { return decode(key, b) }

// Messages returns the messages that a result's file holds beside the result, unchecked.
func Messages(b []byte) [][]byte { return messages(b) }

// KeyOf returns the whole key of the result in a file whose name tells the hash of it, if the file holds the Action.
func KeyOf(fn digest.Function, hash string, b []byte) (digest.Digest, bool) {
	m := messages(b)
	if len(m) == 0 {
		return digest.Digest{}, false
	}
	key := fn.Bytes(m[0])
	return key, key.Hex() == hash
}
