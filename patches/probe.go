package patches

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/hexmage/hexmage/patches/rename"
)

// maxHeader bounds a header that is probed, in bytes. The largest of the vendor's are a few hundred kB.
const maxHeader = 16 << 20

// prober reads an SDK's headers, each once.
type prober struct {
	dir   string
	root  *os.Root
	names map[string]map[string]bool
}

func (p *prober) close() {
	if p.root != nil {
		p.root.Close()
	}
}

// headerError says that the SDK cannot be asked: then no rule can be chosen, and one message is enough.
type headerError struct{ error }

func (e *headerError) Unwrap() error { return e.error }

// needed says whether the headers need what a condition guards; no condition is always needed.
func (p *prober) needed(w *rename.When) (bool, string, error) {
	if w == nil {
		return true, "", nil
	}
	names, err := p.header(w.Header)
	if err != nil {
		return false, "", &headerError{err}
	}
	needed, reason := w.Holds(names)
	return needed, reason, nil
}

func (p *prober) header(name string) (map[string]bool, error) {
	if names, ok := p.names[name]; ok {
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
	f, err := p.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("SDK headers: %s has no %s; is it the include/QNN folder of a QAIRT SDK?", p.dir, name)
	}
	if err != nil {
		return nil, fmt.Errorf("SDK headers: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxHeader+1))
	if err != nil {
		return nil, fmt.Errorf("SDK headers: %w", err)
	}
	if len(data) > maxHeader {
		return nil, fmt.Errorf("SDK headers: %s is larger than %d bytes", name, maxHeader)
	}
	names, err := rename.Names(data)
	if err != nil {
		return nil, fmt.Errorf("SDK headers: %s:%w", name, err)
	}
	p.names[name] = names
	return names, nil
}
