package explain

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Hider replaces private texts with placeholders: folders of this machine, and text that looks like credentials. A
// placeholder contains two bytes of the text's digest, so that you can tell two texts apart but cannot guess a text. A
// nil Hider replaces nothing.
type Hider struct {
	folders []folder // longest first
	system  []string
	known   map[string]string
}

type folder struct{ name, at string }

// Workspace is the name of the workspace's folder in placeholders.
const Workspace = "workspace"

// At returns the folder that NewHider received under this name, or "".
func (h *Hider) At(name string) string {
	for _, f := range h.folders {
		if f.name == name {
			return f.at
		}
	}
	return ""
}

// NewHider returns a Hider that replaces folders with names. The map folders contains each folder by name. It keeps
// paths below the folders in the parameter system, because these paths are equal on all machines.
func NewHider(folders map[string]string, system ...string) *Hider {
	h := &Hider{system: system, known: map[string]string{}}
	for name, at := range folders {
		if at = strings.TrimRight(at, `/\`); len(at) > 1 {
			h.folders = append(h.folders, folder{name, at})
		}
	}
	slices.SortFunc(h.folders, func(a, b folder) int {
		return cmp.Or(len(b.at)-len(a.at), strings.Compare(a.name, b.name))
	})
	return h
}

var (
	// Names of secret values match: TOKEN, HF_TOKEN and --api-key. TOKENS and tokens.json do not match.
	secretNameRE = lazyregexp.New(
		`(?i)^(?:--?)?(?:[a-z0-9_.-]*[_.-])?(?:token|secret|passw(?:or)?d|passphrase|credentials?|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret)$`)
	// The text after "https://", "Bearer", a secret name with = or :, or a secret flag. The first group stays.
	loginRE  = lazyregexp.New(`(?i)(\b(?:https?|ftps?)://)([^\s/@"'<>\\]+)@`)
	userRE   = lazyregexp.New(`(?i)(\b[a-z][a-z0-9+.-]*://)([^\s/@:"'<>\\]+:[^\s/@"'<>\\]+)@`)
	bearerRE = lazyregexp.New(`(?i)(\b(?:bearer|basic)\s+)([a-z0-9._~+/=-]{6,})`)
	valueRE  = lazyregexp.New(
		`(?i)((?:^|[^a-z0-9_.-])(?:[a-z0-9_.-]*[_.-])?(?:token|secret|passw(?:or)?d|passphrase|credentials?|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret)["']?\s*[=:]\s*["']?)([^\s"'&,;\\$\[(]+)`)
	flagRE = lazyregexp.New(
		`(?i)((?:^|\s)--?(?:[a-z0-9_.-]*[_.-])?(?:token|secret|passw(?:or)?d|passphrase|credentials?|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret)\s+["']?)([^\s"'\\$\[(-][^\s"'\\]*)`)
	// An absolute path, after a character that may precede one.
	pathRE = lazyregexp.New(
		`(^|[\s"'=:,;(<|]|file://|(?:^|[\s"'])-[A-Za-z][A-Za-z_-]*)(/[^\s"'/=:,;()<>|\[\]{}*?]+(?:/[^\s"'=:,;()<>|\[\]{}*?]*)+)`)
)

// mark returns the placeholder for a text.
func mark(what, text string) string {
	return "[" + what + " " + digest.SHA256.Bytes([]byte(text)).Hex()[:4] + "]"
}

// Text returns s with placeholders in place of private texts.
func (h *Hider) Text(s string) string {
	if h == nil || s == "" {
		return s
	}
	hidden, ok := h.known[s]
	if !ok {
		hidden = h.hide(s)
		h.known[s] = hidden
	}
	return hidden
}

func (h *Hider) hide(s string) string {
	for _, re := range []*lazyregexp.Regexp{loginRE, userRE, bearerRE, valueRE, flagRE} {
		s = replaced(re, s, func(g []string) string {
			rest := g[0][len(g[1])+len(g[2]):]
			return g[1] + mark("secret", g[2]) + rest
		})
	}
	for _, f := range h.folders {
		s = hideFolder(s, f)
	}
	return replaced(pathRE, s, func(g []string) string {
		if h.everywhere(g[2]) {
			return g[0]
		}
		return g[1] + mark("path", path.Dir(g[2])) + "/" + path.Base(g[2])
	})
}

// Value returns the value of a variable or argument with placeholders in place of private texts. The parameter name is
// the name of the variable or argument.
func (h *Hider) Value(name, value string) string {
	if h != nil && value != "" && secretNameRE.MatchString(name) {
		return mark("secret", value)
	}
	return h.Text(value)
}

// hideFolder replaces a folder's path in a text, and keeps the path below it.
func hideFolder(s string, f folder) string {
	var b strings.Builder
	for {
		i := strings.Index(s, f.at)
		if i < 0 {
			return b.String() + s
		}
		end := i + len(f.at)
		from := i
		for from > 0 && (partOfName(s[from-1]) || s[from-1] == '/') {
			from--
		}
		before := s[from:i]
		// -I, file://
		flag := strings.HasPrefix(before, "-") && !strings.Contains(before, "/") || strings.HasSuffix(before, "//")
		// a period may end a sentence
		longer := end < len(s) && partOfName(s[end]) && !(s[end] == '.' && (end+1 == len(s) || !partOfName(s[end+1])))
		// /home/a in /home/ab, and in x/home/a
		if longer || before != "" && !flag {
			b.WriteString(s[:end])
		} else {
			b.WriteString(s[:i] + mark(f.name, f.at))
		}
		s = s[end:]
	}
}

func partOfName(c byte) bool {
	return c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' ||
		strings.IndexByte("_-.+", c) >= 0
}

// everywhere reports whether a path means the same on all machines.
func (h *Hider) everywhere(p string) bool {
	return slices.ContainsFunc(h.system, func(dir string) bool { return strings.HasPrefix(p, dir+"/") })
}

// replaced replaces each match of the expression by the result of f, which gets its groups.
func replaced(re *lazyregexp.Regexp, s string, f func(groups []string) string) string {
	var b strings.Builder
	at := 0
	for _, m := range re.Get().FindAllStringSubmatchIndex(s, -1) {
		groups := make([]string, len(m)/2)
		for i := range groups {
			groups[i] = s[m[2*i]:m[2*i+1]]
		}
		b.WriteString(s[at:m[0]] + f(groups))
		at = m[1]
	}
	return b.String() + s[at:]
}
