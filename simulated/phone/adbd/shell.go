//go:build linux

package adbd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
)

// Ids of shell v2 packets.
const (
	packetStdin      = 0
	packetStdout     = 1
	packetStderr     = 2
	packetExit       = 3
	packetCloseStdin = 4
)

// shell runs a command by version 2 of the service.
func (s *stream) shell(command string) {
	cmd := s.link.cfg.Shell(command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a group of its own, to be killed as one
	var writing sync.Mutex
	cmd.Stdout, cmd.Stderr = &packets{s, &writing, packetStdout}, &packets{s, &writing, packetStderr}
	code := 126
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = s.link.cfg.Start(cmd)
	}
	if err != nil {
		fmt.Fprintf(cmd.Stderr, "adbd: %v\n", err)
	} else {
		go s.feedPackets(stdin)
		code = s.await(cmd)
	}
	_, _ = (&packets{s, &writing, packetExit}).Write([]byte{byte(code)})
}

// await returns the exit code, or 128 + number for a signal. It kills the command if the peer closes the stream.
func (s *stream) await(cmd *exec.Cmd) int {
	over := make(chan struct{})
	go func() {
		select {
		case <-s.done:
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		case <-over:
		}
	}()
	err := s.link.cfg.Wait(cmd)
	close(over)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
			return 128 + int(ws.Signal())
		}
		return exit.ExitCode()
	case err != nil && cmd.ProcessState == nil:
		return 126
	}
	return 0 // if copying output failed, the peer has gone
}

// feedPackets copies the command's input until the peer closes it.
func (s *stream) feedPackets(stdin io.WriteCloser) {
	defer stdin.Close()
	for {
		var h [5]byte
		if _, err := io.ReadFull(s, h[:]); err != nil {
			return
		}
		n := int64(binary.LittleEndian.Uint32(h[1:]))
		switch h[0] {
		case packetStdin:
			in := &io.LimitedReader{R: s, N: n}
			_, _ = io.Copy(stdin, in) // a command may ignore its input
			_, _ = io.Copy(io.Discard, in)
		case packetCloseStdin:
			stdin.Close()
		default:
			if _, err := io.CopyN(io.Discard, s, n); err != nil {
				return
			}
		}
	}
}

// packets is a writer that frames output as packets.
type packets struct {
	s       *stream
	writing *sync.Mutex // a packet may take several messages, and two outputs share the stream
	id      byte
}

func (w *packets) Write(p []byte) (int, error) {
	b := binary.LittleEndian.AppendUint32([]byte{w.id}, uint32(len(p)))
	b = append(b, p...)
	w.writing.Lock()
	defer w.writing.Unlock()
	if _, err := w.s.Write(b); err != nil {
		return 0, err
	}
	return len(p), nil
}
