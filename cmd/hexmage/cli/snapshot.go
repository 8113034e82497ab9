package cli

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

// outFolder says where a pipeline's outputs go, and from which folder on no link may lead there: from the working directory, or from
// the folder that --out names.
func (a *app) outFolder(named, pipeline string) (in, out string) {
	if named != "" {
		in = absolute(a.WorkDir, named)
		return in, filepath.Join(in, pipeline)
	}
	return a.WorkDir, filepath.Join(a.WorkDir, "out", pipeline)
}

// lastRun is the last run that was asked for the same.
type lastRun struct {
	Machine  build.Machine
	Snapshot string // path of what it left
}

// last returns the last run that was asked for the same.
func (a *app) last(c *runFlags, workspace, out string, fn digest.Function) lastRun {
	// The name is a digest: values of variables may be secret.
	return lastRun{a.machineNow(workspace, fn), filepath.Join(a.places().State().Snapshots(), fn.Bytes(a.request(c, workspace, out)).Hex()[:32])}
}

// request is what `hexmage run` was asked for, as far as it decides which snapshot is of use (docs/design/0003).
func (a *app) request(c *runFlags, workspace, out string) []byte {
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
	for _, vars := range []map[string]string{a.envVars(), a.Set} {
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

// errDamaged is why there is no plan where something in the cache was found damaged.
var errDamaged = fmt.Errorf("something in the cache was found damaged: %w", build.ErrStale)

// options are those of a build that tell what the last run left in out.
func (a *app) options(l lastRun, c *runFlags, out string) build.Options {
	return build.Options{Fn: l.Machine.Fn, State: string(a.places().State()), Out: out, Prune: len(c.Steps) == 0, Each: c.each(a), Snapshot: &build.Snapshot{Path: l.Snapshot}}
}

// each tells whether somebody counts what became of every action.
func (c *runFlags) each(a *app) bool { return a.JSON || c.JUnit != "" }

// binaryLookup is the Lookup that stands for hexmage itself: kinds and the shipped catalog are part of the program.
const binaryLookup = "the hexmage binary"

// machineNow answers what a plan of the workspace was made from.
func (a *app) machineNow(root string, fn digest.Function) build.Machine {
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
		return []byte(entryNames(entries)), err
	}
	return os.ReadFile(path)
}

// entryNames has the names in a folder, and which of them are folders.
func entryNames(entries []fs.DirEntry) string {
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

// lookup is the digest of a variable of the environment, or of what identifies hexmage.
func (a *app) lookup(name string, fn digest.Function) digest.Digest {
	if name == binaryLookup {
		return fn.Bytes([]byte(identity(a.Env.Self)))
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
