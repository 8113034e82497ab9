// Package gc looks after a cache folder: it counts what is there, finds damage, and collects what nobody used for
// long.
//
// It knows which blobs a result names, and what may go before what. Where things are, store/layout tells it. It does
// not know pipelines, workspaces or which toolchain a tree is; it prints nothing, and runs nothing.
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

// block is what files are counted in: a file takes whole blocks on the disk.
const block = 4096

// onDisk is what a file of that size takes on the disk, about.
func onDisk(size int64) int64 { return (size + block - 1) / block * block }

// item is what lives and goes as one: a file, or a folder with all that is in it.
type item struct {
	kind   layout.Kind
	name   digest.Digest // without size; zero: not named by a digest
	path   string
	used   time.Time // when it was last used, as far as its times tell
	inodes []inode
}

// fileID names a file on this machine. The zero fileID is of a file that cannot be told from others.
type fileID struct{ dev, inode uint64 }

func (id fileID) known() bool { return id != fileID{} }

func identify(s stat.Stamp) fileID { return fileID{s.Dev, s.Inode} }

// inode is one file in an item. Files with one id are one file with several names.
type inode struct {
	id    fileID
	bytes int64 // on the disk
}

// ledger counts bytes on the disk: a file with several names counts once, and is freed with the last of them.
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

// newItem returns the item that is at a place, with all that is in it.
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
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went away meanwhile
		}
		if err == nil {
			it.add(info)
		}
		return err
	})
}

// add counts a file or folder in the item, which was used when the newest of them was.
func (it *item) add(info fs.FileInfo) {
	s := stat.Of(info)
	used := info.ModTime()
	switch it.kind {
	case layout.Blobs, layout.Executables, layout.Checkpoints, layout.Damaged:
		// The modification time of blobs is fixed, and so is that of links to them and of what was moved away. The
		// inode changed when the file was last linked, unlinked, moved or made. Where that is not known, a blob is as
		// old as the newest result that names it, and others were just used.
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
