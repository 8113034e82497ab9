package front

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/elffile"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statefile"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/workspace"
)

// OutFolder says where a pipeline's outputs go, and from which folder on no link may lead there: from the working directory, or from
// the folder that --out names.
func (a *App) OutFolder(named, pipeline string) (in, out string) {
	if named != "" {
		in = Absolute(a.WorkDir, named)
		return in, filepath.Join(in, pipeline)
	}
	return a.WorkDir, filepath.Join(a.WorkDir, "out", pipeline)
}

// Last is the last run that was asked for the same.
type Last struct {
	Machine  build.Machine
	Snapshot string // path of what it left
}

// Last returns the last run that was asked for the same.
func (a *App) Last(c *RunFlags, workspace, out string, fn digest.Function) Last {
	// The name is a digest: values of variables may be secret.
	return Last{a.machineNow(workspace, fn), filepath.Join(a.Places().State().Snapshots(), fn.Bytes(a.request(c, workspace, out)).Hex()[:32])}
}

// request is what `hexmage run` was asked for, as far as it decides which snapshot is of use (docs/design/0003).
func (a *App) request(c *RunFlags, workspace, out string) []byte {
	var e statefile.Encoder
	for _, s := range []string{workspace, c.Pipeline, a.Profile, out, a.Serial} {
		e.Text(s)
	}
	for _, list := range [][]string{c.Steps, a.SoC, a.With} {
		e.Int(len(list))
		for _, s := range list {
			e.Text(s)
		}
	}
	for _, vars := range []map[string]string{a.EnvVars(), a.Set} {
		e.Int(len(vars))
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			e.Text(name)
			e.Text(vars[name])
		}
	}
	damaged := disk.LastDamage(a.Cache) // what is of before something was found damaged may have been made from it
	e.Signed(damaged.Unix())
	e.Int(damaged.Nanosecond())
	return e.Block
}

// Load returns what load does of the plan of the last run, unless the cache has damage. The options are those of Options.
func (a *App) Load(l Last, o build.Options, load func(build.Machine, build.Options) (*build.Loaded, error)) (*build.Loaded, error) {
	if records, err := disk.Damages(a.Cache); err != nil || len(records) > 0 {
		return nil, ErrDamaged
	}
	return load(l.Machine, o)
}

// ErrDamaged is why there is no plan where something in the cache was found damaged.
var ErrDamaged = fmt.Errorf("something in the cache was found damaged: %w", build.ErrStale)

// Options are those of a build that tell what the last run left in out.
func (a *App) Options(l Last, c *RunFlags, out string) build.Options {
	return build.Options{Fn: l.Machine.Fn, State: string(a.Places().State()), Out: out, Prune: len(c.Steps) == 0, Each: c.each(a), Snapshot: &build.Snapshot{Path: l.Snapshot}}
}

// each tells whether somebody counts what became of every action.
func (c *RunFlags) each(a *App) bool { return a.JSON || c.JUnit != "" }

// BinaryLookup is the Lookup that stands for hexmage itself: kinds and the shipped catalogue are part of it. It is of both programs, so that one of
// them that is of another version finds no snapshot that holds.
const BinaryLookup = "the hexmage binary"

// CPULevelLookup is the Lookup that stands for the level of the processor: a plan has it in actions.
const CPULevelLookup = "the level of the processor"

// machineNow answers what a plan of the workspace was made from.
func (a *App) machineNow(root string, fn digest.Function) build.Machine {
	return build.Machine{
		Workspace: root,
		Fn:        fn,
		Lookup:    func(name string) digest.Digest { return a.lookup(name, fn) },
		Digest: func(path string) (digest.Digest, error) {
			b, err := content(path)
			return fn.Bytes(b), err
		},
		Glob: func(dir string, patterns []string) (found, listed []string, err error) {
			g, err := workspace.Fileset(root, dir, patterns...)
			return g.Found, g.Dirs, err
		},
	}
}

// content is what planning may read at the path: a file's bytes, or the names in a folder.
func content(path string) ([]byte, error) {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		entries, err := os.ReadDir(path)
		return []byte(EntryNames(entries)), err
	}
	return os.ReadFile(path)
}

// EntryNames has the names in a folder, and which of them are folders.
func EntryNames(entries []fs.DirEntry) string {
	var b strings.Builder
	b.WriteByte('/')
	for _, e := range entries {
		b.WriteString(e.Name())
		if e.IsDir() {
			b.WriteByte('/')
		}
		b.WriteByte(0)
	}
	return b.String()
}

// lookup is the digest of a variable of the environment, of what identifies hexmage, or of the level of the processor.
func (a *App) lookup(name string, fn digest.Function) digest.Digest {
	if name == BinaryLookup {
		return fn.Bytes([]byte(identity(a.Env.Self) + "\n" + identity(a.Env.Front)))
	}
	if name == CPULevelLookup {
		return fn.Bytes([]byte(a.Env.CPULevel))
	}
	for i := len(a.Env.Vars) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(a.Env.Vars[i], name+"="); ok {
			return fn.Bytes([]byte("=" + v))
		}
	}
	return fn.Bytes(nil)
}

// identity tells builds of a program apart: by the id that the Go linker leaves, or else by what the file system says. The
// latter changes with every `go build`, also where it makes the same.
func identity(self string) string {
	const goBuildID = 4
	id := ""
	if f, err := os.Open(self); err == nil {
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			if e, err := elffile.Open(f, info.Size()); err == nil {
				_ = e.Notes(func(name string, kind uint32, desc []byte) { // notes that cannot be read are none
					if name == "Go" && kind == goBuildID {
						id = string(bytes.TrimRight(desc, "\x00"))
					}
				})
			}
		}
	}
	if id != "" {
		return id
	}
	s, err := stat.Lstat(self)
	return fmt.Sprint(s, err)
}
