package check

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/runner/session"
)

// command checks that the program is pushed, and so are the files that its arguments name.
func (c *checker) command(q session.Request) {
	if len(q.Args) == 0 || strings.HasPrefix(q.Args[0], "/") {
		return
	}
	p := path.Clean(q.Args[0])
	if !has(q, p) {
		if strings.Contains(q.Args[0], "/") {
			c.mismatch(p, "add it to the push set; pushed are: "+pushedFiles(q), "the program is not pushed")
		}
		return // a command of the device, which may mean anything by its arguments
	}
	for flag, value := range arguments(q.Args[1:]) {
		p, ok := fileName(value)
		if !ok || writes(flag) || has(q, p) {
			continue
		}
		c.mismatch(p, "add it to the push set, or to pull if the program writes it; pushed are: "+pushedFiles(q), "the command names it (%s), and it is neither pushed nor brought back",
			strings.TrimSpace(flag+" "+value))
	}
}

// arguments yields every argument with the flag that it belongs to, "" where there is none: "-m", "model.bin" and "--model=model.bin".
func arguments(args []string) func(yield func(flag, value string) bool) {
	return func(yield func(flag, value string) bool) {
		flag := ""
		for _, a := range args {
			if strings.HasPrefix(a, "-") {
				name, value, ok := strings.Cut(a, "=")
				if flag = name; !ok {
					continue
				}
				a = value
			}
			if !yield(flag, a) {
				return
			}
			flag = ""
		}
	}
}

// fileName returns the path in the run's folder that an argument names, if it looks like a data file of the kinds that runners take. Better to
// let a strange name pass than to refuse a word that names no file.
func fileName(value string) (string, bool) {
	value = strings.TrimPrefix(value, "$HEXMAGE_ROOT/")
	if !regexp.MustCompile(`^[\w.+-]+(/[\w.+-]+)*\.(bin|json|mllm|so|raw|dlc|model|vocab|merges|txt|gguf|safetensors|onnx|npy|yaml|serialized)$`).MatchString(value) {
		return "", false
	}
	p := path.Clean(value)
	return p, !strings.HasPrefix(p, "../")
}

// writes tells whether a flag names what a program writes.
func writes(flag string) bool {
	name := strings.ToLower(strings.TrimLeft(flag, "-"))
	return name == "o" || slices.ContainsFunc([]string{"out", "log", "save", "dump", "write", "trace", "prof", "result"}, func(w string) bool { return strings.Contains(name, w) })
}

// has tells whether a path of the run's folder is there before the program runs, or is brought back.
func has(q session.Request, p string) bool {
	if _, ok := q.Files[p]; ok {
		return true
	}
	for at := p; at != "."; at = path.Dir(at) {
		if _, ok := q.Links[at]; ok || slices.Contains(q.Pull, at) {
			return true
		}
	}
	return false
}

// pushedFiles lists what is pushed, for people.
func pushedFiles(q session.Request) string {
	const most = 12
	names := slices.Sorted(maps.Keys(q.Files))
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// lengths checks that the contexts have graphs of the length that the command asks for: mllm compiles one for prefill and one for decoding, and names
// them model.0.s32 and model.0.s1.
func (c *checker) lengths(q session.Request) {
	var have []int
	for _, g := range c.graphs {
		if _, s, ok := strings.Cut(path.Ext(g), ".s"); ok {
			if n, err := strconv.Atoi(s); err == nil && n > 0 && !slices.Contains(have, n) {
				have = append(have, n)
			}
		}
	}
	if len(have) == 0 {
		return
	}
	slices.Sort(have)
	for flag, value := range arguments(q.Args) {
		if flag != "--ar_len" {
			continue
		}
		n, err := strconv.Atoi(value)
		if err == nil && !slices.Contains(have, n) {
			c.mismatch("", fmt.Sprintf("give --ar_len one of %s, or compile the context for %d", strings.Trim(fmt.Sprint(have), "[]"), n),
				"--ar_len %d: the context has no graph of that length, only of %s", n, strings.Trim(fmt.Sprint(have), "[]"))
		}
	}
}
