package local

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
	"github.com/hexmage/hexmage/internal/execute/worker"
)

// execRoot is the folder in which one action runs: the root that its command sees, and a folder that is its home and
// has its temporary files. It is made for the action and removed after it.
type execRoot struct {
	dir        string          // absolute
	restricted bool            // the sandbox restricts the command
	access     *sandbox.Access // of a restricted command
	secrets    string          // folder for files with secrets; "": none

	ended *worker.Ended // nil before the command ended

	checkpoint string // the action's checkpoint folder, a slash path of the root; "": nothing is kept
	complete   bool   // the action succeeded and wrote all outputs

	hostRefs []hostRef // inputs that the command reads in place
}

// execPrefix begins the names of exec roots. The mark of an Executor and a number follow.
const execPrefix = "exec-"

func newExecRoot(dir string, restricted bool) (*execRoot, error) {
	s := &execRoot{dir: dir, restricted: restricted}
	for _, p := range []string{dir, s.tmp(), s.root()} {
		if err := os.Mkdir(p, 0o755); err != nil {
			return nil, errors.Join(err, atomicfile.RemoveAll(dir))
		}
	}
	return s, nil
}

func (s *execRoot) root() string { return s.path("root") }
func (s *execRoot) tmp() string  { return s.path("tmp") }

// path returns the path of the slash path rel below the exec root's folder.
func (s *execRoot) path(rel string) string {
	return s.dir + string(filepath.Separator) + filepath.FromSlash(rel)
}

// access returns the files that the sandbox allows to the command. open are the folders of outputs, slash paths of the
// root. The folders must exist: the kernel's rules refer to inodes.
func (x *Executor) access(s *execRoot, read, open []string) *sandbox.Access {
	read = append(read, s.root(), x.o.Self)
	if s.secrets != "" {
		read = append(read, s.secrets)
	}
	write := []string{s.tmp()}
	for _, o := range open {
		write = append(write, filepath.Join(s.root(), filepath.FromSlash(o)))
	}
	return &sandbox.Access{Read: read, Write: write, Own: s.dir}
}

// release removes the exec root, and its files with secrets elsewhere.
func (s *execRoot) release() error {
	return errors.Join(s.removeSecrets(), atomicfile.RemoveAll(s.dir))
}
