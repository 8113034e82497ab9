package patches

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/patches/rename"
)

// maxHeader bounds a header that is probed, in bytes. The largest of the vendor's are a few hundred kB. maxHeaders bounds
// how many a pattern may name.
const (
	maxHeader  = 16 << 20
	maxHeaders = 5000
)

// Headers reads an SDK's headers, each once.
type Headers struct {
	dir   string
	root  *os.Root
	names map[string]map[string]bool // by path, and by pattern
}

// OpenHeaders returns the headers under an SDK's include/QNN folder. It does not look at them yet.
func OpenHeaders(dir string) *Headers { return &Headers{dir: dir, names: map[string]map[string]bool{}} }

// Close ends the use of the folder.
func (p *Headers) Close() {
	if p.root != nil {
		p.root.Close()
	}
}

// headerError says that the SDK cannot be asked: then no rule can be chosen, and one message is enough.
type headerError struct{ error }

func (e *headerError) Unwrap() error { return e.error }

// needed says whether the headers need what a condition guards; no condition is always needed.
func (p *Headers) needed(w *rename.When) (bool, string, error) {
	if w == nil {
		return true, "", nil
	}
	names, err := p.Names(w.Header)
	if err != nil {
		return false, "", &headerError{err}
	}
	needed, reason := w.Holds(names)
	return needed, reason, nil
}

// Names returns the names among the tokens of a header, or of all headers that a pattern names, of which there must be one.
func (p *Headers) Names(header string) (map[string]bool, error) {
	if names, ok := p.names[header]; ok {
		return names, nil
	}
	if p.root == nil {
		if p.dir == "" {
			return nil, errors.New("the series asks what the SDK's headers declare: name the SDK's include/QNN folder")
		}
		root, err := os.OpenRoot(p.dir)
		if err != nil {
			return nil, fmt.Errorf("SDK headers: %w; name the include/QNN folder of a QAIRT SDK", err)
		}
		p.root = root
	}
	if !strings.ContainsAny(header, "*?[{") {
		names, err := p.header(header)
		if err != nil {
			return nil, err
		}
		p.names[header] = names
		return names, nil
	}
	files, err := doublestar.Glob(p.root.FS(), header, doublestar.WithFilesOnly(), doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
	if err != nil {
		return nil, fmt.Errorf("SDK headers: %s: %w", header, err)
	}
	if len(files) == 0 || len(files) > maxHeaders {
		return nil, fmt.Errorf("SDK headers: %s has %d headers %s; is it the include/QNN folder of a QAIRT SDK?", p.dir, len(files), header)
	}
	all := map[string]bool{}
	for _, f := range files {
		names, err := p.Names(f)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, names)
	}
	p.names[header] = all
	return all, nil
}

func (p *Headers) header(name string) (map[string]bool, error) {
	data, err := boundedfile.ReadFS(p.root.FS(), name, maxHeader)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("SDK headers: %s has no %s; is it the include/QNN folder of a QAIRT SDK?", p.dir, name)
	}
	if err != nil {
		return nil, fmt.Errorf("SDK headers: %w", err)
	}
	names, err := rename.Names(data)
	if err != nil {
		return nil, fmt.Errorf("SDK headers: %s:%w", name, err)
	}
	return names, nil
}
