package steps

import (
	"context"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/aotconfig"
	"github.com/hexmage/hexmage/model/audit"
	"github.com/hexmage/hexmage/model/convert"
	"github.com/hexmage/hexmage/model/placement"
	"github.com/hexmage/hexmage/model/profile"
	"github.com/hexmage/hexmage/model/vocab"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/kerneltest"
	"github.com/hexmage/hexmage/oppackage/libcheck"
	"github.com/hexmage/hexmage/oppackage/opconfig"
	"github.com/hexmage/hexmage/patches"
	"github.com/hexmage/hexmage/runner/measure"
	"github.com/hexmage/hexmage/simulated/mllm/compiler"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/qairt"
	"github.com/hexmage/hexmage/steps/probe"
	"github.com/hexmage/hexmage/toolchains/python"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/git"
)

// Tools returns the built-in tools by their names in `hexmage tool NAME`.
func Tools() map[string]tool.Func {
	tools := map[string]tool.Func{}
	add(tools, aotconfig.Tool, aotconfig.Run)
	add(tools, kerneltest.Tool, kerneltest.RunTool)
	add(tools, libcheck.Tool, libcheck.Run)
	add(tools, opconfig.Tool, opconfig.Run)
	add(tools, opconfig.ListedTool, opconfig.RunListed)
	add(tools, oppackage.Tool, oppackage.Run)
	add(tools, probe.Compile, probe.RunCompile)
	add(tools, probe.Gather, probe.RunGather)
	add(tools, patches.Tool, patches.Run)
	add(tools, phone.Tool, phone.RunTool)
	add(tools, qairt.Tool, qairt.Run)
	add(tools, placement.Tool, placement.Run)
	add(tools, profile.Tool, profile.Run)
	add(tools, audit.Tool, audit.Run)
	add(tools, vocab.Tool, vocab.Run)
	add(tools, convert.Tool, convert.Run)
	add(tools, toymodel.MakeTool, toymodel.RunMake)
	add(tools, toymodel.ReferenceTool, toymodel.RunReference)
	add(tools, measure.Tool, measure.Metrics)
	add(tools, sources.Tool, sources.Run)
	add(tools, git.Tool, git.Run)
	add(tools, python.Tool, python.Run)
	for _, name := range compiler.Tools() { // they replace mllm's programs, with mllm's flags
		tools[name.String()] = compiler.New(name)
	}
	return tools
}

func add[S any](tools map[string]tool.Func, name tool.Name[S], run func(context.Context, S, tool.Env) error) {
	tools[name.String()] = tool.New(name, run)
}
