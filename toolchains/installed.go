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

// Machine describes how to find installed SDKs on this machine. A nil function finds nothing.
type Machine struct {
	Getenv   func(name string) string
	LookPath func(program string) (string, error)
	Home     string
	Dir      string            // base folder of relative values of variables; "": the process's working directory
	OnLook   func(path string) // receives each path that hexmage looks up, even a missing one; may be nil
}

// Recording returns a machine that also records each path and variable that hexmage looks up, even missing ones. The
// records may contain duplicates.
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

// Installed holds data from the files of an installed SDK.
type Installed = sdk.SDK

func (m Machine) getenv(name string) string {
	if m.Getenv == nil {
		return ""
	}
	return m.Getenv(name)
}

// programs uses programs of the machine.
func (ch *Choice) programs(q Request, spec sources.Spec) (bool, string, error) {
	spec.Kind = sources.KindPrograms
	for _, p := range ch.Source.Programs {
		file, err := q.Machine.find(p.Names)
		if err != nil {
			return false, fmt.Sprintf("PATH has none of %s", strings.Join(p.Names, ", ")), nil
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

// around returns the folders that a program may need: its installation folder with bin and lib, by its name and by its
// resolved path. It omits the base system. For programs in the user's home it returns their own folder, never the home.
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

// within reports whether p is dir or below it.
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

// behindShim returns the newest installed program behind a version manager's shim (pyenv, rbenv, asdf), or "" if none
// is installed. The version that the shim itself would run depends on the current folder. Other files are returned
// unchanged.
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

// identityOf returns an identity of the program at a path, so that another program there gives another spec. Size and
// time are enough: a package update changes both.
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

// Embedded provides the archives for sources of kind "embedded". The catalog does not contain the archives.
type Embedded interface {
	// Versions returns the embedded releases of a toolchain, the default one first.
	Versions(name string) []string

	// Root returns the SDK's folder in a release's archive, and the SDK's build id or "".
	Root(name, version string) (prefix, buildID string, err error)

	// Archive writes the zip archive of a release, with the same bytes each time.
	Archive(w io.Writer, name, version string) error
}
