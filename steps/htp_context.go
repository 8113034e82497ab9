package steps

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/model/placement"
	"github.com/hexmage/hexmage/qnn"
)

// HTPContext holds the arguments of an htp_context step.
type HTPContext struct {
	Graphs            step.Path `arg:"graphs,required"`
	SoCs              []string  `arg:"socs,nonull"`
	OptimizationLevel *int      `arg:"optimization_level" range:"1..3"`
	VTCMMB            int       `arg:"vtcm_mb" range:"1..64"`
	AllowCPUFallback  bool      `arg:"allow_cpu_fallback"`
	AllowFP16         bool      `arg:"allow_fp16"`
	DLC               bool      `arg:"dlc"`
	Optrace           bool      `arg:"optrace"`
	ShareWeights      bool      `arg:"share_weights" default:"true"`
	Title             string    `arg:"title"`
}

// socsSince is the first release of htp_host that was seen to write one file for several SoCs.
const socsSince = "2.7.0"

func htpContextSchema() step.Schema {
	return step.Schema{
		Summary: "Compiles graphs with Qualcomm's HTP compiler for x86 into a context binary for the target, and " +
			"checks the result.",
		ArgDocs: map[string]string{
			"graphs": "A folder of *.onnx with their data, such as `onnx_quantize` makes.",
			"socs": "Several SoCs, including the target: writes one DLC with a context for each. For " +
				"one graph only.",
			"optimization_level": "Optimization level of the compiler. Default: the compiler's default, 2.",
			"vtcm_mb": "VTCM (the NPU's fast memory) to compile for, in MB. Default: all of the target's " +
				"VTCM; with several SoCs, the smallest.",
			"allow_cpu_fallback": "Whether nodes that the NPU cannot run may stay on the CPU. Otherwise such a node " +
				"is an error.",
			"allow_fp16": "Whether the compiler may compute products of quantized tensors in 16-bit floats. " +
				"Otherwise that is an error; the compiler does not report it.",
			"dlc": "Whether to write each graph as a DLC for Qualcomm's tools, in a separate action.",
			"optrace": "Whether to compile for `profiling = \"optrace\"` of `htp_emulate`. The contexts " +
				"do not change.",
			"share_weights": "Whether to write one context for all graphs, with one set of weights. Needs " +
				"Hexagon v73 or newer. Otherwise each graph has its own context.",
			"title": "Title of the placement table.",
		},
		Outputs: []step.OutputSpec{
			step.Tree("dir", "device/: one context of all graphs; without `share_weights` one per graph; with `socs` "+
				"one file. emulator/GRAPH/: each graph alone, if the emulator cannot load device/. "+
				"graphs/GRAPH.json: the compiler's graph; GRAPH.trace.json: its nodes' origins. manifest.json; "+
				"nodes.json: the unit that runs each node; placed.json: partitions and their tensors."),
			step.Value("placement", "Partitions, nodes on the CPU and their reasons: { npu_nodes, cpu_nodes, "+
				"partitions, to_npu_bytes, to_cpu_bytes, nodes = [{ graph, name, op, takes, rank, why }], "+
				"replacements, no_replacement_known, … }."),
			step.File("placement_table", "The placement as a table, with known replacements (JSON)."),
			step.Tree("dlc", "GRAPH.dlc of each graph, with `dlc = true`. Otherwise empty."),
			step.Tree("schematic", "With `optrace = true`: files from which Qualcomm's viewer reads traces, in "+
				"device/ and, for the emulator, GRAPH/. Otherwise empty."),
			step.File("times", "For each compilation `seconds` and the compiler's peak memory `peak_mb`, in MB "+
				"(JSON)."),
		},
		Toolchains: []string{onnxToolchain, htpToolchain, runtimeToolchain},
		Example:    `step "htp_context" "lpbq" { graphs = step.onnx_quantize.lpbq.outputs.dir }`,
	}
}

// htpTarget is a SoC as the programs read it.
type htpTarget struct {
	SoC      string `json:"soc"`
	SoCModel int    `json:"soc_model"`
	Arch     int    `json:"arch"`
	VTCMMB   int    `json:"vtcm_mb"`
}

