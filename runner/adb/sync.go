package adb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/hexmage/hexmage/runner/link"
)

const (
	maxPath    = 1024    // what a device's daemon takes
	maxEntries = 1 << 20 // of one folder; more is a device that will not stop
)

// Sync is a connection for file transfers. One at a time may use it. After an error other than a link.FileError it is of no
// more use than to be closed.
type Sync struct {
	cn     *conn
	serial string
	broken error
	sent   int64
}

// Sync opens a connection for file transfers, all of which ctx bounds.
func (d *Device) Sync(ctx context.Context) (*Sync, error) {
	cn, err := d.open(ctx, "sync:")
	if err != nil {
		return nil, err
	}
	return &Sync{cn: cn, serial: d.serial}, nil
}

// Files returns what moves files by the sync service.
func (d *Device) Files(ctx context.Context) (link.Files, error) {
	s, err := d.Sync(ctx)
	if err != nil {
		return link.Files{}, err
	}
	return link.Files{Transfer: transfer{s}, Tree: s}, nil
}

// transfer tells what each push was.
type transfer struct{ *Sync }

// Push implements link.Transfer.
func (t transfer) Push(ctx context.Context, path string, mode fs.FileMode, modified time.Time, r io.Reader, progress func(sent int64)) (int64, error) {
	before := t.Sent()
	err := t.Sync.Push(ctx, path, mode, modified, r, progress)
	return t.Sent() - before, err
}

// Sent returns how many bytes of files this connection was given to carry.
func (s *Sync) Sent() int64 { return s.sent }

// Close ends the connection. A transfer that is under way fails.
func (s *Sync) Close() error { return s.cn.Close() }

// command sends a sync request about a path.
func (s *Sync) command(id, path string) error {
	if s.broken != nil {
		return fmt.Errorf("%w: this sync connection was given up: %w", errLocal, s.broken)
	}
	if len(path) > maxPath || strings.ContainsRune(path, 0) {
		return fmt.Errorf("%w: %q is no path for a device: at most %d bytes, none of them zero", errLocal, serviceName(path), maxPath)
	}
	s.cn.within(stallWait)
	b := append([]byte(id), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(path)))
	_, err := s.cn.nc.Write(append(b, path...))
	return err
}

// end wraps an operation's error, and remembers one that left the connection out of step.
func (s *Sync) end(ctx context.Context, op, path string, err error) error {
	var denied *link.FileError
	if err != nil && !errors.As(err, &denied) && s.broken == nil {
		s.broken = err
	}
	return wrap(ctx, err, "device %s: %s %s", s.serial, op, path)
}

// Push writes what r holds to a file on the device, making its folders. The daemon removes what was there before. Only mode's permission
// bits count. progress, if not nil, is called from this goroutine with how much of r was sent so far.
func (s *Sync) Push(ctx context.Context, path string, mode fs.FileMode, modified time.Time, r io.Reader, progress func(sent int64)) error {
	return s.end(ctx, "push", path, s.push(path, mode, modified, r, progress))
}

func (s *Sync) push(path string, mode fs.FileMode, modified time.Time, r io.Reader, progress func(int64)) error {
	bits := 0o100000 | uint32(mode.Perm()) // the type bits say "regular file"
	if err := s.command("SEND", fmt.Sprintf("%s,%d", path, bits)); err != nil {
		return err
	}
	// A device may refuse at any time (disk full): it is heard while gigabytes are still to be sent.
	verdict := make(chan error, 1)
	go func() { verdict <- readVerdict(s.cn.r, path) }()
	err := s.sendData(r, modified, progress, &dataWriter{s: s, verdict: verdict})
	if err == nil {
		return <-verdict
	}
	if errors.Is(err, errRefusedEarly) {
		s.broken = err
		s.cn.nc.Close()
		return errors.Unwrap(err)
	}
	// The write failed, or r did. The device may have said why before it hung up.
	if errors.Is(err, errLocal) {
		s.cn.nc.Close()
		<-verdict
		return err
	}
	s.cn.within(time.Second)
	var denied *link.FileError
	if v := <-verdict; errors.As(v, &denied) {
		s.broken = err
		return v
	}
	return err
}

// refusedEarly is a device's refusal in the midst of a transfer.
type refusedEarly struct{ error }

func (e refusedEarly) Unwrap() error        { return e.error }
func (e refusedEarly) Is(target error) bool { return target == errRefusedEarly }

var errRefusedEarly = errors.New("refused in the midst of a transfer")

func (s *Sync) sendData(r io.Reader, modified time.Time, progress func(int64), out *dataWriter) error {
	buf := make([]byte, maxChunk)
	var sent int64
	for {
		n, err := io.ReadFull(r, buf)
		if n > 0 {
			if _, err := out.Write(buf[:n]); err != nil {
				return err
			}
			sent += int64(n)
			if progress != nil {
				progress(sent)
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return local(err)
		}
	}
	return out.done(modified)
}

// readVerdict reads the answer to a push.
func readVerdict(r io.Reader, path string) error {
	id, n, err := readFrame(r)
	if err != nil {
		return err
	}
	switch id {
	case "OKAY":
		return nil
	case "FAIL":
		return readFail(r, n, "push", path)
	}
	return fmt.Errorf("%w: want OKAY or FAIL, got %q", ErrProtocol, id)
}

func readFail(r io.Reader, n uint32, op, path string) error {
	msg, err := readText(r, n, maxMessage)
	if err != nil {
		return err
	}
	return &link.FileError{Op: op, Path: path, Message: msg}
}

// Pull copies a file from the device to w. progress, if not nil, is called from this goroutine with the bytes received so far.
// What w got before an error stays there.
func (s *Sync) Pull(ctx context.Context, path string, w io.Writer, progress func(received int64)) error {
	return s.end(ctx, "pull", path, s.pull(path, w, progress))
}

func (s *Sync) pull(path string, w io.Writer, progress func(int64)) error {
	if err := s.command("RECV", path); err != nil {
		return err
	}
	in := &dataReader{s: s, path: path}
	var received int64
	buf := make([]byte, maxChunk)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return local(err)
			}
			received += int64(n)
			if progress != nil {
				progress(received)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
