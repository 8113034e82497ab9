package kerneltest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strings"

	"github.com/hexmage/hexmage/internal/version"
)

// process is a simulated program that is asked and answers.
type process struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.Reader
	log  bytes.Buffer
}

func start(ctx context.Context, name string, argv ...string) (*process, error) {
	p := &process{name: name, cmd: exec.CommandContext(ctx, argv[0], argv[1:]...)}
	p.cmd.Stderr = &p.log
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// end ends the process and returns what it had to say.
func (p *process) end() error {
	p.in.Close()
	if p.cmd.ProcessState != nil {
		return nil // it was gone
	}
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w\n%s", p.name, err, tail(p.log.Bytes()))
	}
	return nil
}

// gone says why a process gives no answer.
func (p *process) gone(err error) error {
	p.in.Close()
	ended := p.cmd.Wait()
	if ended != nil {
		err = ended
	}
	return fmt.Errorf("%s gave no answer: %w\n%s", p.name, err, tail(p.log.Bytes()))
}

func tail(b []byte) string {
	return strings.TrimSpace(string(b[max(0, len(b)-2000):]))
}

// errRefused is an op that says no; the process goes on.
var errRefused = errors.New("refused")

// call is one execution: the op, and its tensors as both machines take them.
type call struct {
	c      Case
	inputs [][]byte
}

