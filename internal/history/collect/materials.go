package collect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/history"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/tool"
)

// Bounds of what a document says of keys.
const (
	maxLength  = 200     // bytes of a value
	maxNamed   = 300     // arguments of a tool of hexmage's own
	maxArgs    = 1 << 20 // bytes of the document that has them
	maxEntries = 300_000 // in all folders
	maxDepth   = 200
)

// Materials gathers what the keys of actions were made of. What they have in common, such as a toolchain's tree, is
// there once.
type Materials struct {
	hide    *Hider
	level   []ref // folders that are to be listed, none of which is in another
	queued  map[digest.Digest]bool
	entries int
	trees   map[string]history.Folder
}

// ref is a folder, and where its message is.
type ref struct {
	root  digest.Digest
	blobs store.Blobs
}

// NewMaterials returns one that has nothing yet.
func NewMaterials(hide *Hider) *Materials {
	return &Materials{hide: hide, queued: map[digest.Digest]bool{}, trees: map[string]history.Folder{}}
}

// Add fills in what the action's key was made of. The store has its messages, as far as it does.
func (m *Materials) Add(ctx context.Context, to *history.Action, a *action.Action, blobs store.Blobs) {
	to.Of = map[string]string{}
	for i, arg := range a.Command.Args {
		before := ""
		if i > 0 {
			before = a.Command.Args[i-1]
		}
		to.Of[history.Argument+" "+strconv.Itoa(i)] = m.value(before, arg)
	}
	if a.Command.Platform[action.PropertyTool] != "" {
		m.named(ctx, to.Of, a, blobs)
	}
	for name, value := range a.Command.Env {
		to.Of[history.Variable+" "+name] = m.value(name, value)
	}
	for name, value := range a.Command.Platform {
		if program, ok := strings.CutPrefix(name, action.PropertyProgram); ok {
			to.Of[history.Program+" "+m.hide.Text(program)] = short(value)
		} else {
			to.Of[history.Property+" "+name] = m.value("", value)
		}
	}
	for _, o := range a.Command.Outputs {
		to.Of[history.Output+" "+o] = "is one"
	}
	if a.Timeout > 0 {
		to.Of[history.Timeout] = a.Timeout.String()
	}
	if a.DoNotCache {
		to.Of[history.Caching] = "off"
	}
	to.Root = m.ref(a.InputRoot, blobs)
}

// named adds the arguments of a tool of hexmage's own, which are a file among the action's inputs, by their names:
// "argument sha256".
func (m *Materials) named(ctx context.Context, of map[string]string, a *action.Action, blobs store.Blobs) {
	e, err := merkle.Ref(a.InputRoot).Lookup(ctx, blobs, tool.ArgsFile)
	if err != nil || e.File == nil {
		return
	}
	b, err := store.ReadBlob(ctx, blobs, e.File.Digest, maxArgs)
	if err != nil {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var doc any
	if dec.Decode(&doc) != nil {
		return
	}
	n := 0
	var add func(at, name string, v any)
	add = func(at, name string, v any) {
		below := func(name string) string { return strings.TrimPrefix(at+"."+name, ".") }
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				add(below(k), k, v[k])
			}
		case []any:
			for i, e := range v {
				add(below(strconv.Itoa(i)), name, e)
			}
		default:
			if n++; n <= maxNamed {
				of[history.Argument+" "+at] = m.value(name, fmt.Sprint(v))
			}
		}
	}
	add("", "", doc)
}

// value is a value as the document has it: without what is not for others, and cut where it is long.
func (m *Materials) value(name, value string) string {
	if value == "" {
		return `""` // it is there, and empty
	}
	shown := m.hide.Value(name, value)
	if len(shown) <= maxLength {
		return shown
	}
	return strings.ToValidUTF8(shown[:maxLength], "") + "… " + mark(strconv.Itoa(len(value))+" bytes", value)
}

func short(s string) string {
	if d, err := digest.Parse(s); err == nil {
		return d.Short()
	}
	return s
}

// ref is what a folder is called, which is to be listed once.
func (m *Materials) ref(d digest.Digest, blobs store.Blobs) string {
	if !m.queued[d] {
		m.queued[d] = true
		m.level = append(m.level, ref{d, blobs})
	}
	return d.Hex()[:16]
}

// Trees lists the folders of all that was added, level by level: where there are too many, the deepest are not there,
// and whole is false.
func (m *Materials) Trees(ctx context.Context) (trees map[string]history.Folder, whole bool, err error) {
	whole = true
	for depth := 0; len(m.level) > 0 && depth < maxDepth; depth++ {
		level := m.level
		m.level = nil
		for _, f := range level {
			if err := ctx.Err(); err != nil {
				return nil, false, err
			}
			dir, err := merkle.Ref(f.root).Open(ctx, f.blobs)
			if err != nil { // it is no longer in the cache
				whole = false
				continue
			}
			n := len(dir.Files) + len(dir.Dirs) + len(dir.Symlinks) + 1
			if m.entries+n > maxEntries {
				whole = false
				continue
			}
			m.entries += n
			m.trees[f.root.Hex()[:16]] = m.folder(dir, f.blobs)
		}
	}
	return m.trees, whole, nil
}

func (m *Materials) folder(dir *merkle.Dir, blobs store.Blobs) history.Folder {
	all := history.Folder{}
	for name, f := range dir.Files {
		text := fmt.Sprintf("%s (%d bytes)", f.Digest.Short(), f.Digest.Size())
		if f.Executable {
			text += ", executable"
		}
		all[name] = text
	}
	for name, to := range dir.Symlinks {
		all[name] = "symlink to " + m.value("", to)
	}
	for name, d := range dir.Dirs {
		if ref, ok := d.Ref(); ok {
			all[name] = history.FolderPrefix + m.ref(ref, blobs)
		}
	}
	return all
}
