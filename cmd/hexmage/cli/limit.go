package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/report/page"
	"github.com/hexmage/hexmage/internal/settings"
)

// limitEvery is the interval at which runs enforce the cache limit.
const limitEvery = time.Hour

// limitTime is the time limit for enforcing the cache limit at the end of a run.
const limitTime = 10 * time.Second

// maxSize returns the cache limit of the user's settings; 0: unlimited.
func (a *app) maxSize() (int64, error) {
	path := a.settingsFiles()[0]
	src, err := readSettings(path)
	if err != nil || len(src) == 0 {
		return 0, err
	}
	size, diags := settings.MaxSize(src, path, true)
	if diags.HasErrors() {
		return 0, a.printDiags(diags, a.settingsSources())
	}
	return size, nil
}

// holdToLimit collects garbage if the cache exceeds the user's limit. It keeps items used since began, the start of the
// run. It looks once an hour, since a survey takes time. It does not wait for other processes, and its errors do not
// fail the run.
func (a *app) holdToLimit(ctx context.Context, size int64, began time.Time) {
	if size == 0 || ctx.Err() != nil {
		return
	}
	note := a.places().State().Limit()
	if info, err := os.Stat(note); err == nil && time.Since(info.ModTime()) <= limitEvery {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limitTime)
	defer cancel()
	sum, err := gc.Collect(ctx, a.Cache, gc.CollectOptions{MaxSize: size, Since: began})
	if errors.Is(err, gc.ErrInUse) {
		return // the other process enforces the limit at its end
	}
	limit := fmt.Sprintf("%s of %s", bytesize.Decimal(size), settings.UserFile)
	switch {
	case err != nil && ctx.Err() != nil:
		a.say("hexmage could not reduce the cache to %s within %v; run `hexmage cache gc --max-size %d`", limit,
			limitTime, size)
	case err != nil:
		a.say("hexmage could not reduce the cache to %s: %v", limit, err)
	case sum.Before > size:
		text := fmt.Sprintf("the cache had %s, more than the limit of %s; hexmage removed %s",
			bytesize.Decimal(sum.Before), limit,
			bytesize.Decimal(sum.Freed))
		if sum.RemovedSeconds > 0 {
			text += fmt.Sprintf(", which took %s to build", page.Seconds(sum.RemovedSeconds))
		}
		if sum.After > size {
			text += fmt.Sprintf(". The cache still has %s, because this run uses the rest or hexmage may not remove it",
				bytesize.Decimal(sum.After))
		}
		a.say("%s", text)
	}
	if os.MkdirAll(filepath.Dir(note), 0o755) == nil {
		_ = atomicfile.PlaceFile(note, nil, 0o644) // on an error, the next run looks again
	}
}
