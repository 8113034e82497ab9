package plan

import (
	"maps"
	"slices"

	"github.com/hexmage/hexmage/internal/action"
)

// The types below are the shape of JSON. They are apart from Plan so that either can change without the other.
type jsonPlan struct {
	Format      string         `json:"format"`
	Pipeline    string         `json:"pipeline"`
	Description string         `json:"description,omitempty"`
	Profile     string         `json:"profile,omitempty"`
	Steps       []jsonInstance `json:"steps"`
	Outputs     []jsonExport   `json:"outputs"`
	Reads       jsonReads      `json:"reads"`
	Status      any            `json:"status,omitempty"`
}

type jsonInstance struct {
	Address     string         `json:"address"`
	Kind        string         `json:"kind"`
	Name        string         `json:"name"`
	Key         *string        `json:"key,omitempty"`
	Description string         `json:"description,omitempty"`
	Where       string         `json:"where"`
	Needs       []string       `json:"needs"`
	Deferred    string         `json:"deferred,omitempty"`
	Actions     []jsonSpec     `json:"actions"` // a preview when deferred
	Outputs     []jsonOutput   `json:"outputs"`
	TimeoutS    float64        `json:"timeout_s,omitempty"`
	Retries     int            `json:"retries,omitempty"`
	RetryAfter  []int          `json:"retry_exit_codes,omitempty"`
	Resources   map[string]int `json:"resources,omitempty"`
	Cache       string         `json:"cache,omitempty"`
}

type jsonSpec struct {
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Argv        []string          `json:"argv"`
	Env         map[string]string `json:"env,omitempty"`
	Stdin       string            `json:"stdin,omitempty"`
	Inputs      []jsonInput       `json:"inputs"`
	Outputs     []string          `json:"outputs"` // a folder ends with "/"
	Platform    map[string]string `json:"platform,omitempty"`
	OKExitCodes []int             `json:"ok_exit_codes,omitempty"`
	NoCache     bool              `json:"no_cache,omitempty"`
}

type jsonInput struct {
	Path     string   `json:"path"`
	Artifact string   `json:"artifact,omitempty"`
	Action   *string  `json:"action,omitempty"` // name of another action of the step, and its output
	Output   string   `json:"output,omitempty"`
	Host     string   `json:"host,omitempty"`
	Globs    []string `json:"globs,omitempty"`
	Bytes    *int     `json:"bytes,omitempty"` // of a file that is part of the plan
	Sub      string   `json:"sub,omitempty"`
}

type jsonOutput struct {
	Name  string `json:"name"`
	Class string `json:"class"`
	Path  string `json:"path"` // in the exec root of a step that uses it
}

type jsonExport struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Where       string   `json:"where"`
	Show        string   `json:"show,omitempty"`
	Class       string   `json:"class"` // "literal" for a value known by now
	Artifact    string   `json:"artifact,omitempty"`
	Sub         string   `json:"sub,omitempty"`
	Value       string   `json:"value,omitempty"`
	WaitsFor    []string `json:"waits_for,omitempty"`
}

type jsonReads struct {
	Files []string   `json:"files"`
	Globs []jsonGlob `json:"globs"`
}

type jsonGlob struct {
	Dir      string   `json:"dir"`
	Patterns []string `json:"patterns"`
	Found    int      `json:"found"`
}

// JSON returns the plan for programs, format "hexmage-plan/0": the 0 says that it may still change. Its field "status" says what
// a build would do; nil for none.
func JSON(p *Plan, status any) ([]byte, error) {
	out := jsonPlan{Format: "hexmage-plan/0", Pipeline: p.Pipeline, Description: p.Description, Profile: p.Profile, Status: status,
		Steps: []jsonInstance{}, Outputs: []jsonExport{}, Reads: jsonReads{Files: append([]string{}, p.Reads.Files...), Globs: []jsonGlob{}}}
	for _, n := range p.Instances {
		out.Steps = append(out.Steps, instanceJSON(n))
	}
	for _, e := range p.Exports {
		out.Outputs = append(out.Outputs, exportJSON(e))
	}
	for _, g := range p.Reads.Globs {
		out.Reads.Globs = append(out.Reads.Globs, jsonGlob{Dir: g.Dir, Patterns: append([]string{}, g.Patterns...), Found: len(g.Found)})
	}
	return marshal(out)
}

func instanceJSON(n *Instance) jsonInstance {
	j := jsonInstance{Address: n.At.String(), Kind: n.At.Kind, Name: n.At.Name, Description: n.Description, Where: n.Where,
		Needs: []string{}, Deferred: n.Deferred, Actions: []jsonSpec{}, Outputs: []jsonOutput{},
		TimeoutS: n.Timeout.Seconds(), Retries: n.Retries, RetryAfter: n.RetryExitCodes, Resources: n.Resources, Cache: n.Cache}
	if n.At.Keyed {
		key := n.At.Key
		j.Key = &key
	}
	for _, d := range n.Needs() {
		j.Needs = append(j.Needs, d.String())
	}
	for _, s := range n.Specs {
		j.Actions = append(j.Actions, specJSON(s))
	}
	for _, name := range slices.Sorted(maps.Keys(n.Classes)) {
		j.Outputs = append(j.Outputs, jsonOutput{Name: name, Class: n.Classes[name].String(), Path: n.Output(name).Path()})
	}
	return j
}

func specJSON(s action.Spec) jsonSpec {
	j := jsonSpec{Name: s.Name, Description: s.Description, Argv: append([]string{}, s.Args...), Env: s.Env, Stdin: s.Stdin,
		Inputs: []jsonInput{}, Outputs: []string{}, Platform: s.Platform, OKExitCodes: s.OKExitCodes, NoCache: s.NoCache}
	for _, in := range s.Inputs {
		i := jsonInput{Path: in.Path, Sub: in.Sub}
		switch {
		case in.Artifact != nil:
			i.Artifact = in.Artifact.String()
		case in.Spec != nil:
			i.Action, i.Output = &in.Spec.Spec, in.Spec.Path
		case in.Host != nil:
			i.Host, i.Globs = in.Host.Path, in.Host.Globs
		case in.Content != nil:
			n := len(in.Content.Data)
			i.Bytes = &n
		}
		j.Inputs = append(j.Inputs, i)
	}
	for _, o := range s.Outputs {
		path := o.Path
		if o.Tree {
			path += "/"
		}
		j.Outputs = append(j.Outputs, path)
	}
	return j
}

func exportJSON(e Export) jsonExport {
	j := jsonExport{Name: e.Name, Description: e.Description, Where: e.Where, Show: e.Show, Class: "literal", Value: e.Literal}
	if e.Artifact.Artifact != nil {
		j.Class, j.Artifact, j.Sub = e.Class.String(), e.Artifact.Artifact.String(), e.Artifact.Sub
	}
	for _, o := range e.AwaitValues {
		j.WaitsFor = append(j.WaitsFor, o.String())
	}
	return j
}
