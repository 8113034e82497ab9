package inspect

import (
	"debug/elf"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/model/dlc"
	"github.com/hexmage/hexmage/model/onnx"
	"github.com/hexmage/hexmage/qnn/qnnctx"
)

// lines collects the lines of a description. Each has an indented name and a value.
type lines struct{ strings.Builder }

// add adds a line unless the value is empty.
func (l *lines) add(name string, values ...string) {
	if s := strings.Join(values, ", "); s != "" {
		fmt.Fprintf(l, "  %-13s %s\n", name, clean(s))
	}
}

// each adds a line for each value.
func (l *lines) each(name string, values []string) {
	for _, v := range values {
		l.add(name, v)
	}
}

// clean removes control characters, so that an untrusted file cannot control the terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '\ufffd'
		}
		return r
	}, s)
}

// String returns the description as text for a terminal.
func (d Description) String() string {
	l := &lines{}
	fmt.Fprintf(l, "%s\n  %s\n", clean(d.Path), d.headline())
	switch {
	case d.ELF != nil:
		for _, a := range d.AlsoFor {
			l.add("also for", a+", which runs code for "+d.ELF.Arch)
		}
		d.ELF.text(l)
	case d.Context != nil:
		contextText(l, d.Context, d.SoC)
	case d.ONNX != nil:
		onnxText(l, d.ONNX, d.Contexts)
	case d.DLC != nil:
		dlcText(l, d.DLC)
	case d.Tensors != nil:
		d.Tensors.text(l)
	case d.Contents != nil:
		d.Contents.text(l)
	}
	return l.String()
}

func (d Description) headline() string {
	size := bytesize.Binary(d.Size)
	switch {
	case d.ELF != nil:
		return fmt.Sprintf("%s, %s", d.ELF.headline(), size)
	case d.Context != nil:
		made := "QNN context binary"
		if d.Context.Simulated {
			made = "Simulated context binary"
		}
		if d.Context.Arch != 0 {
			made += fmt.Sprintf(" for Hexagon v%d", d.Context.Arch)
		}
		return fmt.Sprintf("%s, %s", made, size)
	case d.ONNX != nil:
		kind := "ONNX model"
		if len(d.ONNX.Contexts) > 0 {
			kind = "ONNX model with compiled contexts (EPContext)"
		}
		return fmt.Sprintf("%s of %d nodes, %s", kind, d.ONNX.Nodes, size)
	case d.DLC != nil:
		kind := "DLC"
		switch n := len(d.DLC.Caches); {
		case n == 1:
			kind = "DLC with a compiled context"
		case n > 1:
			kind = fmt.Sprintf("DLC with compiled contexts for %d SoCs", n)
		}
		return fmt.Sprintf("%s, %s", kind, size)
	case d.Tensors != nil:
		return fmt.Sprintf("%s model of %d tensors, %s", d.Format, d.Tensors.Count, size)
	case d.Contents != nil:
		return d.Contents.headline(d.Format, size)
	}
	return d.Format
}

func (e *ELF) headline() string {
	machine, ok := map[string]string{"EM_HEXAGON": "Hexagon", "EM_AARCH64": "AArch64", "EM_X86_64": "x86-64", "EM_ARM": "ARM", "EM_386": "x86"}[e.Machine]
	if !ok {
		machine = e.Machine
	}
	if e.Arch != "" {
		machine += " " + e.Arch
	}
	kind := e.Type
	switch {
	case e.Type == elf.ET_DYN.String() && e.Interpreter != "" && e.SOName == "", e.Type == elf.ET_EXEC.String():
		kind = "program"
	case e.Type == elf.ET_DYN.String() && len(e.OpPackage) > 0:
		kind = "op package"
	case e.Type == elf.ET_DYN.String() && e.Role != "":
		kind = "QNN " + e.Role
	case e.Type == elf.ET_DYN.String():
		kind = "shared library"
	case e.Type == elf.ET_REL.String():
		kind = "object file"
	}
	if system, ok := map[string]string{"android": "Android", "linux": "Linux"}[e.OS]; ok {
		kind += " for " + system
	}
	return fmt.Sprintf("%s %s (ELF, %s bits)", machine, kind, strings.TrimPrefix(e.Class, "ELFCLASS"))
}

