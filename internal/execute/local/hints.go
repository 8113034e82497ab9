package local

import (
	"debug/elf"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Limits for the search for hints after a command failed.
const (
	maxHints     = 5
	maxHintWords = 400
	maxHintDirs  = 200
)

// InputHint is the hint after the path of a file that the command did not find, although the file is in the workspace.
const InputHint = " is in the workspace but not an input of the step; add it to `inputs`"

// NetworkHint is the start of the hint for a command that needed network access but did not declare it.
const NetworkHint = "the sandbox blocked the network access of the command"

var (
	refusedRE = lazyregexp.New(
		`(?i)permission denied|resource busy|not permitted|EACCES|EPERM|EXDEV|cross-device|read-only`)
	missingRE = lazyregexp.New(
		`(?i)no such file|not found|cannot find|can't find|cannot open|can't open|does not exist|ENOENT`)
	networkRE = lazyregexp.New(
		`(?i)resolve host|name resolution|name or service not known|network is unreachable|dial (tcp|udp)|socket[^\n]{0,40}permission denied|EAI_AGAIN`)
	namedRE = lazyregexp.New("([^\\s'\"`‘’“”:]+)['\"’”]?: *(?i:permission denied|operation not permitted|no such file)")
	wordRE  = lazyregexp.New("[^\\s'\"`‘’“”:,;()<>\\[\\]=]+")
)

// hints returns the undeclared files that a failed command wanted, according to its output, and the attributes that
// declare them.
func (x *Executor) hints(a *action.Action, s *execRoot, res *action.Result) []string {
	restricted := s.restricted
	if !restricted && x.o.Workspace == "" {
		return nil
	}
	h := &hinter{x: x, a: a, s: s, restricted: restricted, seen: map[string]bool{}}
	text := string(res.Stderr) + "\n" + string(res.Stdout)
	// Ignore datagram sockets: libraries make one to list network cards.
	refused := s.ended != nil && s.ended.StreamRefused
	unclear := s.ended == nil || !s.ended.NetworkKnown || s.ended.DatagramRefused
	if !refused && unclear && restricted && a.Command.Platform[action.PropertyNetwork] != "true" {
		refused = networkRE.MatchString(text)
	}
	if refused {
		h.say(NetworkHint + "; if the step needs the network, set `network = true`")
	}
	if program := a.Command.Args[0]; restricted && narrow(s.root(), program) {
		h.say(program + " is a 32-bit program, and the strict sandbox runs only 64-bit programs; use a 64-bit " +
			"program, or run with --sandbox staged")
	}
	words := 0
	for _, line := range strings.Split(text, "\n") {
		denied := refusedRE.MatchString(line)
		if !denied && !missingRE.MatchString(line) {
			continue
		}
		named := ""
		if m := namedRE.FindStringSubmatch(line); m != nil {
			named = m[1]
		}
		if refused && named == "socket" {
			continue // an address, not a file
		}
		for _, word := range wordRE.Get().FindAllString(line, -1) {
			if words++; words > maxHintWords || len(h.list) >= maxHints {
				return h.list
			}
			if word != named {
				word = strings.TrimRight(word, ".!")
			}
			if len(word) < 4096 && !h.seen[word] &&
				(named != "" && word == named || len(word) > 1 && strings.ContainsAny(word, "./")) {
				h.seen[word] = true
				h.word(word, denied)
			}
		}
	}
	return h.list
}

// narrow tells whether a command's program is an ELF file of 32 bits.
func narrow(root, program string) bool {
	if !filepath.IsAbs(program) {
		program = filepath.Join(root, program)
	}
	f, err := os.Open(program)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, elf.EI_CLASS+1)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == elf.ELFMAG+string(rune(elf.ELFCLASS32))
}

type hinter struct {
	x          *Executor
	a          *action.Action
	s          *execRoot
	restricted bool
	seen       map[string]bool
	dirs       []string // slash paths in which the command may have looked for files
	list       []string
}

