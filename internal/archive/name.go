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
	maxName    = 255  // bytes of one path element: the limit of file systems
	maxPath    = 4000 // bytes in a path
	maxDepth   = 200  // path elements
	maxTarget  = 4000 // bytes in a link's target
	maxFollows = 40   // symbolic links followed for one path, as in Linux
)

// cleanName returns an entry's name as a slash path below the destination, or "." for its root. The error is the reason
// why the name is invalid.
func cleanName(name string) (string, error) {
	switch {
	case name == "":
		return "", fmt.Errorf("%w: an entry has an empty name", ErrUnsafe)
	case len(name) > maxPath:
		return "", fmt.Errorf("%w: entry name %.60q… has %d bytes; the limit is %d", ErrUnsafe, name, len(name),
			maxPath)
	case strings.HasPrefix(name, "/"):
		return "", fmt.Errorf("%w: entry %q has an absolute path", ErrUnsafe, name)
	case strings.IndexByte(name, 0) >= 0 || !utf8.ValidString(name):
		return "", fmt.Errorf("%w: entry name %q contains a zero byte or invalid UTF-8", ErrUnsafe, name)
	case len(name) > 1 && name[1] == ':' && (name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z'):
		return "", fmt.Errorf("%w: entry name %q starts with a drive letter", ErrUnsafe, name)
	case runtime.GOOS == "windows" && strings.ContainsAny(name, `\:`):
		return "", fmt.Errorf("%w: entry name %q contains a backslash or a colon, which Windows does not allow",
			ErrUnsafe, name)
	}
	elems := strings.Split(name, "/")
	if len(elems) > maxDepth {
		return "", fmt.Errorf("%w: entry %.60q… is nested %d folders deep; the limit is %d", ErrUnsafe, name,
			len(elems),
			maxDepth)
	}
	for _, e := range elems {
		if e == ".." {
			return "", fmt.Errorf("%w: entry %q leaves the target folder through \"..\"", ErrUnsafe, name)
		}
		if len(e) > maxName {
			return "", fmt.Errorf("%w: entry %.60q… has a path element of %d bytes; the limit is %d", ErrUnsafe, name,
				len(e), maxName)
		}
	}
	return path.Clean(name), nil
}

// below returns name without prefix. ok is false if name is not below prefix.
func below(name, prefix string) (rest string, ok bool) {
	if prefix == "" || prefix == "." {
		return name, true
	}
	if name == prefix {
		return ".", true
	}
	return strings.CutPrefix(name, prefix+"/")
}

// cleanTarget returns the relative target of the symbolic link at name.
func cleanTarget(name, target string, relative bool) (string, error) {
	switch {
	case target == "" || len(target) > maxTarget || strings.IndexByte(target, 0) >= 0 || !utf8.ValidString(target):
		return "", fmt.Errorf("%w: link %q has the invalid target %.60q", ErrUnsafe, name, target)
	case !strings.HasPrefix(target, "/"):
		return target, nil
	case !relative:
		return "", fmt.Errorf("%w: link %q points to the absolute path %q", ErrUnsafe, name, target)
	}
	up := strings.Repeat("../", strings.Count(name, "/"))
	// Clean the absolute path first: file systems read "/../x" as "/x".
	rest := strings.TrimPrefix(path.Clean(target), "/")
	if rest == "" {
		rest = "."
	}
	return up + rest, nil
}

// resolve follows target from the folder of name through the archive's links. It returns an error if a step leaves the
// root. A missing path counts as a folder: a link may dangle, but not point out.
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
				return fmt.Errorf("%w: link %q points to %q, outside the target folder", ErrUnsafe, name, target)
			}
			at = at[:len(at)-1]
			continue
		}
		here := append(at[:len(at):len(at)], e)
		next, isLink := links[strings.Join(here, "/")]
		if !isLink {
			at = here
			continue
		}
		if follows++; follows > maxFollows {
			return nil // a loop of links is harmless
		}
		todo = append(strings.Split(next, "/"), todo...)
		if len(todo) > maxPath {
			return fmt.Errorf("%w: link %q resolves through too many other links", ErrUnsafe, name)
		}
	}
	return nil
}

func splitPath(p string) []string {
	if p == "." {
		return nil
	}
	return strings.Split(p, "/")
}

// foldName returns one string for all names that some file system maps to one file: it ignores case and the encoding of
// accented letters.
func foldName(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return norm.NFC.String(cases.Fold().String(norm.NFD.String(name)))
		}
	}
	return strings.ToLower(name)
}
