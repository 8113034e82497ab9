// Package upkeep looks after a cache folder: it counts what is there, finds damage, and collects what nobody used for
// long.
//
// It knows the layout of the folder and which blobs a result names. It does not know pipelines, workspaces or which
// toolchain a tree is; it prints nothing, and runs nothing.
package gc

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
)

// Kind is what a file of the cache is.
type Kind string

// The kinds, in the order in which they are listed, and in which they are removed: what names others goes first.
const (
	Results    Kind = "results"     // <function>/ac
	Blobs      Kind = "blobs"       // <function>/cas
	Executable Kind = "executables" // <function>/exec: copies of blobs with another mode
	Trees      Kind = "trees"       // unpacked toolchains
	Downloads  Kind = "downloads"
	Logs       Kind = "logs"    // state/logs
	RunLogs    Kind = "history" // state/history: the runs of a pipeline
	Snapshots  Kind = "memos"   // state/memo: what the last run of each request found out
	DirPool    Kind = "laid"    // laid: large folders of inputs, kept from run to run
	Damaged    Kind = "damaged" // what was moved away
	Scratch    Kind = "scratch" // tmp
	State      Kind = "state"   // all other files of the cache
)

func kinds() []Kind {
	return []Kind{Results, Blobs, Executable, Trees, Downloads, Logs, RunLogs, Snapshots, DirPool, Damaged, Scratch, State}
}

// block is what files are counted in: a file takes whole blocks on the disk.
const block = 4096

// onDisk is what a file of that size takes on the disk, about.
func onDisk(size int64) int64 { return (size + block - 1) / block * block }

// item is what lives and goes as one: a file, or a folder with all that is in it.
type item struct {
	kind   Kind
	fn     digest.Function // 0: not named by a digest
	path   string
	used   time.Time // when it was last used, as far as its times tell
	files  int
	inodes []inode
}

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

// add counts the item and returns the bytes that it adds.
func (l *ledger) add(it *item) (added int64) {
	for _, n := range it.inodes {
		l.names[n.id]++
		if l.names[n.id] == 1 || !n.id.known() {
			added += n.bytes
		}
	}
	l.total += added
	return added
}

// remove is the inverse of add: it returns the bytes that removing the item frees.
func (l *ledger) remove(it *item) (freed int64) {
	for _, n := range it.inodes {
		l.names[n.id]--
		if l.names[n.id] == 0 || !n.id.known() {
			freed += n.bytes
		}
	}
	l.total -= freed
	return freed
}

// fileItem returns the item of one file.
func fileItem(kind Kind, fn digest.Function, path string, info fs.FileInfo) *item {
	used := info.ModTime()
	if kind == Blobs || kind == Executable {
		used = changed(info) // the modification time of blobs is fixed
	}
	return &item{kind: kind, fn: fn, path: path, used: used, files: 1, inodes: []inode{{identify(info), onDisk(info.Size())}}}
}

// folderItem returns the item of a folder and all in it; used is the newest time of its files.
func folderItem(kind Kind, fn digest.Function, path string) (*item, error) {
	it := &item{kind: kind, fn: fn, path: path}
	err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went away meanwhile
		}
		if err != nil {
			return err
		}
		used := info.ModTime()
		if kind == Damaged {
			used = changed(info) // when it was moved there: its own time is that of a blob, or a result's
		}
		if used.After(it.used) {
			it.used = used
		}
		if !d.IsDir() {
			it.files++
			it.inodes = append(it.inodes, inode{identify(info), onDisk(info.Size())})
		}
		return nil
	})
	return it, err
}

// shards calls f for every file <root>/[blake3/]<kind>/ab/<64 digits> of the function. Other names are not hexmage's.
func shards(ctx context.Context, root string, fn digest.Function, kind string, f func(hex, path string, info fs.FileInfo) error) error {
	base := part(root, fn, kind)
	tops, err := readDir(base)
	if err != nil {
		return err
	}
	for _, top := range tops {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if len(top.Name()) != 2 || !top.IsDir() {
			continue
		}
		dir := filepath.Join(base, top.Name())
		entries, err := readDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if len(e.Name()) != 64 || !strings.HasPrefix(e.Name(), top.Name()) {
				continue
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			if !info.Mode().IsRegular() {
				continue
			}
			if err := f(e.Name(), filepath.Join(dir, e.Name()), info); err != nil {
				return err
			}
		}
	}
	return nil
}

// part is the folder of the store that has what is of the function and kind.
func part(root string, fn digest.Function, kind string) string {
	if fn == digest.SHA256 {
		return filepath.Join(root, kind)
	}
	return filepath.Join(root, fn.String(), kind)
}

// blobPath is where the file of that name is in a part of the store.
func blobPath(root string, d digest.Digest, kind string) string {
	h := d.Hex()
	return filepath.Join(part(root, d.Function(), kind), h[:2], h)
}

// readDir is os.ReadDir, for which a folder that is not there is empty.
func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// functions are those that have a part of the store.
func functions() []digest.Function { return []digest.Function{digest.BLAKE3, digest.SHA256} }
