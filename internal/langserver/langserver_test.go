package langserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/langserver"
	"github.com/hexmage/hexmage/internal/safepath"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/workspace"
)

// client is an editor.
type client struct {
	t     *testing.T
	root  string
	conn  *jsonrpc2.Conn
	told  chan published
	ended chan error
}

type published struct {
	URI         string
	Diagnostics []struct {
		Range    span
		Severity int
		Message  string
	}
}

type position struct{ Line, Character int }

type span struct{ Start, End position }

type edit struct {
	Range   span
	NewText string
}

// Handle implements jsonrpc2.Handler.
func (c *client) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	var p published
	if r.Method == "textDocument/publishDiagnostics" && json.Unmarshal(*r.Params, &p) == nil {
		c.told <- p
	}
}

func kinds() []step.Description {
	return []step.Description{
		{Kind: "exec", Summary: "Runs a command.", OwnOutputs: true, Example: "step \"exec\" \"x\" {}",
			Arguments: []step.Argument{
				{Name: "argv", Type: "list(string)", Required: true, Doc: "The command."},
				{Name: "mode", Type: "string", Doc: "How.", Values: "fast or small",
					Choices: []string{"fast", "small"}},
				{Name: "rule", Type: "blocks { name (string) }", Doc: "A part."},
			}},
		{Kind: "patch", Summary: "Patches sources.",
			Outputs: []step.Output{{Name: "dir", Class: "tree", Doc: "The sources, patched."}}},
		{Kind: "toolchain", Summary: "An SDK.",
			Arguments: []step.Argument{{Name: "version", Type: "string", Doc: "Which release."}}},
	}
}

func words() ([]step.Description, map[string][]langserver.Word) {
	return kinds(), map[string][]langserver.Word{
		"target{":                  {{Name: "units", Doc: "How many."}},
		`target "`:                 {{Name: "Alpha7", Detail: "the seventh", Doc: "Has 8 units."}},
		`toolchain "`:              {{Name: "llvm", Detail: "compilers"}},
		"toolchain llvm version =": {{Name: "22.1", Doc: "The newest."}, {Name: "21.0"}},
		"module source =":          {{Name: "shared"}},
		"":                         {{Name: "upper", Detail: "(str)", Doc: "In capitals."}},
		"target.*.":                {{Name: "units", Doc: "How many."}, {Name: "chip"}},
		"toolchain.llvm.":          {{Name: "dir", Doc: "Its tree."}, {Name: "version"}},
	}
}

func host() langserver.Host {
	return langserver.Host{Log: os.Stderr, Workspace: func(file string, open langserver.Texts) *langserver.Workspace {
		root, _, ok := strings.Cut(file, "/pipelines/")
		if !ok {
			if root, _, ok = strings.Cut(file, "/modules/"); !ok {
				return nil
			}
		}
		files := langserver.Overlay(safepath.FS(root), root, open)
		find := func(source string) (config.ModuleFolder, error) {
			return config.ModuleFolder{FS: files, Dir: "modules/" + source}, nil
		}
		load := func(_ context.Context, name string) (*config.Pipeline, hcl.Diagnostics) {
			return config.Load(files, name, find)
		}
		return &langserver.Workspace{
			Root: root, Load: load, Find: find, Words: words,
			Pipelines: func() []string { names, _ := workspace.Names(files); return names },
			Check: func(ctx context.Context, name string) (hcl.Diagnostics, error) {
				_, diags := load(ctx, name)
				return diags, nil
			},
		}
	}}
}

// connect starts a server on a workspace with files.
func connect(t *testing.T, files map[string]string) *client {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	here, there := net.Pipe()
	c := &client{t: t, root: root, told: make(chan published, 1000), ended: make(chan error, 1)}
	go func() { c.ended <- langserver.Serve(context.Background(), there, host()) }()
	c.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(here, jsonrpc2.VSCodeObjectCodec{}), c)
	t.Cleanup(func() { _ = c.conn.Close() })
	var got struct{ Capabilities map[string]any }
	c.call("initialize", map[string]any{"capabilities": map[string]any{}}, &got)
	for _, can := range []string{
		"completionProvider", "hoverProvider", "definitionProvider", "documentFormattingProvider",
	} {
		if got.Capabilities[can] == nil {
			t.Errorf("the server does not say that it has %s", can)
		}
	}
	return c
}

