package disk

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// patience is for how long somebody may still have a file open: a process that is just ending, or starting.
const patience = time.Second

// lease fails if somebody has the file, which is open for reading, open or mapped for writing. From then on until it is closed, who opens it
// so waits. It returns false where the file system cannot tell.
func (s *Blobs) lease(f *atomicfile.Regular) (bool, error) {
	for pause := time.Millisecond; ; pause *= 2 {
		_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
		if !errors.Is(err, unix.EAGAIN) || !s.leases() {
			return err == nil, nil
		}
		if pause > patience {
			return false, errWriter()
		}
		forked() // it may be a process of ours that has not begun its own program
		time.Sleep(pause)
	}
}

// leased tells whether nobody waits who opened the file for writing since lease returned true.
func leased(f *atomicfile.Regular) bool {
	kind, err := unix.FcntlInt(f.Fd(), unix.F_GETLEASE, 0)
	return err != nil || kind == unix.F_RDLCK
}

// tryLease tells whether a file that nobody else has open can be leased: network file systems say of all that somebody has them.
func (s *Blobs) tryLease() bool {
	tmp := s.dir.TempName(layout.NewFiles, "lease")
	if s.dir.Create(tmp, nil, 0o600, unsynced()) != nil {
		return false
	}
	defer s.dir.Remove(tmp)
	f, err := atomicfile.OpenRegular(s.dir.Path(tmp))
	if err != nil {
		return false
	}
	defer f.Close()
	forked()
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	return err == nil
}
