package report_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

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

	kinds["failure"], kinds["difference"] = reflect.TypeFor[event.Failure](), reflect.TypeFor[event.Difference]()
	eventtest.Schema(t, schemaFile, kinds)
}
