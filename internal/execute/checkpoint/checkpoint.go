// Package checkpoint keeps what long actions had done when they ended before their time: one folder for each action's
// key, with the digest of what is in it.
//
// While an action runs, its folder is in its exec root, where its command writes. A note beside the root says whose
// it is, so that Rescue finds what a killed hexmage left. New is the way in. The package does not know commands, nor
// what is in the files.
package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
)

// Names in a kept folder, and in that of an exec root.
const (
	filesName  = "files"      // what the command left
	recordName = "record"     // the digest of that
	noteName   = "checkpoint" // in an exec root's folder: whose it is
	movedName  = "kept"       // in an exec root's folder: what is on its way
)

// Store has what is kept, below one folder.
type Store struct {
	dir string
	fn  digest.Function
}

// New returns the Store in the folder dir, which is made when it is needed and is on the file system of the exec
// roots.
func New(dir string, fn digest.Function) *Store { return &Store{dir: dir, fn: fn} }

// note is beside the root of an action that runs.
type note struct {
	Entry  string `json:"entry"`  // the name under which its folder is kept
	Folder string `json:"folder"` // slash path, below the exec root's folder
	Boot   string `json:"boot"`   // of the machine: what a process wrote before another one need not be on the disk
}

func (n note) folder(own string) string { return filepath.Join(own, filepath.FromSlash(n.Folder)) }

func entry(key digest.Digest) string { return key.Function().String() + "-" + key.Hex() }

// Begin is for an action that is about to run in the exec root whose folder is own: the empty folder, a slash path
// below own, becomes what is kept under the key, and is noted. Without offer, what is kept goes away. What it returns
// is for people, and may be empty.
func (s *Store) Begin(ctx context.Context, key digest.Digest, own, folder string, offer bool) (said string, err error) {
	n := note{Entry: entry(key), Folder: folder, Boot: boot()}
	b, err := json.Marshal(n)
	if err == nil {
		err = os.WriteFile(filepath.Join(own, noteName), b, 0o644)
	}
	if err != nil {
		return "", err
	}
	kept := filepath.Join(s.dir, n.Entry)
	if !offer {
		return "", os.RemoveAll(kept)
	}
	moved := filepath.Join(own, movedName)
	if err := os.Rename(kept, moved); errors.Is(err, fs.ErrNotExist) { // by the rename it is ours
		return "", nil
	} else if err != nil {
		return "", err
	}
	files := filepath.Join(moved, filesName)
	is, err := s.read(ctx, files)
	if cause := context.Cause(ctx); cause != nil {
		return "", errors.Join(cause, os.Rename(moved, kept))
	}
	record, rerr := os.ReadFile(filepath.Join(moved, recordName))
	if err = errors.Join(err, rerr); err != nil || string(record) != is {
		return "what an earlier run left is damaged, and dropped: it begins anew", os.RemoveAll(moved)
	}
	to := n.folder(own)
	if err := os.Remove(to); err != nil {
		return "", err
	}
	if err := os.Rename(files, to); err != nil {
		return "", err
	}
	return "goes on from what an earlier run left", os.RemoveAll(moved)
}

// Keep keeps what the command left of the action that Begin was called for, and tells whether there was something.
func (s *Store) Keep(ctx context.Context, own string) (bool, error) {
	n, err := readNote(own)
	if err != nil {
		return false, err
	}
	folder := n.folder(own)
	if left, err := os.ReadDir(folder); err != nil || len(left) == 0 {
		return false, err
	}
	err = filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
		if d == nil || !d.IsDir() {
			return err
		}
		return os.Chmod(p, 0o755) // so that it can be moved, read and removed
	})
	if err != nil {
		return false, err
	}
	is, err := s.read(ctx, folder)
	if err != nil {
		return false, err
	}
	moved := filepath.Join(own, movedName)
	if err := os.Mkdir(moved, 0o755); err != nil {
		return false, err
	}
	if err := os.Rename(folder, filepath.Join(moved, filesName)); err != nil {
		return false, err
	}
	if err := os.WriteFile(filepath.Join(moved, recordName), []byte(is), 0o644); err != nil {
		return false, err
	}
	return true, s.put(n, moved)
}

// put places a folder with files and their record.
func (s *Store) put(n note, moved string) error {
	kept := filepath.Join(s.dir, n.Entry)
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(kept); err != nil {
		return err
	}
	return os.Rename(moved, kept)
}

// read returns the digest of all that is in a folder, as text.
func (s *Store) read(ctx context.Context, folder string) (string, error) {
	d, err := merkle.Scan(ctx, merkle.HashFiles(s.fn), folder, merkle.ScanOptions{})
	if err != nil {
		return "", err
	}
	root, _ := d.Encode(s.fn)
	return root.String(), nil
}

// Rescue keeps what the actions of killed processes left in the exec roots of these scratch folders. No process may
// write there any more. What cannot be kept is lost, as it was before.
func (s *Store) Rescue(ctx context.Context, runs ...string) error {
	var errs []error
	for _, run := range runs {
		notes, _ := filepath.Glob(filepath.Join(run, "*", noteName))
		for _, p := range notes {
			if err := s.rescue(ctx, filepath.Dir(p)); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", filepath.Dir(p), err))
			}
		}
	}
	return errors.Join(errs...)
}

func (s *Store) rescue(ctx context.Context, own string) error {
	n, err := readNote(own)
	if err != nil || n.Boot != boot() {
		return err
	}
	moved := filepath.Join(own, movedName)
	if _, err := os.Lstat(filepath.Join(moved, filesName)); err == nil {
		record, err := os.ReadFile(filepath.Join(moved, recordName))
		if err == nil && len(record) > 0 {
			return s.put(n, moved) // it was on its way, with its digest
		}
		n.Folder = movedName + "-" + filesName
		if err := os.Rename(filepath.Join(moved, filesName), n.folder(own)); err != nil {
			return err
		}
		b, err := json.Marshal(n)
		if err == nil {
			err = os.WriteFile(filepath.Join(own, noteName), b, 0o644)
		}
		if err != nil {
			return err
		}
	}
	if err := os.RemoveAll(moved); err != nil {
		return err
	}
	_, err = s.Keep(ctx, own)
	return err
}

// End removes the note of an action that is done, so that nothing of it is kept.
func (s *Store) End(own string) error { return os.Remove(filepath.Join(own, noteName)) }

func readNote(own string) (n note, err error) {
	b, err := os.ReadFile(filepath.Join(own, noteName))
	if err == nil {
		err = json.Unmarshal(b, &n)
	}
	if err == nil && (filepath.Base(n.Entry) != n.Entry || !filepath.IsLocal(filepath.FromSlash(n.Folder))) {
		err = fmt.Errorf("%s is damaged", filepath.Join(own, noteName))
	}
	return n, err
}

// boot names the time since the machine was last started; "" where the system has no name for it.
func boot() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}
