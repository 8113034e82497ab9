package cas

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
)

// MinLoan is the size in bytes from which on a file of the host is lent rather than copied. Copying as much takes longer than
// all that it takes to show a file at another place, and to look afterwards whether it is as it was.
const MinLoan = 8 << 20

// Borrower is what a Store can do that knows files of the host by their digests: say where one is, for those who can read it
// without changing it.
type Borrower interface {
	// Borrow returns the file with that content, if there is one that is lent. It reads nothing: the borrower asks the Loan
	// whether the file is still what it was, before and after.
	Borrow(d digest.Digest) (Loan, bool)
}

// Loan is a file of the host that has the content of a blob for as long as it has the Stamp.
type Loan struct {
	Path   string // absolute, without symlinks
	Digest digest.Digest
	Stamp  stat.Stamp // of when the digest was taken
}

// Check returns a *ChangedError unless the file is as it was when its digest was taken.
func (l *Loan) Check() error {
	now, err := stat.Lstat(l.Path)
	if err != nil || now != l.Stamp {
		return &ChangedError{Path: l.Path, Digest: l.Digest, Err: err}
	}
	return nil
}

// Lend is Add of a file that may also be borrowed, if it is large enough. The stamp was taken, following symlinks, at the
// moment now, before the digest was. A file that had changed shortly before is not lent, as a further change might not show.
func (s *Sources) Lend(d digest.Digest, path string, st stat.Stamp, now time.Time) {
	s.Add(d, path)
	if d.Size() < MinLoan {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.Size != d.Size() || !st.IsRegular() || st.Racy(now) {
		delete(s.lent, d) // what an earlier build found out is over
		return
	}
	s.lent[d] = Loan{Path: path, Digest: d, Stamp: st}
}

// Borrow implements Borrower.
func (s *Sources) Borrow(d digest.Digest) (Loan, bool) {
	s.mu.RLock()
	l, ok := s.lent[d]
	s.mu.RUnlock()
	if ok {
		real, err := filepath.EvalSymlinks(l.Path)
		if err == nil { // else Check says that it is gone
			l.Path = real
		}
	}
	return l, ok
}

// CopierOut is what a Store can do when it keeps blobs as files: make a copy of one without reading it.
type CopierOut interface {
	// CopyOut makes path, which must not exist, a copy of the blob that its owner may write to, with the permissions perm.
	// It does so only where this process has hashed what the store has of the blob: else, and where the system cannot copy by
	// itself, it leaves nothing at path and returns an error that is errors.ErrUnsupported.
	CopyOut(d digest.Digest, path string, perm os.FileMode) error
}

// CopyOut implements CopierOut, if the next store does.
func (s *Sources) CopyOut(d digest.Digest, path string, perm os.FileMode) error {
	c, ok := s.next.(CopierOut)
	if !ok {
		return fmt.Errorf("copy %s: %w", d, errors.ErrUnsupported)
	}
	return c.CopyOut(d, path, perm)
}