// Plan plans one action for all contexts, one for the placement report, and one for the DLCs.
func (h HTPContext) Plan(p *step.Plan, w Workspace) {
	t := target(p, "A context is compiled for one SoC.")
	if p.Failed() {
		return
	}
	own := h.compiled(p, *t)
	socs := h.several(p, own, w)
	if p.Failed() {
		return
	}
	compile := func(description string, more args, programs ...string) *step.Action {
		maps.Copy(more, args{"graphs": h.Graphs, "target": own, "allow_cpu_fallback": h.AllowCPUFallback})
		a := onHTP(p, description, more, append(programs, "htp_compile")...)
		return a.Set(action.PropertyAddresses, action.AddressesFixed) // the compiler sorts by address
	}
	given := args{"socs": socs, "allow_fp16": h.AllowFP16, "share_weights": h.ShareWeights,
		"optimization_level": h.OptimizationLevel, "out": "dir", "times": "times.json"}
	if h.Optrace {
		given["schematics"] = "schematics"
	}
	a := compile("compile for "+t.SoC, given, "htp_context", "htp_facts", "htp_reasons")
	p.Tree("dir", a.OutTree("dir"))
	p.File("times", a.Out("times.json"))
	if h.Optrace {
		p.Tree("schematic", a.OutTree("schematics"))
		a.Vary("the output contains memory addresses of the compiler", "schematics")
	} else {
		p.Tree("schematic")
	}
	a.Vary(measured, "times.json")
	h.place(p, a.OutTree("dir"), own.Arch, w)
	if !h.DLC {
		p.Tree("dlc")
		return
	}
	d := compile("write DLCs", args{"out": "dlc"}, "htp_dlc")
	d.Name = "dlc"
	p.Tree("dlc", d.OutTree("dlc"))
}

// place plans the report of the nodes that stay on the CPU.
func (h HTPContext) place(p *step.Plan, dir action.Input, arch int, w Workspace) {
	s := placement.Spec{Title: cmp.Or(h.Title, p.At.Title()), Dir: "dir",
		Table: "placement_table.json", Out: "placement.json"}
	if w.Catalog != nil {
		known := w.Catalog()
		s.Arch = "v" + strconv.Itoa(arch)
		s.UnsupportedOps, s.Precisions = known.UnsupportedOps, known.Precisions
	}
	a := step.Tool(p, "placement", "report nodes on the CPU", placement.Tool, s).In(dir.As("dir"))
	p.Output("placement", action.Value, a.Out(s.Out))
	p.File("placement_table", a.Out(s.Table))
}

// compiled returns the SoC with the VTCM size that the step asks for.
func (h HTPContext) compiled(p *step.Plan, t qnn.Target) htpTarget {
	arch, err := strconv.Atoi(strings.TrimPrefix(t.Arch, "v"))
	if err != nil {
		p.Fail("", "Unsupported Hexagon", "%s has Hexagon %s, which the HTP compiler does not support. Choose "+
			"another SoC.", t.SoC, t.Arch)
	}
	switch {
	case h.VTCMMB == 0 && t.VTCMMB == 0:
		p.Fail("", "Unknown VTCM size", "%s: the catalog has no VTCM size. Set vtcm_mb, for example vtcm_mb = 8.",
			t.SoC)
	case t.VTCMMB > 0 && h.VTCMMB > t.VTCMMB:
		p.Fail("vtcm_mb", "Too much VTCM", "vtcm_mb: %s has %d MB of VTCM, less than %d. Lower vtcm_mb, or remove it.",
			t.SoC, t.VTCMMB, h.VTCMMB)
	}
	return htpTarget{t.SoC, t.SoCModel, arch, cmp.Or(h.VTCMMB, t.VTCMMB)}
}

// several returns the SoCs of a file for several SoCs, none without socs. The compiler takes one VTCM size for all.
func (h HTPContext) several(p *step.Plan, target htpTarget, w Workspace) []htpTarget {
	all := []htpTarget{}
	if len(h.SoCs) == 0 {
		return all
	}
	fail := func(format string, args ...any) { p.Fail("socs", "Invalid set of SoCs", format, args...) }
	known := knownOf(p.Toolchains[htpToolchain])
	if known.Version != "" && version.Compare(known.Version, socsSince) < 0 {
		fail("%s: %[3]s cannot write one file for several SoCs. Use %[2]s or newer, or compile each SoC in its own "+
			"step with for_each = target.", htpToolchain, socsSince, known.Version)
		return nil
	}
	for _, name := range h.SoCs {
		s, err := w.Catalog().FindSoC(name)
		if err != nil {
			fail("%v.", err)
			continue
		}
		t := h.compiled(p, *s.Target())
		if slices.ContainsFunc(all, func(o htpTarget) bool { return o.SoCModel == t.SoCModel }) {
			fail("%s appears twice, with soc_model %d. Remove one of the two.", t.SoC, t.SoCModel)
		}
		all = append(all, t)
	}
	switch {
	case p.Failed():
	case len(all) == 1:
		fail("socs has only %s. Add more SoCs, or remove socs to compile for the target.",
			all[0].SoC)
	case !slices.ContainsFunc(all, func(o htpTarget) bool { return o.SoCModel == target.SoCModel }):
		fail("socs lacks the target %s, whose context the emulator loads. Add the target to socs.", target.SoC)
	}
	for _, t := range all {
		for i := range all {
			all[i].VTCMMB = min(all[i].VTCMMB, t.VTCMMB)
		}
	}
	return all
}
