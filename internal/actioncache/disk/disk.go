// Package disk keeps results as files, in the layout of Bazel's disk cache: <root>/blake3/ac/ab/<hash>, and
// <root>/ac/ab/<hash> for SHA-256.
//
// A file is an ActionResult message. Its last field, number 65000, which other programs pass over as unknown, is a BLAKE3
// checksum of the key and of all bytes before that field: so a result that was cut short, changed, or moved to another
// key is noticed, removed and not found. A result without the field (another program's) is not trusted either.
//
// Files are placed without a sync each, and synced together a second later or on Flush: the checksum tells which of them a
// crash of the machine left unfinished.
//
// The time of a file is when its result was last used, to the hour: what collecting garbage by age goes by. The package
// knows nothing of the blobs that results name.
package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/zeebo/blake3"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/actioncache"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/durable"
)

const (
	checksumField = 65000
	maxEntry      = 64 << 20 // bytes: 300,000 output files; a larger file is damage
	usedEvery     = time.Hour
	staleAge      = time.Hour
)

// Cache is an actioncache.Cache on a folder, which many processes may use at once.
type Cache struct {
	root string
	sync *durable.Syncer
}

// New returns the cache in the folder root, usually the blob store's, which it creates if needed.
func New(root string) (*Cache, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("action cache: %w", err)
	}
	c := &Cache{root: root, sync: durable.NewSyncer(root)}
	if err := os.MkdirAll(c.tmp(), 0o755); err != nil {
		return nil, fmt.Errorf("action cache: create %s: %w", c.tmp(), err)
	}
	if err := durable.Sweep(c.tmp(), staleAge); err != nil {
		return nil, fmt.Errorf("action cache: clean %s: %w", c.tmp(), err)
	}
	return c, nil
}

func (c *Cache) tmp() string { return filepath.Join(c.root, "tmp") }

// Path returns where the result for key is, or would be.
func (c *Cache) Path(key digest.Digest) string {
	h := key.Hex()
	if key.Function() == digest.SHA256 {
		return filepath.Join(c.root, "ac", h[:2], h)
	}
	return filepath.Join(c.root, key.Function().String(), "ac", h[:2], h)
}

// Get implements actioncache.Cache.
func (c *Cache) Get(ctx context.Context, key digest.Digest) (*action.Result, error) {
	path := c.Path(key)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("action %s: %w", key, actioncache.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("action %s: %w", key, err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("action %s: %w", key, err)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxEntry+1))
	if err != nil {
		return nil, fmt.Errorf("action %s: %w", key, err)
	}
	r, err := decode(key, b)
	if err != nil {
		// Not when another process has replaced it since.
		if now, serr := os.Lstat(path); serr == nil && os.SameFile(st, now) {
			if rerr := os.Remove(path); rerr != nil {
				return nil, fmt.Errorf("action %s: %w, and its entry cannot be removed: %w", key, err, rerr)
			}
		}
		return nil, fmt.Errorf("action %s: %w, so its entry is removed: %w", key, err, actioncache.ErrNotFound)
	}
	if time.Since(st.ModTime()) > usedEvery {
		_ = os.Chtimes(path, time.Time{}, time.Now()) // only a hint for garbage collection
	}
	return r, nil
}

// Put implements actioncache.Cache.
func (c *Cache) Put(ctx context.Context, key digest.Digest, r *action.Result) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	b := encode(key, r)
	if len(b) > maxEntry {
		return fmt.Errorf("action %s: a result of %d bytes is too large to remember", key, len(b))
	}
	f, err := durable.Temp(c.tmp(), "result")
	if err != nil {
		return fmt.Errorf("action %s: remember its result: %w", key, err)
	}
	if _, err := f.Write(b); err != nil {
		f.Close()
		os.Remove(f.Name())
		return fmt.Errorf("action %s: remember its result: %w", key, err)
	}
	if err := durable.Place(f, c.Path(key), 0o644); err != nil {
		return fmt.Errorf("action %s: remember its result: %w", key, err)
	}
	c.sync.Later(c.Path(key), nil)
	return nil
}

// Flush implements actioncache.Flusher.
func (c *Cache) Flush(ctx context.Context) error {
	if err := c.sync.Flush(); err != nil {
		return fmt.Errorf("action cache: %w", err)
	}
	return nil
}

func encode(key digest.Digest, r *action.Result) []byte {
	b := r.Encode()
	sum := checksum(key, b)
	return append(appendHead(b), sum[:]...)
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
