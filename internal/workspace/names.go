package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Folder is where pipelines live in a workspace.
const Folder = "pipelines"

// VarSuffix ends the names of files with values of variables.
const VarSuffix = ".hexvars.hcl"

// Names returns the names of the pipelines in a workspace, sorted. A workspace without a pipelines folder has none.
func Names(fsys fs.FS) ([]string, error) {
	names, _, err := List(fsys)
	return names, err
}

// Has tells whether a name is one of Names, and lists none for the usual one, of a file. The name has no slash.
func Has(fsys fs.FS, name string) bool {
	file := path.Join(Folder, name+".hcl")
	if info, err := fs.Stat(fsys, file); err == nil && info.Mode().IsRegular() && !strings.HasSuffix(file, VarSuffix) {
		return true
	}
	names, _ := Names(fsys)
	return slices.Contains(names, name)
}

// List returns Names and the folders that it listed for them: none if the workspace has no pipelines folder.
func List(fsys fs.FS) (names, dirs []string, err error) {
	entries, err := fs.ReadDir(fsys, Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	dirs = []string{Folder}
	if err != nil {
		return nil, dirs, fmt.Errorf("list pipelines: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case e.IsDir():
			dirs = append(dirs, path.Join(Folder, name))
			if files, _ := FilesOf(fsys, name); len(files) > 0 {
				names = append(names, name)
			}
		case strings.HasSuffix(name, ".hcl") && !strings.HasSuffix(name, VarSuffix):
			names = append(names, strings.TrimSuffix(name, ".hcl"))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), dirs, nil // a file and a folder of one name: Load says so
}

// FilesOf returns the files of the folder of a pipeline: what it consists of, and what gives values to its variables.
func FilesOf(fsys fs.FS, name string) (files, varFiles []string) {
	found, _ := fs.Glob(fsys, path.Join(Folder, EscapeGlob(name), "*.hcl")) // the pattern is well formed
	for _, f := range found {
		if strings.HasSuffix(f, VarSuffix) {
			varFiles = append(varFiles, f)
		} else {
			files = append(files, f)
		}
	}
	return files, varFiles
}

// EscapeGlob returns the pattern that is for this name alone.
func EscapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}
