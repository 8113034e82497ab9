//go:build linux

package adbd

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os/exec"
	"strings"
	"sync"
)

// Commands of the link protocol: four letters, little-endian.
const (
	cmdConnect = 0x4e584e43 // CNXN
	cmdOpen    = 0x4e45504f // OPEN
	cmdOkay    = 0x59414b4f // OKAY
	cmdClose   = 0x45534c43 // CLSE
	cmdWrite   = 0x45545257 // WRTE
)

const (
	version    = 0x01000001 // of the protocol; since this one only CNXN has a checksum
	maxPayload = 1 << 20
	maxStreams = 256 // open at once on one link; adb uses a handful
	headerSize = 24
)

// Config configures the adb daemon.
type Config struct {
	Banner map[string]string              // ro.product.name, ro.product.model, ro.product.device
	Shell  func(command string) *exec.Cmd // returns the process for a shell command; "" is an interactive shell
	Start  func(*exec.Cmd) error          // starts the process
	Wait   func(*exec.Cmd) error          // waits for the process
	Reboot func(how string)               // reboots the device and ends all links; the argument is "", "bootloader", …
	Log    *log.Logger                    // messages of the daemon
}

// Serve serves connections from l until l is closed, and returns the listener's error.
func Serve(l net.Listener, c Config) error {
	for {
		nc, err := l.Accept()
		if err != nil {
			return fmt.Errorf("adbd: %w", err)
		}
		go func() {
			defer nc.Close()
			k := &link{nc: nc, w: bufio.NewWriterSize(nc, 64<<10), cfg: &c, streams: map[uint32]*stream{}, payload: maxPayload}
			defer k.closeStreams()
			if err := k.serve(); !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				c.Log.Printf("adbd: link from %s ended: %v", nc.RemoteAddr(), err)
			}
		}()
	}
}

// link is one connection with an adb server. It carries many streams.
type link struct {
	nc  net.Conn
	cfg *Config

	sending sync.Mutex // guards w
	w       *bufio.Writer

	mu      sync.Mutex // guards the fields below
	streams map[uint32]*stream
	lastID  uint32
	payload int // the peer's maximum for one message
}

// serve reads messages until the link ends, and returns the reason. Only this goroutine reads.
func (k *link) serve() error {
	r := bufio.NewReaderSize(k.nc, 256<<10)
	for {
		var h [headerSize]byte
		if _, err := io.ReadFull(r, h[:]); err != nil {
			return err
		}
		cmd, n := binary.LittleEndian.Uint32(h[0:]), binary.LittleEndian.Uint32(h[12:])
		if ^cmd != binary.LittleEndian.Uint32(h[20:]) {
			return fmt.Errorf("message %x: the magic is not the complement of the command", h)
		}
		if n > maxPayload {
			return fmt.Errorf("message %x: a payload of %d bytes exceeds the limit of %d", h, n, maxPayload)
		}
		data := make([]byte, n)
		if _, err := io.ReadFull(r, data); err != nil {
			return err
		}
		if err := k.handle(cmd, binary.LittleEndian.Uint32(h[4:]), binary.LittleEndian.Uint32(h[8:]), data); err != nil {
			return err
		}
	}
}

func (k *link) handle(cmd, arg0, arg1 uint32, data []byte) error {
	switch cmd {
	case cmdConnect:
		k.mu.Lock()
		k.payload = min(max(int(arg1), 4096), maxPayload)
		k.mu.Unlock()
		return k.send(cmdConnect, version, maxPayload, []byte(k.banner()))
	case cmdOpen:
		s := k.newStream(arg0)
		if s == nil {
			return k.send(cmdClose, 0, arg0, nil)
		}
		go s.serve(strings.TrimRight(string(data), "\x00"))
		return nil
	}
	k.mu.Lock()
	s := k.streams[arg1]
	k.mu.Unlock()
	if s == nil {
		return nil // late packet of a closed stream
	}
	switch cmd {
	case cmdWrite:
		select {
		case s.in <- data:
		case <-s.done:
		default:
			return fmt.Errorf("stream %d: more than %d unacknowledged messages", s.id, unacknowledged)
		}
	case cmdOkay:
		select {
		case s.mayWrite <- struct{}{}:
		default:
		}
	case cmdClose:
		s.finish()
	}
	return nil
}

func (k *link) banner() string {
	var b strings.Builder
	b.WriteString("device::")
	for _, key := range []string{"ro.product.name", "ro.product.model", "ro.product.device"} {
		fmt.Fprintf(&b, "%s=%s;", key, k.cfg.Banner[key])
	}
	b.WriteString("features=shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir")
	return b.String()
}

func (k *link) send(cmd, arg0, arg1 uint32, data []byte) error {
	var h [headerSize]byte
	for i, v := range []uint32{cmd, arg0, arg1, uint32(len(data)), 0, ^cmd} {
		binary.LittleEndian.PutUint32(h[4*i:], v)
	}
	if cmd == cmdConnect { // peers check the sum until they know that the versions match
		var sum uint32
		for _, b := range data {
			sum += uint32(b)
		}
		binary.LittleEndian.PutUint32(h[16:], sum)
	}
	k.sending.Lock()
	defer k.sending.Unlock()
	if _, err := k.w.Write(h[:]); err != nil {
		return err
	}
	if _, err := k.w.Write(data); err != nil {
		return err
	}
	return k.w.Flush()
}

func (k *link) newStream(peer uint32) *stream {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.streams) >= maxStreams {
		return nil
	}
	k.lastID++
	s := &stream{
		link: k, id: k.lastID, peer: peer, payload: k.payload,
		in: make(chan []byte, unacknowledged), mayWrite: make(chan struct{}, 1), done: make(chan struct{}),
	}
	k.streams[s.id] = s
	return s
}

func (k *link) closeStreams() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.streams {
		s.finish()
	}
}
