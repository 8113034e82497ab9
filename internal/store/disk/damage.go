package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// A command may have read a damaged file before anybody found out, and what it made of it is whole and wrong. So damage stays on record
// for as long as something may rest on it: by a file in <root>/damaged that is named after the blob. It is the damaged file itself, or an
// empty one that says of a file which is still in its place that it is damaged. When all that may rest on it is gone, the record is
// settled: its name gets one more suffix.
const settledMark = ".repaired"

// Place is where a damaged file is, or was.
type Place string

// The places. Each is what the name of a record begins with.
const (
	InStore    Place = ""      // the blob's own file
	Executable Place = "exec-" // its executable copy
	Unpacked   Place = "tree-" // a whole tree that stands unpacked: the digest is that of its root
)

// Damage is a record of damage that is not settled.
type Damage struct {
	Place Place
	Of    digest.Digest // without its size, which the file may have lost
	path  string
	info  fs.FileInfo
}

// Damages returns what is on record in the store's folder.
func Damages(root string) ([]Damage, error) {
	dir := layout.Root(root).Damaged()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for what was found damaged: %w", err)
	}
	var all []Damage
	for _, e := range entries {
		if d, ok := parseDamage(e.Name()); ok {
			d.path = filepath.Join(dir, e.Name())
			if d.info, err = e.Info(); err == nil { // else it was settled meanwhile
				all = append(all, d)
			}
		}
	}
	return all, nil
}

// LastDamage returns when something in the store's folder was last found damaged, or was settled; zero if that never was.
func LastDamage(root string) time.Time {
	st, err := os.Lstat(layout.Root(root).Damaged())
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}

// IsDamage tells whether a file of that name in <root>/damaged is a record that is not settled.
func IsDamage(name string) bool {
	_, ok := parseDamage(name)
	return ok
}

func parseDamage(name string) (Damage, bool) {
	var d Damage
	for _, p := range []Place{Executable, Unpacked} {
		if rest, ok := strings.CutPrefix(name, string(p)); ok {
			d.Place, name = p, rest
		}
	}
	function, hex, _ := strings.Cut(name, "-")
	fn, err := digest.ParseFunction(function)
	if err != nil {
		return d, false
	}
	d.Of, err = digest.New(fn, hex, 0)
	return d, err == nil
}

func damagePath(root string, p Place, d digest.Digest) string {
	return filepath.Join(layout.Root(root).Damaged(), string(p)+d.Function().String()+"-"+d.Hex())
}

// NoteDamage puts damage on record. It returns when no crash can take the record away.
func NoteDamage(root string, p Place, d digest.Digest) error {
	path := damagePath(root, p, d)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444); err == nil {
			err = errors.Join(f.Close(), atomicfile.SyncDir(filepath.Dir(path)))
		} else if errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("note that %s is damaged: %w", d, err)
	}
	return nil
}

// Settle says that nothing rests on the damage any more, unless it was found again meanwhile.
func (d Damage) Settle() error {
	if now, err := os.Lstat(d.path); err != nil || !os.SameFile(now, d.info) {
		return nil
	}
	if err := os.Rename(d.path, d.path+settledMark); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("note that the damage of %s is repaired: %w", d.Of, err)
	}
	return nil
}

// DamageWatch tells what comes on record while somebody works with the store. It may be asked by many goroutines, and often: while nothing
// comes, an answer costs one look at the folder.
type DamageWatch struct {
	root  string
	known []Damage

	mu    sync.Mutex
	stamp stat.Stamp // of the folder, when it was last read
	at    time.Time  // and when that was
	found []digest.Digest
}

// WatchDamage begins to watch.
func WatchDamage(root string) (*DamageWatch, error) {
	known, err := Damages(root)
	return &DamageWatch{root: root, known: known}, err
}

// Settled says that what was on record when the watch began was dealt with: what of it is still there is known, whatever file it is now.
func (w *DamageWatch) Settled() error {
	all, err := Damages(w.root)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, d := range w.known {
		known[d.path] = true
	}
	w.known = slices.DeleteFunc(all, func(d Damage) bool { return !known[d.path] })
	return nil
}

// Known returns what was on record when the watch began, and still is.
func (w *DamageWatch) Known() []digest.Digest { return digests(w.known) }

// Found returns what came on record since.
func (w *DamageWatch) Found() ([]digest.Digest, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	st, err := stat.Lstat(layout.Root(w.root).Damaged())
	if errors.Is(err, fs.ErrNotExist) || err == nil && st == w.stamp && !st.Racy(w.at) {
		return w.found, nil
	}
	all, err := Damages(w.root)
	if err != nil {
		return nil, err
	}
	known := make(map[string]fs.FileInfo, len(w.known))
	for _, d := range w.known {
		known[d.path] = d.info
	}
	var found []Damage
	for _, d := range all {
		if was, ok := known[d.path]; !ok || !os.SameFile(was, d.info) {
			found = append(found, d)
		}
	}
	w.stamp, w.at, w.found = st, now, digests(found)
	return w.found, nil
}

func digests(all []Damage) []digest.Digest {
	out := make([]digest.Digest, len(all))
	for i, d := range all {
		out[i] = d.Of
	}
	return out
}
