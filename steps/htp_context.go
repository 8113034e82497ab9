package steps

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/qnn"
)

// HTPContext are the arguments of kind htp_context.
type HTPContext struct {
	Graphs         step.Path `arg:"graphs,required"`
	SoCs           []string  `arg:"socs,nonull"`
	Optimization   int       `arg:"optimization" range:"1..3"`
	VTCMMB         int       `arg:"vtcm_mb" range:"1..64"`
	FixedAddresses bool      `arg:"fixed_addresses" default:"true"`
	Fallback       bool      `arg:"fallback"`
	Floats         bool      `arg:"floats"`
	DLC            bool      `arg:"dlc"`
	Optrace        bool      `arg:"optrace"`
	Sharing        bool      `arg:"sharing" default:"true"`
}

// socsSince is the first release of htp_host that was seen to make one file for several SoCs.
const socsSince = "2.7.0"

func htpContextSchema() step.Schema {
	return step.Schema{
		Summary: "Compiles quantised graphs with the vendor's own HTP compiler for x86 into a context binary for the target, and reads what came out.",
		ArgDocs: map[string]string{
			"graphs":          "A folder of *.onnx with their data, such as `onnx_quantize` made.",
			"socs":            "Several SoCs, the target's among them, for one file with a context of each: a DLC. For one graph alone.",
			"optimization":    "How hard the compiler tries; by default its own choice, which is 2.",
			"vtcm_mb":         "VTCM to compile for, in MB; by default all that the target has, of several SoCs the least.",
			"fixed_addresses": "Whether the compiler runs without random addresses: it orders something by address, and so two compiles give the same bytes. Without, they may differ, and `--verify` says where.",
			"fallback":        "Whether nodes may stay on the CPU. Otherwise one that the compiler does not take is an error.",
			"floats":          "Whether products of quantised tensors may be computed in 16-bit floats. Otherwise that is an error: the compiler does it without a word.",
			"dlc":             "Whether to write each graph as a DLC too, before it is compiled, for the vendor's own tools. It is an action of its own.",
			"optrace":         "Whether to compile so that operations can be traced (`profiling = \"optrace\"` of `htp_emulate`). The contexts are the same.",
			"sharing":         "Whether several graphs have one context, with their weights once, which Hexagon v73 and newer have. Otherwise device/ has a context of each, with weights of its own.",
		},
		Outputs: []step.OutputSpec{
			{Name: "dir", Class: action.Tree, Doc: "device/: one context of all graphs, with their weights once, without `sharing` one of each, or with `socs` one file; emulator/GRAPH/: each graph alone, as the emulator needs it, where device/ is not that; graphs/GRAPH.json: what the compiler made of it, and GRAPH.trace.json, of which nodes; manifest.json; nodes.json: which node runs where; placed.json: the same of each graph with its partitions and tensors, for `fallback`."},
			{Name: "dlc", Class: action.Tree, Doc: "GRAPH.dlc of each graph, with `dlc = true`; else empty."},
			{Name: "schematic", Class: action.Tree, Doc: "With `optrace = true` what the vendor's viewer reads traces by, in device/ and, of contexts for the emulator, GRAPH/; else empty."},
			{Name: "times", Class: action.File, Doc: "Of each compile the seconds that it took, `seconds`, and the memory that the compiler had at its peak, `peak_mb`, in MB (JSON)."},
		},
		Toolchains: []string{onnxToolchain, htpToolchain, runtimeToolchain},
		Example:    `step "htp_context" "lpbq" { graphs = step.onnx_quantize.lpbq.outputs.dir }`,
	}
}

// htpTarget is a SoC as the programs take it.
type htpTarget struct {
	SoC      string `json:"soc"`
	SoCModel int    `json:"soc_model"`
	Arch     int    `json:"arch"`
	VTCMMB   int    `json:"vtcm_mb"`
}

