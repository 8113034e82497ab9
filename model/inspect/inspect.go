// Package inspect identifies a file. The file is a model (safetensors, .mllm, ONNX, DLC), an ELF file, a QNN context
// binary, or an SDK in a folder or zip file.
//
// It reads bytes, never names, and limits each read. It does not run, load or unpack anything. It does not know
// which files fit together.
package inspect

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/model/dlc"
	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/model/onnx"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/qnn/qnnctx"
)

// ErrUnknown means that this package does not know a file's format.
var ErrUnknown = errors.New("unknown format: expected a model (safetensors, .mllm, ONNX, DLC), ELF, zip or a QNN context binary")

// Description describes a file. Exactly one of the fields Tensors to Contents is set.
type Description struct {
	Path     string       `json:"path"`
	Format   string       `json:"format"` // safetensors, mllm-v1, mllm-v2, onnx, dlc, elf, qnn-context, zip, folder
	Size     int64        `json:"size"`   // in bytes; for a folder, the sum of its files
	Tensors  *Tensors     `json:"tensors,omitempty"`
	ELF      *ELF         `json:"elf,omitempty"`
	ONNX     *onnx.Model  `json:"onnx,omitempty"`
	DLC      *dlc.File    `json:"dlc,omitempty"`
	Context  *qnnctx.Info `json:"context,omitempty"`
	Contents *Contents    `json:"contents,omitempty"`

	Contexts []InnerContext `json:"contexts,omitempty"` // context binaries inside an ONNX model

	SoC     string   `json:"soc,omitempty"`      // name of a context's soc_model in the facts
	AlsoFor []string `json:"also_for,omitempty"` // other archs that run the code of this file's arch
}

// Tensors describes a model file.
type Tensors struct {
	Metadata  map[string]string `json:"metadata,omitempty"`
	ModelName string            `json:"model_name,omitempty"`
	Warnings  []string          `json:"warnings,omitempty"`
	Count     int               `json:"count"`
	List      []Tensor          `json:"list"`
}

// ErrUnsupported means that this package knows a file's format, but does not read it. The error's text names a tool for
// the file.
var ErrUnsupported = errors.New("not supported")

// Tensor is one tensor of a model file. Shape is null if the format does not store it.
type Tensor struct {
	Name   string  `json:"name"`
	DType  string  `json:"dtype"`
	Shape  []int64 `json:"shape"`
	Offset int64   `json:"offset"`
	Size   int64   `json:"size"`
}

// Describe describes a file or folder. The error for an unknown format wraps ErrUnknown.
func Describe(path string) (Description, error) { return describe(path, path) }

// describe opens the file or folder called name and describes it as path.
func describe(name, path string) (Description, error) {
	f, err := os.Open(name)
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err // without a second file name
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: correct the path", err)
	}
	if err != nil {
		return Description{}, fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return Description{}, err
	}
	d := Description{Path: path, Size: st.Size()}
	switch {
	case st.IsDir():
		err = d.folder(name)
	case st.Mode().IsRegular():
		err = d.read(f)
	default:
		err = errors.New("not a regular file or folder")
	}
	if err != nil {
		return Description{}, fmt.Errorf("%s: %w%s", path, err, advice(name, f, err))
	}
	if d.ONNX != nil {
		d.warnOfMissing(filepath.Dir(name))
	}
	return d, nil
}

// warnOfMissing warns of missing files that an ONNX model in the folder refers to.
func (d *Description) warnOfMissing(folder string) {
	named := slices.Clone(d.ONNX.External)
	for _, c := range d.ONNX.Contexts {
		if c.File != "" && !slices.Contains(named, c.File) {
			named = append(named, c.File)
		}
	}
	for _, file := range named {
		if !filepath.IsLocal(file) {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, file)); errors.Is(err, fs.ErrNotExist) {
			d.ONNX.Warnings = append(d.ONNX.Warnings, "missing file "+file+": the model refers to it; put it beside the model")
		}
	}
}

