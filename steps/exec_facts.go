package steps

import (
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/step"
)

// maxConfig is the size limit of a Makefile or config that facts reads, in bytes.
const maxConfig = 1 << 20

// facts finds facts for the rules in a command: make with the goals of an op package's Makefile, SoC numbers, and
// configs of mllm's compiler. Pipelines have thousands of commands, and few have such facts.
func (x Exec) facts(q *question) bool {
	text := strings.Join(x.Argv, " ")
	if !strings.Contains(text, "htp_v") && !strings.Contains(text, "soc_") && !strings.Contains(text, ".json") {
		return false
	}
	x.make(q, text)
	var models []string
	for _, m := range regexp.MustCompile(`soc_(?:model|id)\\?["']?[ =:]+(\d+)\b`).FindAllStringSubmatch(text, -1) {
		models = append(models, m[1])
	}
	q.texts("soc_models", models)
	x.aotConfigs(q, text)
	return true
}

// make finds the facts of a command that runs make for an op package. A Makefile of a step "makefile" covers every
// arch.
func (x Exec) make(q *question, text string) {
	arches := regexp.MustCompile(`\bhtp_v(\d\d)\b`).FindAllStringSubmatch(text, -1)
	if len(arches) == 0 || !strings.Contains(text, "make") {
		return
	}
	var mllm bool
	for _, arg := range []string{"argv", "inputs", "env"} {
		for _, o := range q.p.Used(arg) {
			if o.Kind == "makefile" {
				return
			}
			mllm = mllm || o.Kind == "git" || o.Kind == "fetch" || o.Kind == "patch"
		}
	}
	// Of sources that do not exist yet, facts recognizes only this package.
	mllm = mllm && strings.Contains(text, "LLaMAPackage")
	var makefile string
	for _, in := range x.Inputs { // make sees only the inputs
		at := q.p.Path("inputs", in).Host()
		if at == "" {
			continue
		}
		if path.Base(in) != makefileName {
			at = path.Join(at, makefileName)
		}
		makefile += "\n" + string(q.read(at, maxConfig))
	}
	roots, tools := map[string]bool{}, map[string]bool{}
	for _, m := range arches {
		root, version := "HEXAGON_SDK_ROOT_V"+m[1], "HEXAGON_TOOLS_VERSION_V"+m[1]
		given := func(name string) bool {
			_, env := q.p.Env[name]
			return env || strings.Contains(text, name+"=")
		}
		_, assigned := assignment(makefile, root)
		known := mllm && m[1] >= "79" || strings.Contains(makefile, "$("+root+")") && !assigned
		if known && !given(root) {
			roots[root] = true
		}
		if v, _ := assignment(makefile, version); v != "" && strings.Trim(v, "0123456789.") == "" && !given(version) {
			tools[v] = true
		}
	}
	q.texts("unset_roots", slices.Sorted(maps.Keys(roots)))
	q.texts("tools_wanted", slices.Sorted(maps.Keys(tools)))
}

// assignment returns the value that a Makefile assigns to a variable.
func assignment(makefile, name string) (value string, ok bool) {
	m := regexp.MustCompile(`(?m)^[ \t]*(?:(?:export|override)[ \t]+)?` + regexp.QuoteMeta(name) +
		`[ \t]*[:?+]*=[ \t]*([^\n#]*)`).FindStringSubmatch(makefile)
	if m == nil {
		return "", false
	}
	return strings.TrimSpace(m[1]), true
}

// aotConfigs reads configs of mllm's compiler among the arguments. It skips files that the command writes: they do not
// exist yet, and a workspace file of that name is another file.
func (x Exec) aotConfigs(q *question, text string) {
	words := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" '\"=;", c) })
	for _, word := range append(words, x.Inputs...) {
		isWord := func(o step.DeclaredOutput) bool { return o.Path == path.Clean(word) }
		if path.Ext(word) != ".json" || slices.ContainsFunc(q.p.Outputs, isWord) {
			continue
		}
		at := q.p.Path("inputs", word).Host()
		if at == "" || q.p.Path("argv", word).Host() == "" {
			continue
		}
		var c struct {
			Machine *struct {
				Arch    string `json:"htp_arch"`
				Chipset string `json:"htp_chipset"`
				Session string `json:"htp_security_pd_session"`
			} `json:"target_machine"`
		}
		if json.Unmarshal(q.read(at, maxConfig), &c) != nil || c.Machine == nil {
			continue
		}
		q.say("signed_pd", cty.BoolVal(c.Machine.Session == "HtpSignedPd"))
		q.text("aot_arch", strings.ToLower(c.Machine.Arch))
		q.text("aot_soc", c.Machine.Chipset)
	}
}
