package sources

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/internal/fetch"
)

// parts gets only those members of a zip that are wanted. Where no server sends parts, or the whole archive is there
// already, that is used.
func (s *work) parts(ctx context.Context, out string) error {
	if whole := filepath.Join(s.o.Downloads, keptName(s.Spec)); s.filePinned() && fetch.Check(whole, s.source()) == nil {
		return s.unpack(ctx, out, whole)
	}
	c, missing := s.client()
	src := s.source()
	name := filepath.Join(s.o.Downloads, "parts-"+short(append(append([]string{s.StripPrefix}, s.Only...), s.URLs...)...)+".zip")
	for again := true; ; again = false {
		m, err := c.FetchMembers(ctx, src, s.Takes, name)
		if errors.Is(err, fetch.ErrOffline) && missing != nil && !s.o.Offline {
			err = missing
		}
		if errors.Is(err, fetch.ErrNoRanges) {
			s.o.Warn(fmt.Sprintf("%s: all of it is downloaded: %v", s.Name, fetch.ErrNoRanges))
			file, err := s.download(ctx)
			if err != nil {
				return err
			}
			s.learned.Size, s.learned.SHA256 = 0, ""
			return s.unpack(ctx, out, file)
		}
		if err != nil {
			return err
		}
		s.learned.URL = m.URL
		err = s.unpack(ctx, out, name)
		if !again || !errors.Is(err, archive.ErrTruncated) && !errors.Is(err, fetch.ErrMismatch) || s.o.Offline {
			if err != nil && ctx.Err() == nil {
				_ = os.Remove(name) // its digest can't be told from a good one's: it is of no use
			}
			return err
		}
		_ = os.Remove(name) // a member that is damaged, on disk perhaps: once more
	}
}