// unsupported returns an error that names a tool for a known format, or nil for other files.
func unsupported(name string, head []byte) error {
	text := ""
	switch begin := strings.TrimSpace(string(head)); {
	case strings.HasPrefix(begin, "GGUF\x00\x00\x00"):
		text = "this is a big-endian GGUF file; run gguf-dump (Python package gguf) to show its " +
			"tensors, or convert it with llama.cpp's gguf_convert_endian.py"
	case strings.HasPrefix(begin, "GGUF"):
		text = "this is a GGUF file; run gguf-dump (Python package gguf) to show its metadata and tensors"
	case strings.HasPrefix(begin, "{") && strings.Contains(begin, "_encodings\""):
		text = "this is a file of quantization encodings (from AIMET or QAIRT's converter); read the JSON with jq"
	case strings.HasSuffix(name, ".onnx.data") || strings.HasSuffix(name, ".onnx_data"):
		text = "by its name, this file holds the weights of an ONNX model; inspect the .onnx file beside it"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s", ErrUnsupported, text)
}

// advice returns the next step for a file that cannot be described, based on its first bytes.
func advice(name string, f io.ReaderAt, err error) string {
	b := make([]byte, 256)
	n, _ := f.ReadAt(b, 0)
	begin := strings.ToLower(strings.TrimSpace(string(b[:n])))
	switch {
	case errors.Is(err, ErrUnsupported):
		return ""
	case strings.HasPrefix(begin, "version https://git-lfs.github.com/spec/"):
		return ". This is a Git LFS pointer; run `git lfs pull` in its repository"
	case strings.HasPrefix(begin, "<!doctype html") || strings.HasPrefix(begin, "<html"):
		return ". This is a web page, probably a login page; open the download address in a browser and " +
			"download the file"
	case n == 0:
		return ". The file is empty; download it again"
	case errors.Is(err, ErrUnknown):
		return ". If it should have one of these formats, it is damaged; download it again"
	}
	return ". The file is truncated or damaged; download it again"
}

func (d *Description) folder(path string) error {
	l, err := listFolder(path)
	if err != nil {
		return err
	}
	d.Format = "folder"
	d.Contents, err = l.describe(path, filepath.Base(path))
	if err == nil {
		d.Size = d.Contents.Bytes
	}
	return err
}

// zip describes a zip file as a DLC, an SDK or a model.
func (d *Description) zip(f *os.File) error {
	switch m, err := dlc.Parse(f, d.Size); {
	case err == nil:
		d.Format, d.DLC = "dlc", m
		return nil
	case !errors.Is(err, dlc.ErrUnknown):
		return err
	}
	l, err := listZip(f, d.Size)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(l.names, func(name string) bool { return strings.HasSuffix(name, "/data.pkl") }) {
		return fmt.Errorf("%w: this file is a PyTorch checkpoint; open it with Netron or torch.load(weights_only=True). "+
			"To see the checkpoints that hexmage converts, run `hexmage show kind convert`", ErrUnsupported)
	}
	d.Format = "zip"
	d.Contents, err = l.describe("", "")
	return err
}

func (d *Description) read(f *os.File) error {
	head := make([]byte, 256)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	head = head[:n]
	switch magic := uint32At(head); {
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		d.Format = "elf"
		d.ELF, err = describeELF(f, d.Size)
	case magic == 20012 || magic == 0x519A:
		err = d.mllm(f)
	case qnnctx.Is(head):
		err = d.qnnContext(f, 0)
	case magic == wrapMagic:
		err = d.wrapped(f)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		err = d.zip(f)
	case onnx.Is(head):
		err = d.onnx(f)
	case len(head) >= 9 && head[8] == '{':
		d.Format = "safetensors"
		err = d.safetensors(f)
	default:
		if err = unsupported(f.Name(), head); err == nil {
			err = ErrUnknown
		}
	}
	return err
}

// wrapMagic begins the header that ExecuTorch puts before a context binary. wrapSize exceeds the header's size.
const (
	wrapMagic = 0x5678abcd
	wrapSize  = 4096
)

// wrapped finds a context binary by its magic, because the format of ExecuTorch's header is not documented.
func (d *Description) wrapped(r io.ReaderAt) error {
	b := make([]byte, min(d.Size, wrapSize))
	if _, err := r.ReadAt(b, 0); err != nil {
		return err
	}
	for at := 4; at+8 <= len(b); at++ {
		if qnnctx.Is(b[at:]) {
			return d.qnnContext(r, int64(at))
		}
	}
	return fmt.Errorf("%w: ExecuTorch header without a context binary", ErrUnknown)
}

// InnerContext is a context binary inside another file.
type InnerContext struct {
	Name    string      `json:"name,omitempty"`
	Offset  int64       `json:"offset"`
	Context qnnctx.Info `json:"context"`
}

// onnx describes a model. ONNX has no magic number, so a file that only begins like a model has an unknown format.
func (d *Description) onnx(r io.ReaderAt) error {
	m, err := onnx.Parse(r, d.Size)
	if errors.Is(err, onnx.ErrFormat) {
		return fmt.Errorf("%w; reading the file as ONNX failed: %w", ErrUnknown, err)
	}
	if err != nil {
		return err
	}
	d.Format, d.ONNX = "onnx", m
	for i, c := range m.Contexts {
		if c.Size == 0 {
			continue
		}
		info, err := qnnctx.Parse(io.NewSectionReader(r, c.Offset, c.Size), c.Size)
		if err != nil {
			m.Warnings = append(m.Warnings, fmt.Sprintf("EPContext node %d: %v", i, err))
			continue
		}
		d.Contexts = append(d.Contexts, InnerContext{c.Partition, c.Offset, info})
	}
	return nil
}

func (d *Description) qnnContext(r io.ReaderAt, at int64) error {
	d.Format = "qnn-context"
	info, err := qnnctx.Parse(io.NewSectionReader(r, at, d.Size-at), d.Size-at)
	d.Context = &info
	return err
}

func uint32At(b []byte) uint32 {
	if len(b) < 4 {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}

func (d *Description) mllm(r io.ReaderAt) error {
	m, err := mllm.Parse(r, d.Size)
	if err != nil {
		return err
	}
	d.Format = fmt.Sprintf("mllm-v%d", m.Version)
	d.Tensors = &Tensors{ModelName: m.ModelName, Warnings: m.Warnings, Count: len(m.Params())}
	for _, p := range m.Params() {
		d.Tensors.List = append(d.Tensors.List, Tensor{p.Name, p.DType.String(), p.Shape, p.Offset, p.Size})
	}
	return nil
}

func (d *Description) safetensors(r io.ReaderAt) error {
	f, err := safetensors.Parse(r, d.Size)
	if err != nil {
		return err
	}
	d.Tensors = &Tensors{Metadata: f.Metadata, Count: len(f.Tensors())}
	for _, t := range f.Tensors() {
		d.Tensors.List = append(d.Tensors.List, Tensor{t.Name, string(t.DType), t.Shape, t.Offset, t.Size})
	}
	return nil
}

// failed is the JSON object for a file that cannot be described.
type failed struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// Printer prints descriptions, separated by empty lines.
type Printer struct {
	Out, Err io.Writer
	JSON     bool   // one object a line
	Dir      string // base of relative paths

	SoC        func(model int) string     // SoC of a soc_model, "" if it is unknown; may be nil
	CompiledAs func(arch string) []string // archs that share compiled code with an arch; may be nil

	some    bool
	failure error // first one
}

// Print describes files. For a folder without an SDK, it describes each file of a known format.
//
// It returns the first error that does not wrap ErrUnsupported. If all errors wrap ErrUnsupported, it returns the last
// one.
func (p *Printer) Print(ctx context.Context, paths ...string) error {
	for _, path := range paths {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.path(ctx, path)
	}
	return p.failure
}

func (p *Printer) path(ctx context.Context, path string) {
	place := path
	if p.Dir != "" && !filepath.IsAbs(path) {
		place = filepath.Join(p.Dir, path)
	}
	d, err := describe(place, path)
	if err != nil {
		p.failed(path, err)
		return
	}
	p.description(d)
	if d.Format != "folder" || d.Contents.SDK != nil {
		return
	}
	files, _ := listFolder(place) // empty if the folder cannot be listed
	for _, name := range files.names {
		if ctx.Err() != nil {
			return
		}
		shown := filepath.Join(path, filepath.FromSlash(name))
		switch d, err := describe(filepath.Join(place, filepath.FromSlash(name)), shown); {
		case err == nil:
			p.description(d)
		case !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrUnsupported):
			p.failed(shown, err)
		}
	}
}

func (p *Printer) failed(path string, err error) {
	if p.failure == nil || errors.Is(p.failure, ErrUnsupported) {
		p.failure = err
	}
	if p.JSON {
		_ = json.NewEncoder(p.Out).Encode(failed{path, err.Error()})
		return
	}
	fmt.Fprintf(p.Err, "inspect: %v\n", err)
}

func (p *Printer) description(d Description) {
	var err error
	if d.Context != nil && p.SoC != nil {
		d.SoC = p.SoC(int(d.Context.SoCModel))
	}
	if d.ELF != nil && d.ELF.Arch != "" && p.CompiledAs != nil {
		d.AlsoFor = p.CompiledAs(d.ELF.Arch)
	}
	if p.JSON {
		err = json.NewEncoder(p.Out).Encode(d)
	} else {
		if p.some {
			fmt.Fprintln(p.Out)
		}
		_, err = io.WriteString(p.Out, d.String())
	}
	p.some = true
	if err != nil {
		p.failure = err
	}
}
