package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/qnn/facts"
)

// TestExtension: what VS Code reads of the extension is there and fits together, and its grammar knows the language's
// words.
func TestExtension(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "editors", "vscode")
	read := func(name string, to any) []byte {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && to != nil {
			err = json.Unmarshal(b, to)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return b
	}
	var p struct {
		Name, Main, Version string
		Engines             map[string]string
		Dependencies        map[string]string
		Contributes         struct {
			Languages     []struct{ ID, Configuration string }
			Grammars      []struct{ Language, ScopeName, Path string }
			Commands      []struct{ Command, Title string }
			Configuration struct{ Properties map[string]json.RawMessage }
		}
	}
	read("package.json", &p)
	program := string(read(p.Main, nil))
	if p.Name == "" || p.Version == "" || p.Engines["vscode"] == "" || len(p.Contributes.Languages) != 1 ||
		len(p.Contributes.Grammars) != 1 || len(p.Contributes.Commands) == 0 {
		t.Errorf("package.json lacks something: %+v", p)
	}
	for _, c := range p.Contributes.Commands {
		if !strings.Contains(program, "registerCommand('"+c.Command+"'") {
			t.Errorf("%s does not register the command %s", p.Main, c.Command)
		}
	}
	for _, m := range regexp.MustCompile(`require\('([^'/]+)`).FindAllStringSubmatch(program, -1) {
		if m[1] != "vscode" && p.Dependencies[m[1]] == "" {
			t.Errorf("%s requires %s, which package.json does not name", p.Main, m[1])
		}
	}
	for _, m := range regexp.MustCompile(`getConfiguration\('hexmage'\)\.get\('(\w+)'\)`).
		FindAllStringSubmatch(program, -1) {
		if p.Contributes.Configuration.Properties["hexmage."+m[1]] == nil {
			t.Errorf("package.json does not have the setting hexmage.%s", m[1])
		}
	}
	m := regexp.MustCompile(`args: \['(\w+)'\]`).FindStringSubmatch(program)
	if m == nil {
		t.Fatal("the extension starts no command")
	}
	if grammar, _ := grammarOf(m[1]); grammar == nil {
		t.Errorf("the extension starts `hexmage %s`, which there is not", m[1])
	}
	read(p.Contributes.Languages[0].Configuration, &map[string]any{})

	var g struct {
		ScopeName  string
		Patterns   []any
		Repository map[string]any
	}
	text := read(p.Contributes.Grammars[0].Path, &g)
	if g.ScopeName != p.Contributes.Grammars[0].ScopeName || len(g.Patterns) == 0 ||
		p.Contributes.Grammars[0].Language != p.Contributes.Languages[0].ID {
		t.Errorf("the grammar is %s, package.json says %+v", g.ScopeName, p.Contributes)
	}
	used := map[string]bool{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for i, x := range v {
				walk(fmt.Sprintf("%s[%d]", at, i), x)
			}
		case map[string]any:
			for key, x := range v {
				s, isText := x.(string)
				switch {
				case key == "include":
					used[strings.TrimPrefix(s, "#")] = true
					if g.Repository[strings.TrimPrefix(s, "#")] == nil {
						t.Errorf("%s includes %s, which there is not", at, s)
					}
				case isText && slices.Contains([]string{"match", "begin", "end"}, key):
					if _, err := regexp.Compile(strings.ReplaceAll(s, `\1`, "x")); err != nil {
						t.Errorf("%s.%s: %v", at, key, err)
					}
				case isText && key == "name" && !strings.HasSuffix(s, ".hexmage"):
					t.Errorf("%s: the scope %s does not end with .hexmage", at, s)
				}
				walk(at+"."+key, x)
			}
		}
	}
	walk("patterns", g.Patterns)
	walk("repository", map[string]any(g.Repository))
	for name := range g.Repository {
		if !used[name] {
			t.Errorf("nothing includes %s", name)
		}
	}
	for _, w := range config.MetaArguments() {
		if !regexp.MustCompile(`[(|]` + w + `[)|]`).Match(text) {
			t.Errorf("the grammar does not know %s", w)
		}
	}
}

// Editors document every attribute of a target.
func TestTargetWords(t *testing.T) {
	a := &app{Root: t.TempDir(), catalogs: new(catalogs)}
	_, words := a.editorWords()
	documented := map[string]bool{}
	for _, w := range words["target.*."] {
		documented[w.Name] = w.Doc != ""
	}
	for name := range facts.TargetType().AttributeTypes() {
		if !documented[name] {
			t.Errorf("target.%s has no documentation", name)
		}
	}
	if got, want := len(words["target{"]), len(facts.Settable()); got != want {
		t.Errorf("a target block has %d arguments, not %d", got, want)
	}
}