func (c *client) uri(name string) string {
	return (&url.URL{Scheme: "file", Path: filepath.Join(c.root, name)}).String()
}

func (c *client) try(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return c.conn.Call(ctx, method, params, result)
}

func (c *client) call(method string, params, result any) {
	c.t.Helper()
	if err := c.try(method, params, result); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	if err := c.conn.Notify(context.Background(), method, params); err != nil {
		c.t.Fatal(err)
	}
}

// cursor is the mark of a place in a text.
const cursor = "‸"

// openAt opens a file with a text, and returns the parameters of a request about the place that is marked in it.
func (c *client) openAt(name, text string) map[string]any {
	c.t.Helper()
	before, after, _ := strings.Cut(text, cursor)
	c.notify("textDocument/didOpen",
		map[string]any{"textDocument": map[string]any{"uri": c.uri(name), "version": 1, "languageId": "hcl",
			"text": before + after}})
	return c.place(name, before)
}

func (c *client) place(name, before string) map[string]any {
	line := before[strings.LastIndex(before, "\n")+1:]
	return map[string]any{"textDocument": map[string]any{"uri": c.uri(name)},
		"position": map[string]any{"line": strings.Count(before, "\n"), "character": len([]rune(line))}}
}

func (c *client) change(name, text string) {
	c.t.Helper()
	c.notify("textDocument/didChange",
		map[string]any{"textDocument": map[string]any{"uri": c.uri(name), "version": 2},
			"contentChanges": []any{map[string]any{"text": text}}})
}

// await returns the first that an editor is told of a file for which ok holds.
func (c *client) await(name string, ok func(published) bool) published {
	c.t.Helper()
	limit := time.After(time.Minute)
	var last published
	for {
		select {
		case p := <-c.told:
			if p.URI != c.uri(name) {
				continue
			}
			if last = p; ok(p) {
				return p
			}
		case <-limit:
			c.t.Fatalf("of %s nothing came that was waited for; last %+v", name, last)
		}
	}
}

func messages(p published) string {
	var all []string
	for _, d := range p.Diagnostics {
		all = append(all, fmt.Sprintf("%d:%d-%d:%d %d %s", d.Range.Start.Line, d.Range.Start.Character,
			d.Range.End.Line, d.Range.End.Character, d.Severity, d.Message))
	}
	return strings.Join(all, "\n")
}

func some(p published) bool { return len(p.Diagnostics) > 0 }
func none(p published) bool { return len(p.Diagnostics) == 0 }

func apply(text string, edits []edit) string {
	lines := strings.SplitAfter(text, "\n")
	at := func(p position) int {
		n := 0
		for _, l := range lines[:p.Line] {
			n += len(l)
		}
		return n + p.Character // of texts that are ASCII
	}
	slices.SortFunc(edits, func(a, b edit) int { return at(b.Range.Start) - at(a.Range.Start) })
	for _, e := range edits {
		text = text[:at(e.Range.Start)] + e.NewText + text[at(e.Range.End):]
	}
	return text
}

