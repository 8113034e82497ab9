package unpack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Wrap describes a script that starts a program with LD_LIBRARY_PATH. The variable lists folders of the tree, for
// machines without the program's libraries.
type Wrap struct {
	Path      string   `hcl:"path,label" json:"path"`     // path of the script, which replaces the file there
	Program   string   `hcl:"program" json:"program"`     // program to start
	Libraries []string `hcl:"libraries" json:"libraries"` // folders for LD_LIBRARY_PATH
}

// write replaces the file at the path by the script. The script finds the tree by its own path, even through a link.
func (w Wrap) write(root *os.Root) error {
	if strings.ContainsAny(w.Path+w.Program+strings.Join(w.Libraries, ""), "'\"$`\\\n: ") {
		return fmt.Errorf("wrap %q: the path contains a character that is special in a shell", w.Path)
	}
	if err := root.Chmod(w.Program, 0o755); err != nil { // some archives have no execute bits
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
		"[ -e \"$here/" + up + w.Program + "\" ] || { here=$(readlink -f \"$(command -v -- \"$0\")\"); " +
		"here=${here%/*}; }\n" +
		"LD_LIBRARY_PATH=" + strings.Join(libs, ":") + "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\nexport " +
		"LD_LIBRARY_PATH\n" +
		"exec \"$here/" + up + w.Program + "\" \"$@\"\n"
	return root.WriteFile(w.Path, []byte(script), 0o755)
}
