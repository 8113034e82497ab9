package steps

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/patches"
	"github.com/hexmage/hexmage/patches/cpptoken"
	"github.com/hexmage/hexmage/patches/rename"
)

// What is looked at of a workspace, at most.
const (
	maxSources = 500
	maxSource  = 4 << 20
	maxConfig  = 1 << 20
)

// host returns the path on this machine of a path of the workspace, "" for one that is made from outputs.
func (l *inquiry) host(argument, value string) string {
	for _, o := range l.r.Used(argument) {
		if p := o.Path(); value == p || strings.HasPrefix(value, p+"/") {
			return ""
		}
	}
	if value == "" || filepath.IsAbs(value) {
		return value
	}
	return filepath.Join(l.workspace, filepath.FromSlash(value))
}

// readFile reads a file of at most max bytes; nil when there is none, or it is larger.
func readFile(name string, limit int64) []byte {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil
	}
	return b
}

func (l *inquiry) opPackage() {
	var arches []string
	for _, t := range l.r.Strings("targets") {
		if a, ok := strings.CutPrefix(t, "htp_"); ok && strings.HasPrefix(a, "v") {
			arches = append(arches, a)
		}
	}
	l.set("arches", arches)
	if v := l.r.String("tools_version"); v != "" {
		l.facts["tools_version"] = cty.StringVal(v)
		l.set("tools_wanted", []string{v})
	}
	qairt, ok := l.known("qairt")
	source := l.host("source", l.r.String("source"))
	if l.r.At.Kind == "oppackage" && ok && source != "" {
		l.renamed(source, qairt.Version)
	}
}

// renamed looks in the sources of a workspace for names that the shipped patch series replace for an SDK of the version.
func (l *inquiry) renamed(dir, version string) {
	rules := newer(version)
	if len(rules) == 0 {
		return
	}
	said := map[string]bool{}
	var out []cty.Value
	for _, sub := range []string{"src", "src/ops", "include"} {
		entries, err := os.ReadDir(filepath.Join(dir, sub))
		if err != nil || len(entries) > maxSources {
			continue
		}
		for _, e := range entries {
			if ext := filepath.Ext(e.Name()); ext != ".cpp" && ext != ".h" && ext != ".hpp" && ext != ".cc" {
				continue
			}
			src := readFile(filepath.Join(dir, sub, e.Name()), maxSource)
			for _, r := range rules {
				if said[r.rule.From] || !strings.Contains(string(src), r.rule.From) {
					continue
				}
				line := lineOf(src, r.rule)
				if line == 0 {
					continue
				}
				said[r.rule.From] = true
				out = append(out, cty.ObjectVal(map[string]cty.Value{
					"at": cty.StringVal(fmt.Sprintf("%s:%d", path.Join(sub, e.Name()), line)), "from": cty.StringVal(r.rule.From), "to": cty.StringVal(r.rule.To),
					"receiver": cty.StringVal(r.rule.Receiver), "rule": cty.StringVal(r.rule.Name), "series": cty.StringVal(r.series),
				}))
			}
		}
	}
	if len(out) > 0 {
		l.facts["renamed"] = cty.TupleVal(out)
	}
}

// lineOf returns the first line on which the program, not a comment or a text, has what the rule renames; 0 when there is none.
func lineOf(src []byte, r rename.Rule) int {
	tokens, _ := cpptoken.Scan(src)
	before := ""
	for _, t := range tokens {
		switch t.Kind {
		case cpptoken.Space, cpptoken.Newline, cpptoken.Comment:
			continue
		case cpptoken.Identifier:
			if t.Name == r.From && (r.Receiver == "" || before == "." || before == "->") {
				return t.Line
			}
		}
		before = t.Name
	}
	return 0
}

type renameRule struct {
	series string
	rule   rename.Rule
}

// newer are the rename rules for an SDK that came after the sources were written: those of the folders FROM-TO whose TO is at
// most the SDK's version.
func newer(sdk string) []renameRule {
	const shipped = "mllm"
	fsys, err := patches.Shipped(shipped)
	if err != nil {
		return nil
	}
	ranges, err := patches.Load(fsys)
	if err != nil {
		return nil
	}
	var out []renameRule
	for _, rg := range ranges {
		from, to, ok := strings.Cut(rg.Name, "-")
		from, to = strings.TrimPrefix(from, "qairt"), strings.TrimPrefix(to, "qairt")
		if !ok || !version.Older(from, to) || version.Older(sdk, to) {
			continue
		}
		for _, r := range rg.Renames {
			out = append(out, renameRule{shipped, r})
		}
	}
	return out
}

func (l *inquiry) context() { l.facts["signed_pd"] = cty.BoolVal(l.r.Bool("signed_pd")) }

