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

// Patch holds the arguments of a patch step.
type Patch struct {
	Source step.Path  `arg:"source,required"`
	Series string     `arg:"series,required"`
	SDK    *cty.Value `arg:"sdk"`
}

// include is the path of the headers in a QAIRT SDK.
const include = "include/QNN"

func patchSchema() step.Schema {
	return step.Schema{
		Summary: "Patches and renames in third-party sources so that they build with the SDK.",
		ArgDocs: map[string]string{
			"source": "Folder of the sources: an output of another step, or a folder of the workspace. The step " +
				"copies it.",
			"series": "Patch series: the name of one that hexmage ships (mllm), or a folder of the workspace, with a " +
				"/ in its path.",
			"sdk": "QAIRT toolchain whose headers decide which changes the sources need. Default: toolchain.qairt.",
		},
		Outputs: []step.OutputSpec{
			step.Tree("dir", "The patched copy."),
			step.File("report", "Each patch, rename and edit with its places (JSON)."),
		},
		Toolchains: []string{"qairt"},
		Example: `step "patch" "ops" {
  source = "${step.git.mllm.outputs.dir}/mllm/backends/qnn/custom-op-package/LLaMAPackage"
  series = "mllm"
}`,
	}
}

// Plan plans one action.
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
		Out:    addrs.Output{Instance: p.At, Name: "dir"}.Path(),
		Report: addrs.Output{Instance: p.At, Name: "report"}.Path()}
	a := step.Tool(p, "", "patch "+spec.Source, patches.Tool, spec).SetEnv(p.Env)
	a.In(s.Source.Input(), headers).In(files...)
	p.Tree("dir", a.OutTree(spec.Out))
	p.File("report", a.Out(spec.Report))
}

// sdk returns the toolchain whose headers the action probes.
func (s Patch) sdk(p *step.Plan) addrs.Output {
	for _, o := range p.Used("sdk") {
		if o.Kind == addrs.Toolchain {
			return o
		}
	}
	if s.SDK != nil {
		p.Fail("", "Not a toolchain", "sdk of %s is not a toolchain. Use a toolchain, such as toolchain.qairt.", p.At)
		return addrs.Output{}
	}
	return p.Toolchain("qairt").Output
}

// series returns the folder of the series, named like it, and its files as inputs. So the rules are part of the
// action's key, including shipped ones.
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

// embedded returns all files of an embedded folder as inputs below a path.
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
