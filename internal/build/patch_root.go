package build

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/snapshot"
	"github.com/hexmage/hexmage/internal/store"
)

// lastResult is what came of a unit in the last build.
type lastResult struct {
	key  digest.Digest
	root digest.Digest // of its inputs
	outs made
	read bool // some file of the machine that it reads, a program too, is something else now
}

// inputRoot merges the unit's inputs into the tree of an exec root, as root does. Where it is known what tree that was the
// last time, only what is something else now is replaced in it: of ten thousand inputs that is mostly one.
func (w *worker) inputRoot(ctx context.Context, u *unit) (*merkle.Dir, map[digest.Digest][]byte, error) {
	if u.last != nil && len(u.spec.Inputs) >= patchFrom {
		if root := w.patchInputRoot(ctx, u); root != nil {
			return root, nil, nil
		}
	}
	return w.root(ctx, u.instance, u.spec.Inputs)
}

// asBefore tells whether all that the unit's action is made from is as it was in the last build, though it might not have been: then its result is
// that of then, as are those of units that nothing could have reached.
func (w *worker) asBefore(ctx context.Context, u *unit) bool {
	if u.last == nil || u.last.read || u.spec.NoCache || u.instance.plan.Cache == plan.CacheInputs || w.fresh(u) {
		return false
	}
	for i := range u.spec.Inputs {
		in := &u.spec.Inputs[i]
		if in.Host != nil {
			continue
		}
		if m, ok := w.changedInput(ctx, u.instance, in); !ok || m.path != "" {
			return false
		}
	}
	return true
}

const (
	patchFrom  = 64 // inputs, fewer of which are merged as quickly
	maxChanged = 64 // inputs, more of which are not worth it
)

// changedInput is an input that is something else than the last time.
type changedInput struct {
	path     string
	old, now merkle.Entry
}

// patchInputRoot returns the last tree with what moved, or nil where it cannot tell what that is.
func (w *worker) patchInputRoot(ctx context.Context, u *unit) *merkle.Dir {
	var all []changedInput
	folders := map[string]bool{}
	for i := range u.spec.Inputs {
		in := &u.spec.Inputs[i]
		for at := folderOf(in.Path); at != "" && !folders[at]; at = folderOf(at) {
			folders[at] = true
		}
		m, ok := w.changedInput(ctx, u.instance, in)
		if !ok || in.Path == "" || len(all) > maxChanged {
			return nil
		}
		if m.path != "" {
			all = append(all, m)
		}
	}
	places := make(map[string]int, len(all))
	for _, m := range all {
		places[m.path] = 0
	}
	for i := range u.spec.Inputs {
		p := u.spec.Inputs[i].Path
		if folders[p] {
			return nil // one input is inside another: what is there is of both
		}
		if n, ok := places[p]; ok {
			if n > 0 {
				return nil
			}
			places[p] = n + 1
		}
	}
	if w.o.Results == nil {
		return nil
	}
	messages, err := w.o.Results.Messages(ctx, u.last.key)
	if err != nil {
		return nil
	}
	blobs := store.Overlay(w.blobs, messages)
	root, err := merkle.Ref(u.last.root).Open(ctx, blobs)
	if err != nil {
		return nil
	}
	if !putIn(ctx, blobs, root, folders, all) {
		return nil
	}
	if openKnown(ctx, root, blobs, messages) != nil {
		return nil
	}
	return root
}

// putIn puts what moved into the tree, in whose folders all inputs are, and opens no more of these than it has to. It returns false where something is
// not what it was taken for; the tree is of no use then.
func putIn(ctx context.Context, blobs store.Blobs, root *merkle.Dir, folders map[string]bool, moved []changedInput) bool {
	changed := map[string][]changedInput{}
	for _, m := range moved {
		changed[folderOf(m.path)] = append(changed[folderOf(m.path)], m)
	}
	inner := map[string]bool{} // folders with folders of inputs
	for f := range folders {
		inner[folderOf(f)] = true
	}
	open := map[string]*merkle.Dir{"": root}
	for _, f := range slices.Sorted(maps.Keys(folders)) { // a folder comes after the one it is in
		in, name := open[folderOf(f)], path.Base(f)
		d := in.Dirs[name]
		switch {
		case d == nil:
			return false
		case inner[f]:
		case len(changed[f]) == 0:
			continue
		default:
			if swapped := swap(ctx, blobs, d, changed[f]); swapped != nil {
				in.Dirs[name] = swapped
				delete(changed, f)
				continue
			}
		}
		d, err := d.Open(ctx, blobs)
		if err != nil {
			return false
		}
		in.Dirs[name], open[f] = d, d
	}
	for f, these := range changed {
		for _, m := range these {
			if !replaced(open[f], path.Base(m.path), m) {
				return false
			}
		}
	}
	return true
}

