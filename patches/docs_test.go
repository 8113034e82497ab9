package patches_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/patches"
)

// TestDocs: docs/patches.md names every block and attribute of rules.hcl, and every shipped range.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/patches.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	tags(reflect.TypeFor[patches.RulesFile](), names)
	fsys, err := patches.Shipped("mllm")
	if err != nil {
		t.Fatal(err)
	}
	ranges, err := patches.Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range ranges {
		names[r.Name] = true
	}
	if len(names) < 18 {
		t.Errorf("only %d names", len(names))
	}
	for name := range names {
		if !strings.Contains(string(page), "`"+name+"`") && !strings.Contains(string(page), "`"+name+" \"") && !strings.Contains(string(page), "`"+name+" { }`") {
			t.Errorf("docs/patches.md does not tell of `%s`", name)
		}
	}
}

// tags collects the names in the hcl tags of a struct and of those in it.
func tags(typ reflect.Type, names map[string]bool) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct {
		return
	}
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, kind, _ := strings.Cut(f.Tag.Get("hcl"), ",")
		if name != "" && kind != "label" {
			names[name] = true
		}
		tags(f.Type, names)
	}
}
