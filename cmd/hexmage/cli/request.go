package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/state"
	"github.com/hexmage/hexmage/internal/workspace"
	"github.com/hexmage/hexmage/qnn/elffile"
)

// outFolder says where a pipeline's outputs go, and from which folder on no link may lead there: from the working
// directory, or from the folder that --out names.
func (a *app) outFolder(named, pipeline string) (in, out string) {
	if named != "" {
		in = absolute(a.WorkDir, named)
		return in, filepath.Join(in, pipeline)
	}
	return a.WorkDir, filepath.Join(a.WorkDir, "out", pipeline)
}

// stateFile returns the path of the state file of a run. Its name is a digest, because values of variables may be
// secret.
func (a *app) stateFile(c *runFlags, workspace, out string, fn digest.Function) string {
	return filepath.Join(a.places().State().Requests(), fn.Bytes(a.request(c, workspace, out)).Hex()[:32])
}

// request is everything that `hexmage run` was asked for and that decides what it plans and where it puts outputs.
func (a *app) request(c *runFlags, workspace, out string) []byte {
	return fmt.Appendf(nil, "%q",
		[]any{workspace, c.Pipeline, a.Profile, out, a.Serial, c.Steps, a.SoC, a.With, a.envVars(), a.Set})
}

// machineOf answers what a plan of the workspace was made from.
func (a *app) machineOf(root string, fn digest.Function) state.Machine {
	return state.Machine{
		Program: identity(a.Env.Self), CPULevel: a.Env.CPULevel,
		Variable: func(name string) string {
			for i := len(a.Env.Vars) - 1; i >= 0; i-- {
				if v, ok := strings.CutPrefix(a.Env.Vars[i], name+"="); ok {
					return fn.Bytes([]byte("=" + v)).Hex()
				}
			}
			return ""
		},
		Glob: func(dir string, patterns []string) (found, listed []string, err error) {
			g, err := workspace.Fileset(root, dir, patterns...)
			return g.Found, g.Dirs, err
		},
	}
}

// identity tells builds of a program apart: by the id that the Go linker leaves, or else by what the file system
// says. The latter changes with every `go build`, also where it makes the same.
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