// The server reports the errors of open texts, in each file that has some, until the text is right or closed.
func TestDiagnostics(t *testing.T) {
	c := connect(t, map[string]string{
		"pipelines/p.hcl":      "pipeline {}\nmodule \"m\" { source = \"m\" }\n",
		"pipelines/other.hcl":  "pipeline {}\n",
		"modules/m/main.hcl":   "variable \"x\" {}\n",
		"modules/m/more.hcl":   "",
		"modules/alone/a.hcl":  "variable \"x\" {}\n",
		"pipelines/broken.hcl": "step {\n",
	})
	c.openAt("pipelines/p.hcl", "pipeline {}\n\nlocals { é = \"ä𝄞\" }   stepp \"a\" \"b\" {}\n")
	if got, want := messages(c.await("pipelines/p.hcl", some)),
		"Missing newline after block definition"; !strings.Contains(got, want) {
		t.Errorf("said is %q, not %q", got, want)
	}
	c.change("pipelines/p.hcl", "pipeline {}\nmodule \"m\" { source = \"m\" }\nlocals { e = \"ä𝄞\"\n}\nstepp "+
		"\"a𝄞\" \"b\" {}\n")
	stepp := "4:0-4:5 1 Unknown block: The block stepp is not valid in a pipeline file. Did you mean step?"
	c.await("pipelines/p.hcl", func(p published) bool { return strings.Contains(messages(p), stepp) })
	c.change("pipelines/p.hcl", "pipeline {}\nmodule \"m\" { source = \"m\" }\n")
	c.await("pipelines/p.hcl", none)

	c.openAt("modules/m/main.hcl", "variable \"x\" {}\nvariable \"x\" {}\n")
	if got, want := messages(c.await("modules/m/main.hcl", some)),
		"1:0-1:12 1 Declared twice: var.x is declared here and at modules/m/main.hcl:1. Rename or remove one of "+
			"them."; got != want {
		t.Errorf("said of a module is %q, not %q", got, want)
	}
	c.openAt("modules/m/more.hcl", "locals { a = 1 }\nlocals { a = 2 }\n")
	c.await("modules/m/more.hcl", some)
	for _, name := range []string{"modules/m/more.hcl", "modules/m/main.hcl"} {
		c.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": c.uri(name)}})
		c.await(name, none)
	}
	c.openAt("modules/alone/a.hcl", "variable \"x\" {\n  a = [\n}\n")
	c.await("modules/alone/a.hcl", some)
	c.openAt("elsewhere.hcl", "a = \n")
	c.await("elsewhere.hcl", some)
	c = connect(t, nil)
	c.openAt("pipelines/first.hcl", "a = \n") // its folder is not there yet
	c.await("pipelines/first.hcl", some)
}

const pipeline = `pipeline {}
target "Alpha7" {}
variable "size" {
  type        = number
  description = "how large"
}
locals { twice = 2 * var.size }
profile "simulated" {
  variables = { size = 1 }
  locals { name = upper("x") }
}
profile "far" {
  locals { name = "far" }
}
toolchain "llvm" { version = "22.1" }
module "m" {
  source = "m"
  depth  = var.size
}
step "patch" "ops" {}
step "exec" "gen" {
  for_each = { a = 1 }
  argv     = ["cat", "${step.patch.ops.outputs.dir}/${local.name}", toolchain.llvm.dir, target.units]
  mode     = "fast"
  output "json" { file = "x.json" }
}
output "all" { value = [for k, local in step.exec.gen : local.outputs.json] }
output "one" { value = step.exec.gen["a"].outputs.json }
output "depth" { value = module.m.deep + local.twice }
`

const module = `variable "depth" {
  type        = number
  description = "how deep"
}
output "deep" {
  value       = var.depth
  description = "the depth"
}
`

