package kerneltest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/version"
)

// DSP is a simulated DSP with a library. All paths are absolute.
type DSP struct {
	Qemu    string // qemu-hexagon-static
	Shell   string // first program of the DSP
	Library string
	Arch    string // "v79"
	HVX     string // HVX version that the library is compiled for: "v66"
}

// run calls the op of a case on two DSPs, on tensors from a seed.
func run(ctx context.Context, tested, reference DSP, c Case, number int, seed uint64) Result {
	r := Result{Case: c.title(), Arch: tested.Arch, Seed: seed}
	request := slices.Concat(str(c.Op), words(uint32(len(c.Outputs)), uint32(len(c.Inputs))))
	for _, t := range slices.Concat(c.Outputs, c.Inputs) {
		request = append(request, t.wire()...)
	}
	for k, t := range c.Inputs {
		request = append(request, t.fill(rand.New(rand.NewPCG(seed, uint64(number)<<16|uint64(k))))...)
	}
	want, err := reference.outputs(ctx, c, request)
	if err != nil {
		r.Failed = "the reference: " + err.Error()
		return r
	}
	got, err := tested.outputs(ctx, c, request)
	if err != nil {
		r.Failed = "the simulated DSP: " + err.Error()
		return r
	}
	for o := range c.Outputs {
		r.compare(c, o, got[o], want[o])
	}
	return r
}

// outputs runs a case and returns the data of its outputs.
func (d DSP) outputs(ctx context.Context, c Case, request []byte) ([][]byte, error) {
	status, answer, err := d.Execute(ctx, request)
	switch {
	case err != nil:
		return nil, err
	case status != 0:
		return nil, fmt.Errorf("%#x %s", status, answer)
	}
	return c.outputs(answer)
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

// outputs splits an answer into the data of the outputs.
func (c Case) outputs(answer []byte) ([][]byte, error) {
	var out [][]byte
	for i, t := range c.Outputs {
		const head = 32
		dims := t.shape()
		for k := range dims {
			if len(answer) >= head {
				dims[k] = int(binary.LittleEndian.Uint32(answer[4+4*k:]))
			}
		}
		switch {
		case dims != t.shape():
			return nil, fmt.Errorf("output %d has dims %v, but the case expects %v", i, dims, t.shape())
		case len(answer) < head+t.size():
			return nil, fmt.Errorf("answer truncated in output %d", i)
		}
		out = append(out, answer[head:head+t.size()])
		answer = answer[head+t.size():]
	}
	return out, nil
}

// The simulated DSP's protocol: a frame has a header of four words and a payload (simulated/phone/cdsp).
const (
	frameMagic  = 0x31505246
	frameHeader = 16
	kindOpen    = 1
	kindExecute = 3
	firstHandle = 1 // handle of the first library that the DSP opens
)

func frame(kind uint32, payload []byte) []byte {
	return append(words(frameMagic, kind, 0, uint32(len(payload))), payload...)
}

// Execute loads the library and executes one of its ops.
//
// The request contains the op's name, the numbers of outputs and inputs, their descriptions, and the inputs' data. For
// status 0, the answer contains each output's description and data. For any other status, the answer is the reason.
func (d DSP) Execute(ctx context.Context, request []byte) (status uint32, answer []byte, err error) {
	var log bytes.Buffer
	cmd := exec.CommandContext(ctx, d.Qemu, "-cpu", cpu(d.Arch, d.HVX), d.Shell, d.Arch)
	open, execute := frame(kindOpen, str(d.Library)), frame(kindExecute, append(words(firstHandle), request...))
	cmd.Stdin = io.MultiReader(bytes.NewReader(open), bytes.NewReader(execute))
	cmd.Stderr = &log
	out, err := cmd.Output()
	for range 2 { // after a fault, the DSP answers and then ends with an error
		if len(out) < frameHeader+4 || uint64(len(out)) < frameHeader+uint64(binary.LittleEndian.Uint32(out[12:])) {
			end := log.Bytes()[max(0, log.Len()-2000):]
			return 0, nil, fmt.Errorf("no answer: %w\n%s", cmp.Or(err, io.ErrUnexpectedEOF), end)
		}
		end := frameHeader + max(4, int(binary.LittleEndian.Uint32(out[12:])))
		status, answer, out = binary.LittleEndian.Uint32(out[frameHeader:]), out[frameHeader+4:end], out[end:]
		if status != 0 {
			return status, answer[min(4, len(answer)):], nil
		}
	}
	return 0, answer, nil
}

// cpu returns qemu's oldest processor that executes the library's instructions.
func cpu(arch, hvx string) string {
	switch {
	case hvx == "v66":
		return "v67" // the only processor of a qemu whose HVX is v66
	case version.Older("73", strings.TrimPrefix(arch, "v")):
		return "v73" // the newest processor of any qemu
	}
	return arch
}
