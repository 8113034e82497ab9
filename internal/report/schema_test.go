package report_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/event/eventtest"
	"github.com/hexmage/hexmage/internal/report"
)

const schemaFile = "../../docs/events.schema.json"

// Every event as full as it can be, and as it is when it has next to nothing, is what the schema says, and the schema
// says nothing else.
func TestSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	to := report.JSON(&b, time.Now)
	kinds := map[string]reflect.Type{}
	for _, e := range eventtest.Run() {
		to.Send(e)
		kinds[e.EventName()] = reflect.TypeOf(e)
	}
	check := func(line string) error {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	to.Send(event.Error{Message: "all is flushed", ExitCode: 1})
	for line := range strings.Lines(b.String()) {
		if err := check(line); err != nil {
			t.Errorf("%s%v", line, err)
		}
		if err := check(strings.Replace(line, report.Format, "hexmage-events/0", 1)); err == nil {
			t.Errorf("of another format, and taken: %s", line)
		}
	}

	file, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Defs map[string]struct {
			Properties map[string]json.RawMessage
			Required   []string
		} `json:"$defs"`
	}
	if err := json.Unmarshal(file, &doc); err != nil {
		t.Fatal(err)
	}
	kinds["failure"], kinds["difference"] = reflect.TypeFor[event.Failure](), reflect.TypeFor[event.Difference]()
	delete(doc.Defs, "time")
	if d := cmp.Diff(slices.Sorted(maps.Keys(kinds)), slices.Sorted(maps.Keys(doc.Defs))); d != "" {
		t.Errorf("events, and those of the schema:\n%s", d)
	}
	for name, typ := range kinds {
		var has, always []string
		if typ.Implements(reflect.TypeFor[event.Event]()) {
			has = []string{"event", "format", "time"}
			always = slices.Clone(has)
		}
		for f := range typ.Fields() {
			tag, omit, _ := strings.Cut(f.Tag.Get("json"), ",")
			if tag == "-" {
				continue
			}
			has = append(has, tag)
			if omit == "" {
				always = append(always, tag)
			}
		}
		slices.Sort(has)
		slices.Sort(always)
		said := doc.Defs[name]
		slices.Sort(said.Required)
		if d := cmp.Diff(has, slices.Sorted(maps.Keys(said.Properties))); d != "" {
			t.Errorf("fields of %s, and those of the schema:\n%s", name, d)
		}
		if d := cmp.Diff(always, said.Required); d != "" {
			t.Errorf("fields that %s always has, and those that the schema requires:\n%s", name, d)
		}
	}
}