func (e *ELF) text(l *lines) {
	l.add("soname", e.SOName)
	l.add("registered by", e.OpPackage...)
	if len(e.OpPackage) > 0 {
		l.add("built with", e.BuildIDs...)
	} else {
		l.add("QNN build id", e.BuildIDs...)
	}
	l.add("QNN version", e.Versions...)
	if len(e.Entry) > 0 {
		l.add("QNN interface", e.Providers...)
	}
	l.add("opened by", e.Entry...)
	l.add("needs", e.Needed...)
	l.add("looks in", e.RunPath...)
	l.add("started by", e.Interpreter)
	if e.Exported+e.Undefined > 0 {
		l.add("symbols", fmt.Sprintf("%d exported, %d undefined", e.Exported, e.Undefined))
	}
	switch {
	case e.PageAlign == 0:
	case e.Machine == "EM_AARCH64" && e.OS != "linux" && e.PageAlign < 16<<10:
		l.add("pages", fmt.Sprintf("%s: Android devices with 16 KiB pages cannot load it; link with -Wl,-z,max-page-size=16384", pageText(e.PageAlign)))
	default:
		l.add("pages", pageText(e.PageAlign))
	}
	if a := e.Android; a != nil {
		s := fmt.Sprintf("API %d", a.API)
		if a.NDK != "" {
			s += fmt.Sprintf(", NDK %s (%s)", a.NDK, a.NDKBuild)
		}
		l.add("Android", s)
	}
	l.add("GNU build id", e.GNUID)
	l.each("made by", e.Compilers)
	l.each("warning", e.Warnings)
}

