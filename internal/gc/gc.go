// Package gc maintains the cache folder: it counts and verifies the content, and removes unused items.
//
// It knows which blobs a result uses, and in which order it can safely remove items. Package store/layout defines the
// paths. Package gc does not know pipelines, workspaces or the toolchain that a tree contains, and it neither prints
// nor runs anything.
package gc

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// block is the assumed block size of the disk: a file occupies whole blocks.
const block = 4096

// onDisk returns the approximate disk space of a file.
func onDisk(size int64) int64 { return (size + block - 1) / block * block }

// item is a unit of removal: a file, or a folder with its content.
type item struct {
	kind   layout.Kind
	name   digest.Digest // without size; zero: not named by a digest
	path   string
	used   time.Time // last use, as far as its file times show
	inodes []inode
}

// fileID identifies a file on this machine. The zero fileID is an unknown file.
type fileID struct{ dev, inode uint64 }

func (id fileID) known() bool { return id != fileID{} }

func identify(s stat.Stamp) fileID { return fileID{s.Dev, s.Inode} }

// inode is a file of an item. Hard links to one file have the same id.
type inode struct {
	id    fileID
	bytes int64 // on disk
}

// ledger counts bytes on disk. A file with several names counts once, until its last name is removed.
type ledger struct {
	names map[fileID]int
	total int64
}

func newLedger() *ledger { return &ledger{names: map[fileID]int{}} }

// add counts the item.
func (l *ledger) add(it *item) {
	for _, n := range it.inodes {
		if l.names[n.id]++; l.names[n.id] == 1 || !n.id.known() {
			l.total += n.bytes
		}
	}
}

// remove is the inverse of add.
func (l *ledger) remove(it *item) {
	for _, n := range it.inodes {
		if l.names[n.id]--; l.names[n.id] == 0 || !n.id.known() {
			l.total -= n.bytes
		}
	}
}

// newItem returns the item at a place, with its content.
func newItem(at layout.Item) (*item, error) {
	it := &item{kind: at.Kind, name: at.Digest, path: at.Path}
	if !at.Info.IsDir() {
		it.add(at.Info)
		return it, nil
	}
	return it, filepath.WalkDir(at.Path, func(_ string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil // removed meanwhile, or in a counted folder that cannot be read
		}
		if err == nil {
			it.add(info)
		}
		return err
	})
}

// add counts a file or folder of the item. The item's last use is that of its newest file.
func (it *item) add(info fs.FileInfo) {
	s := stat.Of(info)
	used := info.ModTime()
	switch it.kind {
	case layout.Blobs, layout.Executables, layout.Checkpoints, layout.Damaged:
		// Blobs, links to them and quarantined files have a fixed modification time. Their inode changes when a file is
		// created, linked, unlinked or moved. If that time is unknown, a blob is as old as the newest result that names
		// it; other items count as used now.
		used = time.Unix(0, s.CTime)
		if s.CTime == 0 {
			used = time.Now()
		}
	}
	if used.After(it.used) {
		it.used = used
	}
	if !info.IsDir() {
		it.inodes = append(it.inodes, inode{identify(s), onDisk(info.Size())})
	}
}
