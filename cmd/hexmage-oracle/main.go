// Command hexmage-oracle compares this tree's hexmage with the hexmage of commit Old by 30 edits on six pipelines.
// After each edit, and after its reversal, both programs run, and outputs, actions and exit codes must be equal. It
// does not know how either program works inside. It exists for rewrites of the engine, and is deleted with the last
// of them. Start it with `go tool mage oracle`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/store/layout"
)

// Old is the commit whose hexmage is right by definition.
const Old = "986b0db551b8cc89c728ad2dd3e36c15582fc7e5"

type options struct {
	tree, pipeline, edit, plant string
	keep                        bool
}

func main() {
	var o options
	flag.StringVar(&o.tree, "new", ".", "compare the hexmage of this `folder`")
	flag.StringVar(&o.pipeline, "pipeline", "", "compare only these pipelines, comma-separated")
	flag.StringVar(&o.edit, "edit", "", "apply only edits whose name contains this `text`")
	flag.StringVar(&o.plant, "plant", "", "change one byte of the new output after the edit of this `name`")
	flag.BoolVar(&o.keep, "keep", false, "keep the workspaces")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

// side is one of the two programs.
type side struct {
	name    string // both names have three letters, so that paths in outputs have the same length
	tree    string // its sources
	bin     string
	words   *strings.Replacer // from the words of Old to the words of this side
	forward *strings.Replacer // from the words of this side to the words of the new side
}

func run(ctx context.Context, o options) error {
	start := time.Now()
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	kept := filepath.Join(cache, "hexmage-test", "oracle")
	base, err := os.MkdirTemp("", "hexmage-oracle-")
	if err != nil {
		return err
	}
	if o.keep {
		fmt.Println("workspaces:", base)
	} else {
		defer func() { _ = remove(base) }()
	}
	sides, err := programs(ctx, kept, base, o.tree)
	if err != nil {
		return err
	}
	fmt.Printf("built in %s\n", time.Since(start).Round(time.Second))
	var chosen []pipeline
	for _, p := range pipelines() {
		if o.pipeline == "" || slices.Contains(strings.Split(o.pipeline, ","), p.name) {
			chosen = append(chosen, p)
		}
	}
	rows := []edit{{name: "cold"}}
	for _, e := range edits() {
		if strings.Contains(e.name, o.edit) {
			rows = append(rows, e)
		}
	}
	if len(chosen) == 0 || len(rows) == 1 {
		return errors.New("no pipeline or no edit has that name")
	}
	cells := make([][]string, len(chosen))
	different := 0
	for i, p := range chosen {
		began := time.Now()
		var wrong int
		at, fetched := filepath.Join(base, p.name), filepath.Join(kept, "fetched")
		cells[i], wrong, err = compare(ctx, at, fetched, p, sides, rows, o.plant)
		if err != nil { // the other pipelines still run
			fmt.Printf("%s: not finished: %v\n", p.name, err)
			wrong++
		}
		different += wrong
		fmt.Printf("%s: %s\n", p.name, time.Since(began).Round(time.Second))
		if !o.keep {
			_ = remove(at)
		}
	}
	table(rows, chosen, cells)
	took := time.Since(start).Round(time.Second)
	fmt.Printf("%d edits × %d pipelines in %s, %d different\n", len(rows)-1, len(chosen), took, different)
	if different > 0 {
		return fmt.Errorf("%d results differ", different)
	}
	return nil
}

// table prints how many actions each edit ran, and how many its reversal ran.
func table(rows []edit, chosen []pipeline, cells [][]string) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "actions run: edit, reversal")
	for _, p := range chosen {
		fmt.Fprint(w, "\t", p.name)
	}
	for r, e := range rows {
		fmt.Fprintf(w, "\n%2d %s", r, e.name)
		for _, column := range cells {
			fmt.Fprint(w, "\t", strings.Join(column[min(r, len(column)):min(r+1, len(column))], ""))
		}
	}
	fmt.Fprintln(w)
	_ = w.Flush()
}