func (h *hinter) say(text string) { h.list = append(h.list, text) }

// word looks whether a word of a message is a path that explains it.
func (h *hinter) word(word string, denied bool) {
	if rel, ok := inside(h.s.root(), word); ok {
		h.relative(rel, denied)
		return
	}
	if !filepath.IsAbs(word) {
		h.relative(path.Clean(filepath.ToSlash(word)), denied)
		return
	}
	if _, own := inside(h.s.dir, word); own {
		return
	}
	if rel, ok := inside(h.x.o.Workspace, word); ok && exists(word) {
		h.say(fmt.Sprintf("the command cannot see the workspace; add %[1]s to `inputs`, and use the "+
			"relative path %[1]s", rel))
		return
	}
	if !h.restricted || !denied || h.x.o.Base.Allows(word) {
		return
	}
	switch {
	case exists(word):
		h.say(fmt.Sprintf("the sandbox blocked access to %s; declare the file as an input, or write it to an output "+
			"or to $TMPDIR", word))
	case exists(filepath.Dir(word)):
		h.say(fmt.Sprintf("the sandbox blocked a write to %s; write to an output or to $TMPDIR", word))
	}
}

// relative looks at a slash path in the exec root.
func (h *hinter) relative(rel string, denied bool) {
	if rel == ".." || strings.HasPrefix(rel, "../") {
		return
	}
	if exists(filepath.Join(h.s.root(), filepath.FromSlash(rel))) {
		if denied && !h.isOutput(rel) {
			h.say(fmt.Sprintf("input %s is read-only; copy it to an output or to $TMPDIR, and change the copy", rel))
		}
		return
	}
	if h.x.o.Workspace != "" {
		for _, dir := range append([]string{""}, h.folders()...) {
			p := path.Join(dir, rel)
			if exists(filepath.Join(h.x.o.Workspace, filepath.FromSlash(p))) &&
				!exists(filepath.Join(h.s.root(), filepath.FromSlash(p))) {
				h.say(p + InputHint)
				return
			}
		}
	}
	if h.restricted && denied && exists(filepath.Join(h.s.root(), filepath.FromSlash(path.Dir(rel)))) {
		h.say(fmt.Sprintf("the sandbox blocked a write to %s; declare the file in an `output` block, or write "+
			"to $TMPDIR", rel))
	}
}

func (h *hinter) isOutput(rel string) bool {
	for _, o := range h.a.Command.Outputs {
		if rel == o || strings.HasPrefix(rel, o+"/") {
			return true
		}
	}
	return false
}

// folders are those of the exec root, and those that arguments such as -Iinclude name.
func (h *hinter) folders() []string {
	if h.dirs != nil {
		return h.dirs
	}
	h.dirs = []string{}
	for _, arg := range h.a.Command.Args {
		for _, flag := range []string{"-I", "-L", "-isystem", "-iquote"} {
			if dir, ok := strings.CutPrefix(arg, flag); ok && dir != "" && !filepath.IsAbs(dir) {
				h.dirs = append(h.dirs, path.Clean(dir))
			}
		}
	}
	_ = filepath.WalkDir(h.s.root(), func(p string, d fs.DirEntry, err error) error {
		if len(h.dirs) > maxHintDirs {
			return fs.SkipAll
		}
		if err == nil && d.IsDir() && p != h.s.root() {
			h.dirs = append(h.dirs, filepath.ToSlash(p[len(h.s.root())+1:]))
		}
		return nil
	})
	return h.dirs
}

// inside returns p's slash path below dir.
func inside(dir, p string) (string, bool) {
	rel, err := filepath.Rel(dir, p)
	return filepath.ToSlash(rel), dir != "" && filepath.IsAbs(p) && err == nil && filepath.IsLocal(rel)
}

func exists(p string) bool {
	_, err := os.Lstat(p)
	return err == nil
}
