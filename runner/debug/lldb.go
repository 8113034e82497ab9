// Package debug makes LLDB's commands for a program that runs on a device. It finds the file with the symbols of a
// stripped program, and the sources that debug information names.
//
// Read and Target are the entry points. The package starts nothing. It does not know devices, or where programs come
// from.
package debug

import (
	"path"
	"slices"
	"strings"
)

// Mapping is the name of a folder or file in debug information, and its path on this machine.
type Mapping struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Sources maps the sources of a program. folders are Program.Folders. inputs maps paths in the compiler's working
// folder to paths of this machine, which must exist. Deeper paths come first.
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

// Target is a program to debug. Paths are of this machine.
type Target struct {
	Program   string   // with its symbols
	Libraries []string // that it may load, with their symbols
	Folder    string   // where LLDB looks for them
	Sources   []Mapping
}

// Commands returns LLDB's commands that load the target and connect to its debug server at the address,
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

// Argv returns the command line of LLDB that runs the commands, and then asks for more.
func Argv(lldb string, commands []string) []string {
	argv := []string{lldb, "--script-language", "none"} // its Python needs a whole installation
	for _, c := range commands {
		argv = append(argv, "--one-line", c)
	}
	return argv
}

// quote makes s one word of LLDB's commands.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`").Replace(s) + `"`
}