// compare takes one pipeline through all edits. It returns the table's column, and how many of its cells differ.
func compare(ctx context.Context, base, downloads string, p pipeline, sides []side, rows []edit, plant string) (
	column []string, different int, err error) {
	var worlds []*world
	for _, s := range sides {
		w, err := newWorld(filepath.Join(base, s.name), downloads, p, s)
		if err != nil {
			return column, different, fmt.Errorf("%s workspace: %w", s.name, err)
		}
		worlds = append(worlds, w)
	}
	for _, e := range rows {
		cold := e.name == "cold"
		cell, wrong, err := step(ctx, worlds, e, plant == e.name)
		if err != nil {
			return column, different, fmt.Errorf("%s: %w", e.name, err)
		}
		if cold {
			if worlds[0].exit != 0 {
				return column, different, errors.New("the cold run of Old failed")
			}
			for _, w := range worlds {
				if err := link(layout.In(w.cache).Downloads(), downloads); err != nil {
					return column, different, err
				}
			}
		} else {
			reversal := edit{name: e.name + ", reversed", do: (*world).restore}
			back, more, err := step(ctx, worlds, reversal, false)
			if err != nil {
				return column, different, fmt.Errorf("%s: %w", reversal.name, err)
			}
			cell, wrong = cell+" "+back, wrong || more
		}
		if wrong {
			different++
		}
		column = append(column, cell)
	}
	return column, different, nil
}

// step applies an edit to both workspaces, runs both programs, and compares what they did.
func step(ctx context.Context, worlds []*world, e edit, plant bool) (cell string, different bool, err error) {
	var results [2]facts
	var both errgroup.Group
	for i, w := range worlds {
		both.Go(func() (err error) {
			if e.do != nil {
				err = e.do(w)
			}
			if err == nil {
				results[i], err = w.run(ctx, e, plant && i == 1)
			}
			return err
		})
	}
	if err := both.Wait(); err != nil {
		return "", false, err
	}
	lines := differences(results[0], results[1], e.stops)
	for i, line := range lines {
		if i == 8 {
			fmt.Printf("  … %d more\n", len(lines)-i)
			break
		}
		fmt.Printf("%s, %s: %s\n", worlds[0].pipeline.name, e.name, line)
	}
	cell = fmt.Sprint(results[0].count("executed"))
	if results[0].exit != 0 {
		cell += fmt.Sprintf("(exit %d)", results[0].exit)
	}
	if len(lines) > 0 {
		cell += " DIFFERENT"
	}
	return cell, len(lines) > 0, nil
}

// programs builds both programs: Old once, in the user's cache folder, the new one each time.
func programs(ctx context.Context, kept, base, tree string) ([]side, error) {
	at := filepath.Join(kept, Old)
	if _, err := os.Stat(at); err != nil {
		half := at + ".new"
		script := `rm -rf "$2"; mkdir -p "$2/src"; git archive -o "$2/tar" "$1"; tar -xf "$2/tar" -C "$2/src"`
		err := command("sh", "-ec", script, "sh", Old, half)
		if err == nil {
			err = build(ctx, filepath.Join(half, "src"), filepath.Join(half, "bin"))
		}
		if err == nil {
			err = os.Rename(half, at)
		}
		if err != nil {
			return nil, err
		}
	}
	tree, err := filepath.Abs(tree)
	if err != nil {
		return nil, err
	}
	bin := filepath.Join(base, "bin")
	none, later := strings.NewReplacer(), strings.NewReplacer(renamed()...)
	return []side{
		{"old", filepath.Join(at, "src"), filepath.Join(at, "bin"), none, later},
		{"new", tree, bin, later, none},
	}, build(ctx, tree, bin)
}

// build builds the hexmage of a tree.
func build(ctx context.Context, tree, bin string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", bin+string(filepath.Separator), "./cmd/hexmage")
	cmd.Dir, cmd.Env = tree, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", tree, err, out)
	}
	return nil
}