// worth tells, fast, whether there may be something in a command for the rules: pipelines have thousands.
func worth(r step.Request) bool {
	return slices.ContainsFunc(r.Strings("argv"), func(arg string) bool {
		return strings.Contains(arg, "htp_v") || strings.Contains(arg, "soc") || strings.Contains(arg, ".json")
	})
}

// exec looks at a command for what the rules know of: make with the goals of an op package's Makefile, numbers of SoCs, configs of
// upstream's compiler.
func (l *inquiry) exec() {
	text := strings.Join(l.r.Strings("argv"), " ")
	l.silent = true
	if strings.Contains(text, "make") && strings.Contains(text, "htp_v") {
		l.silent = false
		l.make(text)
	}
	if strings.Contains(text, "soc") {
		var models []string
		for _, m := range regexp.MustCompile(`soc_(?:model|id)\\?["']?[ =:]+(\d+)\b`).FindAllStringSubmatch(text, -1) {
			models = append(models, m[1])
		}
		l.set("soc_models", models)
		l.silent = l.silent && len(models) == 0
	}
	if strings.Contains(text, ".json") {
		l.aotConfigs(text)
	}
}

// make looks at a command that runs make for an op package. A Makefile that a step "makefile" has written knows every arch.
func (l *inquiry) make(text string) {
	var upstream bool
	for _, arg := range []string{"argv", "inputs", "env"} {
		for _, o := range l.r.Used(arg) {
			if o.Kind == "makefile" {
				return
			}
			upstream = upstream || o.Kind == "git" || o.Kind == "fetch" || o.Kind == "patch"
		}
	}
	// Of sources that are not there yet only this one package is known.
	upstream = upstream && strings.Contains(text, "LLaMAPackage")
	var makefile string
	for _, in := range append(l.r.Strings("inputs"), l.r.Strings("argv")...) {
		at := l.host("inputs", in)
		if at == "" || strings.ContainsAny(in, " \n$") {
			continue
		}
		if path.Base(in) != "Makefile" {
			at = filepath.Join(at, "Makefile")
		}
		makefile += "\n" + string(readFile(at, maxConfig))
	}
	var roots, tools []string
	for _, m := range regexp.MustCompile(`\bhtp_v(\d\d)\b`).FindAllStringSubmatch(text, -1) {
		root, version := "HEXAGON_SDK_ROOT_V"+m[1], "HEXAGON_TOOLS_VERSION_V"+m[1]
		given := func(name string) bool {
			_, env := l.r.Env[name]
			return env || strings.Contains(text, name+"=")
		}
		known := upstream && m[1] >= "79" || strings.Contains(makefile, "$("+root+")") && !assigned(makefile, root)
		if known && !given(root) {
			roots = append(roots, root)
		}
		if v := value(makefile, version); v != "" && !given(version) {
			tools = append(tools, v)
		}
	}
	l.set("unset_roots", compact(roots))
	l.set("tools_wanted", compact(tools))
}

func compact(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}

func assigned(makefile, name string) bool {
	return regexp.MustCompile(`(?m)^[ \t]*(?:export[ \t]+|override[ \t]+)?` + regexp.QuoteMeta(name) + `[ \t]*[:?+]*=`).MatchString(makefile)
}

// value is what a Makefile assigns to a variable, when that is a plain word.
func value(makefile, name string) string {
	m := regexp.MustCompile(`(?m)^[ \t]*(?:export[ \t]+)?` + regexp.QuoteMeta(name) + `[ \t]*[:?]*=[ \t]*([0-9][0-9.]*)[ \t]*(?:#.*)?$`).FindStringSubmatch(makefile)
	if m == nil {
		return ""
	}
	return m[1]
}

// aotConfigs reads configs of upstream's compiler that a command is given.
func (l *inquiry) aotConfigs(text string) {
	for _, word := range append(strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" '\"=;", c) }), l.r.Strings("inputs")...) {
		if path.Ext(word) != ".json" {
			continue
		}
		at := l.host("inputs", word)
		if at == "" || l.host("argv", word) == "" {
			continue
		}
		var c struct {
			Machine *struct {
				Arch    string `json:"htp_arch"`
				Chipset string `json:"htp_chipset"`
				Session string `json:"htp_security_pd_session"`
			} `json:"target_machine"`
		}
		if json.Unmarshal(readFile(at, maxConfig), &c) != nil || c.Machine == nil {
			continue
		}
		l.silent = false
		l.facts["signed_pd"] = cty.BoolVal(c.Machine.Session == "HtpSignedPd")
		l.facts["aot_arch"], l.facts["aot_soc"] = cty.StringVal(strings.ToLower(c.Machine.Arch)), cty.StringVal(c.Machine.Chipset)
	}
}
