package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/report/page"
)

// cacheCmd is `hexmage cache …`.
type cacheCmd struct {
	Stats  cacheStatsCmd  `cmd:"" help:"Print the number and size of files in the cache."`
	GC     cacheGCCmd     `cmd:"" name:"gc" help:"Remove cached files that have not been used recently."`
	Verify cacheVerifyCmd `cmd:"" help:"Check the digest of each file in the cache."`
	Path   cachePathCmd   `cmd:"" help:"Print where the cache stores a file, folder or result."`
}

type cacheStatsCmd struct{}

// Help returns the examples of `hexmage cache stats --help`.
func (*cacheStatsCmd) Help() string {
	return `Examples:

    hexmage cache stats          one line for each kind of file
    hexmage cache stats --json   the same numbers as JSON`
}

// Run prints the content of the cache.
func (*cacheStatsCmd) Run(ctx context.Context, a *app) error {
	s, err := gc.Read(ctx, a.Cache)
	if err != nil {
		return cacheError(ctx, err)
	}
	text := fmt.Sprintf("%s: %s\n\n%s", s.Root, bytesize.Decimal(s.Bytes), groupsText(s.Groups))
	if s.Broken > 0 {
		text += fmt.Sprintf("\n%d results are incomplete; `hexmage cache gc` removes them.\n", s.Broken)
	}
	if s.Seconds > 0 {
		text += fmt.Sprintf("\nThese results took %s to build, or %s per GB of cache.\n", page.Seconds(s.Seconds),
			page.Seconds(s.Seconds*1e9/float64(s.Bytes)))
	}
	return a.show(s, "%s", text)
}

func groupsText(groups []gc.Group) (text string) {
	if len(groups) > 0 {
		text = fmt.Sprintf("%-12s %-7s %9s %10s\n", "KIND", "DIGEST", "COUNT", "SIZE")
	}
	for _, g := range groups {
		text += fmt.Sprintf("%-12s %-7s %9d %10s\n", g.Kind, g.Function, g.Count, bytesize.Decimal(g.Bytes))
	}
	return text
}

type cacheGCCmd struct {
	MaxSize string `placeholder:"SIZE" help:"Limit the size of the cache to SIZE. Examples: 20GB, 500MB, 8GiB. Default: unlimited."`
	MaxAge  string `placeholder:"AGE" default:"30d" help:"Remove files that have not been used for AGE. Examples: 30d, 2w, 12h. 0 means no age limit. Default: 30d."`
	DryRun  bool   `short:"n" help:"Only print what gc would remove."`
}

// Help returns the examples of `hexmage cache gc --help`.
func (*cacheGCCmd) Help() string {
	return `First removes files that have not been used for --max-age. If the cache is still larger than --max-size,
removes more files, beginning with old, large results that are quick to make again. Exits with 4 if a build is running.

Examples:

    hexmage cache gc --dry-run                     print what gc would remove
    hexmage cache gc --max-size 20GB               limit the age to 30 days and the size to 20 GB
    hexmage cache gc --max-size 20GB --max-age 0   limit only the size`
}

// Run removes unused files from the cache.
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
	verb := "removed"
	if c.DryRun {
		verb = "would remove"
	}
	was := ""
	if sum.RemovedSeconds > 0 {
		was = fmt.Sprintf(", which took %s to build", page.Seconds(sum.RemovedSeconds))
	}
	if o.MaxSize > 0 && sum.After > o.MaxSize {
		a.say("the cache is still larger than %s, because all remaining files are in use", c.MaxSize)
	}
	return a.show(sum, "%s%s %s%s; %s remain in %s\n", groupsText(sum.Groups), verb, bytesize.Decimal(sum.Freed), was,
		bytesize.Decimal(sum.After), a.Cache)
}

type cacheVerifyCmd struct {
	Repair bool `help:"Move corrupt files to the folder damaged/ in the cache. Later builds create the files again. Exits with 4 if a build is running."`
}

// Help returns the examples of `hexmage cache verify --help`.
func (*cacheVerifyCmd) Help() string {
	return `Exits with 1 if a file is corrupt.

Examples:

    hexmage cache verify            list corrupt files
    hexmage cache verify --repair   move corrupt files out of the cache`
}

// Run verifies the cache.
func (c *cacheVerifyCmd) Run(ctx context.Context, a *app) error {
	line := a.progressLine(a.Live, 0)
	v, err := gc.Verify(ctx, a.Cache, gc.VerifyOptions{Repair: c.Repair, Progress: line.bytes("")})
	line.end()
	if v.Problems == nil {
		v.Problems = []gc.Problem{}
	}
	text := ""
	for _, p := range v.Problems {
		text += p.Path + ": " + p.Text + also(p.Repaired != "", ": "+p.Repaired) + "\n"
	}
	if err == nil {
		text += fmt.Sprintf("%d files (%s), %d results, %d trees: %d damaged\n",
			v.Files, bytesize.Decimal(v.Bytes), v.Results, v.Trees, len(v.Problems))
	}
	perr := a.show(v, "%s", text)
	switch {
	case err != nil:
		return cacheError(ctx, err)
	case perr != nil || len(v.Problems) == 0:
		return perr
	case !c.Repair && !a.JSON:
		a.say("run `hexmage cache verify --repair` to quarantine corrupt files")
	}
	return &exitError{Code: ExitFailed}
}

type cachePathCmd struct {
	Digest string `arg:"" help:"Digest of 64 hexadecimal digits. You can write the hash function (blake3 or sha256) before the digits, and the size in bytes after the digits. Example: sha256:DIGITS/SIZE."`
	Kind   string `enum:"any,blob,tree,result" default:"any" placeholder:"KIND" help:"Find only this kind: blob (a file), tree (a folder), result (of an action) or any. Default: any, which prints the first match."`
}

// Help returns the examples of `hexmage cache path --help`.
func (*cachePathCmd) Help() string {
	return `Examples:

    hexmage cache path 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08   the file, folder or result with this digest
    hexmage cache path --kind tree DIGEST                                                 only a folder with digest DIGEST`
}

// Run prints the path of the cache.
func (c *cachePathCmd) Run(_ context.Context, a *app) error {
	found, err := gc.Find(a.Cache, c.Digest)
	if errors.Is(err, gc.ErrDigest) {
		return usageError("%w", err)
	}
	if err != nil {
		return engineError(err)
	}
	for _, f := range found {
		if c.Kind != "any" && c.Kind+"s" != string(f.Kind) {
			continue
		}
		return a.showPath(f, f.Path)
	}
	return &exitError{Code: ExitFailed, Err: fmt.Errorf("digest %s is not in the cache %s", c.Digest, a.Cache)}
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

// parseAge parses an age such as 30d, 2w or 12h; 0: no age.
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
	return 0, fmt.Errorf("invalid age %q; use a value such as 30d, 2w or 12h, or 0 for any age", s)
}