func pageText(n uint64) string {
	if n >= 1024 && n%1024 == 0 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

func contextText(l *lines, c *qnnctx.Info, known string) {
	l.add("made by QNN", c.BuildID)
	soc := c.SoC
	if c.SoCModel != 0 {
		model := fmt.Sprintf("model %d", c.SoCModel)
		if known != "" && !strings.EqualFold(known, c.SoC) {
			model += ", which is " + known
		}
		if soc = model; c.SoC != "" {
			soc = fmt.Sprintf("%s (%s)", c.SoC, model)
		}
	} else if c.NoSoC {
		soc = "none: the compiler got no SoC that it knows"
	}
	l.add("SoC", soc)
	if c.VTCM != 0 {
		l.add("VTCM", byteText(c.VTCM))
	}
	if c.HVXThreads != 0 {
		l.add("HVX threads", fmt.Sprint(c.HVXThreads))
	}
	if c.OptLevel != 0 {
		l.add("optimized", fmt.Sprintf("level %d", c.OptLevel))
	}
	backend := fmt.Sprintf("number %d", c.Backend)
	if c.Backend == qnnctx.BackendHTP {
		backend = "HTP"
	}
	l.add("backend", fmt.Sprintf("%s, API %s; core API %s", backend, c.BackendAPI, c.CoreAPI))
	l.add("file format", fmt.Sprintf("%s, blob %s of %s", c.Format, c.BlobVersion, bytesize.Binary(c.BlobSize)))
	if c.Simulated {
		l.add("made by", "the simulated compiler: only the simulated phone runs it")
	}
	for _, g := range c.Graphs {
		graphText(l, g)
	}
	l.each("warning", c.Warnings)
}

func graphText(l *lines, g qnnctx.GraphInfo) {
	l.add("graph", g.Name)
	if g.VTCM != 0 {
		l.add("  takes", byteText(g.VTCM)+" of VTCM")
	}
	if g.SpillFill != 0 {
		l.add("  spills", byteText(g.SpillFill)+" to memory")
	}
	list(l, "  in", g.Inputs, tensorText)
	list(l, "  out", g.Outputs, tensorText)
}

func byteText(n uint64) string { return bytesize.Binary(int64(min(n, 1<<62))) }

// dimsText formats dimensions, for example [1×128].
func dimsText[T any](dims []T) string { return strings.ReplaceAll(fmt.Sprint(dims), " ", "×") }

func onnxText(l *lines, m *onnx.Model, contexts []InnerContext) {
	l.add("made by", m.Producer)
	l.add("operator set", m.Opsets...)
	l.add("graph", m.Graph)
	list(l, "  in", m.Inputs, valueText)
	list(l, "  out", m.Outputs, valueText)
	l.add("nodes", countText(m.SortedOps(), m.Ops))
	if m.Initializers > 0 {
		l.add("weights", fmt.Sprintf("%d tensors", m.Initializers))
	}
	l.add("weights in", m.External...)
	for _, c := range m.Contexts {
		where := "shared with another node"
		switch {
		case c.File != "":
			where = "in " + c.File
		case c.Size > 0:
			where = fmt.Sprintf("within, %s at %d", bytesize.Binary(c.Size), c.Offset)
		}
		l.add("context", where)
		l.add("  partition", c.Partition)
		l.add("  made by", c.Source, c.SDK)
	}
	for _, c := range contexts {
		inner(l, c.Name, &c.Context)
	}
	l.each("warning", m.Warnings)
}

// list adds a line for each element, up to mostTensors.
func list[T any](l *lines, name string, all []T, text func(T) string) {
	for i, x := range all {
		if i == mostTensors {
			l.add(name, fmt.Sprintf("… and %d more (--json has all)", len(all)-i))
			return
		}
		l.add(name, text(x))
	}
}

func valueText(v onnx.Value) string {
	return fmt.Sprintf("%-9s %-14s %s", v.DType, dimsText(v.Dims), v.Name)
}

// countText formats counts, for example "MatMul 12, Add 3", up to mostTensors kinds.
func countText(names []string, count map[string]int) string {
	var out []string
	for i, n := range names {
		if i == mostTensors {
			out = append(out, fmt.Sprintf("… and %d more kinds", len(names)-i))
			break
		}
		out = append(out, fmt.Sprintf("%s %d", n, count[n]))
	}
	return strings.Join(out, ", ")
}

// inner describes a context binary inside another file, in short.
func inner(l *lines, name string, c *qnnctx.Info) {
	soc := c.SoC
	if soc == "" {
		soc = "no SoC"
	}
	l.add("context", strings.TrimSpace(fmt.Sprintf("%s for %s, Hexagon v%d, %s of VTCM, by QNN %s", name, soc, c.Arch, byteText(c.VTCM), c.BuildID)))
	for _, g := range c.Graphs {
		graphText(l, g)
	}
	l.each("warning", c.Warnings)
}

func dlcText(l *lines, f *dlc.File) {
	l.add("format", f.Version)
	l.add("made by", strings.TrimSpace(f.Tool+" "+f.Converter))
	for _, g := range f.Graphs {
		graphText(l, g.GraphInfo)
		l.add("  ops", countText(slices.Sorted(maps.Keys(g.Ops)), g.Ops))
	}
	for _, c := range f.Caches {
		inner(l, c.Name, &c.Context)
	}
	l.each("warning", f.Warnings)
}

// mostTensors is the largest number of tensors that a text lists.
const mostTensors = 24

func tensorText(t qnnctx.TensorInfo) string {
	text := fmt.Sprintf("%-9s %-14s %s", t.DType, dimsText(t.Dims), t.Name)
	if q := t.Quant; q != nil && q.Encoding == "scale_offset" {
		text += fmt.Sprintf("  scale %g, offset %d", q.Scale, q.Offset)
	} else if q != nil {
		text += "  quantized, encoding " + q.Encoding
	}
	return text
}

func (t *Tensors) text(l *lines) {
	l.add("model name", t.ModelName)
	l.each("warning", t.Warnings)
	for _, x := range t.List {
		fmt.Fprintf(l, "  %-10s %-18s %10d  %s\n", x.DType, strings.ReplaceAll(fmt.Sprint(x.Shape), " ", ","), x.Size, clean(x.Name))
	}
}

func (c *Contents) headline(format, size string) string {
	where := map[string]string{"zip": "zip file", "folder": "folder"}[format]
	files := fmt.Sprintf("%d files", c.Files)
	if format == "zip" {
		files += fmt.Sprintf(" of %s", bytesize.Binary(c.Bytes))
	}
	if c.Model != nil {
		return fmt.Sprintf("Hugging Face model %s in a %s, %s, %s", clean(c.Model.Type), where, files, size)
	}
	if c.SDK == nil {
		return fmt.Sprintf("%s%s without a known SDK, %s, %s", strings.ToUpper(where[:1]), where[1:], files, size)
	}
	name, ok := map[string]string{"qairt": "QAIRT", "hexagon": "Hexagon SDK", "ndk": "Android NDK"}[c.SDK.Name]
	if !ok {
		name = c.SDK.Name
	}
	return fmt.Sprintf("%s %s in a %s, %s, %s", name, clean(c.SDK.Version), where, files, size)
}

func (c *Contents) text(l *lines) {
	if s := c.SDK; s != nil {
		l.add("build id", s.BuildID)
		l.add("tools", s.ToolsVersion)
		l.add("below", s.Root)
		l.add("Hexagon", s.Arches...)
		l.add("other targets", s.Targets...)
	}
	if m := c.Model; m != nil {
		for _, of := range []struct {
			name string
			n    int64
		}{{"layers", m.Layers}, {"hidden size", m.Hidden}, {"vocabulary", m.Vocabulary}} {
			if of.n > 0 {
				l.add(of.name, strconv.FormatInt(of.n, 10))
			}
		}
	}
	l.each("warning", c.Warnings)
}
