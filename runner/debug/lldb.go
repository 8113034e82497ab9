// Package debug makes ready what LLDB has to know of programs that run on a device: which file has the symbols of one that was pushed without, where the sources
// are that its debug information names, and the commands that say so.
//
// The way in is Read and Target. The package starts nothing. It does not know devices, nor where programs come from.
package debug

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/nearest"
)

// Break is where a program is to stop: a line of a file, or a function.
type Break struct {
	File     string // "" for a function
	Line     int
	Function string // "" for a line
}

// ParseBreak reads "FILE:LINE" or "FUNCTION".
func ParseBreak(s string) (Break, error) {
	if strings.ContainsAny(s, "\n\r") || strings.TrimSpace(s) == "" {
		return Break{}, fmt.Errorf("%q is no place to stop at: want FILE:LINE, such as main.cc:120, or a function, such as Model::decode", s)
	}
	if i := strings.LastIndexByte(s, ':'); i > 0 && s[i-1] != ':' {
		line, err := strconv.Atoi(s[i+1:])
		if err != nil || line < 1 {
			return Break{}, fmt.Errorf("%q: %q is no line: want FILE:LINE, such as main.cc:120", s, s[i+1:])
		}
		return Break{File: s[:i], Line: line}, nil
	}
	return Break{Function: s}, nil
}

// String is what ParseBreak reads.
func (b Break) String() string {
	if b.File != "" {
		return b.File + ":" + strconv.Itoa(b.Line)
	}
	return b.Function
}

func (b Break) command() string {
	if b.File != "" {
		return "breakpoint set --file " + quote(b.File) + " --line " + strconv.Itoa(b.Line)
	}
	return "breakpoint set --name " + quote(b.Function)
}

// Mapping is a folder or file as debug information names it, and where it is on this machine.
type Mapping struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Sources maps what a program was compiled from. folders are those of Program.Folders; inputs has, by path in the folder where the compiler ran, where that is here, which
// LLDB wants to exist. What is deeper comes first.
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

// Target is a program to debug, with all that LLDB has to know of it. Paths are of this machine.
type Target struct {
	Program   string    // with its symbols
	Libraries []string  // that it may load, with their symbols
	Folder    string    // where LLDB looks for them
	Sources   []Mapping //
	Breaks    []Break
}

// Load has the commands that load the target and set the breakpoints. Nothing runs then.
func (t Target) Load() []string {
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
	for _, b := range t.Breaks {
		all = append(all, b.command())
	}
	return all
}

// Attach has the commands that go on after those of Load: the program stands before its first instruction under a debug server at the address, "127.0.0.1:5039", and runs to
// the first breakpoint, if there are any.
func (t Target) Attach(address string) []string {
	all := []string{"gdb-remote " + address}
	if len(t.Breaks) > 0 {
		all = append(all, "process continue")
	}
	return all
}

// Show has the commands that print where the program has stopped.
func Show() []string { return []string{"thread backtrace", "frame variable"} }

// Argv are the arguments with which the program lldb carries out the commands; in a batch it ends after them.
func Argv(lldb string, commands []string, batch bool) []string {
	argv := []string{lldb, "--script-language", "none", "--source-quietly"} // its Python wants a whole installation
	if batch {
		argv = append(argv, "--no-lldbinit", "--no-use-colors", "--batch")
	}
	for _, c := range commands {
		argv = append(argv, "--one-line", c)
	}
	return argv
}

// Absent returns the breakpoints that are nowhere, by what LLDB printed for the commands of Load.
func (t Target) Absent(printed string) (all []Break) {
	for i, b := range t.Breaks {
		number := "Breakpoint " + strconv.Itoa(i+1) + ": "
		if !strings.Contains(printed, number) || strings.Contains(printed, number+"no locations") {
			all = append(all, b)
		}
	}
	return all
}

// Explain says why a breakpoint is nowhere, and what to do.
func (t Target) Explain(b Break) string {
	where := "in " + path.Base(t.Program)
	if n := len(t.Libraries); n > 0 {
		where += fmt.Sprintf(" and the %d libraries beside it", n)
	}
	var files, functions []string
	for _, p := range append([]string{t.Program}, t.Libraries...) {
		more, has, err := names(p)
		if err == nil {
			files, functions = append(files, more...), append(functions, has...)
		}
	}
	if b.File == "" {
		last := b.Function[strings.LastIndexByte(b.Function, ':')+1:]
		if near := nearest.Name(last, functions); near != "" && near != last {
			return fmt.Sprintf("there is no function %s %s: did you mean %s?", b.Function, where, near)
		}
		return fmt.Sprintf("there is no function %s %s: give its name as in the source, of a method Type::name; a function that is static or inlined away may have none left", b.Function, where)
	}
	base := path.Base(b.File)
	if !slices.Contains(files, base) {
		if near := nearest.Name(base, files); near != "" {
			return fmt.Sprintf("nothing was compiled from a file %s %s: did you mean %s?", b.File, where, near)
		}
		return fmt.Sprintf("nothing was compiled from a file %s %s: %s", b.File, where, strings.Join(files[:min(len(files), 10)], ", "))
	}
	return fmt.Sprintf("line %d of %s has no code, nor has one below it: name a line with a statement, or a function", b.Line, b.File)
}

// Stopped tells by what LLDB printed whether the program has come to a breakpoint, and returns what it printed from where it let the program run.
func Stopped(printed string) (text string, ok bool) {
	_, text, ran := strings.Cut(printed, " resuming\n")
	if !ran {
		return printed, false
	}
	return text, strings.Contains(text, "stop reason = breakpoint ")
}

// quote makes s one word of LLDB's commands.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`").Replace(s) + `"`
}
