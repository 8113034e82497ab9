package toolchains

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/qnn/sdk"
	"github.com/hexmage/hexmage/toolchains/sources"
)

// Machine is what this machine is asked for installed copies. Nil functions find nothing.
type Machine struct {
	Getenv   func(name string) string
	LookPath func(program string) (string, error)
	Home     string
	Dir      string            // relative values of variables are seen from here; "" is the process's working directory
	OnLook   func(path string) // told of each path that is looked at, there or not; may be nil
}

// Recording returns the machine that also keeps the paths that are looked at, there or not, and the names of the
// variables that are asked for; each may be there several times.
func (m Machine) Recording(paths, env *[]string) Machine {
	out := Machine{Home: m.Home, Dir: m.Dir, OnLook: func(path string) {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		*paths = append(*paths, path)
	}}
	out.Getenv = func(name string) string {
		*env = append(*env, name)
		return m.getenv(name)
	}
	if m.LookPath == nil {
		return out
	}
	out.LookPath = func(program string) (string, error) {
		file, err := m.LookPath(program)
		for _, dir := range filepath.SplitList(out.Getenv("PATH")) {
			at := filepath.Join(dir, program)
			out.OnLook(at)
			if at == file {
				break
			}
		}
		return file, err
	}
	return out
}

func (m Machine) looksAt(path string) {
	if m.OnLook != nil {
		m.OnLook(path)
	}
}

// Installed is what an installed SDK says it is.
type Installed = sdk.SDK

func (m Machine) getenv(name string) string {
	if m.Getenv == nil {
		return ""
	}
	return m.Getenv(name)
}

// programs takes programs of the machine.
func (ch *Choice) programs(q Request, spec sources.Spec) (bool, string, error) {
	spec.Kind = sources.KindPrograms
	for _, p := range ch.Source.Programs {
		file, err := q.Machine.find(p.Names)
		if err != nil {
			return false, fmt.Sprintf("none of %s is in PATH", strings.Join(p.Names, ", ")), nil
		}
		id, err := identityOf(file)
		if err != nil {
			return false, "", err
		}
		spec.Programs = append(spec.Programs, sources.Program{Path: p.Path, Target: file, Identity: id, Copy: p.Copy || p.Venv, Venv: p.Venv})
		if !p.Copy || p.Venv {
			spec.Host = append(spec.Host, q.Machine.around(file)...)
		}
	}
	slices.Sort(spec.Host)
	spec.Host = slices.Compact(spec.Host)
	ch.Spec = spec
	return true, "", nil
}

// around returns the folders that a program may need: that in which it was installed, with its bin and lib, by its name and by
// where that leads to. The base system is not named, and the user's home is never part of it: of programs there it is the
// folder that they are in.
func (m Machine) around(file string) []string {
	var out []string
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		real = file
	}
	for _, p := range []string{file, real} {
		dir := filepath.Dir(p)
		if name := filepath.Base(dir); name == "bin" || name == "sbin" || name == "libexec" {
			if top := filepath.Dir(dir); top != "/" && !within(m.Home, top) {
				dir = top
			}
		}
		if to, err := filepath.EvalSymlinks(dir); err == nil && (within(to, "/usr") || to == "/") || within(m.Home, dir) {
			continue
		}
		out = append(out, dir)
	}
	return out
}

// within tells whether p is dir or below it.
func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

func (m Machine) find(names []string) (string, error) {
	if m.LookPath == nil {
		return "", os.ErrNotExist
	}
	for _, n := range names {
		file, err := m.LookPath(n)
		if err != nil {
			continue
		}
		if file, err = filepath.Abs(file); err != nil {
			continue
		}
		if file = m.behindShim(file); file != "" {
			return file, nil
		}
	}
	return "", os.ErrNotExist
}

// behindShim returns the program that a version manager's shim stands for (pyenv, rbenv, asdf): the newest that it has installed, "" if it has
// none. Which of them the shim itself would run, if any, is a matter of the folder that it is run in. What is no shim is returned as it is.
func (m Machine) behindShim(file string) string {
	dir, name := filepath.Split(file)
	if filepath.Base(dir) != "shims" {
		return file
	}
	top := filepath.Dir(filepath.Clean(dir))
	var programs []string
	shim := false
	for _, versions := range []string{"versions/*", "installs/*/*"} {
		folder, _, _ := strings.Cut(versions, "/")
		m.looksAt(filepath.Join(top, folder))
		if _, err := os.Stat(filepath.Join(top, folder)); err == nil {
			shim = true
		}
		found, err := filepath.Glob(filepath.Join(top, versions, "bin", name))
		if err == nil {
			programs = append(programs, found...)
		}
	}
	switch {
	case len(programs) > 0:
		return slices.MaxFunc(programs, version.Compare)
	case shim:
		return ""
	}
	return file
}

// identityOf names the program that a path leads to, so that another program there makes another spec. Its size and time
// say enough: a package that is updated changes both.
func identityOf(file string) (string, error) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %d %d", real, info.Size(), info.ModTime().UnixNano()), nil
}

// Embedded is where sources "embedded" are taken from: archives that are part of the program. Whoever starts hexmage hands them to
// the catalogue, which does not know what is in them.
type Embedded interface {
	// Versions are the releases of a toolchain that are there, the default one first.
	Versions(name string) []string

	// Root is the folder of a release's archive that is the SDK's own, and the SDK's build id, "" where it has none.
	Root(name, version string) (prefix, buildID string, err error)

	// Archive writes the archive of a release, a zip file: the same bytes each time.
	Archive(w io.Writer, name, version string) error
}