// Plan plans the compiling, one action for the context and its twins, and one for the DLCs. find looks up a SoC.
func (h HTPContext) Plan(p *step.Plan, find func(name string) (*qnn.SoC, error)) {
	t, libraries := target(p, "A context is compiled for one SoC."), p.Toolchain(htpToolchain)
	if p.Failed() {
		return
	}
	own := h.compiled(p, *t)
	socs := h.several(p, own, libraries, find)
	if p.Failed() {
		return
	}
	args := map[string]any{"graphs": h.Graphs.InRoot(), "libraries": htpLibraries(libraries), "target": own, "fallback": h.Fallback}
	compile := map[string]any{"floats": h.Floats, "out": "dir", "times": "times.json"}
	if len(socs) > 0 {
		compile["socs"] = socs
	}
	if !h.Sharing {
		compile["sharing"] = false
	}
	if h.Optrace {
		compile["schematics"] = "schematics"
	}
	if h.Optimization > 0 {
		compile["optimization"] = h.Optimization
	}
	a := h.action(p, "compile for "+t.SoC, args, compile, "htp_context", "htp_facts", "htp_reasons")
	p.Tree("dir", a.OutTree("dir"))
	p.File("times", a.Out("times.json"))
	if h.Optrace {
		p.Tree("schematic", a.OutTree("schematics"))
		a.Vary("it has addresses of the compiler's memory", "schematics")
	} else {
		p.Tree("schematic")
	}
	h.vary(a.Vary(measured, "times.json"))
	if !h.DLC {
		p.Tree("dlc")
		return
	}
	d := h.action(p, "write DLCs", args, map[string]any{"out": "dlc"}, "htp_dlc")
	d.Name = "dlc"
	p.Tree("dlc", d.OutTree("dlc"))
	h.vary(d)
}

// vary says of an action's outputs that they may differ, where they may.
func (h HTPContext) vary(a *step.Action) {
	if !h.FixedAddresses {
		a.Vary("the compiler orders something by address, and fixed_addresses is false")
	}
}

func (h HTPContext) action(p *step.Plan, description string, args, more map[string]any, of string, others ...string) *step.Action {
	for k, v := range args {
		more[k] = v
	}
	a := computes(p, program(p, description, more, true, of, append(others, "htp_compile")...)).In(h.Graphs.Input()) // ONNX Runtime folds constants before it compiles
	if h.FixedAddresses {
		a.Set(action.PropertyAddresses, action.AddressesFixed)
	}
	return a
}

// compiled is the SoC with the VTCM that the step asks for.
func (h HTPContext) compiled(p *step.Plan, t qnn.Target) htpTarget {
	arch, err := strconv.Atoi(strings.TrimPrefix(t.Arch, "v"))
	if err != nil {
		p.Fail("", "No HTP", "%s has the Hexagon %s, which is no HTP that contexts are compiled for.", t.SoC, t.Arch)
	}
	made := htpTarget{t.SoC, t.SoCModel, arch, t.VTCMMB}
	switch {
	case h.VTCMMB > 0:
		made.VTCMMB = h.VTCMMB
	case t.VTCMMB == 0:
		p.Fail("", "How much VTCM?", "It is not known how much VTCM %s has, and without that the compiler takes it for some. Say it: vtcm_mb = 8.", t.SoC)
	}
	if t.VTCMMB > 0 && h.VTCMMB > t.VTCMMB {
		p.Fail("vtcm_mb", "More VTCM than there is", "%s has %d MB of VTCM, and the compiler would take %d without a word. Ask for less, or leave vtcm_mb out.", t.SoC, t.VTCMMB, h.VTCMMB)
	}
	return made
}

// several are the SoCs of a file for more than one, nil where none was asked for. The compiler takes one VTCM for all.
func (h HTPContext) several(p *step.Plan, target htpTarget, libraries step.Toolchain, find func(string) (*qnn.SoC, error)) []htpTarget {
	if len(h.SoCs) == 0 {
		return nil
	}
	fail := func(format string, args ...any) { p.Fail("socs", "Not SoCs for one file", format, args...) }
	var known qnn.Known
	if learn(&known, libraries.Attrs); known.Version != "" && version.Compare(known.Version, socsSince) < 0 {
		fail("%s makes one file for several SoCs from %s on; this is %s. Take the newer release, or compile each SoC in a step of its own: for_each = target.", htpToolchain, socsSince, known.Version)
		return nil
	}
	var all []htpTarget
	for _, name := range h.SoCs {
		s, err := find(name)
		if err != nil {
			fail("%v.", err)
			continue
		}
		t := h.compiled(p, *s.Target())
		if slices.ContainsFunc(all, func(o htpTarget) bool { return o.SoCModel == t.SoCModel }) {
			fail("%s is there twice, by its model number %d.", t.SoC, t.SoCModel)
		}
		all = append(all, t)
	}
	switch {
	case len(all) == 1:
		fail("socs has %s alone. Name several, or leave socs out: without it the context is for the target.", all[0].SoC)
	case !p.Failed() && !slices.ContainsFunc(all, func(o htpTarget) bool { return o.SoCModel == target.SoCModel }):
		fail("%s, the target, is not among them: the emulator cannot load a file for several SoCs, and gets a context of the target's beside it.", target.SoC)
	case !p.Failed():
		least := slices.MinFunc(all, func(a, b htpTarget) int { return a.VTCMMB - b.VTCMMB }).VTCMMB
		for i := range all {
			all[i].VTCMMB = least
		}
	}
	return all
}
