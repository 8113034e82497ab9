package adb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hexmage/hexmage/runner/link"
)

// Ids of shell v2 packets: one byte, then the payload's length as 32 bits.
const (
	shellStdin      = 0
	shellStdout     = 1
	shellStderr     = 2
	shellExit       = 3
	shellCloseStdin = 4
)

// maxShellPacket bounds one packet of output. Daemons send at most their payload size, 1 MiB; larger lengths are not sane.
const maxShellPacket = 16 << 20

// Shell runs a command line with the device's shell and returns its exit code (128 + number for a signal).
// The error is for what kept the command from running to its end. When ctx ends, the connection is closed, which
// on most devices ends the command, but not surely: a caller that must be sure kills it by another Shell.
// When Shell returns before Stdin is used up, a pending Read of Stdin may still be under way.
func (d *Device) Shell(ctx context.Context, command string, s link.Streams) (int, error) {
	cn, err := d.open(ctx, "shell,v2,raw:"+command)
	if err != nil {
		return 0, err
	}
	defer cn.Close()
	stdinErr := make(chan error, 1)
	go func() {
		err := sendStdin(cn, s.Stdin)
		stdinErr <- err
		if errors.Is(err, errLocal) {
			cn.nc.Close() // a command that saw half of its input must not go on as if that were all
		}
	}()
	code, err := readShell(cn.r, orDiscard(s.Stdout), orDiscard(s.Stderr))
	if err != nil {
		select { // a local reader that failed is why the rest failed
		case e := <-stdinErr:
			if errors.Is(e, errLocal) {
				err = e
			}
		default:
		}
		return 0, wrap(ctx, err, "device %s: shell", d.serial)
	}
	return code, nil
}

// sendStdin turns r into packets and then closes the command's stdin.
func sendStdin(cn *conn, r io.Reader) error {
	buf := make([]byte, 5+maxChunk)
	for r != nil {
		n, err := r.Read(buf[5:])
		if n > 0 {
			buf[0] = shellStdin
			binary.LittleEndian.PutUint32(buf[1:], uint32(n))
			if _, e := cn.nc.Write(buf[:5+n]); e != nil {
				return e // the command is over, or the link: the reading side knows which
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return local(err)
		}
	}
	_, err := cn.nc.Write([]byte{shellCloseStdin, 0, 0, 0, 0})
	return err
}

// readShell copies output until the exit packet and returns the exit code.
func readShell(r io.Reader, stdout, stderr io.Writer) (int, error) {
	for {
		var head [5]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return 0, err
		}
		n := int64(binary.LittleEndian.Uint32(head[1:]))
		if n > maxShellPacket {
			return 0, fmt.Errorf("%w: a shell packet of %d bytes", ErrProtocol, n)
		}
		switch head[0] {
		case shellStdout, shellStderr:
			w := stdout
			if head[0] == shellStderr {
				w = stderr
			}
			if err := copyExactly(w, r, n); err != nil {
				return 0, err
			}
		case shellExit:
			if n != 1 {
				return 0, fmt.Errorf("%w: an exit packet of %d bytes, want 1", ErrProtocol, n)
			}
			var code [1]byte
			_, err := io.ReadFull(r, code[:])
			return int(code[0]), noEOF(err)
		default:
			if err := copyExactly(io.Discard, r, n); err != nil { // newer ids are to be skipped
				return 0, err
			}
		}
	}
}

// copyExactly copies n bytes and tells a reader that ended early from a writer that failed.
func copyExactly(w io.Writer, r io.Reader, n int64) error {
	tell := &localWriter{w: w}
	_, err := io.CopyN(tell, r, n)
	if tell.err != nil {
		return local(tell.err)
	}
	return noEOF(err)
}

type localWriter struct {
	w   io.Writer
	err error
}

func (l *localWriter) Write(p []byte) (int, error) {
	n, err := l.w.Write(p)
	if err != nil {
		l.err = err
	}
	return n, err
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}
