package addrs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Module is the address of a module, such as "module.aot", or "" for the pipeline itself. In
// `module.aot["Alpha7"].module.ops`, "Alpha7" is the for_each key of the call "aot". An address that From returns may
// begin with outer.N, which means the caller N levels up.
type Module string

const (
	moduleWord = "module."
	outerWord  = "outer."
)

// Call returns the address of the module that m calls by the given name.
func (m Module) Call(name string) Module { return m.join(Module(moduleWord + name)) }

// Copy returns the address of one instance of a for_each call in m. The parameters are the call's name and the
// instance's key.
func (m Module) Copy(name, key string) Module {
	return m.join(Module(moduleWord + name + "[" + strconv.Quote(key) + "]"))
}

func (m Module) join(rest Module) Module {
	if m == "" || rest == "" {
		return m + rest
	}
	return m + "." + rest
}

// Caller returns the address of the module that calls m, or "" for the pipeline.
func (m Module) Caller() Module { return m.Seen(outerWord + "1") }

// Of returns the full address of an element of the module m. For example, if m is "module.aot", Of("step.exec.x") is
// "module.aot.step.exec.x".
func (m Module) Of(address string) string { return string(m.join(Module(address))) }

// Written returns the module's address without keys, as pipeline files write it. It is equal for all instances of a
// call.
func (m Module) Written() Module {
	if !strings.Contains(string(m), "[") {
		return m
	}
	var out Module
	for _, l := range m.levels() {
		name, _, _ := l.call()
		out = out.Call(name)
	}
	return out
}

// level is one call: `module.aot["Alpha7"]`; the first may be "outer.2".
type level string

// levels takes a module apart. It understands what this file makes, and what ParseModule accepts.
func (m Module) levels() []level {
	var out []level
	rest := string(m)
	for rest != "" {
		end := len(rest)
		if dot := strings.IndexByte(rest, '.'); dot >= 0 { // of module.NAME
			end = dot + 1
			for end < len(rest) && rest[end] != '.' && rest[end] != '[' {
				end++
			}
			if end < len(rest) && rest[end] == '[' {
				quoted, err := strconv.QuotedPrefix(rest[end+1:])
				if err != nil {
					return append(out, level(rest))
				}
				end += 1 + len(quoted) + 1
			}
		}
		end = min(end, len(rest))
		out = append(out, level(rest[:end]))
		rest = strings.TrimPrefix(rest[end:], ".")
	}
	return out
}

// call is the name of the call, and the key of its copy.
func (l level) call() (name, key string, keyed bool) {
	name = strings.TrimPrefix(string(l), moduleWord)
	if at := strings.IndexByte(name, '['); at >= 0 {
		key, _ = strconv.Unquote(strings.TrimSuffix(name[at+1:], "]"))
		return name[:at], key, true
	}
	return name, "", false
}

// outer is N of "outer.N", 0 for a call.
func (l level) outer() int {
	n, _ := strconv.Atoi(strings.TrimPrefix(string(l), outerWord))
	return n
}

// From returns the address of m relative to another module, or "" if both are equal. If m is not inside the other
// module, the result begins with outer.N.
func (m Module) From(at Module) Module {
	switch {
	case m == at:
		return ""
	case at == "":
		return m
	case strings.HasPrefix(string(m), string(at)+"."):
		return m[len(at)+1:]
	}
	here, there := at.levels(), m.levels()
	same := 0
	for same < len(here) && same < len(there) && here[same] == there[same] {
		same++
	}
	out := Module(outerWord + strconv.Itoa(len(here)-same))
	for _, l := range there[same:] {
		out = out.join(Module(l))
	}
	return out
}

// Seen returns the full address of the module whose address relative to m is rel. It is the inverse of From.
func (m Module) Seen(rel Module) Module {
	if !strings.HasPrefix(string(rel), outerWord) {
		return m.join(rel)
	}
	here, there := m.levels(), rel.levels()
	var out Module
	for _, l := range here[:max(0, len(here)-there[0].outer())] {
		out = out.join(Module(l))
	}
	for _, l := range there[1:] {
		out = out.join(Module(l))
	}
	return out
}

// Dir returns the slash path of the module's folder in an exec root, such as "steps/module.aot+Alpha7". For the
// pipeline, it returns "".
func (m Module) Dir() string {
	if m == "" {
		return ""
	}
	dir := "steps"
	for _, l := range m.levels() {
		if l.outer() > 0 {
			dir += "/" + string(l)
			continue
		}
		name, key, keyed := l.call()
		dir += "/" + moduleWord + name // no kind's name has a dot
		if keyed {
			dir += "+" + pathKey(key)
		}
	}
	return dir
}

// ParseModule parses an address such as "module.aot" or `module.aot["Alpha7"].module.ops`.
func ParseModule(s string) (Module, error) {
	m := Module(s)
	levels := m.levels()
	var again Module
	for _, l := range levels {
		name, key, keyed := l.call()
		if !strings.HasPrefix(string(l), moduleWord) || !identifier(name) {
			levels = nil
			break
		}
		if keyed {
			again = again.Copy(name, key)
		} else {
			again = again.Call(name)
		}
	}
	if len(levels) == 0 || again != m {
		return "", fmt.Errorf("invalid module address %q; write module.NAME or module.NAME[\"key\"]", s)
	}
	return m, nil
}

// splitModule takes the module off an address: `module.aot["x"].step.exec.y` is `module.aot["x"]` and "step.exec.y".
func splitModule(s string) (Module, string, error) {
	if !strings.HasPrefix(s, moduleWord) {
		return "", s, nil
	}
	levels := Module(s).levels()
	n := slices.IndexFunc(levels, func(l level) bool { return !strings.HasPrefix(string(l), moduleWord) })
	if n < 0 {
		n = len(levels)
	}
	var head Module
	for _, l := range levels[:n] {
		head = head.join(Module(l))
	}
	m, err := ParseModule(string(head))
	if err != nil {
		return "", "", err
	}
	return m, strings.TrimPrefix(strings.TrimPrefix(s, string(head)), "."), nil
}
