package phone

import (
	"encoding/binary"
	"io"
	"net"
)

// States of the DSP.
const (
	dspWell    = iota
	dspCrashes // at the next call
	dspRefuses
)

// frame is the head of a request or an answer at the DSP's socket: cdsp/README.md.
type frame struct{ Magic, Kind, Sequence, Size uint32 }

// unableToLoad is a DSP's answer after a crash.
const unableToLoad = 0x80000406

// wedge serves a client of a DSP that crashes or has crashed, until the client closes the connection.
func (d *device) wedge(c *net.UnixConn) error {
	defer c.Close()
	for {
		var f frame
		if err := binary.Read(c, binary.LittleEndian, &f); err != nil {
			return nil // the client has gone
		}
		if d.dspState.CompareAndSwap(dspCrashes, dspRefuses) {
			d.say("remoteproc-cdsp", 'E', "fatal error received: the protection domain of a client has gone")
			return nil
		}
		if _, err := io.CopyN(io.Discard, c, int64(f.Size)); err != nil {
			return err
		}
		const why = "no session on domain 3"
		d.say("adsprpc", 'E', "Error 0x%x: %s (cdsp)", uint32(unableToLoad), why)
		answer := frame{f.Magic, f.Kind | 1<<31, f.Sequence, uint32(8 + len(why))}
		for _, part := range []any{answer, [2]uint32{unableToLoad, uint32(len(why))}, []byte(why)} {
			if err := binary.Write(c, binary.LittleEndian, part); err != nil {
				return err
			}
		}
	}
}
