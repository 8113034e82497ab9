package gc

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// Found is where something with a digest is.
type Found struct {
	Kind layout.Kind `json:"kind"` // layout.Blobs, Trees or Results
	Path string      `json:"path"`
}

// ErrDigest is what Find returns, wrapped, for text that is no digest.
var ErrDigest = errors.New("want 64 hexadecimal digits, alone or as function:digits or function:digits/size")

// Find returns what the cache folder has under a digest: a blob, an unpacked tree of which it is the root, the result of
// an action whose key it is. Without a function, text is looked for under each.
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
		path := layout.Root(root).File(layout.Blobs, d)
		st, err := os.Lstat(path)
		there := err == nil && st.Mode().IsRegular()
		if there && (!sized || st.Size() == size) {
			found = append(found, Found{layout.Blobs, path})
		}
		if dir, ok := merkle.NewTrees(root).Find(d); ok {
			found = append(found, Found{layout.Trees, dir})
		}
		path = layout.Root(root).File(layout.Results, d)
		if _, err := os.Lstat(path); err == nil {
			found = append(found, Found{layout.Results, path})
		}
	}
	return found, nil
}
