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
	"github.com/hexmage/hexmage/internal/settings"
)

// limitEvery is how often a run holds the cache to its limit.
const limitEvery = time.Hour

// limitTime is how long a run takes at its end, at most, to hold the cache to its limit.
const limitTime = 10 * time.Second

// maxSize is how large the cache may become, as the user's own file says; 0: of any size.
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

// holdToLimit removes from the cache what is worth least, if a run that began then has made it larger than the user
// wants it. To look takes time: it is done when it was not done for an hour, or the disk has filled up by a twentieth
// of the limit since. It waits for nobody, and what goes wrong with it is no error of the run.
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
		return // whoever uses it looks when he has ended
	}
	limit := fmt.Sprintf("%s of %s", bytesize.Decimal(size), settings.UserFile)
	switch {
	case err != nil && ctx.Err() != nil:
		a.say(fmt.Sprintf("the cache was not held to the %s in %v: `hexmage cache gc --max-size %d` does it", limit,
			limitTime, size))
	case err != nil:
		a.say(fmt.Sprintf("the cache was not held to the %s: %v", limit, err))
	case sum.Before > size:
		text := fmt.Sprintf("the cache had %s, more than the %s: %s are removed", bytesize.Decimal(sum.Before), limit,
			bytesize.Decimal(sum.Freed))
		if sum.RemovedSeconds > 0 {
			text += fmt.Sprintf(", which took %s to make", took(sum.RemovedSeconds))
		}
		if sum.After > size {
			text += fmt.Sprintf("; %s stay, as this run needs them or they may not be removed",
				bytesize.Decimal(sum.After))
		}
		a.say(text)
	}
	if os.MkdirAll(filepath.Dir(note), 0o755) == nil {
		_ = atomicfile.PlaceFile(note, nil, 0o644) // where that fails it is looked again
	}
}
