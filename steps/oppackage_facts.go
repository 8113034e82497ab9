package steps

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/patches"
)

// Limits on the sources of an op package that facts reads.
const (
	maxSources = 500     // files of a folder
	maxSource  = 4 << 20 // bytes of a file
)

// facts adds the targets of the op package, and the names in its sources that the SDK no longer has.
func (o OpPackage) facts(q *question) bool {
	q.opTargets(o.Targets)
	if o.Tools != "" {
		q.text("tools_version", o.Tools)
		q.texts("tools_wanted", []string{o.Tools})
	}
	if qairt, ok := q.known("qairt"); ok && o.Source.Host() != "" {
		q.renamed(o.Source, qairt.Version)
	}
	return true
}

// facts adds the targets of the Makefile.
func (m Makefile) facts(q *question) bool {
	q.opTargets(m.Targets)
	return true
}

func (q *question) opTargets(targets []string) {
	var arches []string
	for _, t := range targets {
		if a, ok := strings.CutPrefix(t, "htp_"); ok && strings.HasPrefix(a, "v") {
			arches = append(arches, a)
		}
	}
	q.texts("arches", arches)
}

// renamed finds names in workspace sources that the shipped patch series replaces for this version of the SDK.
func (q *question) renamed(source step.Path, version string) {
	const series = "mllm"
	rules, err := patches.Newer(series, version)
	if err != nil {
		q.p.Fail("", "Invalid shipped patch series", "%v.", err)
	}
	if len(rules) == 0 {
		return
	}
	said := map[string]bool{}
	var out []cty.Value
	for _, sub := range []string{"src", "src/ops", "include"} {
		for _, name := range q.list(path.Join(source.Host(), sub), maxSources) {
			if !slices.Contains([]string{".cpp", ".h", ".hpp", ".cc"}, path.Ext(name)) {
				continue
			}
			src := q.read(name, maxSource)
			for _, r := range rules {
				if said[r.From] || !strings.Contains(string(src), r.From) {
					continue
				}
				found, err := r.Rewrite(name, src)
				if err != nil || len(found.Changed) == 0 {
					continue
				}
				said[r.From] = true
				at := fmt.Sprintf("%s:%d", path.Join(sub, path.Base(name)), found.Changed[0].Line)
				call := map[string]cty.Value{}
				for key, text := range map[string]string{"at": at, "from": r.From, "to": r.To, "receiver": r.Receiver,
					"rule": r.Name, "series": series} {
					call[key] = cty.StringVal(text)
				}
				out = append(out, cty.ObjectVal(call))
			}
		}
	}
	q.say("renamed", cty.TupleVal(out))
}
