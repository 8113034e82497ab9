package cli

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/steps"
)

var update = flag.Bool("update", false, "write generated parts of docs anew")

// The argument tables of docs/language.md are made from the kinds' schemas: go test ./cmd/hexmage/cli -run Docs
// -update.
func TestDocsAreFresh(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "language.md")
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := updateDocs(doc, steps.Workspace{}.Kinds())
	if err != nil {
		t.Fatal(err)
	}
	if string(want) == string(doc) {
		return
	}
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("docs/language.md is not what the kinds say: run go test ./cmd/hexmage/cli -run Docs -update")
}

// TestMisspeltVariables wants each variable of hexmage's own that the docs list to be known where misspelt ones are
// refused.
func TestMisspeltVariables(t *testing.T) {
	dir := t.TempDir()
	for _, v := range environment() {
		if !strings.HasPrefix(v.Name, "HEXMAGE_") || strings.HasPrefix(v.Name, "HEXMAGE_VAR_") {
			continue
		}
		_, err := newApp(globalFlags{}, Env{Vars: []string{"HOME=" + dir, v.Name[:len(v.Name)-1] + "=x"}, Dir: dir},
			newInterrupts(nil))
		if err == nil || !strings.Contains(err.Error(), "Did you mean "+v.Name+"?") {
			t.Errorf("%s without its last letter: %v", v.Name, err)
		}
	}
}

