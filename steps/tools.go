package steps

import (
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
	"github.com/hexmage/hexmage/steps/probe"
	"github.com/hexmage/hexmage/toolchains/python"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/git"
)

// Tools is the table of the built-in tools, by the name that follows `hexmage tool`.
func Tools() map[string]tool.Func {
	tools := map[string]tool.Func{
		aotconfig.Tool.String():         tool.New(aotconfig.Tool, aotconfig.Run),
		kerneltest.Tool.String():        tool.New(kerneltest.Tool, kerneltest.RunTool),
		libcheck.Tool.String():          tool.New(libcheck.Tool, libcheck.Run),
		opconfig.Tool.String():          tool.New(opconfig.Tool, opconfig.Run),
		opconfig.ListedTool.String():    tool.New(opconfig.ListedTool, opconfig.RunListed),
		oppackage.Tool.String():         tool.New(oppackage.Tool, oppackage.Run),
		probe.Compile.String():          tool.New(probe.Compile, probe.RunCompile),
		probe.Gather.String():           tool.New(probe.Gather, probe.RunGather),
		probe.Matrix.String():           tool.New(probe.Matrix, probe.RunMatrix),
		patches.Tool.String():           tool.New(patches.Tool, patches.Run),
		phone.Tool.String():             tool.New(phone.Tool, phone.RunTool),
		placement.Tool.String():         tool.New(placement.Tool, placement.Run),
		profile.Tool.String():           tool.New(profile.Tool, profile.Run),
		audit.Tool.String():             tool.New(audit.Tool, audit.Run),
		vocab.Tool.String():             tool.New(vocab.Tool, vocab.Run),
		convert.Tool.String():           tool.New(convert.Tool, convert.Run),
		toymodel.MakeTool.String():      tool.New(toymodel.MakeTool, toymodel.RunMake),
		toymodel.ReferenceTool.String(): tool.New(toymodel.ReferenceTool, toymodel.RunReference),
		measure.Tool.String():           tool.New(measure.Tool, measure.Metrics),
		sources.Tool.String():           tool.New(sources.Tool, sources.Run),
		git.Tool.String():               tool.New(git.Tool, git.Run),
		python.Tool.String():            tool.New(python.Tool, python.Run),
	}
	for _, name := range compiler.Tools() { // in the place of upstream's programs, with their flags
		tools[name.String()] = compiler.New(name)
	}
	return tools
}
