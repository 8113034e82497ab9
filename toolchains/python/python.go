// Package python creates Python environments from locked packages, without the network.
//
//	requirements ─► Resolve, for the lock: uv chooses versions and files.
//	downloaded wheels ─► Install, the tool: uv writes them below one folder ─► the tree, the same bytes each time.
//
// Only this package starts uv. It does not know the source of wheels, the lock, or the purpose of the packages.
package python

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
)

// Tool is this tool's name and version.
const Tool tool.Name[Spec] = "python-install/3"

// Spec describes an installation. Paths are relative to the working directory.
type Spec struct {
	Python string       `json:"python"` // path of the interpreter
	UV     string       `json:"uv"`
	Wheels string       `json:"wheels"` // folder of the wheels
	Files  []pypi.Wheel `json:"files"`
	Out    string       `json:"out"` // output folder: the interpreter, and the packages in lib/python3.11/site-packages
}

// Run installs wheels into an environment.
func Run(ctx context.Context, s Spec, env tool.Env) error {
	if err := s.install(ctx, env.Stderr); err != nil {
		fmt.Fprintf(env.Stderr, "%v\n", err)
		return tool.ErrSaid
	}
	return nil
}

func (s Spec) install(ctx context.Context, stderr io.Writer) error {
	var files, list strings.Builder
	for _, w := range s.Files {
		if w.SHA256 == "" {
			return fmt.Errorf("package %s is not pinned; run `hexmage lock`", w.Project)
		}
		fmt.Fprintf(&list, "%s==%s --hash=sha256:%s\n", w.Project, w.Version, w.SHA256)
	}
	out, err := filepath.Abs(s.Out)
	if err != nil {
		return err
	}
	// The cache is temporary and on the file system of the output, so links from it work as copies.
	tmp, err := os.MkdirTemp(filepath.Dir(out), ".uv-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	wanted := filepath.Join(tmp, "requirements.txt")
	if err := os.WriteFile(wanted, []byte(list.String()), 0o644); err != nil {
		return err
	}
	python, err := filepath.Abs(s.Python)
	if err != nil {
		return err
	}
	made := filepath.Join(tmp, "made")
	if len(s.Files) > 0 {
		args := []string{"pip", "install", "--quiet", "--offline", "--no-index", "--find-links", s.Wheels, "--require-hashes", "--no-deps", "--only-binary", ":all:",
			"--link-mode", "hardlink", "--no-python-downloads", "--python", python, "--prefix", made, "--requirements", wanted}
		c := uv(ctx, s.UV, tmp, args...)
		c.Stdout, c.Stderr = &files, stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("uv: installation failed: %w", err)
		}
	} else if err := os.Mkdir(made, 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(tmp, "cache")); err != nil {
		return err
	}
	if err := clean(made, python); err != nil {
		return err
	}
	// With the interpreter, the output is the whole toolchain. Then hexmage can look for one unpacked folder instead of
	// thousands of files.
	if err := os.CopyFS(made, os.DirFS(filepath.Dir(filepath.Dir(python)))); err != nil {
		return fmt.Errorf("copy the interpreter: %w", err)
	}
	if err := os.Chmod(made, 0o755); err != nil {
		return err
	}
	return os.Rename(made, out)
}

// uv returns a command without configuration, with its only cache in dir.
func uv(ctx context.Context, program, dir string, args ...string) *exec.Cmd {
	if abs, err := filepath.Abs(program); err == nil {
		program = abs
	}
	c := exec.CommandContext(ctx, program, append(args, "--no-config", "--no-progress", "--color", "never", "--cache-dir", filepath.Join(dir, "cache"))...)
	c.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir, "LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0"}
	return c
}

// Files that uv writes besides the packages: times of wheel files, and a lock.
const (
	uvNote = "uv_cache.json"
	uvLock = ".lock"
)

// clean removes uv's own files, and all traces of the output's path and time.
func clean(dir, python string) error {
	if err := os.Remove(filepath.Join(dir, uvLock)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	infos, err := filepath.Glob(filepath.Join(dir, "lib", "*", "site-packages", "*.dist-info"))
	if err != nil {
		return err
	}
	scripts, err := filepath.Glob(filepath.Join(dir, "bin", "*"))
	if err != nil {
		return err
	}
	changed := map[string]string{} // new lines of RECORD by path from site-packages
	for _, name := range scripts {
		b, err := relocated(name, python)
		if err != nil {
			return err
		}
		if b != nil {
			if err := os.Remove(name); err != nil { // the script may be a link
				return err
			}
			if err := os.WriteFile(name, b, 0o755); err != nil {
				return err
			}
			changed["../../../bin/"+filepath.Base(name)] = recordLine("../../../bin/"+filepath.Base(name), b)
		}
	}
	for _, info := range infos {
		if err := os.Remove(filepath.Join(info, uvNote)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		name := filepath.Join(info, "RECORD")
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var lines []string
		for line := range strings.Lines(string(b)) {
			path, _, _ := strings.Cut(strings.TrimPrefix(line, `"`), ",")
			if strings.HasPrefix(line, filepath.Base(info)+"/"+uvNote+",") {
				continue
			}
			if is, ok := changed[path]; ok {
				line = is
			}
			lines = append(lines, line)
		}
		slices.Sort(lines)
		if err := os.Remove(name); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(strings.Join(lines, "")), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// shebang matches the first line of a Python script that an installer writes, including the longer form for long paths.
var shebang = lazyregexp.New(`^(#!/bin/sh\n'''exec' [^\n]*\n' '''\n|#![^\n]*\n)`)

// relocated returns a script that runs with the python3 beside it, at any path, or nil if it is not a script of that
// interpreter.
func relocated(name, python string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return nil, err
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	first := shebang.FindString(string(b))
	if !strings.Contains(first, python) && !strings.Contains(first, filepath.Dir(python)+"/") {
		return nil, nil
	}
	return append([]byte("#!/bin/sh\n'''exec' \"$(dirname -- \"$0\")/python3\" \"$0\" \"$@\"\n' "+
		"'''\n"), bytes.TrimPrefix(b, []byte(first))...), nil
}
