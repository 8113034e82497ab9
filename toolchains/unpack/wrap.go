package unpack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Wrap is a program that is started through a script, with folders of the tree as LD_LIBRARY_PATH: so it runs on machines
// that do not have its libraries.
type Wrap struct {
	Path      string   `hcl:"path,label" json:"path"`     // of the script; what is there is replaced
	Program   string   `hcl:"program" json:"program"`     // what it starts
	Libraries []string `hcl:"libraries" json:"libraries"` // folders
}

// write puts the script in place of what is at its path. The script finds the tree by its own path, also through a link
// to it.
func (w Wrap) write(root *os.Root) error {
	if strings.ContainsAny(w.Path+w.Program+strings.Join(w.Libraries, ""), "'\"$`\\\n: ") {
		return fmt.Errorf("wrap %q: a path with a character that a shell reads otherwise", w.Path)
	}
	if err := root.Chmod(w.Program, 0o755); err != nil { // some archives do not say what is a program
		return fmt.Errorf("wrap %q: %w", w.Path, err)
	}
	if err := root.Remove(w.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := root.MkdirAll(path.Dir(w.Path), 0o755); err != nil {
		return err
	}
	up := strings.Repeat("../", strings.Count(w.Path, "/"))
	var libs []string
	for _, l := range w.Libraries {
		libs = append(libs, "$here/"+up+l)
	}
	script := "#!/bin/sh\n# Starts " + w.Program + " with the libraries of this tree.\n" +
		"case $0 in\n*/*) here=${0%/*} ;;\n*) here=. ;;\nesac\n" +
		"[ -e \"$here/" + up + w.Program + "\" ] || { here=$(readlink -f \"$(command -v -- \"$0\")\"); here=${here%/*}; }\n" +
		"LD_LIBRARY_PATH=" + strings.Join(libs, ":") + "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\nexport LD_LIBRARY_PATH\n" +
		"exec \"$here/" + up + w.Program + "\" \"$@\"\n"
	return root.WriteFile(w.Path, []byte(script), 0o755)
}
