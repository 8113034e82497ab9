package phone

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
)

// Parts of the protocol of the DSP's socket: cdsp/README.md.
const (
	frameMagic   = 0x31505246
	frameHeader  = 16
	framePayload = 64 << 20
	frameReply   = 1 << 31
	unableToLoad = 0x80000406
)

// wedge serves a client of the DSP in the way of the fault, for as long as the client is there.
func (d *device) wedge(c *net.UnixConn, fault DSPFault) error {
	defer c.Close()
	r := bufio.NewReader(c)
	if fault == DSPCrashes {
		_, _, _, err := readFrame(r)
		refuses := dspRefuses
		d.wedged.Store(&refuses)
		d.say("remoteproc-cdsp", 'E', "fatal error received: the protection domain of a client has gone")
		return err
	}
	for {
		kind, sequence, n, err := readFrame(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, r, n); err != nil {
			return err
		}
		d.say("adsprpc", 'E', "Error 0x%x: no session on domain 3 (cdsp)", uint32(unableToLoad))
		if _, err := c.Write(refusal(kind, sequence, "no session on domain 3")); err != nil {
			return err
		}
	}
}

// readFrame reads the head of a frame, n bytes of payload follow.
func readFrame(r io.Reader) (kind, sequence uint32, n int64, err error) {
	var h [frameHeader]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return 0, 0, 0, err
	}
	n = int64(binary.LittleEndian.Uint32(h[12:]))
	if binary.LittleEndian.Uint32(h[0:]) != frameMagic || n > framePayload {
		return 0, 0, 0, errors.New("a client of the DSP sent no frame")
	}
	return binary.LittleEndian.Uint32(h[4:]), binary.LittleEndian.Uint32(h[8:]), n, nil
}

// refusal is the answer to a frame: that nothing can be loaded.
func refusal(kind, sequence uint32, why string) []byte {
	var b []byte
	for _, v := range []uint32{frameMagic, kind | frameReply, sequence, uint32(8 + len(why)), unableToLoad, uint32(len(why))} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return append(b, why...)
}