// The tables of docs/commands.md are made from what the program says: go test ./cmd/hexmage/cli -run Docs -update.
func TestCommandsDocsAreFresh(t *testing.T) {
	variables, codes := "| variable | |\n|---|---|\n", "| exit code | |\n|---|---|\n"
	for _, v := range environment() {
		variables += fmt.Sprintf("| `%s` | %s |\n", v.Name, cell(v.Doc))
	}
	for _, e := range exitStatuses() {
		codes += fmt.Sprintf("| %d | %s |\n", e.code, cell(e.doc))
	}
	path := filepath.Join("..", "..", "..", "docs", "commands.md")
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := string(doc)
	for name, table := range map[string]string{"environment": variables, "exit codes": codes} {
		begin, end := "<!-- "+name+": generated, do not edit -->\n", "<!-- end of "+name+" -->"
		before, rest, ok := strings.Cut(want, begin)
		_, after, there := strings.Cut(rest, end)
		if !ok || !there {
			t.Fatalf("docs/commands.md has no section for its %s: it needs the lines %s and %s", name, begin, end)
		}
		want = before + begin + "\n" + table + "\n" + end + after
	}
	if want == string(doc) {
		return
	}
	if !*update {
		t.Fatal("docs/commands.md is not what the program says: run go test ./cmd/hexmage/cli -run Docs -update")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestEnvironmentIsComplete: every variable of the user's that the program reads is in the table, and no other.
func TestEnvironmentIsComplete(t *testing.T) {
	documented := map[string]bool{}
	for _, v := range environment() {
		for _, name := range regexp.MustCompile(`[A-Z][A-Z_]+(name)?`).FindAllString(v.Name+" "+v.Doc, -1) {
			documented[strings.TrimSuffix(name, "name")] = true
		}
	}
	// Of hexmage's own processes, of actions, and of shells that `hexmage env` speaks to.
	own := []string{"HEXMAGE_DOWNLOADS", "HEXMAGE_OFFLINE", "HEXMAGE_USER_HOME", "HEXMAGE_USER_PATH",
		"HEXMAGE_ROOT", "HEXMAGE_SELF", "HEXMAGE_TOOLCHAIN_", "HEXMAGE_LLVM"}
	read := map[string]string{}
	for _, folder := range []string{"cmd/hexmage", "internal", "runner", "toolchains", "steps", "model", "oppackage",
		"patches", "qnn"} {
		err := filepath.WalkDir(filepath.Join("..", "..", "..", folder),
			func(path string, d os.DirEntry, err error) error {
				if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
					strings.HasSuffix(filepath.Dir(path), "test") {
					return err
				}
				b, err := os.ReadFile(path)
				for _, m := range regexp.MustCompile(`\bVar\("([A-Z_]+)"\)|"(HEXMAGE_[A-Z_]+)`).
					FindAllStringSubmatch(string(b), -1) {
					read[m[1]+m[2]] = path
				}
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(read) < 15 {
		t.Errorf("only %d variables are read: this test looks in the wrong place", len(read))
	}
	for name, path := range read {
		if !documented[name] && !slices.Contains(own, name) {
			t.Errorf("%s reads %s, which environment() does not have", path, name)
		}
	}
	for name := range documented {
		if _, ok := read[name]; !ok && strings.HasPrefix(name, "HEXMAGE_") {
			t.Errorf("environment() has %s, which nothing reads", name)
		}
	}
}

type exitStatus struct {
	code int
	doc  string
}

// exitStatuses documents the exit codes.
func exitStatuses() []exitStatus {
	return []exitStatus{
		{ExitOK, "done"},
		{ExitFailed, "a step failed"},
		{ExitUsage, "usage or configuration; of plan: it cannot run"},
		{ExitEngine, "engine or infrastructure, such as a network or a full disk"},
		{ExitLocked, "locked by another process"},
		{ExitCheck, "all steps are done, and a check failed"},
		{ExitInterrupted, "interrupted"},
	}
}

// Every argument of every kind is documented, and every tool that a kind may plan is in the table.
func TestKindsAreComplete(t *testing.T) {
	for name, k := range (steps.Workspace{}).Kinds() {
		s := k.Schema()
		if s.Summary == "" {
			t.Errorf("kind %s has no summary", name)
		}
		for arg := range s.Args {
			if s.ArgDocs[arg] == "" {
				t.Errorf("kind %s: argument %s is not documented", name, arg)
			}
		}
		for arg := range s.ArgDocs {
			if s.Args[arg] == nil {
				t.Errorf("kind %s documents %s, which is no argument", name, arg)
			}
		}
		for _, o := range s.Outputs {
			if o.Doc == "" {
				t.Errorf("kind %s: output %s is not documented", name, o.Name)
			}
		}
	}
}

// The lines between which a document holds what markdown returns.
const (
	docsBegin = "<!-- kinds: generated, do not edit -->"
	docsEnd   = "<!-- end of kinds -->"
)

// markdown describes kinds: a section for each.
func markdown(kinds map[string]step.Kind) string {
	var b strings.Builder
	for _, d := range step.Describe(kinds) {
		describe(&b, d)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// updateDocs returns the document with its generated section made anew.
func updateDocs(doc []byte, kinds map[string]step.Kind) ([]byte, error) {
	begin, end := bytes.Index(doc, []byte(docsBegin)), bytes.Index(doc, []byte(docsEnd))
	if begin < 0 || end < begin {
		return nil, errors.New("the document has no section for kinds: it needs the lines " + docsBegin + " and " +
			docsEnd)
	}
	var out bytes.Buffer
	out.Write(doc[:begin+len(docsBegin)])
	out.WriteString("\n\n" + markdown(kinds) + "\n")
	out.Write(doc[end:])
	return out.Bytes(), nil
}

func describe(b *strings.Builder, d step.Description) {
	fmt.Fprintf(b, "### %s\n\n%s\n\n", blockOf(d), cell(d.Summary))
	if len(d.Arguments) > 0 {
		b.WriteString("| argument | type | |\n|---|---|---|\n")
		for _, a := range d.Arguments {
			text := a.Text()
			if a.Required {
				text = strings.TrimSpace("**Required.** " + text)
			}
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", a.Name, cell(a.Type), cell(text))
		}
		b.WriteString("\n")
	}
	if len(d.Outputs) > 0 || d.OutputsFrom != "" {
		b.WriteString("| output | class | |\n|---|---|---|\n")
		for _, o := range d.Outputs {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", o.Name, o.Class, cell(o.Doc))
		}
		if d.OutputsFrom != "" {
			fmt.Fprintf(b, "| one for each of `%s` | file | |\n", d.OutputsFrom)
		}
		b.WriteString("\n")
	}
	if d.OwnOutputs {
		b.WriteString("Its outputs are those of its own `output` blocks.\n\n")
	}
	if len(d.Toolchains) > 0 {
		fmt.Fprintf(b, "It uses these toolchains, where the pipeline declares them, without being told: `%s`.\n\n",
			strings.Join(d.Toolchains, "`, `"))
	}
	if d.Example != "" {
		fmt.Fprintf(b, "```hcl\n%s\n```\n\n", d.Example)
	}
}

// cell spells text so that it stays in one cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}

// documented has one of everything that a kind can have.
type documented struct {
	Source  string            `arg:"source,required"`
	Jobs    int               `arg:"jobs" default:"1" range:"1..64"`
	Renames []substituted     `block:"rename"`
	Defines map[string]string `arg:"defines"`
}

type substituted struct {
	Name string `arg:"name,label"`
	From string `arg:"from,required"`
	To   string `arg:"to"`
}

func documentedKind() step.Kind {
	return step.New(step.Schema{
		Summary:    "Does <all>.",
		ArgDocs:    map[string]string{"source": "a | b\nc", "jobs": "How many."},
		Outputs:    []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "all"}},
		OwnOutputs: true, OutputsFrom: "targets", Toolchains: []string{"llvm", "make"},
		Example: "step \"b\" \"x\" {}",
	}, func(documented, *step.Plan) {})
}

func TestMarkdown(t *testing.T) {
	kinds := map[string]step.Kind{addrs.Toolchain: step.New(step.Schema{Summary: "Takes one."},
		func(struct{}, *step.Plan) {}),
		"b": documentedKind()}
	want := `### step "b"

Does &lt;all>.

| argument | type | |
|---|---|---|
| ` + "`defines`" + ` | map(string) |  |
| ` + "`jobs`" + ` | number | How many. Values: 1 to 64. Default: 1. |
| ` + "`rename`" + ` | blocks "NAME" { from (string, required), to (string) } |  |
| ` + "`source`" + ` | string | **Required.** a \| b c |

| output | class | |
|---|---|---|
| ` + "`dir`" + ` | tree | all |
| one for each of ` + "`targets`" + ` | file | |

Its outputs are those of its own ` + "`output`" + ` blocks.

It uses these toolchains, where the pipeline declares them, without being told: ` + "`llvm`, `make`" + `.

` + "```hcl\nstep \"b\" \"x\" {}\n```" + `

### toolchain

Takes one.
`
	if got := markdown(kinds); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}

	doc := "# Title\n<!-- kinds: generated, do not edit -->\nstale\n<!-- end of kinds -->\nrest\n"
	got, err := updateDocs([]byte(doc), kinds)
	if err != nil || !strings.HasPrefix(string(got), "# Title\n") ||
		!strings.HasSuffix(string(got), "<!-- end of kinds -->\nrest\n") ||
		!strings.Contains(string(got), want) || strings.Contains(string(got), "stale") {
		t.Errorf("updated to %q, %v", got, err)
	}
	again, err := updateDocs(got, kinds)
	if err != nil || string(again) != string(got) {
		t.Errorf("updating twice differs: %q, %v", again, err)
	}
	if _, err := updateDocs([]byte("# Title"), kinds); err == nil {
		t.Error("a document without the section is accepted")
	}
}

// blockOf is how a step of the kind begins.
func blockOf(d step.Description) string {
	if d.Kind == addrs.Toolchain {
		return d.Kind
	}
	return fmt.Sprintf("step %q", d.Kind)
}