func words(w ...uint32) []byte {
	var b []byte
	for _, v := range w {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func str(s string) []byte { return append(words(uint32(len(s))), s...) }

func (t Tensor) wire() []byte {
	b := words(t.dtype().number)
	for _, d := range t.shape() {
		b = append(b, words(uint32(d))...)
	}
	return append(b, words(math.Float32bits(t.scale()), uint32(t.Zero), uint32(t.size()))...)
}

func (c call) request() []byte {
	b := append(str(c.c.Op), words(uint32(len(c.c.Outputs)), uint32(len(c.c.Inputs)))...)
	for _, t := range c.c.Outputs {
		b = append(b, t.wire()...)
	}
	for _, t := range c.c.Inputs {
		b = append(b, t.wire()...)
	}
	for _, d := range c.inputs {
		b = append(b, d...)
	}
	return b
}

// outputs takes the outputs out of an answer. whole says that each takes its whole capacity, whatever its dims.
func (c call) outputs(answer []byte, whole bool) ([][]byte, error) {
	var out [][]byte
	for i, t := range c.c.Outputs {
		if len(answer) < 32 {
			return nil, fmt.Errorf("the answer ends before output %d", i)
		}
		var dims [4]int
		n := t.dtype().bytes
		for k := range dims {
			dims[k] = int(binary.LittleEndian.Uint32(answer[4+4*k:]))
			n *= dims[k]
		}
		if dims != t.shape() {
			return nil, fmt.Errorf("%w: output %d has dims %v, the case says %v", errRefused, i, dims, t.shape())
		}
		if whole {
			n = t.size()
		}
		if answer = answer[32:]; len(answer) < n {
			return nil, fmt.Errorf("the answer has %d bytes of output %d, which has %d", len(answer), i, n)
		}
		out = append(out, answer[:n])
		answer = answer[n:]
	}
	return out, nil
}

// maxAnswer bounds what a machine may answer.
const maxAnswer = 64<<20 + 4096

// dsp is the simulated DSP with a library loaded.
type dsp struct {
	*process
	handle []byte
	ops    []string
}

// Of the protocol (simulated/phone/cdsp).
const (
	frameMagic             = 0x31505246
	kindOpen, kindInfo     = 1, 2
	kindExecute, maxErrors = 3, 4096
)

// cpu is the emulator's name of the processor that has a library's instructions. It is no newer than need be: with it come those that the library has not.
func cpu(arch, hvx string) string {
	switch {
	case hvx == "v66":
		return "v67" // the only one of the qemu that has no newer HVX
	case version.Older("73", strings.TrimPrefix(arch, "v")):
		return "v73" // the newest that any has
	}
	return arch
}

// startDSP starts the DSP of an arch and has it load the library.
func startDSP(ctx context.Context, m Machines) (*dsp, error) {
	p, err := start(ctx, "the simulated DSP", m.QemuHexagon, "-cpu", cpu(m.Arch, m.HVX), m.Shell, m.Arch)
	if err != nil {
		return nil, err
	}
	d := &dsp{process: p}
	if d.handle, err = d.call(kindOpen, str(m.Library)); err != nil {
		return nil, errors.Join(fmt.Errorf("loading the library: %w", err), d.close())
	}
	info, err := d.call(kindInfo, d.handle)
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	d.ops = opNames(info)
	return d, nil
}

// opNames reads the ops' names out of an INFO answer, as far as they go.
func opNames(info []byte) []string {
	next := func() string {
		if len(info) < 4 {
			return ""
		}
		n := int(binary.LittleEndian.Uint32(info))
		if n > len(info)-4 {
			return ""
		}
		s := string(info[4 : 4+n])
		info = info[4+n:]
		return s
	}
	if len(info) < 4 {
		return nil
	}
	info = info[4:] // e_flags
	next()          // build id
	if len(info) < 4 {
		return nil
	}
	n := binary.LittleEndian.Uint32(info)
	info = info[4:]
	var ops []string
	for range min(n, 4096) {
		ops = append(ops, next())
	}
	return ops
}

func (d *dsp) close() error { return d.end() }

func (d *dsp) call(kind uint32, payload []byte) ([]byte, error) {
	if _, err := d.in.Write(append(words(frameMagic, kind, 0, uint32(len(payload))), payload...)); err != nil {
		return nil, d.gone(err)
	}
	head := make([]byte, 16)
	if _, err := io.ReadFull(d.out, head); err != nil {
		return nil, d.gone(err)
	}
	n := binary.LittleEndian.Uint32(head[12:])
	if n < 4 || n > maxAnswer {
		return nil, d.gone(fmt.Errorf("an answer of %d bytes", n))
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(d.out, body); err != nil {
		return nil, d.gone(err)
	}
	if status := binary.LittleEndian.Uint32(body); status != 0 {
		why := ""
		if len(body) >= 8 {
			why = string(body[8:min(len(body), maxErrors)])
		}
		return nil, fmt.Errorf("%w: %#x %s", errRefused, status, why)
	}
	return body[4:], nil
}

func (d *dsp) execute(c call) ([][]byte, error) {
	answer, err := d.call(kindExecute, append(bytes.Clone(d.handle), c.request()...))
	if err != nil {
		return nil, err
	}
	return c.outputs(answer, false)
}

// phone is the emulated processor with the reference branches.
type phone struct{ *process }

func startPhone(ctx context.Context, qemu, program string) (*phone, error) {
	p, err := start(ctx, "the reference", qemu, program)
	if err != nil {
		return nil, err
	}
	return &phone{p}, nil
}

func (h *phone) execute(c call) ([][]byte, error) {
	request := c.request()
	if _, err := h.in.Write(append(words(uint32(len(request))), request...)); err != nil {
		return nil, h.gone(err)
	}
	head := make([]byte, 8)
	if _, err := io.ReadFull(h.out, head); err != nil {
		return nil, h.gone(err)
	}
	n, result := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint32(head[4:])
	if n < 4 || n > maxAnswer {
		return nil, h.gone(fmt.Errorf("an answer of %d bytes", n))
	}
	body := make([]byte, n-4)
	if _, err := io.ReadFull(h.out, body); err != nil {
		return nil, h.gone(err)
	}
	if result != 0 {
		why := map[uint32]string{1: "there is no such op", 2: "it takes another number of tensors", 3: "the op failed: types or dims are not what it takes", 4: "the output's dims do not hold what it gives"}[result]
		return nil, fmt.Errorf("%w: %d: %s", errRefused, result, why)
	}
	return c.outputs(body, true)
}
