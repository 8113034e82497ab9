package steps

import (
	"path"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// executorchToolchain is the environment with ExecuTorch and PyTorch.
const executorchToolchain = "executorch"

// ExecuTorchContext are the arguments of kind executorch_context.
type ExecuTorchContext struct {
	Module    step.Path `arg:"module,required"`
	Libraries step.Path `arg:"libraries,required"`
	Precision string    `arg:"precision" default:"a16w8" oneof:"f16 a8w8 a16w8 a16w4"`
}

func executorchContextSchema() step.Schema {
	return step.Schema{
		Summary: "Lowers a PyTorch module to a .pte for the target with ExecuTorch and its quantiser, and the vendor's HTP compiler for x86.",
		ArgDocs: map[string]string{
			"module":    "A Python file with two functions: `module()` returns a torch.nn.Module, `samples()` a list of tuples of its inputs, all of one shape.",
			"libraries": "The folder with the vendor's libQnnHtp.so for x86. ExecuTorch takes those of the release that it was built against: 1.5.1 of QAIRT 2.37.",
			"precision": "Bits of activations and weights, for which the samples go through the module; or 16-bit floats.",
		},
		Outputs: []step.OutputSpec{
			{Name: "pte", Class: action.File, Doc: "The .pte, under the module's name. Its bytes differ from run to run: a signature of ExecuTorch's has the time."},
			{Name: "times", Class: action.File, Doc: "Seconds that it took (JSON)."},
		},
		Toolchains: []string{executorchToolchain, runtimeToolchain},
		Example: `step "executorch_context" "net" {
  module    = "net.py"
  libraries = "${toolchain.qairt.dir}/lib/x86_64-linux-clang"
}`,
	}
}

// Plan plans the lowering.
func (e ExecuTorchContext) Plan(p *step.Plan) {
	t, runtime := target(p, "A .pte is compiled for one SoC."), p.Toolchain(runtimeToolchain)
	if p.Failed() {
		return
	}
	if path.Ext(e.Module.InRoot()) != ".py" {
		p.Fail("module", "Not a Python file", "%s is not: ExecuTorch lowers a PyTorch module, which a file.py makes.", e.Module.InRoot())
		return
	}
	a := programIn(p, executorchToolchain, "lower for "+t.SoC, map[string]any{"module": e.Module.InRoot(), "libraries": e.Libraries.InRoot(), "soc": t.SoC,
		"precision": e.Precision, "out": "dir", "times": "times.json"}, "executorch_context").In(runtime.Input(), e.Module.Input(), e.Libraries.Input())
	env := htpEnv(runtime)
	env[libraryPath] = e.Libraries.InRoot() + ":" + env[libraryPath]
	a.SetEnv(env)
	a.Set(action.PropertyAddresses, action.AddressesFixed)
	pte := "dir/" + strings.TrimSuffix(path.Base(e.Module.InRoot()), ".py") + ".pte"
	p.File("pte", a.Out(pte))
	p.File("times", a.Out("times.json"))
	a.Vary(measured, "times.json")
	a.Vary("a signature of ExecuTorch's has the time", pte)
}
