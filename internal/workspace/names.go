package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Folder is the name of the folder in a workspace that contains the pipelines.
const Folder = "pipelines"

// VarSuffix is the suffix of files that contain values of variables.
const VarSuffix = ".hexvars.hcl"

// Names returns the names of all pipelines in a workspace, sorted. If the workspace has no pipelines folder, the result
// is empty.
func Names(fsys fs.FS) ([]string, error) {
	names, _, err := List(fsys)
	return names, err
}

// Has reports whether the workspace has a pipeline with the given name.
func Has(fsys fs.FS, name string) bool {
	names, _ := Names(fsys)
	return slices.Contains(names, name)
}

// List returns the names of all pipelines, and the folders that it listed to find them. If the workspace has no
// pipelines folder, names and dirs are empty.
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
	return slices.Compact(names), dirs, nil // Load reports a file and a folder of the same name
}

// FilesOf returns the files in the folder of a pipeline: the pipeline's HCL files, and the files with values of the
// variables.
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

// EscapeGlob returns a glob pattern that matches only s.
func EscapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}
