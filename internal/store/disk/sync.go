package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// Durability. kill -9 needs none of this: the kernel keeps what a dead process wrote, and a rename shows a whole file
// or none.
//
// After a power cut a name may lead to a file whose content never reached the disk. Results carry a checksum, and
// Open hashes blobs, but Link does not. So one Sync ends a run (and follows each long action), and leaves the file
// state/synced: it holds the boot id of the machine, and its modification time is before the sync began. In the same
// boot the page cache has the content of every file. After a reboot, the first process hashes all blobs whose inode
// changed at that time or later. Older blobs are on the disk.
//
// A power cut at each point:
//   - While a blob is written: new/ holds a part, which has no name in the store.
//   - After its rename: its inode is younger than state/synced, so it is hashed before use. A rename that is lost
//     leaves a missing blob.
//   - After the rename of a result: the same holds for its blobs. A lookup finds a result with a wrong checksum, or
//     with a missing or quarantined blob, incomplete, and its action runs again.
//   - Before or in the sync: state/synced is the one of the previous sync, so more blobs are hashed.
//   - After the sync, before the rename of state/synced: the same. Its content was part of the sync, so a name never
//     leads to a part of it.
//   - After that rename, which may be lost: the same. Blobs that a process writes beside the sync are younger than the
//     file.
//   - While the first process after a reboot hashes: state/synced is still the one of the earlier boot, so the next
//     process starts over.
//   - No state/synced, or one with another content: all blobs are hashed.

// Sync ensures that all blobs and results stored before the call survive a power cut.
func (s *Blobs) Sync(ctx context.Context) error {
	err := s.recovered(ctx)
	if err == nil {
		err = s.mark(func() error { return atomicfile.SyncTree(s.root) })
	}
	if err != nil {
		return fmt.Errorf("blob store: %w", err)
	}
	return nil
}

// mark renews state/synced if safe succeeds; safe writes everything stored before the call to the disk. Without a new
// state/synced, as in a read-only cache, more blobs are hashed after a reboot.
func (s *Blobs) mark(safe func() error) error {
	root := layout.Root(s.root)
	f, ferr := atomicfile.Temp(root.New(), "synced")
	if ferr == nil {
		_, ferr = f.WriteString(atomicfile.Boot())
	}
	err := safe()
	switch {
	case err == nil && ferr == nil:
		_ = atomicfile.Place(f, root.State().Synced(), 0o644)
	case f != nil:
		_ = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	return err
}

// recovered hashes the blobs that a power cut may have damaged, once for each reboot of the machine.
func (s *Blobs) recovered(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.safe {
		return nil
	}
	path := layout.Root(s.root).State().Synced()
	since := int64(0) // blobs whose inodes changed before are on the disk
	if st, err := stat.Lstat(path); err == nil {
		since = st.MTime
		if now := time.Now(); since > now.UnixNano() { // the clock was set back: from now on new blobs would look old
			_ = os.Chtimes(path, now, now)
		}
	}
	// Without a boot id every process checks young blobs.
	boot := atomicfile.Boot()
	if is, err := os.ReadFile(path); err == nil && boot != "" && string(is) == boot {
		s.safe = true
		return nil
	}
	err := s.mark(func() error {
		checked, err := s.checkYoung(ctx, since)
		if err == nil && checked > 0 { // another process of this boot may have written them
			err = atomicfile.SyncTree(s.root)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("check the blobs after a restart of the machine: %w", err)
	}
	s.safe = true
	return nil
}

// checkYoung hashes the blobs and executable copies whose inodes changed at the time or later, and quarantines
// corrupt ones.
func (s *Blobs) checkYoung(ctx context.Context, since int64) (checked int, err error) {
	err = layout.Root(s.root).Each(ctx, func(it layout.Item) error {
		st := stat.Of(it.Info)
		if it.Kind != layout.Blobs && it.Kind != layout.Executables || st.CTime < since {
			return nil
		}
		checked++
		f, err := os.Open(it.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		defer f.Close()
		d := it.Digest.Sized(st.Size)
		if it.Kind == layout.Executables { // derived: Link makes it again
			if err = store.Copy(ctx, io.Discard, f, d); errors.Is(err, store.ErrCorrupt) {
				err = os.Remove(it.Path)
			}
		} else if err = s.hashed(ctx, d, f); errors.Is(err, store.ErrCorrupt) && errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return checked, err
}