func TestCompletion(t *testing.T) {
	c := connect(t, map[string]string{"pipelines/q.hcl": "pipeline {}\n", "modules/m/main.hcl": module})
	for i, tt := range []struct {
		text  string // after pipeline
		want  string // what is offered, among others
		never string
		now   string // of the line, when the first of want was taken; "" does not look
	}{
		{text: `st‸`, want: "step variable locals toolchain target module output check profile",
			never: "argv validation", now: "step"},
		{text: `step "‸`, want: "exec patch", never: "toolchain", now: `step "exec`},
		{text: `step "ex‸" "x" {}`, want: "exec", now: `step "exec" "x" {}`},
		{text: `step "exec" "‸" {}`, never: "exec llvm"},
		{text: "step \"exec\" \"y\" {\n  ‸\n}", want: "argv mode when for_each output secret_file rule",
			never: "dir version", now: "  argv = "},
		{text: "step \"exec\" \"y\" {\n  argv = []\n  m‸ = 1\n}", want: "mode", never: "argv", now: "  mode = 1"},
		{text: "step \"exec\" \"y\" {\n  mode = \"‸\"\n}", want: "fast small", now: `  mode = "fast"`},
		{text: "step \"exec\" \"y\" {\n  mode = \"${var.size}‸\"\n}", never: "fast small"},
		{text: "step \"exec\" \"y\" {\n  output \"a\" {\n    ‸\n  }\n}", want: "file tree value", never: "argv"},
		{text: "step \"exec\" \"y\" {\n  argv = [step.‸]\n}", want: "patch exec", never: "ops",
			now: "  argv = [step.patch]"},
		{text: "step \"exec\" \"y\" {\n  argv = [step.exec.‸]\n}", want: "gen", never: "ops"},
		{text: "step \"exec\" \"y\" {\n  argv = [step.patch.ops.‸]\n}", want: "outputs"},
		{text: "step \"exec\" \"y\" {\n  argv = [step.patch.ops.outputs.‸]\n}", want: "dir", never: "json"},
		{text: "step \"exec\" \"y\" {\n  argv = [\"a${step.exec.gen[\"a\"].outputs.‸", want: "json", never: "dir"},
		{text: "output \"x\" { value = var.s‸ }", want: "size", never: "twice"},
		{text: "output \"x\" { value = local.‸ }", want: "twice name", never: "size"},
		{text: "output \"x\" { value = module.‸ }", want: "m"},
		{text: "output \"x\" { value = module.m.‸ }", want: "deep", never: "depth"},
		{text: "output \"x\" { value = toolchain.‸ }", want: "llvm"},
		{text: "output \"x\" { value = toolchain.llvm.‸ }", want: "dir version"},
		{text: "output \"x\" { value = target.‸ }", want: "units chip Alpha7"},
		{text: "output \"x\" { value = targets.‸ }", want: "Alpha7", never: "units"},
		{text: "output \"x\" { value = true ? ‸ }", want: "step var local module toolchain target path profile upper"},
		{text: "output \"x\" { value = \"x‸\" }", never: "step var"},
		{text: "target \"‸\" {}", want: "Alpha7"},
		{text: "target \"Alpha7\" {\n  ‸\n}", want: "units", never: "chip"},
		{text: "toolchain \"‸\" {}", want: "llvm"},
		{text: "toolchain \"llvm\" { version = \"‸\" }", want: "22.1 21.0"},
		{text: "toolchain \"llvm\" {\n  ‸\n}", want: "version when description", never: "for_each"},
		{text: "module \"n\" { source = \"‸\" }", want: "shared"},
		{text: "module \"n\" {\n  source = \"m\"\n  ‸\n}", want: "depth when for_each", never: "source"},
		{text: "variable \"n\" {\n  ‸\n}", want: "type default description sensitive validation"},
		{text: "profile \"n\" {\n  ‸\n}", want: "variables default step toolchain locals", never: "variable pipeline"},
		{text: "profile \"n\" {\n  variables = {\n    ‸\n  }\n}", want: "size"},
		{text: "# ‸", never: "step"},
		// what stands before is not closed
		{text: "step \"exec\" \"y\" {\n  argv = [\"a\n}\nstep \"exec\" \"z\" {\n  ‸\n}", want: "argv mode"},
		{text: "step \"exec\" \"y\" {\n  argv = [\nstep \"exec\" \"z\" {\n  mo‸\n}", want: "mode"},
		{text: "locals {\n  a = <<EOT\n  ${var.‸\n", want: "size"},
	} {
		name := fmt.Sprintf("pipelines/c%d.hcl", i)
		before, after, _ := strings.Cut(tt.text, cursor)
		p := c.openAt(name, pipeline+tt.text)
		var got []struct {
			Label    string
			TextEdit edit
		}
		c.call("textDocument/completion", p, &got)
		offered := map[string]edit{}
		for _, item := range got {
			offered[item.Label] = item.TextEdit
		}
		for _, w := range strings.Fields(tt.want) {
			if _, ok := offered[w]; !ok {
				t.Errorf("%s: %s is not offered", tt.text, w)
			}
		}
		for _, w := range strings.Fields(tt.never) {
			if _, ok := offered[w]; ok {
				t.Errorf("%s: %s is offered", tt.text, w)
			}
		}
		if tt.now != "" {
			all := strings.Split(apply(pipeline+before+after, []edit{offered[strings.Fields(tt.want)[0]]}), "\n")
			if line := p["position"].(map[string]any)["line"].(int); all[line] != tt.now {
				t.Errorf("%s: taken it is %q, not %q", tt.text, all[line], tt.now)
			}
		}
	}
}

// mark puts the cursor behind the first place of an excerpt, at its own mark.
func mark(t *testing.T, text, excerpt string) string {
	t.Helper()
	plain := strings.Replace(excerpt, cursor, "", 1)
	if !strings.Contains(text, plain) {
		t.Fatalf("there is no %q", plain)
	}
	return strings.Replace(text, plain, excerpt, 1)
}

