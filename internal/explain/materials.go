package explain

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

// Limits for the inputs of cache keys in a run document.
const (
	maxLength  = 200     // bytes per value
	maxNamed   = 300     // named arguments of a built-in tool
	maxArgs    = 1 << 20 // bytes of the input file with the named arguments
	maxEntries = 300_000 // sum over all folders
	maxDepth   = 200
)

// Materials collects the inputs of cache keys for a run document. It stores a folder, such as a toolchain, only once
// even if several keys use the folder.
type Materials struct {
	hide    *Hider
	level   []string // folders that Trees lists next
	refs    map[string]ref
	entries int
}

// ref is a folder, and the store with its message.
type ref struct {
	root  digest.Digest
	blobs store.Blobs
}

// NewMaterials returns Materials without inputs. If hide is nil, Materials hides no private texts.
func NewMaterials(hide *Hider) *Materials { return &Materials{hide: hide, refs: map[string]ref{}} }

// Add records the inputs of the action a in the given history.Action, as far as the store contains them.
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
			to.Of[history.Program+" "+m.hide.Text(program)] = shortDigest(value)
		} else {
			to.Of[history.Property+" "+name] = m.value("", value)
		}
	}
	for _, o := range a.Command.Outputs {
		to.Of[history.Output+" "+o] = "is one" // an output has no value
	}
	if a.DoNotCache {
		to.Of[history.Caching] = "off"
	}
	to.Root = m.ref(a.InputRoot, blobs)
}

// named adds the arguments of a built-in tool by name: "argument sha256". They come from a file among the action's
// inputs.
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

// value returns the value for a document: without secrets and local paths, and truncated if it is long.
func (m *Materials) value(name, value string) string {
	if value == "" {
		return `""` // distinguishes an empty value from a missing one
	}
	shown := m.hide.Value(name, value)
	if len(shown) <= maxLength {
		return shown
	}
	return strings.ToValidUTF8(shown[:maxLength], "") + "… " + mark(strconv.Itoa(len(value))+" bytes", value)
}

func shortDigest(s string) string {
	if d, err := digest.Parse(s); err == nil {
		return d.Short()
	}
	return s
}

// ref returns the name of a folder in documents.
func (m *Materials) ref(d digest.Digest, blobs store.Blobs) string {
	name := d.Hex()[:16]
	if _, ok := m.refs[name]; !ok {
		m.refs[name] = ref{d, blobs}
		m.level = append(m.level, name)
	}
	return name
}

// Folder returns the content of the folder with the given name in a run document. If the cache evicted the folder, ok
// is false.
func (m *Materials) Folder(ctx context.Context, name string) (f history.Folder, ok bool) {
	r, ok := m.refs[name]
	if !ok {
		return nil, false
	}
	dir, err := merkle.Ref(r.root).Open(ctx, r.blobs)
	if err != nil {
		return nil, false
	}
	return m.folder(dir, r.blobs), true
}

// Trees returns the folders of all added actions, level by level. If there are too many entries, Trees omits the
// deepest folders and whole is false.
func (m *Materials) Trees(ctx context.Context) (trees map[string]history.Folder, whole bool, err error) {
	trees, whole = map[string]history.Folder{}, true
	for depth := 0; len(m.level) > 0 && depth < maxDepth; depth++ {
		level := m.level
		m.level = nil
		for _, name := range level {
			if err := ctx.Err(); err != nil {
				return nil, false, err
			}
			f, ok := m.Folder(ctx, name)
			if !ok || m.entries+len(f) >= maxEntries {
				whole = false
				continue
			}
			m.entries += len(f) + 1
			trees[name] = f
		}
	}
	return trees, whole, nil
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
