package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/report"
)

// cacheCmd is `hexmage cache …`.
type cacheCmd struct {
	Stats  cacheStatsCmd  `cmd:"" help:"Count the contents of the cache."`
	GC     cacheGCCmd     `cmd:"" name:"gc" help:"Remove results that were unused for long."`
	Verify cacheVerifyCmd `cmd:"" help:"Hash the whole cache. Exit code 1 if it is damaged."`
	Path   cachePathCmd   `cmd:"" help:"Print the path of a blob, tree or result."`
}

type cacheStatsCmd struct{}

// Run prints what the cache holds.
func (*cacheStatsCmd) Run(ctx context.Context, a *app) error {
	s, err := gc.Read(ctx, a.Cache)
	if err != nil {
		return cacheError(ctx, err)
	}
	if a.JSON {
		return a.printJSON(s)
	}
	w := a.Env.Stdout
	fmt.Fprintf(w, "%s: %s\n\n", s.Root, bytesize.Decimal(s.Bytes))
	printGroups(a, s.Groups)
	if s.Broken > 0 {
		fmt.Fprintf(w, "\n%d of the results cannot be used; `hexmage cache gc` removes them.\n", s.Broken)
	}
	if s.Seconds > 0 {
		fmt.Fprintf(w, "\nTo make what the results hold took %s: %s for each GB of the cache.\n", took(s.Seconds),
			took(s.Seconds*1e9/float64(s.Bytes)))
	}
	return nil
}

// took is a time that may be hours: 2 h 21 min.
func took(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch m := int(d.Round(time.Minute).Minutes()); {
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", m/60, m%60)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d min", m)
	}
	return report.Seconds(d)
}

func printGroups(a *app, groups []gc.Group) {
	if len(groups) > 0 {
		fmt.Fprintf(a.Env.Stdout, "%-12s %-7s %9s %10s\n", "KIND", "DIGEST", "COUNT", "SIZE")
	}
	for _, g := range groups {
		fmt.Fprintf(a.Env.Stdout, "%-12s %-7s %9d %10s\n", g.Kind, g.Function, g.Count, bytesize.Decimal(g.Bytes))
	}
}

type cacheGCCmd struct {
	MaxSize string `placeholder:"SIZE" help:"Make the cache at most so large: 20GB, 500MB, 8GiB. Default: any size."`
	MaxAge  string `placeholder:"AGE" default:"30d" help:"Remove what was not used for so long: 30d, 2w, 12h; 0 for any age. Default: 30d."`
	DryRun  bool   `short:"n" help:"Only say what would go."`
}

// Run collects garbage.
func (c *cacheGCCmd) Run(ctx context.Context, a *app) error {
	o := gc.CollectOptions{DryRun: c.DryRun}
	var err error
	if c.MaxSize != "" {
		if o.MaxSize, err = bytesize.Parse(c.MaxSize); err != nil {
			return usageError("--max-size: %w", err)
		}
	}
	if o.MaxAge, err = parseAge(c.MaxAge); err != nil {
		return usageError("--max-age: %w", err)
	}
	sum, err := gc.Collect(ctx, a.Cache, o)
	if err != nil {
		return cacheError(ctx, err)
	}
	if a.JSON {
		return a.printJSON(sum)
	}
	printGroups(a, sum.Groups)
	verb := "removed"
	if c.DryRun {
		verb = "would remove"
	}
	was := ""
	if sum.RemovedSeconds > 0 {
		was = fmt.Sprintf(", which took %s to make", took(sum.RemovedSeconds))
	}
	fmt.Fprintf(a.Env.Stdout, "%s %s%s; %s stay in %s\n", verb, bytesize.Decimal(sum.Freed), was,
		bytesize.Decimal(sum.After), a.Cache)
	if o.MaxSize > 0 && sum.After > o.MaxSize {
		fmt.Fprintf(a.Env.Stderr, "note: what stays is more than %s, but it is nothing that may be removed\n",
			c.MaxSize)
	}
	return nil
}

type cacheVerifyCmd struct {
	Repair bool `help:"Move what is damaged to the cache's folder damaged/, so that it is made again. Exit code 4 while a build runs."`
}

// Run verifies the cache.
func (c *cacheVerifyCmd) Run(ctx context.Context, a *app) error {
	line := a.progressLine(a.Live, 0)
	v, err := gc.Verify(ctx, a.Cache, gc.VerifyOptions{Repair: c.Repair, Progress: line.bytes("")})
	line.end()
	if a.JSON {
		if v.Problems == nil {
			v.Problems = []gc.Problem{}
		}
		if perr := a.printJSON(v); perr != nil {
			return perr
		}
	} else {
		for _, p := range v.Problems {
			fmt.Fprintf(a.Env.Stdout, "%s: %s", p.Path, p.Text)
			if p.Repaired != "" {
				fmt.Fprintf(a.Env.Stdout, ": %s", p.Repaired)
			}
			fmt.Fprintln(a.Env.Stdout)
		}
		if err == nil {
			fmt.Fprintf(a.Env.Stdout, "%d files (%s), %d results, %d trees: %d damaged\n",
				v.Files, bytesize.Decimal(v.Bytes), v.Results, v.Trees, len(v.Problems))
		}
	}
	if err != nil {
		return cacheError(ctx, err)
	}
	if len(v.Problems) > 0 {
		if !c.Repair && !a.JSON {
			fmt.Fprintln(a.Env.Stderr, "run `hexmage cache verify --repair` to quarantine corrupt files")
		}
		return &exitError{Code: ExitFailed}
	}
	return nil
}

type cachePathCmd struct {
	Digest string `arg:"" help:"64 hexadecimal digits, alone or as function:digits/size."`
	Kind   string `enum:"any,blob,tree,result" default:"any" help:"Only a blob, tree or result. By default the first of these that is there."`
}

// Run prints a path.
func (c *cachePathCmd) Run(_ context.Context, a *app) error {
	found, err := gc.Find(a.Cache, c.Digest)
	if errors.Is(err, gc.ErrDigest) {
		return &exitError{Code: ExitUsage, Err: err}
	}
	if err != nil {
		return engineError(err)
	}
	for _, f := range found {
		if c.Kind != "any" && c.Kind+"s" != string(f.Kind) {
			continue
		}
		if a.JSON {
			return a.printJSON(f)
		}
		isData(a.Env.Stdout)
		fmt.Fprintln(a.Env.Stdout, filepath.Clean(f.Path))
		return nil
	}
	return &exitError{Code: ExitFailed, Err: fmt.Errorf("%s is not in %s", c.Digest, a.Cache)}
}

func cacheError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return &exitError{Code: ExitInterrupted, Err: errInterrupted}
	case errors.Is(err, gc.ErrInUse):
		return &exitError{Code: ExitLocked, Err: err}
	}
	return engineError(err)
}

// parseAge reads an age such as 30d, 2w or 12h; 0 is none.
func parseAge(s string) (time.Duration, error) {
	if s == "0" {
		return 0, nil
	}
	for suffix, unit := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(s, suffix); ok {
			if n, err := strconv.ParseFloat(number, 64); err == nil && n > 0 && n < 36500 {
				return time.Duration(n * float64(unit)), nil
			}
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%q is no age: write it like 30d, 2w or 12h, or 0 for any", s)
}
