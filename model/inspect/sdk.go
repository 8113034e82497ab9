package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/qnn/buildid"
	"github.com/hexmage/hexmage/qnn/sdk"
)

// SDK describes an SDK in a folder or a zip file.
type SDK struct {
	Name         string   `json:"name"` // as in the catalog: qairt, hexagon, ndk
	Version      string   `json:"version"`
	BuildID      string   `json:"build_id,omitempty"`      // qairt only
	ToolsVersion string   `json:"tools_version,omitempty"` // hexagon only
	Root         string   `json:"root,omitempty"`          // the SDK's folder in the zip file
	Arches       []string `json:"arches,omitempty"`        // Hexagon archs with libraries in the SDK
	Targets      []string `json:"targets,omitempty"`       // its other targets: aarch64-android, …
}

// Contents describes a folder or a zip file.
type Contents struct {
	Files    int      `json:"files"`
	Bytes    int64    `json:"bytes"` // unpacked
	SDK      *SDK     `json:"sdk,omitempty"`
	Model    *HF      `json:"model,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// HF holds values from the config.json of a Hugging Face model.
type HF struct {
	Type       string `json:"model_type"`
	Layers     int64  `json:"num_hidden_layers,omitempty"`
	Hidden     int64  `json:"hidden_size,omitempty"`
	Vocabulary int64  `json:"vocab_size,omitempty"`
}

const (
	maxEntries  = 200_000  // in a folder or a zip file
	maxSearched = 64 << 20 // largest library that is searched for a build id
	rootDepth   = 4        // deepest SDK folder in a zip file
	maxConfig   = 1 << 20  // largest config.json
)

// listing is the files of a folder or zip file by their slash paths.
type listing struct {
	sizes map[string]int64
	names []string // sorted
	read  func(name string, limit int64) ([]byte, error)
}

func (l *listing) add(name string, size int64) {
	if _, again := l.sizes[name]; !again {
		l.names = append(l.names, name)
	}
	l.sizes[name] = size
}

// listZip lists a zip file without the names that lead out of a folder. The names come from an untrusted file.
func listZip(f *os.File, size int64) (*listing, error) {
	members, err := archive.ListZip(f, size, maxEntries)
	if err != nil {
		return nil, err
	}
	at := map[string]archive.Member{}
	l := &listing{sizes: map[string]int64{}}
	for _, m := range members {
		if m.Mode.IsRegular() && fs.ValidPath(m.Name) {
			l.add(m.Name, m.Size)
			at[m.Name] = m
		}
	}
	slices.Sort(l.names)
	l.read = func(name string, limit int64) ([]byte, error) { return at[name].Read(limit) }
	return l, nil
}

func listFolder(dir string) (*listing, error) {
	l := &listing{sizes: map[string]int64{}}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		if l.add(filepath.ToSlash(rel), info.Size()); len(l.names) > maxEntries {
			return fmt.Errorf("%s: more than %d files", dir, maxEntries)
		}
		return nil
	})
	slices.Sort(l.names)
	l.read = func(name string, limit int64) ([]byte, error) {
		if l.sizes[name] > limit {
			return nil, fmt.Errorf("%s: more than %d bytes", name, limit)
		}
		return os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	}
	return l, err
}

// describe describes the listed files. dir is the folder, or "" for a zip file. name is the name of the SDK's own
// folder.
func (l *listing) describe(dir, name string) (*Contents, error) {
	c := &Contents{Files: len(l.names)}
	for _, n := range l.sizes {
		c.Bytes += n
	}
	root, ok := l.root()
	if !ok {
		c.hf(l)
		return c, nil
	}
	if root != "." {
		name = path.Base(root)
	}
	l = l.below(root)
	id, err := sdk.In(l, name)
	if errors.Is(err, sdk.ErrUnknown) {
		return c, nil
	}
	if err != nil {
		c.Warnings = append(c.Warnings, err.Error())
		return c, nil
	}
	c.SDK = &SDK{Name: id.Name, Version: id.Version, BuildID: id.BuildID, ToolsVersion: id.ToolsVersion}
	if dir == "" && root != "." {
		c.SDK.Root = root
	}
	c.SDK.Arches, c.SDK.Targets = l.targets()
	if id.BuildID != "" {
		c.Warnings = append(c.Warnings, l.buildIDs(id.BuildID)...)
	}
	return c, nil
}

// hf describes a model whose config.json names a model type, and warns of missing files.
func (c *Contents) hf(l *listing) {
	b, err := l.Read("config.json", maxConfig)
	var m HF
	if err != nil || json.Unmarshal(b, &m) != nil || m.Type == "" {
		return
	}
	c.Model = &m
	if _, ok := l.sizes["tokenizer.json"]; !ok {
		c.Warnings = append(c.Warnings, "tokenizer.json is missing: hexmage needs it for prompts")
	}
	if !slices.ContainsFunc(l.names, func(n string) bool { return path.Ext(n) == ".safetensors" }) {
		c.Warnings = append(c.Warnings, "weights are missing: found no .safetensors file")
	}
}

// root finds the SDK's folder: the highest folder with a file that identifies an SDK.
func (l *listing) root() (string, bool) {
	best, found := "", false
	for _, n := range l.names {
		switch path.Base(n) {
		case "sdk.yaml", "hexagon_sdk.json", "source.properties":
		default:
			continue
		}
		dir := path.Dir(n)
		if depth := strings.Count(dir, "/"); depth < rootDepth && (!found || depth < strings.Count(best, "/") || dir == ".") && best != "." {
			best, found = dir, true
		}
	}
	return best, found
}

// below returns the files below a folder by their paths in it.
func (l *listing) below(root string) *listing {
	if root == "." {
		return l
	}
	b := &listing{sizes: map[string]int64{}}
	for _, n := range l.names {
		if rest, ok := strings.CutPrefix(n, root+"/"); ok {
			b.add(rest, l.sizes[n])
		}
	}
	b.read = func(name string, limit int64) ([]byte, error) { return l.read(path.Join(root, name), limit) }
	return b
}

// Read implements sdk.Files.
func (l *listing) Read(name string, limit int64) ([]byte, error) {
	if _, ok := l.sizes[name]; !ok {
		return nil, fs.ErrNotExist
	}
	return l.read(name, limit)
}

// List implements sdk.Files.
func (l *listing) List(name string) ([]string, error) {
	var all []string
	for _, n := range l.names {
		if rest, ok := strings.CutPrefix(n, name+"/"); ok {
			first, _, _ := strings.Cut(rest, "/")
			all = append(all, first)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

var (
	archFolder   = lazyregexp.New(`(?:^|/)(?:lib/hexagon-|target/hexagon/lib/)v(\d{2,3})/`)
	targetFolder = lazyregexp.New(`^lib/([a-z0-9_]+(?:-[a-z0-9_.]+)+)/lib`)
)

// targets returns the archs and targets that the listing has library folders for.
func (l *listing) targets() (arches, targets []string) {
	for _, n := range l.names {
		if m := archFolder.FindStringSubmatch(n); m != nil {
			arches = append(arches, "v"+m[1])
		} else if m := targetFolder.FindStringSubmatch(n); m != nil {
			targets = append(targets, m[1])
		}
	}
	slices.Sort(arches)
	slices.Sort(targets)
	return slices.Compact(arches), slices.Compact(targets)
}

var withBuildID = []string{"include/QNN/QnnSdkBuildId.h", "lib/*/libQnnHtp.so", "lib/*/libQnnHtpV*Stub.so", "lib/hexagon-v*/unsigned/libQnnHtpV*Skel.so"}

// buildIDs warns of files from another SDK. It reads only a few files that each SDK has for each target.
func (l *listing) buildIDs(want string) []string {
	var warnings []string
	for _, n := range l.names {
		if !slices.ContainsFunc(withBuildID, func(p string) bool { ok, _ := path.Match(p, n); return ok }) || l.sizes[n] > maxSearched {
			continue
		}
		b, err := l.read(n, maxSearched)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("%s: %v", n, err))
			continue
		}
		ids, err := buildid.Find(bytes.NewReader(b))
		if err == nil && len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(id, want) || strings.HasPrefix(want, id) }) {
			warnings = append(warnings, fmt.Sprintf("%s: build id %s differs from the SDK's %s: the folder mixes two releases", n, strings.Join(ids, ", "), want))
		}
	}
	return warnings
}
