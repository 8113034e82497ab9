// Package debug makes the LLDB commands that debug a program on a device. It finds the file with a stripped program's
// symbols, and the sources in debug information. It starts nothing and does not know devices.
package debug

import (
	"path"
	"slices"
	"strings"
)

// Mapping maps a folder or file, as named in debug information, to its path on this machine.
type Mapping struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Sources maps the source paths in a program to paths on this machine. The folders come from Program.Folders. The map
// inputs contains the host path of each path in the compiler's working folder. The result lists deeper paths first.
func Sources(folders []string, inputs map[string]string) []Mapping {
	var all []Mapping
	for _, folder := range folders {
		for at, here := range inputs {
			all = append(all, Mapping{path.Join(folder, at), here})
		}
	}
	slices.SortFunc(all, func(a, b Mapping) int {
		if n := strings.Count(b.From, "/") - strings.Count(a.From, "/"); n != 0 {
			return n
		}
		return strings.Compare(a.From+"\x00"+a.To, b.From+"\x00"+b.To)
	})
	return slices.Compact(all)
}

// Target is a program to debug. Its paths are on this machine.
type Target struct {
	Program   string   // path of the program with its symbols
	Libraries []string // libraries, with their symbols, that the program may load
	Folder    string   // LLDB's search path for Libraries
	Sources   []Mapping
}

// Commands returns the LLDB commands that load the target and connect to its debug server at an address such as
// "127.0.0.1:5039".
func (t Target) Commands(address string) []string {
	var all []string
	if len(t.Sources) > 0 {
		mapped := "settings set target.source-map"
		for _, m := range t.Sources {
			mapped += " " + quote(m.From) + " " + quote(m.To)
		}
		all = append(all, mapped)
	}
	all = append(all, "settings set target.exec-search-paths "+quote(t.Folder), "target create "+quote(t.Program))
	for _, l := range t.Libraries {
		all = append(all, "target modules add "+quote(l))
	}
	return append(all, "gdb-remote "+address)
}

// Argv returns a command line for LLDB that runs the commands and then becomes interactive.
func Argv(lldb string, commands []string) []string {
	argv := []string{lldb, "--script-language", "none"} // LLDB's Python needs a whole installation
	for _, c := range commands {
		argv = append(argv, "--one-line", c)
	}
	return argv
}

// quote quotes s for LLDB's command line.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`").Replace(s) + `"`
}
