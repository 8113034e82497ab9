package relock

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/sources"
)

// sample is how much of the beginning and of the end of a file is compared with a mirror's.
const sample = 64 << 10

// compareMirrors asks the other addresses of an archive that was pinned as it came whether they have the same: its size, beginning and
// end. An address that does not answer says nothing; one that has something else is an error, for nobody knows then which is right.
func compareMirrors(ctx context.Context, s sources.Spec, e *toolchains.Locked, o sources.Options) error {
	if e.SHA256 == "" || e.Size == 0 || e.Trust == "" || len(s.URLs) < 2 {
		return nil
	}
	f, err := os.Open(filepath.Join(o.Downloads, e.SHA256))
	if err != nil {
		return nil // nothing to compare with
	}
	defer f.Close()
	for _, u := range s.URLs {
		if u == e.URL || !strings.HasPrefix(u, "http") {
			continue
		}
		for _, at := range []int64{0, max(0, e.Size-sample)} {
			n := min(sample, e.Size-at)
			want := make([]byte, n)
			if _, err := f.ReadAt(want, at); err != nil {
				return err
			}
			got, size, ok := part(ctx, u, s.UserAgent, at, n)
			if !ok {
				if o.Warn != nil {
					o.Warn(fmt.Sprintf("%s: %s was not compared with the other address: it does not answer, or sends no parts", s.Name, u))
				}
				break
			}
			if size != e.Size || !bytes.Equal(got, want) {
				return fmt.Errorf("two addresses have different files for %s: %s sent %d bytes with sha256 %s, %s has another one of %d bytes; "+
					"find out which is right, and give it alone in toolchains/*.hcl of the workspace", s.Name, e.URL, e.Size, e.SHA256, u, size)
			}
		}
	}
	return nil
}

// part asks for n bytes of what is at an address, and how long all of it is.
func part(ctx context.Context, url, userAgent string, at, n int64) (b []byte, size int64, ok bool) {
	ctx, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, 0, false
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", at, at+n-1))
	if userAgent != "" {
		req.Header.Set("User-Agent", userAgent)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, 0, false
	}
	defer resp.Body.Close()
	_, total, found := strings.Cut(resp.Header.Get("Content-Range"), "/")
	size, err = strconv.ParseInt(total, 10, 64)
	if resp.StatusCode != http.StatusPartialContent || !found || err != nil {
		return nil, 0, false
	}
	b, err = io.ReadAll(io.LimitReader(resp.Body, n))
	return b, size, err == nil
}
