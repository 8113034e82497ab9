package pool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/runner/lease"
)

// maxHad is of how many pushes it is remembered that a phone had them. Which phone is better is all that comes of it.
const maxHad = 32

// memory is the file in which it is kept what a phone had: a line for each push. Its date is when the phone was used last.
func (p *Pool) memory(d Device) string {
	if p.state == "" {
		return ""
	}
	return filepath.Join(p.state, "pool", lease.FileName(d.key()))
}

// recall reads what remember wrote, also in other processes.
func (ph *poolPhone) recall(file string) {
	st, err := os.Stat(file)
	if err != nil || st.Size() > 64<<10 {
		return
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return
	}
	ph.used, ph.had = st.ModTime(), strings.Fields(string(b))
}

// remember writes it down. What fails costs a push to another phone later, nothing else.
func (ph *poolPhone) remember(file string) {
	if file != "" {
		_ = atomicfile.PlaceFile(file, []byte(strings.Join(ph.had, "\n")), 0o644)
	}
}

// has notes that the phone has the files.
func (ph *poolPhone) has(files string) {
	if files == "" {
		return
	}
	ph.had = append(slices.DeleteFunc(ph.had, func(s string) bool { return s == files }), files)
	ph.had = ph.had[max(0, len(ph.had)-maxHad):]
}