func TestHover(t *testing.T) {
	c := connect(t, map[string]string{"pipelines/q.hcl": "pipeline {}\n", "modules/m/main.hcl": module})
	for excerpt, want := range map[string]string{
		`step "pa‸tch" "ops"`: "Patches sources.", `st‸ep "patch"`: "A step of a kind", `  ar‸gv     =`: "The command.",
		`  mo‸de `: "Values: fast or small", `for‸_each`: "one copy for each", `target "Alp‸ha7"`: "Has 8 units.",
		`toolchain "ll‸vm"`: "compilers", `version = "22‸.1"`: "The newest.", `var.si‸ze`: "how large",
		`{ si‸ze = 1`:    "how large",
		`+ local.tw‸ice`: "2 * var.size", `step.patch.ops.outputs.d‸ir`: "The sources, patched.",
		`step.patch.o‸ps`: "Patches sources.", `module.m.de‸ep`: "the depth", `dep‸th  = var`: "how deep",
		`toolchain.llvm.d‸ir`: "Its tree.", `target.un‸its`: "How many.", `up‸per("x")`: "In capitals.",
		`outputs.js‸on }`: "file", `variab‸les =`: "Values of variables", `des‸cription = "how`: "Purpose",
		`"x‸.json"`: "", `pipel‸ine {}`: "Describes the pipeline",
	} {
		p := c.openAt("pipelines/p.hcl", mark(t, pipeline, excerpt))
		var got *struct {
			Contents struct{ Kind, Value string }
			Range    span
		}
		c.call("textDocument/hover", p, &got)
		switch {
		case want == "" && got != nil:
			t.Errorf("%s: said is %q", excerpt, got.Contents.Value)
		case want == "":
		case got == nil || !strings.Contains(got.Contents.Value, want) || got.Contents.Kind != "markdown":
			t.Errorf("%s: said is %+v, not %q", excerpt, got, want)
		}
	}
}

func TestDefinition(t *testing.T) {
	c := connect(t, map[string]string{"pipelines/q.hcl": "pipeline {}\n", "modules/m/main.hcl": module})
	for excerpt, want := range map[string]string{
		`var.si‸ze`:                   `pipelines/p.hcl variable "size"`,
		`{ si‸ze = 1 }`:               `pipelines/p.hcl variable "size"`,
		`+ local.tw‸ice`:              "pipelines/p.hcl twice",
		`local.na‸me}`:                "pipelines/p.hcl name, pipelines/p.hcl name",
		`step.patch.o‸ps.outputs`:     `pipelines/p.hcl step "patch" "ops"`,
		`step.patch.ops.outputs.d‸ir`: `pipelines/p.hcl step "patch" "ops"`,
		`step.exec.ge‸n["a"]`:         `pipelines/p.hcl step "exec" "gen"`,
		`["a"].outputs.js‸on`:         `pipelines/p.hcl output "json"`,
		`module.‸m.deep`:              `pipelines/p.hcl module "m"`,
		`module.m.de‸ep`:              `modules/m/main.hcl output "deep"`,
		`  dep‸th  =`:                 `modules/m/main.hcl variable "depth"`,
		`source = "‸m"`:               "modules/m/main.hcl ",
		`toolchain.ll‸vm.dir`:         `pipelines/p.hcl toolchain "llvm"`,
		`modu‸le.m.deep`:              "",
		`target.un‸its`:               "",
		`: loc‸al.outputs`:            "",
		`argv ‸    =`:                 "",
	} {
		p := c.openAt("pipelines/p.hcl", mark(t, pipeline, excerpt))
		var got []struct {
			URI   string
			Range span
		}
		c.call("textDocument/definition", p, &got)
		var all []string
		for _, l := range got {
			name := "modules/m/main.hcl"
			text := module
			if l.URI == c.uri("pipelines/p.hcl") {
				name, text = "pipelines/p.hcl", pipeline
			} else if l.URI != c.uri(name) {
				t.Errorf("%s leads to %s", excerpt, l.URI)
			}
			line := strings.Split(text, "\n")[l.Range.Start.Line]
			all = append(all, name+" "+line[l.Range.Start.Character:l.Range.End.Character])
		}
		if strings.Join(all, ", ") != want {
			t.Errorf("%s leads to %q, not %q", excerpt, all, want)
		}
	}
}

