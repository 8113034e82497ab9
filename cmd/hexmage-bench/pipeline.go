package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/event"
)

// The main pipeline in its default profile, and a source that it compiles.
const (
	name   = "qwen3-aot-v79"
	source = "oppackage/example/LLaMAPackage/src/ops/SiLU.cpp"
)

// measurePipeline builds the main pipeline with an empty cache, as a no-op, and after edits.
func (b *bench) measurePipeline(ctx context.Context, dir string) {
	for _, folder := range []string{"pipelines", "modules", "oppackage/example"} {
		b.fail(os.CopyFS(filepath.Join(dir, folder), os.DirFS(folder)))
	}
	build := b.command(dir, dir+"/cache", "run", name)
	cold := &contestant{program: build}
	b.compete(ctx, 1, cold)
	b.value(name+": cold run with downloads", "s", 240, cold.walls)
	b.value(name+": cold run, peak memory", "MB", 0, cold.memory)

	b.write(dir+"/word.go", `package main; import "fmt"; func main() { fmt.Println("hexmage") }`)
	b.must(ctx, program{[]string{"go", "build", "-trimpath", "word.go"}, dir, append(b.env, "CGO_ENABLED=0")})
	b.settle()
	b.must(ctx, build)
	b.compare(ctx, name+": no-op", b.noOps, &contestant{program: build},
		&contestant{name: "hello world", budget: 8, program: b.plain(dir, "", dir+"/word")})

	original := b.must(ctx, b.shell(dir, "", "cat "+source)).output
	var begun []time.Time
	edit := func() { // like an editor
		b.settle()
		b.write(dir+"/edited", fmt.Sprintf("%s// %v\n", original, time.Now()))
		begun = append(begun, time.Now())
		b.fail(os.Rename(dir+"/edited", filepath.Join(dir, source)))
	}
	output := ""
	build.argv = append(build.argv, "--json")
	for range b.noOps {
		edit()
		output += b.must(ctx, build).output
	}
	b.value(name+": edit until its compiler starts", "s", 0.120, b.untilCompiler(begun, output))

	build.argv[1] = "watch"
	watching, stop := context.WithCancel(ctx)
	ended := make(chan string)
	go func() {
		s, _ := build.run(watching) // returns an error: it is ended by an interrupt
		ended <- s.output
	}()
	begun = nil
	for range b.noOps {
		edit()
	}
	b.settle()
	stop()
	b.value(name+": edit until its compiler starts, watch", "s", 0.060, b.untilCompiler(begun, <-ended))
}

// untilCompiler returns the seconds from each time to the next start of a compiler in the events.
func (b *bench) untilCompiler(begun []time.Time, events string) (all []float64) {
	for line := range strings.Lines(events) {
		var e struct {
			Event, Description string
			Time               time.Time
		}
		_ = json.Unmarshal([]byte(line), &e) // skips lines that are not JSON
		compiles := e.Event == event.ActionStarted{}.EventName() && strings.HasPrefix(e.Description, "compile ")
		if n := len(all); compiles && n < len(begun) && e.Time.After(begun[n]) {
			all = append(all, e.Time.Sub(begun[n]).Seconds())
		}
	}
	if len(all) < len(begun) {
		b.fail(fmt.Errorf("only %d of %d edits started a compiler:\n%s", len(all), len(begun), events))
	}
	return all
}
