package gc

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// Group counts what is of one kind and digest function.
type Group struct {
	Kind     layout.Kind `json:"kind"`
	Function string      `json:"function,omitempty"`
	Count    int         `json:"count"` // of what lives and goes as one: files, for trees and downloads also folders
	Bytes    int64       `json:"bytes"` // on the disk, each file by itself
}

// Age counts what was last used less than so many days ago, and not in a younger Age.
type Age struct {
	Days    int   `json:"less_than_days"` // 0: any
	Results int   `json:"results"`
	Blobs   int   `json:"blobs"`
	Bytes   int64 `json:"blob_bytes"`
}

// Folder is a folder that results name: a toolchain, sources, a package.
type Folder struct {
	Digest   string   `json:"digest"`
	Files    int      `json:"files"`
	Bytes    int64    `json:"bytes"` // of its files
	Top      []string `json:"top"`   // what is in it, at its top
	Command  []string `json:"command,omitempty"`
	of       *result
	Used     time.Time `json:"used"`
	Unpacked string    `json:"unpacked,omitempty"` // where it stands
}

// Stats is what a cache folder holds.
type Stats struct {
	Root    string   `json:"root"`
	Groups  []Group  `json:"groups"`
	Bytes   int64    `json:"bytes"` // on the disk, files with several names once
	Broken  int      `json:"broken_results"`
	Unnamed int      `json:"unnamed_blobs"` // no result names them
	Ages    []Age    `json:"ages"`
	Biggest []Folder `json:"biggest"`

	Seconds float64 `json:"made_seconds"` // that the commands of these results took
	Dearest []Made  `json:"dearest"`

	// Took is how long each result's command ran, by its key, where that is known.
	Took map[digest.Digest]time.Duration `json:"-"`
}

// biggest is how many folders Read lists.
const biggest = 10

// Read counts what the cache folder holds. It changes nothing, and needs no lock.
func Read(ctx context.Context, root string) (Stats, error) {
	s, err := readSurvey(ctx, root)
	if err != nil {
		return Stats{}, err
	}
	l := newLedger()
	s.items(l.add)
	st := Stats{
		Root: root, Groups: groups(s.items), Bytes: l.total, Ages: s.ages(time.Now()), Biggest: s.biggest(),
		Took: map[digest.Digest]time.Duration{},
	}
	for _, r := range s.results {
		if r.bad != nil {
			st.Broken++
		} else if r.ran() && r.took() > 0 {
			st.Took[r.key] = r.took()
		}
	}
	for _, b := range s.blobs {
		if b.holds == 0 {
			st.Unnamed++
		}
	}
	st.Seconds, st.Dearest = s.newPlan().made(false)
	return st, nil
}

// groups counts items by kind and function, in the order of both.
func groups(each func(func(*item))) []Group {
	type key struct {
		kind layout.Kind
		fn   digest.Function
	}
	count := map[key]*Group{}
	each(func(it *item) {
		k := key{it.kind, it.name.Function()}
		g := count[k]
		if g == nil {
			g = &Group{Kind: k.kind}
			if k.fn != 0 {
				g.Function = k.fn.String()
			}
			count[k] = g
		}
		g.Count++
		for _, n := range it.inodes {
			g.Bytes += n.bytes
		}
	})
	all := []Group{}
	for _, k := range layout.Kinds() {
		for _, fn := range append(layout.Functions(), 0) {
			if g := count[key{k, fn}]; g != nil {
				all = append(all, *g)
			}
		}
	}
	return all
}

