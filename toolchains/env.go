package toolchains

import (
	"strings"
)

// EnvValue is a variable that an SDK's own environment script would set.
type EnvValue struct {
	Name, Value string
	Prepend     bool // put in front of the list that is there, with a ":"
}

// Env returns what the environment script of the toolchain would export when it is at root. toolsDir is the Hexagon tools'
// folder below root, as the SDK says ("" takes the catalogue's word). Unlike the scripts the result is the same each time
// it is applied with Apply.
func (t *Toolchain) Env(r *Release, root, toolsDir string) []EnvValue {
	if toolsDir == "" && r.ToolsVersion != "" {
		toolsDir = "tools/HEXAGON_Tools/" + r.ToolsVersion
	}
	fill := strings.NewReplacer("${root}", root, "${tools}", toolsDir)
	var out []EnvValue
	for _, e := range t.EnvVars {
		out = append(out, EnvValue{Name: e.Name, Value: fill.Replace(r.fill(e.Value)), Prepend: e.Prepend})
	}
	return out
}

// Apply returns the value of a variable after e, when it is old before. Parts that are there already are not repeated.
func (e EnvValue) Apply(old string) string {
	if !e.Prepend || old == "" {
		return e.Value
	}
	parts := strings.Split(e.Value, ":")
	have := map[string]bool{}
	for _, p := range parts {
		have[p] = true
	}
	for _, p := range strings.Split(old, ":") {
		if p != "" && !have[p] {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ":")
}
