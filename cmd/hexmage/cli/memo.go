package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/elffile"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/snapshot"
	"github.com/hexmage/hexmage/internal/stat"
)

// request is what `hexmage run` was asked for, as far as it decides which memo is of use (docs/design/0003).
type request struct {
	Workspace, Pipeline, Profile, Out string
	Steps                             []string
	EnvVars, FlagVars                 map[string]string
	Serial                            string
}

// memoPath is where the memo of a request is kept. The name is a digest: values of variables may be secret.
func (a *app) memoPath(r request, fn digest.Function) string {
	b, err := json.Marshal(r)
	if err != nil {
		return ""
	}
	return filepath.Join(a.cache, "state", "memo", fn.Bytes(b).Hex()[:32])
}

// binaryLookup is the Lookup that stands for hexmage itself: kinds and the shipped catalogue are part of it.
const binaryLookup = "the hexmage binary"

// machineNow answers what a plan of the workspace was made from.
func (a *app) machineNow(workspace string, fn digest.Function) build.Machine {
	return build.Machine{
		Workspace: workspace,
		Lookup:    func(name string) digest.Digest { return a.lookup(name, fn) },
		Digest: func(path string) (digest.Digest, error) {
			b, err := os.ReadFile(path)
			return fn.Bytes(b), err
		},
		Glob: func(dir string, patterns []string) (found, listed []string, err error) {
			g, err := lang.Fileset(workspace, dir, patterns...)
			return g.Found, g.Dirs, err
		},
	}
}

// lookup is the digest of a variable of the environment, or of what identifies this binary.
func (a *app) lookup(name string, fn digest.Function) digest.Digest {
	if name == binaryLookup {
		return fn.Bytes([]byte(identity(a.env.Self)))
	}
	for i := len(a.env.Vars) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(a.env.Vars[i], name+"="); ok {
			return fn.Bytes([]byte("=" + v))
		}
	}
	return fn.Bytes(nil)
}

// identity tells builds of this program apart: by the id that the Go linker leaves, or else by what the file system says. The
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

// maxReadDigest is the size up to which a file that planning looked at is known by its content. A larger one is a program
// of the host, of which planning looked at the stat only.
const maxReadDigest = 4 << 20

// remembering says where the build leaves a memo and what the plan was made from; nil if that may have changed since
// planning began.
func (a *app) remembering(path string, r plan.Reads, m build.Machine, planned time.Time) *build.Memo {
	keep := &build.Memo{Path: path, Lookups: []snapshot.Lookup{{Name: binaryLookup, Value: m.Lookup(binaryLookup)}}}
	for _, name := range r.Env {
		keep.Lookups = append(keep.Lookups, snapshot.Lookup{Name: name, Value: m.Lookup(name)})
	}
	for _, paths := range [][]string{r.Files, r.Dirs, r.Absent} {
		for _, p := range paths {
			keep.Reads = append(keep.Reads, snapshot.Read{Path: p})
		}
	}
	for _, g := range r.Globs {
		kept := snapshot.Glob{Dir: g.Dir, Patterns: g.Patterns, Found: g.Found}
		for _, d := range g.Dirs {
			kept.Dirs = append(kept.Dirs, len(keep.Reads))
			keep.Reads = append(keep.Reads, snapshot.Read{Path: d})
		}
		keep.Globs = append(keep.Globs, kept)
	}
	paths := make([]string, len(keep.Reads))
	for i, read := range keep.Reads {
		paths[i] = read.Path
	}
	stamps, err := stat.Lstats(m.Workspace, paths, 0)
	if err != nil {
		return nil
	}
	for i := range keep.Reads {
		read := &keep.Reads[i]
		if read.Stamp = stamps[i]; read.Stamp.Racy(planned) || read.Stamp.Exists() == slices.Contains(r.Absent, read.Path) {
			return nil
		}
		if read.Stamp.IsRegular() && read.Stamp.Size <= maxReadDigest {
			if read.Digest, err = m.Digest(absolute(m.Workspace, read.Path)); err != nil {
				return nil
			}
		}
	}
	return keep
}
