package steps

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/patches"
)

// Patch are the arguments of kind patch.
type Patch struct {
	Source step.Path  `arg:"source,required"`
	Series string     `arg:"series,required"`
	SDK    *cty.Value `arg:"sdk"`
}

// include is where a QAIRT SDK has its headers.
const include = "include/QNN"

func patchSchema() step.Schema {
	return step.Schema{
		Summary: "Patches and renames in other people's sources so that they build with the SDK.",
		ArgDocs: map[string]string{
			"source": "Folder of the sources: an output of another step, or a folder of the workspace. It is copied, not changed.",
			"series": "Name of a patch series that comes with hexmage (mllm), or a folder of the workspace (with a / in its path).",
			"sdk":    "The QAIRT toolchain whose headers say what is needed. Default: toolchain.qairt.",
		},
		Outputs: []step.OutputSpec{
			step.Tree("dir", "The patched copy."),
			step.File("report", "What was done, in JSON: each patch, each rename and edit with its places."),
		},
		Toolchains: []string{"qairt"},
		Example: `step "patch" "ops" {
  source = "${step.git.mllm.outputs.dir}/mllm/backends/qnn/custom-op-package/LLaMAPackage"
  series = "mllm"
}`,
	}
}

// Plan plans the one action.
func (s Patch) Plan(p *step.Plan) {
	sdk := s.sdk(p)
	series, files, err := s.series(p)
	if err != nil {
		p.Fail("series", "Unknown patch series", "%v.", err)
	}
	if p.Failed() {
		return
	}
	headers := action.Input{Path: path.Join(sdk.Path(), include), Artifact: &sdk, Sub: include}
	spec := patches.Spec{Source: s.Source.InRoot(), SDKInclude: headers.Path, Series: path.Base(series), Rules: series,
		Out: addrs.Output{Instance: p.At, Name: "dir"}.Path(), Report: addrs.Output{Instance: p.At, Name: "report"}.Path()}
	a := step.Tool(p, "", "patch "+spec.Source, patches.Tool, spec).In(s.Source.Input(), headers).In(files...).SetEnv(p.Env)
	p.Tree("dir", a.OutTree(spec.Out))
	p.File("report", a.Out(spec.Report))
}

// sdk is the toolchain whose headers are probed.
func (s Patch) sdk(p *step.Plan) addrs.Output {
	for _, o := range p.Used("sdk") {
		if o.Kind == addrs.Toolchain {
			return o
		}
	}
	if s.SDK != nil {
		p.Fail("", "Not a toolchain", "sdk of %s is to be a toolchain, such as toolchain.qairt.", p.At)
		return addrs.Output{}
	}
	return p.Toolchain("qairt").Output
}

// series returns the folder with the series, which has its name, and its files as inputs: so the rules are part of the action's key, also those that
// come with hexmage.
func (s Patch) series(p *step.Plan) (string, []action.Input, error) {
	if strings.Contains(s.Series, "/") {
		own := p.Path("series", s.Series)
		return own.InRoot(), []action.Input{own.Input()}, nil
	}
	fsys, err := patches.Shipped(s.Series)
	if err != nil {
		return "", nil, err
	}
	at := "in/series/" + s.Series
	files, err := embedded(fsys, at)
	if err != nil {
		return "", nil, fmt.Errorf("patch series %s: %w", s.Series, err)
	}
	return at, files, nil
}

// embedded are all files that hexmage carries in a folder, as inputs below a path.
func embedded(fsys fs.FS, at string) ([]action.Input, error) {
	var inputs []action.Input
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		inputs = append(inputs, action.Input{Path: path.Join(at, name), Content: &action.Content{Data: data}})
		return err
	})
	return inputs, err
}
