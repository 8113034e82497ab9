package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/secret"
)

// leftSecrets is the age at which the secret files of a dead process are removed from memory (for folders 24 times as
// much: see atomicfile.Sweep). A process that seems dead may run in another container.
const leftSecrets = time.Minute

// secretFolder makes the folder for the action's files with secrets, which other users cannot look into: in memory,
// or else in the exec root's folder.
func (x *Executor) secretFolder(s *execRoot) (err error) {
	if base := x.o.Memory; base != "" && os.MkdirAll(base, 0o700) == nil && inMemory(base) {
		_ = atomicfile.Sweep(base, leftSecrets) // what stays takes room
		if s.secrets, err = os.MkdirTemp(base, atomicfile.TempName("secrets")); err == nil {
			return nil
		}
	}
	s.secrets = filepath.Join(s.dir, "secrets")
	return os.Mkdir(s.secrets, 0o700)
}

// putSecrets writes files with secrets, until removeSecrets.
func (s *execRoot) putSecrets(set *secret.Set) error {
	for name, content := range set.Files() {
		f, err := os.OpenFile(s.secretFile(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteString(content)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// secretFile is where the file is whose path the variable has.
func (s *execRoot) secretFile(name string) string { return filepath.Join(s.secrets, name) }

// removeSecrets removes the secret files and other files beside them.
func (s *execRoot) removeSecrets() error {
	if s.secrets == "" {
		return nil
	}
	return atomicfile.RemoveAll(s.secrets)
}

// leak refuses outputs in which a secret stands. leaveOut tells that they are of a command that failed, and are left
// out.
func leak(a *execute.Request, s *execRoot, exitCode int) (leaveOut bool, err error) {
	at, ref, err := a.Secrets.Find(s.root(), a.Command.Outputs)
	good := a.Succeeded(exitCode)
	switch {
	case err != nil && good:
		return false, &execute.Error{Op: "store the outputs", Err: err}
	case err != nil || at != "" && !good:
		return true, nil
	case at != "":
		return false, &execute.Error{Op: "store the outputs", Refused: true,
			Err: fmt.Errorf("output %s contains the value of the secret %s, but hexmage caches and shares outputs", at,
				ref),
			Remedy: "write secrets only below $HOME or $TMPDIR; if the value is not secret, use a variable without " +
				"`sensitive = true`"}
	}
	return false, nil
}
