package gc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// Group holds the number and size of all items with the same kind and digest function.
type Group struct {
	Kind     layout.Kind `json:"kind"`
	Function string      `json:"function,omitempty"`
	Count    int         `json:"count"` // number of items: files, and for trees and downloads also folders
	Bytes    int64       `json:"bytes"` // bytes on disk; a file with two hard links counts twice
}

// Stats describes the content of a cache folder.
type Stats struct {
	Root    string  `json:"root"`
	Groups  []Group `json:"groups"`
	Bytes   int64   `json:"bytes"` // bytes on disk; a file with two hard links counts once
	Broken  int     `json:"broken_results"`
	Seconds float64 `json:"made_seconds"` // run time of the commands that made all results
}

// Read returns the Stats of a cache folder. It changes nothing and takes no lock.
func Read(ctx context.Context, root string) (Stats, error) {
	s, err := readSurvey(ctx, root)
	if err != nil {
		return Stats{}, err
	}
	p := s.newPlan()
	return Stats{Root: root, Groups: groups(s.items), Bytes: p.sum.Before, Broken: p.sum.Broken,
		Seconds: p.seconds(false)}, nil
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

// Found is an item that Find found, with the item's location.
type Found struct {
	Kind layout.Kind `json:"kind"` // layout.Blobs, Trees or Results
	Path string      `json:"path"`
}

// ErrDigest reports that a digest is invalid. Find returns an error that wraps it.
var ErrDigest = errors.New("invalid digest; write 64 hexadecimal DIGITS, FUNCTION:DIGITS or FUNCTION:DIGITS/SIZE")

// Find returns the items in the cache folder root that match a digest: blobs with this digest, unpacked trees with this
// root digest, and results with this action key. If text does not name a digest function, Find tries all functions.
func Find(root, text string) ([]Found, error) {
	fns := layout.Functions()
	rest := text
	if name, after, ok := strings.Cut(text, ":"); ok {
		fn, err := digest.ParseFunction(name)
		if err != nil {
			return nil, fmt.Errorf("%q: %w (%w)", text, ErrDigest, err)
		}
		fns, rest = []digest.Function{fn}, after
	}
	rest, sizeText, sized := strings.Cut(rest, "/")
	size, err := strconv.ParseInt(sizeText, 10, 64)
	if sized && err != nil {
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
