package disk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statefile"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// What a file's time cannot tell is a bit that changed under it: on the disk, in a controller. So before a file is linked, this
// process reads it once, unless it wrote it. Large ones would take long, and are read once in a while.
const (
	proofSize = 1 << 20 // bytes: files up to this are read by each process
	proofDays = 7       // larger ones: after so many days
	maxSeen   = 1 << 20 // files that are known to be right; 20 MB of memory

	maxProofs = 1 << 16 // large files that are remembered
)

// proofKind is of the state file. Its block has 8 bytes of each file's hash and the day.
func proofKind() statefile.Kind {
	return statefile.Kind{Name: "proofs", Version: 1, Max: 32 * maxProofs, Shared: true}
}

// proofs knows which files were right when they were read, by this process or, of large ones, by any. Without the state file they
// are read again.
type proofs struct {
	path string
	now  func() time.Time

	mu    sync.Mutex
	seen  map[uint64]struct{}
	days  map[uint64]uint32 // days since 1970; nil until they are wanted
	dirty bool
}

func newProofs(root string) *proofs {
	return &proofs{path: layout.Root(root).State().Proofs(), now: time.Now, seen: map[uint64]struct{}{}}
}

// proofKey stands for a file of the blob. Two blobs with the same key would only be read less often.
func proofKey(d digest.Digest, kind layout.Kind) uint64 {
	var hash [32]byte
	k := binary.LittleEndian.Uint64(d.AppendHash(hash[:0]))
	if kind == layout.Executables {
		k ^= 1
	}
	return k
}

func (p *proofs) today() uint32 { return uint32(max(0, p.now().Unix()) / (24 * 60 * 60)) }

// has tells whether the file need not be read.
func (p *proofs) has(d digest.Digest, kind layout.Kind) bool {
	k := proofKey(d, kind)
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.seen[k]; ok || d.Size() <= proofSize {
		return ok
	}
	if p.days == nil {
		p.days = p.load()
	}
	day, ok := p.days[k]
	return ok && p.fresh(day)
}

// own tells whether this process itself has read or written the blob's file.
func (p *proofs) own(d digest.Digest) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.seen[proofKey(d, layout.Blobs)]
	return ok
}

// fresh tells whether what was right on a day still counts. A day to come is of a clock that went back.
func (p *proofs) fresh(day uint32) bool {
	today := p.today()
	return day <= today && today-day < proofDays
}

// add notes that the file is right.
func (p *proofs) add(d digest.Digest, kind layout.Kind) {
	k := proofKey(d, kind)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.seen) >= maxSeen {
		clear(p.seen)
	}
	p.seen[k] = struct{}{}
	if d.Size() > proofSize {
		if p.days == nil {
			p.days = p.load()
		}
		p.days[k], p.dirty = p.today(), true
	}
}

// drop forgets the blob's files.
func (p *proofs) drop(d digest.Digest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, kind := range []layout.Kind{layout.Blobs, layout.Executables} {
		k := proofKey(d, kind)
		delete(p.seen, k)
		if _, ok := p.days[k]; ok {
			delete(p.days, k)
			p.dirty = true
		}
	}
}

func (p *proofs) load() map[uint64]uint32 {
	days := map[uint64]uint32{}
	if f, err := statefile.Read(p.path, proofKind()); err == nil {
		for d := statefile.Decode(f.Blocks[0]); d.Len() > 0; {
			if k, day := d.Uint64(), d.Uint32(); !d.Bad() {
				days[k] = day
			}
		}
	}
	return days
}

// save writes what came to be known. Two processes that do so at once lose what one of them knew: it is found out again. That it
// cannot be written has no other effect either.
func (p *proofs) save() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dirty {
		return
	}
	p.dirty = false
	var b statefile.Encoder
	n := 0
	for k, day := range p.days {
		if n < maxProofs && p.fresh(day) {
			n++
			b.Uint64(k)
			b.Uint32(day)
		}
	}
	_ = statefile.Write(p.path, proofKind(), b.Block)
}

// LinkedUnread tells whether a file with that stamp may have been linked unread since it last was as it should be: a bit that flipped
// under its time was not seen then. Others are read by each process that links them.
func LinkedUnread(st stat.Stamp) bool {
	return st.Size > proofSize || st.MTime != store.LinkTime().UnixNano() && st.MTime != unsynced().UnixNano()
}

// proven is check for a blob whose file is about to be linked: its content counts, too.
func (s *Blobs) proven(ctx context.Context, d digest.Digest) error {
	if s.proofs.has(d, layout.Blobs) {
		return s.check(ctx, d)
	}
	if ok, err := s.rightSmall(d, layout.Blobs); ok {
		return nil
	} else if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("blob %s: %w", d, store.ErrNotFound)
	}
	f, err := s.sound(ctx, d, true)
	if err != nil {
		return err
	}
	return f.Close()
}

// rightSmall tells whether a small file is there, trusted and right.
func (s *Blobs) rightSmall(d digest.Digest, kind layout.Kind) (bool, error) {
	if d.Size() > smallSize {
		return false, nil
	}
	b, st, err := s.dir.Read(layout.Name(kind, d), int(d.Size()), d.Size())
	if err != nil || !s.trusted(d, kind, st) || d.Function().Bytes(b) != d {
		return false, err
	}
	s.proofs.add(d, kind)
	return true, nil
}

// copyRight tells whether the blob's executable copy is there and right. One that is damaged goes away, and on record.
func (s *Blobs) copyRight(ctx context.Context, d digest.Digest) (bool, error) {
	file := layout.Name(layout.Executables, d)
	if !s.proofs.has(d, layout.Executables) {
		if ok, err := s.rightSmall(d, layout.Executables); ok {
			return true, nil
		} else if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
	}
	st, err := s.dir.Stat(file)
	if err != nil || !st.IsRegular() {
		return false, nil
	}
	trusted := st.Size == d.Size() && s.trusted(d, layout.Executables, st)
	if trusted && s.proofs.has(d, layout.Executables) {
		return true, nil
	}
	f, err := atomicfile.OpenFile(s.dir.Path(file), os.O_RDONLY, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, fmt.Errorf("blob %s: %w", d, err)
	}
	defer f.Close()
	err = store.Copy(ctx, io.Discard, f, d)
	if errors.Is(err, store.ErrCorrupt) {
		if err := atomicfile.Rename(f.Name(), damagePath(s.root, Executable, d)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("blob %s: its executable copy is damaged, and cannot be moved away: %w", d, err)
		}
		return false, nil
	}
	if err == nil && trusted {
		s.proofs.add(d, layout.Executables)
	}
	return err == nil && trusted, err
}

// lost is what is returned for a blob whose file was moved away: it is not there, and that is damage, after which a build begins
// again.
func lost(d digest.Digest) error {
	return fmt.Errorf("blob %s: its file was damaged and is removed: %w: %w", d, store.ErrNotFound, store.ErrCorrupt)
}
