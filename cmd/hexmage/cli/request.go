package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/state"
	"github.com/hexmage/hexmage/internal/workspace"
	"github.com/hexmage/hexmage/qnn/elffile"
)

// outFolder returns the folder of a pipeline's outputs, and the folder from which no link may lead there: the working
// folder, or that of --out.
func (a *app) outFolder(named, pipeline string) (in, out string) {
	if named != "" {
		in = absolute(a.WorkDir, named)
		return in, filepath.Join(in, pipeline)
	}
	return a.WorkDir, filepath.Join(a.WorkDir, "out", pipeline)
}

// stateFile returns the path of the state file of a run. Its name is a digest, since values of variables may be secret.
func (a *app) stateFile(c *runFlags, out string, fn digest.Function) string {
	return filepath.Join(a.places().State().Requests(), fn.Bytes(a.request(c, out)).Hex()[:32])
}

// request returns the arguments of `hexmage run` that decide on its plan and output folder.
func (a *app) request(c *runFlags, out string) []byte {
	return fmt.Appendf(nil, "%q",
		[]any{a.here(), c.Pipeline, a.Profile, out, a.Serial, c.Steps, a.SoC, a.Toolchain, a.envVars(), a.Set})
}

// machineOf returns the machine's part of the state of the workspace.
func (a *app) machineOf(fn digest.Function) state.Machine {
	return state.Machine{
		Program: identity(a.Env.Self), CPULevel: a.Env.CPULevel,
		Variable: func(name string) string {
			if v, ok := a.Env.lookup(name); ok {
				return fn.Bytes([]byte("=" + v)).Hex()
			}
			return ""
		},
		Glob: func(dir string, patterns []string) (found, listed []string, err error) {
			g, err := workspace.Fileset(a.here(), dir, patterns...)
			return g.Found, g.Dirs, err
		},
	}
}

// identity distinguishes builds of a program: by the Go linker's build ID, else by the file's stamp. The stamp changes
// with every `go build`, even for equal bytes.
func identity(self string) string {
	const goBuildID = 4
	id := ""
	if f, err := os.Open(self); err == nil {
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			if e, err := elffile.Open(f, info.Size()); err == nil {
				_ = e.Notes(func(name string, kind uint32, desc []byte) { // unreadable notes count as missing
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
