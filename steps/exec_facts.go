package steps

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/step"
)

// maxConfig bounds a Makefile or config that is looked into, in bytes.
const maxConfig = 1 << 20

// facts looks at a command for what the rules know of: make with the goals of an op package's Makefile, numbers of SoCs, configs of upstream's
// compiler. Pipelines have thousands of commands, and next to none with anything of it.
func (x Exec) facts(q *question) bool {
	if !slices.ContainsFunc(x.Argv, func(arg string) bool {
		return strings.Contains(arg, "htp_v") || strings.Contains(arg, "soc") || strings.Contains(arg, ".json")
	}) {
		return false
	}
	text := strings.Join(x.Argv, " ")
	some := false
	if strings.Contains(text, "make") && strings.Contains(text, "htp_v") {
		some = true
		x.make(q, text)
	}
	if strings.Contains(text, "soc") {
		var models []string
		for _, m := range regexp.MustCompile(`soc_(?:model|id)\\?["']?[ =:]+(\d+)\b`).FindAllStringSubmatch(text, -1) {
			models = append(models, m[1])
		}
		q.texts("soc_models", models)
		some = some || len(models) > 0
	}
	if strings.Contains(text, ".json") {
		some = x.aotConfigs(q, text) || some
	}
	return some
}

// make looks at a command that runs make for an op package. A Makefile that a step "makefile" has written knows every arch.
func (x Exec) make(q *question, text string) {
	var upstream bool
	for _, arg := range []string{"argv", "inputs", "env"} {
		for _, o := range q.p.Used(arg) {
			if o.Kind == "makefile" {
				return
			}
			upstream = upstream || o.Kind == "git" || o.Kind == "fetch" || o.Kind == "patch"
		}
	}
	// Of sources that are not there yet only this one package is known.
	upstream = upstream && strings.Contains(text, "LLaMAPackage")
	var makefile string
	for _, in := range x.Inputs { // make sees no other
		at := q.p.Path("inputs", in).Host()
		if at == "" {
			continue
		}
		if path.Base(in) != makefileName {
			at = path.Join(at, makefileName)
		}
		makefile += "\n" + string(q.read(at, maxConfig))
	}
	var roots, tools []string
	for _, m := range regexp.MustCompile(`\bhtp_v(\d\d)\b`).FindAllStringSubmatch(text, -1) {
		root, version := "HEXAGON_SDK_ROOT_V"+m[1], "HEXAGON_TOOLS_VERSION_V"+m[1]
		given := func(name string) bool {
			_, env := q.p.Env[name]
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
	slices.Sort(roots)
	slices.Sort(tools)
	q.texts("unset_roots", slices.Compact(roots))
	q.texts("tools_wanted", slices.Compact(tools))
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

// aotConfigs reads configs of upstream's compiler that a command is given, and tells whether there is one. What the command writes itself is not there
// yet, and a file of that name in the workspace is another.
func (x Exec) aotConfigs(q *question, text string) (some bool) {
	for _, word := range append(strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" '\"=;", c) }), x.Inputs...) {
		if path.Ext(word) != ".json" || slices.ContainsFunc(q.p.Outputs, func(o step.DeclaredOutput) bool { return o.Path == path.Clean(word) }) {
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
		some = true
		q.say("signed_pd", cty.BoolVal(c.Machine.Session == "HtpSignedPd"))
		q.text("aot_arch", strings.ToLower(c.Machine.Arch))
		q.text("aot_soc", c.Machine.Chipset)
	}
	return some
}
