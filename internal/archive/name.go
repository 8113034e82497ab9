package archive

import (
	"fmt"
	"path"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	maxName    = 255  // bytes in one path element: what file systems take
	maxPath    = 4000 // bytes in a path
	maxDepth   = 200  // path elements
	maxTarget  = 4000 // bytes in a link's target
	maxFollows = 40   // symbolic links followed for one path, as in Linux
)

// cleanName returns an entry's name as a slash path within the destination, "." for its root; or why it can't be one.
func cleanName(name string) (string, error) {
	switch {
	case name == "":
		return "", fmt.Errorf("%w: an entry has no name", ErrUnsafe)
	case len(name) > maxPath:
		return "", fmt.Errorf("%w: an entry's name has %d bytes: %.60q…", ErrUnsafe, len(name), name)
	case strings.HasPrefix(name, "/"):
		return "", fmt.Errorf("%w: entry %q has an absolute path", ErrUnsafe, name)
	case strings.IndexByte(name, 0) >= 0 || !utf8.ValidString(name):
		return "", fmt.Errorf("%w: the name of entry %q is not text", ErrUnsafe, name)
	case len(name) > 1 && name[1] == ':' && (name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z'):
		return "", fmt.Errorf("%w: entry %q begins with a drive", ErrUnsafe, name)
	case runtime.GOOS == "windows" && strings.ContainsAny(name, `\:`):
		return "", fmt.Errorf("%w: entry %q has a name that Windows reads as another path", ErrUnsafe, name)
	}
	elems := strings.Split(name, "/")
	if len(elems) > maxDepth {
		return "", fmt.Errorf("%w: entry %.60q… is %d folders deep", ErrUnsafe, name, len(elems))
	}
	for _, e := range elems {
		if e == ".." {
			return "", fmt.Errorf("%w: entry %q leaves the folder with \"..\"", ErrUnsafe, name)
		}
		if len(e) > maxName {
			return "", fmt.Errorf("%w: entry %.60q… has a path element of %d bytes", ErrUnsafe, name, len(e))
		}
	}
	return path.Clean(name), nil
}

// below returns name without prefix; ok is false when name is not below it.
func below(name, prefix string) (rest string, ok bool) {
	if prefix == "" || prefix == "." {
		return name, true
	}
	if name == prefix {
		return ".", true
	}
	return strings.CutPrefix(name, prefix+"/")
}

// cleanTarget returns the target of the symbolic link at name so that it is relative.
func cleanTarget(name, target string, relative bool) (string, error) {
	switch {
	case target == "" || len(target) > maxTarget || strings.IndexByte(target, 0) >= 0 || !utf8.ValidString(target):
		return "", fmt.Errorf("%w: link %q has no usable target (%.60q)", ErrUnsafe, name, target)
	case !strings.HasPrefix(target, "/"):
		return target, nil
	case !relative:
		return "", fmt.Errorf("%w: link %q points to the absolute path %q", ErrUnsafe, name, target)
	}
	up := strings.Repeat("../", strings.Count(name, "/"))
	// Clean on the absolute path first: "/../x" is "/x", as a file system has it.
	rest := strings.TrimPrefix(path.Clean(target), "/")
	if rest == "" {
		rest = "."
	}
	return up + rest, nil
}

// resolve follows target from the folder of name through the links that are to be made, and says whether it stays
// within the root at every step. What does not exist counts as a folder: a link may dangle, but not point out.
func resolve(name, target string, links map[string]string) error {
	at := splitPath(path.Dir(name))
	todo := strings.Split(target, "/")
	for follows := 0; len(todo) > 0; {
		e := todo[0]
		todo = todo[1:]
		switch e {
		case "", ".":
			continue
		case "..":
			if len(at) == 0 {
				return fmt.Errorf("%w: link %q points out of the folder: %q", ErrUnsafe, name, target)
			}
			at = at[:len(at)-1]
			continue
		}
		here := strings.Join(append(at[:len(at):len(at)], e), "/")
		next, isLink := links[here]
		if !isLink {
			at = append(at[:len(at):len(at)], e)
			continue
		}
		if follows++; follows > maxFollows {
			return nil // a loop leads nowhere, which does no harm
		}
		todo = append(strings.Split(next, "/"), todo...)
		if len(todo) > maxPath {
			return fmt.Errorf("%w: link %q goes through too many links", ErrUnsafe, name)
		}
	}
	return nil
}

func splitPath(p string) []string {
	if p == "." || p == "" {
		return nil
	}
	return strings.Split(p, "/")
}

// foldName returns what is the same for names that a file system without upper and lower case, or with one form for
// each accented letter, takes for one.
func foldName(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return norm.NFC.String(cases.Fold().String(norm.NFD.String(name)))
		}
	}
	return strings.ToLower(name)
}
