// Package checkpoint saves the progress of long actions that failed or were killed. A checkpoint is a folder for an
// action key, together with the digest of the folder's content.
//
// While an action runs, the folder is inside the action's exec root. A note next to the exec root contains the action
// key. If hexmage itself is killed, Rescue finds the folder by the note. The package does not know commands or the
// content of files.
package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
)

// File names in a checkpoint, and in the folder of an exec root.
const (
	filesName  = "files"      // the folder of the command
	recordName = "record"     // the digest of its content
	noteName   = "checkpoint" // in an exec root's folder: the key
	movedName  = "kept"       // in an exec root's folder: the folder while it is moved
)

// Store keeps all checkpoints in one folder.
type Store struct {
	dir string
	fn  digest.Function
}

// New returns a Store that keeps checkpoints in dir. The folder dir must be on the same file system as the exec roots.
// If it is missing, the first checkpoint creates it.
func New(dir string, fn digest.Function) *Store { return &Store{dir: dir, fn: fn} }

// note is beside the root of an action that runs.
type note struct {
	Entry  string `json:"entry"`  // the name under which its folder is kept
	Folder string `json:"folder"` // slash path, below the exec root's folder
	Boot   string `json:"boot"`   // of the machine: what a process wrote before another one need not be on the disk
}

func (n note) folder(own string) string { return filepath.Join(own, filepath.FromSlash(n.Folder)) }

func entry(key digest.Digest) string { return key.Function().String() + "-" + key.Hex() }

// Begin prepares an action for Keep, Rescue and End. The parameter own is a folder that contains the action's exec
// root. The parameter folder is a slash path below own. If offer is true, Begin moves the key's checkpoint to this
// path. Otherwise it deletes the checkpoint. It returns a message for the user, or "".
func (s *Store) Begin(ctx context.Context, key digest.Digest, own, folder string, offer bool) (said string, err error) {
	n := note{Entry: entry(key), Folder: folder, Boot: atomicfile.Boot()}
	b, err := json.Marshal(n)
	if err == nil {
		err = os.WriteFile(filepath.Join(own, noteName), b, 0o644)
	}
	if err != nil {
		return "", err
	}
	kept := filepath.Join(s.dir, n.Entry)
	if !offer {
		return "", atomicfile.RemoveAll(kept)
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
		return "starts from the beginning: the checkpoint of the earlier run is corrupt", atomicfile.RemoveAll(moved)
	}
	to := n.folder(own)
	if err := os.Remove(to); err != nil {
		return "", err
	}
	if err := os.Rename(files, to); err != nil {
		return "", err
	}
	return "resumes from the checkpoint of an earlier run", atomicfile.RemoveAll(moved)
}

// Keep makes a checkpoint from the folder at the slash path that Begin received. If the folder is empty, Keep returns
// false.
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
	// The record first: where the files are on their way, it is there.
	if err := os.WriteFile(filepath.Join(moved, recordName), []byte(is), 0o644); err != nil {
		return false, err
	}
	if err := os.Rename(folder, filepath.Join(moved, filesName)); err != nil {
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
	if err := atomicfile.RemoveAll(kept); err != nil {
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

// Rescue saves the checkpoints of killed hexmage processes. The parameters are the scratch folders of these processes.
// No process may write to the folders during the call. Rescue skips folders that it cannot move.
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
	if err != nil || n.Boot != atomicfile.Boot() {
		return err
	}
	moved := filepath.Join(own, movedName)
	if _, err := os.Lstat(filepath.Join(moved, filesName)); err == nil {
		return s.put(n, moved) // it was on its way, with its digest
	}
	if err := atomicfile.RemoveAll(moved); err != nil {
		return err
	}
	_, err = s.Keep(ctx, own)
	return err
}

// End deletes the note for a finished action, so that Rescue does not save a checkpoint.
func (s *Store) End(own string) error { return os.Remove(filepath.Join(own, noteName)) }

func readNote(own string) (n note, err error) {
	b, err := os.ReadFile(filepath.Join(own, noteName))
	if err == nil {
		err = json.Unmarshal(b, &n)
	}
	if err == nil && (filepath.Base(n.Entry) != n.Entry || !filepath.IsLocal(filepath.FromSlash(n.Folder))) {
		err = fmt.Errorf("%s is corrupt", filepath.Join(own, noteName))
	}
	return n, err
}
