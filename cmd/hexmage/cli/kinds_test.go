package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/steps"
)

// strip is a kind that somebody adds: its arguments, and what it does with them.
type strip struct {
	Library step.Path `arg:"library,required"`
	Keep    string    `arg:"keep" default:"exports" oneof:"exports lines nothing"`
}

func stripSchema() step.Schema {
	return step.Schema{
		Summary: "Takes out of a library what a phone does not need.",
		ArgDocs: map[string]string{"library": "The library.", "keep": "What stays."},
		Outputs: []step.OutputSpec{{Name: "library", Class: action.File, Doc: "The smaller library."}},
		Example: `step "strip" "ops" { library = "ops.so" }`,
	}
}

func (s strip) Plan(p *step.Plan) {
	a := p.Action("", "strip "+s.Library.String(), "llvm-strip", "--keep="+s.Keep, s.Library.InRoot(), "-o",
		"stripped.so").In(s.Library.Input())
	p.File("library", a.Out("stripped.so"))
}

// A kind is one file, which is what stands above, and one line of the table, which is the next but one: then it is in
// the list, in the documentation, in checks, and in plans.
func TestAKindIsOneFileAndOneLine(t *testing.T) {
	kinds := steps.Workspace{}.Kinds()
	kinds["strip"] = step.New(stripSchema(), strip.Plan)

	list := func(asJSON bool, kind string) string {
		t.Helper()
		var out bytes.Buffer
		a := &app{globalFlags: globalFlags{JSON: asJSON}, Env: Env{Stdout: &out}}
		if err := listKinds(a, kinds, kind); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if text := list(false, ""); !regexp.MustCompile(`\nstrip +Takes out of a library what a phone does not need\.\n`).
		MatchString(text) {
		t.Errorf("the list:\n%s", text)
	}
	text := list(false, "strip")
	for _, want := range []string{"kind: strip\nsummary: Takes out of",
		"  - name: library\n    type: string\n    required: true\n    doc: The library.\n",
		"  - name: keep\n    type: string\n    default: exports\n    values: exports, lines or nothing\n" +
			"    doc: What stays.\n",
		"outputs:\n  - name: library\n    class: file\n    doc: The smaller", "\nexample: step \"strip\" \"ops\" {"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	var d step.Description
	if _, err := os.Stat("shipped"); err == nil { // this app has no cache: what it unpacked would be here
		t.Error("the list of kinds unpacks the shipped pipelines")
	}
	if err := json.Unmarshal([]byte(list(true, "strip")), &d); err != nil || d.Kind != "strip" ||
		len(d.Arguments) != 2 || d.Arguments[0].Default != "exports" {
		t.Errorf("%+v, %v", d, err)
	}

	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "language.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err = updateDocs(doc, kinds)
	if err != nil || !strings.Contains(string(doc), "### step \"strip\"\n\nTakes out of a library what a phone does "+
		"not need.\n\n| argument | type | |\n|---|---|---|\n| `keep` | string | What stays. Values: exports, lines "+
		"or nothing. Default: exports. |\n| `library` | string | **Required.** The library. |\n") {
		t.Errorf("the documentation does not have it (%v)", err)
	}

	for step, want := range map[string]string{
		`step "strip" "x" { library = "a.so" }`:                                                                        ``,
		"step \"strip\" \"x\" {\n library = \"a.so\"\n keep = \"lines\"\n}":                                            ``,
		`step "strp" "x" { library = "a.so" }`:                                                                         `hexmage has no step kind strp. Did you mean strip?`,
		`step "strip" "x" { libary = "a.so" }`:                                                                         `Did you mean library?`,
		`step "strip" "x" {}`:                                                                                          `"library" is required`,
		"step \"strip\" \"x\" {\n library = \"a.so\"\n keep = \"all\"\n}":                                              `keep is "all". Use exports, lines or nothing.`,
		"step \"strip\" \"x\" {\n library = \"a.so\"\n keep = [\"lines\"]\n}":                                          `string required`,
		"step \"strip\" \"x\" { library = step.strip.y.outputs.library }\nstep \"strip\" \"y\" { library = \"a.so\" }": ``,
		"step \"strip\" \"x\" { library = step.strip.y.outputs.libary }\nstep \"strip\" \"y\" { library = \"a.so\" }":  `Did you mean step.strip.y.outputs.library?`,
	} {
		fsys := fstest.MapFS{"pipelines/p.hcl": {Data: []byte("pipeline { description = \"x\" }\n" + step + "\n")}}
		cfg, diags := config.Load(fsys, "p", nil)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		p, _, diags := planner.Plan(planner.Options{Config: cfg, Kinds: kinds, Workspace: t.TempDir()})
		if (want == "") == diags.HasErrors() || want != "" && !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: %v, want %q", step, diags, want)
		}
		if want == "" && (len(p.Instances) == 0 || p.Instances[0].Specs[0].Args[0] != "llvm-strip") {
			t.Errorf("%s: planned %+v", step, p.Instances)
		}
	}
}

// The example of every kind is one: its arguments are there, and of their types.
func TestExamplesOfKinds(t *testing.T) {
	kinds := steps.Workspace{}.Kinds()
	for _, d := range step.Describe(kinds) {
		f, diags := hclsyntax.ParseConfig([]byte(d.Example), d.Kind, hcl.InitialPos)
		body := f.Body.(*hclsyntax.Body)
		if diags.HasErrors() || len(body.Blocks) != 1 || !strings.HasPrefix(d.Example, blockOf(d)) {
			t.Errorf("kind %s: the example is no %s: %v", d.Kind, blockOf(d), diags)
			continue
		}
		schema := hcldec.ImpliedSchema(kinds[d.Kind].Schema().Args)
		for _, name := range config.MetaArguments() {
			schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name})
		}
		schema.Blocks = append(schema.Blocks, hcl.BlockHeaderSchema{Type: "output", LabelNames: []string{"name"}})
		_, diags = body.Blocks[0].Body.Content(schema)
		refs := &hcl.EvalContext{Variables: map[string]cty.Value{"step": cty.DynamicVal, "toolchain": cty.DynamicVal,
			"target": cty.DynamicVal}}
		_, _, more := hcldec.PartialDecode(body.Blocks[0].Body, kinds[d.Kind].Schema().Args, refs)
		if diags = append(diags, more...); diags.HasErrors() {
			t.Errorf("kind %s: %v", d.Kind, diags)
		}
		if formatted := string(hclwrite.Format([]byte(d.Example))); formatted != d.Example {
			t.Errorf("kind %s: `hexmage fmt` would write\n%s", d.Kind, formatted)
		}
	}
	if len(kinds) < 15 || kinds[addrs.Toolchain] == nil {
		t.Errorf("%d kinds", len(kinds))
	}
}