// swap returns the folder with what moved where that is files, and all that there is in it; else nil.
func swap(ctx context.Context, blobs store.Blobs, d *merkle.Dir, moved []changedInput) *merkle.Dir {
	ref, ok := d.Ref()
	swaps := make(map[string]merkle.Swap, len(moved))
	for _, m := range moved {
		if m.old.File == nil || m.now.File == nil {
			return nil
		}
		swaps[path.Base(m.path)] = merkle.Swap{Was: *m.old.File, Is: *m.now.File}
	}
	if !ok || len(swaps) < len(moved) {
		return nil
	}
	swapped, err := merkle.Swapped(ctx, blobs, ref, swaps)
	if err != nil {
		return nil // it is opened, which tells why
	}
	return swapped
}

// openKnown opens the folders whose messages are in no store but beside the last result.
func openKnown(ctx context.Context, d *merkle.Dir, blobs store.Blobs, messages map[digest.Digest][]byte) (err error) {
	for name, sub := range d.Dirs {
		if ref, ok := sub.Ref(); ok {
			if messages[ref] == nil {
				continue
			}
			if sub, err = sub.Open(ctx, blobs); err != nil {
				return err
			}
			d.Dirs[name] = sub
		}
		if err := openKnown(ctx, sub, blobs, messages); err != nil {
			return err
		}
	}
	return nil
}

// folderOf is the folder that something of an exec root is in; "" is the root.
func folderOf(p string) string {
	i := strings.LastIndexByte(p, '/')
	return p[:max(i, 0)]
}

// replaced puts what an input is now in the place of what it was, if that is there.
func replaced(d *merkle.Dir, name string, m changedInput) bool {
	switch {
	case m.old.File != nil && m.now.File != nil:
		if have, ok := d.Files[name]; !ok || *have != *m.old.File {
			return false
		}
		d.Files[name] = m.now.File
	case m.old.Dir != nil && m.now.Dir != nil:
		have := d.Dirs[name]
		if have == nil {
			return false
		}
		was, ok := m.old.Dir.Ref()
		if is, isRef := have.Ref(); !ok || !isRef || is != was {
			return false
		}
		d.Dirs[name] = m.now.Dir
	default:
		return false
	}
	return true
}

// changedInput tells what an input was and is, if that is not the same: else the path is "". It returns false where it cannot tell.
func (w *worker) changedInput(ctx context.Context, n *instance, in *action.Input) (changedInput, bool) {
	if in.Path != path.Clean(in.Path) {
		return changedInput{}, false
	}
	from := in.Spec
	if in.Artifact != nil {
		if n = w.g.instances[in.Artifact.Instance]; n == nil {
			return changedInput{}, true // it takes no part in this build
		}
		parts := n.outputs[in.Artifact.Name].Parts
		if len(parts) != 1 || parts[0].Path != "" || parts[0].Sub != "" || parts[0].Spec == nil {
			return changedInput{}, false
		}
		from = parts[0].Spec
	}
	switch {
	case from != nil:
		by := n.named(from.Spec)
		if by == nil || in.Sub != "" {
			return changedInput{}, false
		}
		if by.last == nil {
			return changedInput{}, true
		}
		was, had := by.last.outs.at(from.Path)
		is, has := by.out.at(from.Path)
		if was == is || !had || !has {
			return changedInput{}, had && has
		}
		return changedInput{in.Path, entryOf(was), entryOf(is)}, true
	case in.Host != nil:
		e, err := w.host(ctx, *in.Host) // also so that the file can be found by its digest
		was, ok := w.others[hostKey(*in.Host)]
		if !ok {
			return changedInput{}, err == nil
		}
		old := entryOf(snapshot.Out{Dir: was.Dir, Executable: was.Executable, Digest: was.Digest})
		return changedInput{in.Path, old, e}, err == nil && in.Sub == ""
	}
	return changedInput{}, in.Content != nil
}
