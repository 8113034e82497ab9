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

// SDK describes an SDK that is a folder or a zip file.
type SDK struct {
	Name         string   `json:"name"` // as in the catalogue: qairt, hexagon, ndk
	Version      string   `json:"version"`
	BuildID      string   `json:"build_id,omitempty"`      // of qairt
	ToolsVersion string   `json:"tools_version,omitempty"` // of hexagon
	Root         string   `json:"root,omitempty"`          // the folder of the zip that it is in
	Arches       []string `json:"arches,omitempty"`        // Hexagon arches that it has libraries for
	Targets      []string `json:"targets,omitempty"`       // other machines that it has libraries for: aarch64-android, …
}

// Contents is what a folder or zip file holds.
type Contents struct {
	Files    int      `json:"files"`
	Bytes    int64    `json:"bytes"` // unpacked
	SDK      *SDK     `json:"sdk,omitempty"`
	Model    *HF      `json:"model,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// HF is what config.json of a Hugging Face folder says about its model.
type HF struct {
	Type       string `json:"model_type"`
	Layers     int64  `json:"num_hidden_layers,omitempty"`
	Hidden     int64  `json:"hidden_size,omitempty"`
	Vocabulary int64  `json:"vocab_size,omitempty"`
}

const (
	maxEntries  = 200_000  // of a folder or zip
	maxSearched = 64 << 20 // bytes of a library in which a build id is looked for
	rootDepth   = 4        // folders above such a file, in a zip
	maxConfig   = 1 << 20  // bytes of a config.json
)

// listing is the files of a folder or zip by their slash paths.
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

// listZip lists a zip file. Names that would lead out of a folder are left out: nothing is unpacked, but nothing is believed either.
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

// describe says what the listed files are. dir is the folder, "" for a zip file; name is what the SDK's own folder is called.
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

// hf notes the model of a folder with a config.json that names a model type, and what the folder lacks.
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
		c.Warnings = append(c.Warnings, "weights are missing: there is no .safetensors file")
	}
}

// root finds the SDK's folder: the highest one with a file that says which SDK it is.
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

// below returns the files below a folder, by their paths in it.
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

// targets finds which machines there are libraries for by the folders they are in.
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

// buildIDs looks into a few files of which each SDK has one for each machine, and tells those that are of another SDK.
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
			warnings = append(warnings, fmt.Sprintf("%s is of build %s, the SDK says it is %s: it is mixed of two releases", n, strings.Join(ids, ", "), want))
		}
	}
	return warnings
}
