package tool_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/internal/tool/tooltest"
)

type greeting struct {
	Name string `json:"name"`
}

const greet tool.Name[greeting] = "greet/3"

func run(_ context.Context, g greeting, env tool.Env) error {
	switch g.Name {
	case "":
		return errors.New("whom?")
	case "silence":
		return tool.ErrSaid
	case "nobody":
		return fmt.Errorf("no network: %w", tool.ErrUnable)
	}
	_, err := env.Stdout.Write([]byte("hello " + g.Name + env.Var("MARK")))
	return err
}

func TestTool(t *testing.T) {
	if greet.String() != "greet" {
		t.Errorf("it is called %s", greet)
	}
	if out, said, code := tooltest.Run(t, greet, run, greeting{"you"}, "MARK=?", "MARK=!"); out != "hello you!" ||
		said != "" || code != 0 {
		t.Errorf("%q, %q, %d", out, said, code)
	}
	for doc, want := range map[string]struct {
		code int
		says string
	}{
		`{}`:                         {1, "greet: whom?\n"},
		`{"name": "silence"}`:        {1, ""},
		`{"name": "nobody"}`:         {3, "greet: no network: the tool could not run\n"},
		`{"name": "x", "naem": "y"}`: {2, "naem"},
		`{"name": "x"} {}`:           {2, "more than one JSON document"},
		`{"name": 1}`:                {2, "greet: read the arguments"},
		`{`:                          {2, "greet: read the arguments"},
		``:                           {2, "greet: read the arguments"},
		`{"name": "` + strings.Repeat("x", 17<<20) + `"}`: {2, "larger than 16777216 bytes"},
	} {
		if out, said, code := tooltest.Raw(t, tool.New(greet, run), []byte(doc)); code != want.code ||
			!strings.Contains(said, want.says) || want.says == "" && said != "" || out != "" {
			t.Errorf("%.40s: %q, %q, %d", doc, out, said, code)
		}
	}
	for _, args := range [][]string{nil, {"/no/such"}, {"a", "b"}} {
		var said bytes.Buffer
		if code := tool.New(greet, run)(t.Context(), args, tool.Env{Stderr: &said}); code != 2 || said.Len() == 0 {
			t.Errorf("%q: %d, %s", args, code, &said)
		}
	}
}
