package engine

import (
	"strings"

	"github.com/hexmage/hexmage/internal/action"
)

// printedNames replaces exec root paths in a command's output by the workspace files they come from, as far as the
// inputs tell. "in/source/a.c:3:5: error" becomes "ops/a.c:3:5: error", which an editor can open.
func printedNames(printed string, inputs []action.Input) string {
	at := map[string]string{} // exec root path → workspace path
	for i := range inputs {
		if h := inputs[i].Host; h != nil && inputs[i].Path != "" && inputs[i].Path != h.Path {
			at[inputs[i].Path] = h.Path
		}
	}
	if len(at) == 0 {
		return printed
	}
	var b strings.Builder
	for len(printed) > 0 {
		n := strings.IndexFunc(printed, inPath)
		if n < 0 {
			n = len(printed)
		}
		b.WriteString(printed[:n])
		printed = printed[n:]
		end := strings.IndexFunc(printed, func(r rune) bool { return !inPath(r) })
		if end < 0 {
			end = len(printed)
		}
		b.WriteString(hostName(printed[:end], at))
		printed = printed[end:]
	}
	return b.String()
}

// inPath reports whether a character can be part of a path in a compiler's message.
func inPath(r rune) bool {
	return !strings.ContainsRune(" \t\r\n:;,'\"`()[]<>=|", r)
}

// hostName replaces the longest known prefix of the path.
func hostName(path string, at map[string]string) string {
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		if to, ok := at[path[:end]]; ok {
			return to + path[end:]
		}
	}
	return path
}