func (s *survey) ages(now time.Time) []Age {
	all := []Age{{Days: 1}, {Days: 7}, {Days: 30}, {Days: 90}, {}}
	of := func(used time.Time) *Age {
		i := slices.IndexFunc(all, func(a Age) bool {
			return a.Days == 0 || now.Sub(used) < time.Duration(a.Days)*24*time.Hour
		})
		return &all[i]
	}
	last := map[*blob]time.Time{}
	use := func(b *blob, t time.Time) {
		if t.After(last[b]) {
			last[b] = t
		}
	}
	for _, r := range s.results {
		of(r.used).Results++
		for _, b := range r.blobs {
			use(b, r.used)
		}
		for _, f := range r.folders {
			for _, b := range f.blobs {
				use(b, r.used)
			}
		}
	}
	for _, b := range s.blobs {
		use(b, b.used)
		a := of(last[b])
		a.Blobs++
		for _, n := range b.inodes {
			a.Bytes += n.bytes
		}
	}
	return all
}

func (s *survey) biggest() []Folder {
	known := map[digest.Digest]*Folder{}
	for _, r := range s.results {
		for _, f := range r.folders {
			k := known[f.root]
			if k == nil {
				k = &Folder{Digest: f.root.String(), Files: f.files, Bytes: f.bytes, Top: f.top, of: r}
				if f.tree != nil && f.tree.complete {
					k.Unpacked = f.tree.path
				}
				known[f.root] = k
			}
			if r.used.After(k.Used) {
				k.Used = r.used
			}
		}
	}
	all := make([]Folder, 0, len(known))
	for _, f := range known {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b Folder) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Digest, b.Digest))
	})
	all = all[:min(len(all), biggest)]
	for i := range all {
		all[i].Command = s.args(all[i].of)
	}
	return all
}

// args returns the arguments of the command whose result r is, if they are known.
func (s *survey) args(r *result) []string {
	_, command, blobs, err := s.load(context.Background(), r)
	if err != nil {
		return nil
	}
	b, err := store.ReadBlob(context.Background(), blobs, command, maxMessage)
	if err != nil {
		return nil
	}
	c, _ := action.DecodeCommand(b)
	return c.Args
}

// Found is where something with a digest is.
type Found struct {
	Kind layout.Kind `json:"kind"` // layout.Blobs, Trees or Results
	Path string      `json:"path"`
}

// ErrDigest is what Find returns, wrapped, for text that is no digest.
var ErrDigest = errors.New("want 64 hexadecimal digits, alone or as function:digits or function:digits/size")

// Find returns what the cache folder has under a digest: a blob, an unpacked tree of which it is the root, the result
// of an action whose key it is. Without a function, text is looked for under each.
func Find(root, text string) ([]Found, error) {
	fns := layout.Functions()
	rest := text
	if name, after, ok := strings.Cut(text, ":"); ok {
		fn, err := digest.ParseFunction(name)
		if err != nil {
			return nil, fmt.Errorf("%q: %w: %w", text, ErrDigest, err)
		}
		fns, rest = []digest.Function{fn}, after
	}
	rest, sizeText, sized := strings.Cut(rest, "/")
	size, err := strconv.ParseInt(sizeText, 10, 64)
	if sized && err != nil {
		return nil, fmt.Errorf("%q: %w", text, ErrDigest)
	}
	if b, err := hex.DecodeString(rest); err != nil || len(b) != 32 || strings.ToLower(rest) != rest {
		return nil, fmt.Errorf("%q: %w", text, ErrDigest)
	}
	var found []Found
	for _, fn := range fns {
		d, err := digest.New(fn, rest, size)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, ErrDigest)
		}
		there := func(k layout.Kind) (string, int64, bool) {
			path := layout.Root(root).File(k, d)
			st, err := os.Lstat(path)
			if err != nil || !st.Mode().IsRegular() {
				return path, 0, false
			}
			return path, st.Size(), true
		}
		if path, is, ok := there(layout.Blobs); ok && (!sized || is == size) {
			found = append(found, Found{layout.Blobs, path})
		}
		if dir, ok := merkle.NewTrees(root).Find(d); ok {
			found = append(found, Found{layout.Trees, dir})
		}
		if path, _, ok := there(layout.Results); ok {
			found = append(found, Found{layout.Results, path})
		}
	}
	return found, nil
}
