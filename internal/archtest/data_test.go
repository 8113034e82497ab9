package archtest_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/plan"
)

// TestPlanIsData: whatever a plan reaches can be written to a file and read back.
func TestPlanIsData(t *testing.T) {
	if got := noData(reflect.TypeFor[plan.Plan]()); len(got) > 0 {
		t.Errorf("no data are %q: a plan holds values, and what decides by them is in internal/engine, or in "+
			"internal/planner behind plan.Resolver", got)
	}
	type inner struct {
		C chan int
		_ int
	}
	type planted struct {
		F map[string][]func()
		G *inner
		H any
		N []*planted
	}
	if got := strings.Join(noData(reflect.TypeFor[planted]()),
		" "); got != "archtest_test.inner.C archtest_test.inner._ archtest_test.planted.F archtest_test.planted.H" {
		t.Errorf("of what is planted %q is found", got)
	}
}

// noData returns the fields, of the type and of those that it reaches, that no file can hold, sorted.
func noData(root reflect.Type) []string {
	found, seen := map[string]bool{}, map[reflect.Type]bool{}
	var walk func(t reflect.Type, at string)
	walk = func(t reflect.Type, at string) {
		switch t.Kind() {
		case reflect.Func, reflect.Interface, reflect.Chan, reflect.UnsafePointer:
			found[at] = true
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(t.Elem(), at)
		case reflect.Map:
			walk(t.Key(), at)
			walk(t.Elem(), at)
		case reflect.Struct:
			if seen[t] {
				return
			}
			seen[t] = true
			for f := range t.Fields() {
				if at := fmt.Sprintf("%s.%s", t, f.Name); !f.IsExported() {
					found[at] = true // who writes a file does not see it
				}
				walk(f.Type, fmt.Sprintf("%s.%s", t, f.Name))
			}
		}
	}
	walk(root, root.String())
	return slices.Sorted(maps.Keys(found))
}
