package eventtest

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/event"
)

// Schema tests that each record in the $defs of a JSON schema matches the Go type with the same name. The record and
// the type must have the same fields, and must agree on which fields are always present. An event also has the fields
// that report.JSON adds.
func Schema(t *testing.T, schema string, types map[string]reflect.Type) {
	t.Helper()
	file, err := os.ReadFile(schema)
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
	delete(doc.Defs, "time") // a string
	if d := cmp.Diff(slices.Sorted(maps.Keys(types)), slices.Sorted(maps.Keys(doc.Defs))); d != "" {
		t.Errorf("Go records differ from the schema:\n%s", d)
	}
	for name, typ := range types {
		var has, always []string
		if typ.Implements(reflect.TypeFor[event.Event]()) {
			has = []string{"event", "format", "time"}
			always = slices.Clone(has)
		}
		for _, f := range reflect.VisibleFields(typ) {
			tag, omit, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous || tag == "-" {
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
			t.Errorf("fields of %s differ from the schema:\n%s", name, d)
		}
		if d := cmp.Diff(always, said.Required); d != "" {
			t.Errorf("required fields of %s differ from the schema:\n%s", name, d)
		}
	}
}
