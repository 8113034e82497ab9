package adb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hexmage/hexmage/runner/transport"
)

// Ids of shell v2 packets. A packet is one byte of id, 32 bits of payload length, and the payload.
const (
	shellStdin      = 0
	shellStdout     = 1
	shellStderr     = 2
	shellExit       = 3
	shellCloseStdin = 4
)

// maxShellPacket bounds one packet of output, in bytes. Daemons send at most their payload size of 1 MiB.
const maxShellPacket = 16 << 20

// Shell runs a command line with the device's shell and returns its exit code (128 + number for a signal). An error
// means that the command did not finish. When ctx ends, Shell closes the connection, which kills the command on most
// devices. On other devices, the command continues until the caller kills it. After Shell returns, a call of Stdin.Read
// may still be pending.
func (d *Device) Shell(ctx context.Context, command string, s transport.Streams) (int, error) {
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
			cn.nc.Close() // the command must not take half of its input for all of it
		}
	}()
	code, err := readShell(cn.r, orDiscard(s.Stdout), orDiscard(s.Stderr))
	if err != nil {
		select { // an error of the local reader is the root cause
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

// sendStdin sends r in packets and then closes the command's standard input.
func sendStdin(cn *conn, r io.Reader) error {
	buf := make([]byte, 5+maxChunk)
	for r != nil {
		n, err := r.Read(buf[5:])
		if n > 0 {
			buf[0] = shellStdin
			binary.LittleEndian.PutUint32(buf[1:], uint32(n))
			if _, e := cn.nc.Write(buf[:5+n]); e != nil {
				return e // the reading side knows whether the command or the link ended
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
			return 0, fmt.Errorf("%w: a shell packet of %d bytes exceeds the limit", ErrProtocol, n)
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
				return 0, fmt.Errorf("%w: an exit packet has %d bytes, expected 1", ErrProtocol, n)
			}
			var code [1]byte
			_, err := io.ReadFull(r, code[:])
			return int(code[0]), noEOF(err)
		default:
			if err := copyExactly(io.Discard, r, n); err != nil { // skip packets of later protocols
				return 0, err
			}
		}
	}
}

// copyExactly copies n bytes. It distinguishes a reader that ended early from a writer that failed.
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