// Characters of positions are UTF-16 code units.
func TestUTF16(t *testing.T) {
	c := connect(t, nil)
	p := c.openAt("x.hcl", "variable \"v\" { description = \"it\" }\nlocals { a = [\"𝄞ä\", var.v] }\n")
	column := len(`locals { a = ["`) + 2 + 1 + len(`", var.`)
	p["position"] = map[string]any{"line": 1, "character": column}
	var got struct{ Range span }
	c.call("textDocument/hover", p, &got)
	if want := (span{position{1, column}, position{1, column + 1}}); got.Range != want {
		t.Errorf("the word is at %v, not %v", got.Range, want)
	}
}

func TestFormatting(t *testing.T) {
	c := connect(t, nil)
	for text, want := range map[string]string{
		"step \"a\" \"b\" {\na = 1\n  long   = 2\n}\n": "step \"a\" \"b\" {\n  a    = 1\n  long = 2\n}\n",
		"a = 1\n\n\n": "a = 1\n", "a = 1": "a = 1\n", "a = 1\n": "a = 1\n", "a = [\n": "!", "": "",
	} {
		p := c.openAt("x.hcl", text)
		p["options"] = map[string]any{"tabSize": 8}
		var got []edit
		err := c.try("textDocument/formatting", p, &got)
		switch {
		case want == "!" && err == nil:
			t.Errorf("%q is formatted", text)
		case want == "!":
		case err != nil || apply(text, got) != want:
			t.Errorf("%q becomes %q (%v), not %q", text, apply(text, got), err, want)
		}
	}
	p := c.openAt("x.hcl", "a   = 1\r\nbb = 2\r\n")
	var got []edit
	if c.call("textDocument/formatting", p, &got); len(got) != 1 || got[0].NewText != "a  = 1\nbb = 2\n" {
		t.Errorf("lines with a carriage return become %+v", got)
	}
}

// The server reports that a file is too large, and does nothing that needs it parsed.
func TestLargeFile(t *testing.T) {
	c := connect(t, map[string]string{"pipelines/p.hcl": ""})
	var b strings.Builder
	b.WriteString("variable \"x\" {}\n")
	for i := 0; b.Len() < 2<<20; i++ {
		fmt.Fprintf(&b, "step \"exec\" \"s%d\" {\n  argv = [var.x]\n}\n", i)
	}
	b.WriteString("output \"x\" { value = var.‸x }\n")
	p := c.openAt("pipelines/p.hcl", b.String())
	if got := messages(c.await("pipelines/p.hcl", some)); !strings.Contains(got, "the limit is 2097152") {
		t.Errorf("told is %q", got)
	}
	var found []any
	if c.call("textDocument/definition", p, &found); len(found) > 0 {
		t.Errorf("found is %v", found)
	}
	if err := c.try("textDocument/formatting", p, nil); err == nil {
		t.Error("it is formatted")
	}
}

// A server ends when it is asked to, or alone; and says what it does not know.
func TestLifecycle(t *testing.T) {
	c := connect(t, nil)
	var code *jsonrpc2.Error
	for method, want := range map[string]int64{"textDocument/unheardOf": jsonrpc2.CodeMethodNotFound,
		"textDocument/hover": jsonrpc2.CodeInvalidParams} {
		if err := c.try(method, map[string]any{"textDocument": map[string]any{"uri": "file:///none"}},
			nil); err == nil || !asError(err, &code) || code.Code != want {
			t.Errorf("%s: %v, not code %d", method, err, want)
		}
	}
	c.notify("$/setTrace", map[string]any{"value": "off"})
	c.call("shutdown", nil, nil)
	c.notify("exit", nil)
	if err := <-c.ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
	c = connect(t, nil)
	_ = c.conn.Close()
	if err := <-c.ended; err == nil {
		t.Error("the editor vanished, and nothing is wrong")
	}
}

func asError(err error, to **jsonrpc2.Error) bool {
	e, ok := err.(*jsonrpc2.Error)
	*to = e
	return ok
}
