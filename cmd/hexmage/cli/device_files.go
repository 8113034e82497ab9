package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statcache"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/link"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
)

// devicePushCmd is `hexmage device push LOCAL… REMOTE`.
type devicePushCmd struct {
	deviceTarget
	Paths []string `arg:"" help:"Files and folders of this machine, then an absolute path on the device; one that ends with / or is a folder there is copied into."`
}

// Help has the examples of `hexmage device push --help`.
func (*devicePushCmd) Help() string {
	return `The device stores contents by their digest, and files are links to them. hexmage sends only missing contents, and
only the changed parts of a large file. If the link breaks, hexmage reconnects and continues the push. If the
device has no space left, hexmage removes the least recently used contents. device clean removes all.

Examples:

    hexmage device push model.mllm /data/local/tmp/qwen3/model.mllm
    hexmage device push out/qwen3-aot-v79 /data/local/tmp/          a folder, into that folder
    hexmage device push a.bin b.bin /data/local/tmp/x/ --json | jq .sent`
}

// Run pushes.
func (c *devicePushCmd) Run(ctx context.Context, a *app) error {
	if len(c.Paths) < 2 {
		return usageError("name files of this machine, then a path on the device: hexmage device push FILE " +
			"/data/local/tmp/")
	}
	local, remote := c.Paths[:len(c.Paths)-1], c.Paths[len(c.Paths)-1]
	if !path.IsAbs(remote) {
		return usageError("%s: a path on the device is absolute, such as /data/local/tmp/%s", remote, remote)
	}
	dev, err := c.open(ctx, a)
	if err != nil {
		return err
	}
	held, err := a.leaseDevice(ctx, dev)
	if err != nil {
		return err
	}
	defer held.Release()
	into := strings.HasSuffix(remote, "/") || len(local) > 1
	if !into {
		st, err := link.Stat(ctx, dev, remote)
		if into = err == nil && st.Mode.IsDir(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return engineError(err)
		}
	}
	dir := path.Clean(remote)
	p := pushSet{files: map[string]push.File{}, stats: a.statCache()}
	for _, l := range local {
		name := filepath.Base(absolute(a.WorkDir, l))
		if !into {
			dir, name = path.Dir(dir), path.Base(dir)
		}
		if err := p.add(absolute(a.WorkDir, l), name); err != nil {
			return usageError("%w", err)
		}
	}
	start, bar := time.Now(), a.progressLine(a.Live, 0)
	s := &session.Session{Device: dev, Lease: held, Sums: push.Sums{Dir: filepath.Join(a.deviceState(), "sums")}}
	done, err := s.Push(ctx, dir, p.files, bar.bytes("push "))
	bar.end()
	_ = p.stats.Save() // what is not remembered is read again
	if err != nil {
		return engineError(err)
	}
	took := time.Since(start)
	if a.JSON {
		return a.printJSON(struct {
			Files int `json:"files"`
			push.Pushed
			Seconds float64 `json:"seconds"`
		}{len(p.files), done, took.Seconds()})
	}
	files := "files"
	if len(p.files) == 1 {
		files = "file"
	}
	fmt.Fprintf(a.Env.Stdout, "%d %s, %s: %s sent in %.2f s%s\n", len(p.files), files, bytesize.Decimal(done.Size),
		bytesize.Decimal(done.Sent), took.Seconds(), pushText(done))
	return nil
}

// pushText says what was special about a push.
func pushText(p push.Pushed) string {
	var all []string
	if p.Reused > 0 {
		all = append(all, bytesize.Decimal(p.Reused)+" reused from contents of the device")
	}
	if p.Dropped > 0 {
		all = append(all, fmt.Sprintf("the link broke %d times", p.Dropped))
	}
	if p.Evicted > 0 {
		all = append(all, fmt.Sprintf("%d older contents removed", p.Evicted))
	}
	if len(all) == 0 {
		return ""
	}
	return "; " + strings.Join(all, ", ")
}

// pushSet is what is to be pushed, by path in the folder on the device.
type pushSet struct {
	files map[string]push.File
	stats *statcache.Cache // nil: files are not hashed
}

// add adds a file, or what is below a folder. Links are followed, but not out of files into folders.
func (p pushSet) add(from, name string) error {
	return filepath.WalkDir(from, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := os.Stat(at)
		if err != nil || st.IsDir() && e.IsDir() {
			return err
		}
		if !st.Mode().IsRegular() {
			return fmt.Errorf("%s is neither a file nor a folder", at)
		}
		rel, err := filepath.Rel(from, at)
		if err != nil {
			return err
		}
		file := push.File{Open: func() (io.ReadCloser, error) { return os.Open(at) }, Size: st.Size(),
			Executable: st.Mode()&0o111 != 0}
		if p.stats != nil {
			d, err := p.stats.Hash(at, stat.Of(st))
			if err != nil {
				return err
			}
			file.Key = d.String()
		}
		rel = path.Join(name, filepath.ToSlash(rel))
		if _, ok := p.files[rel]; ok {
			return fmt.Errorf("two files are called %s: on the device they cannot both be", rel)
		}
		p.files[rel] = file
		return nil
	})
}

func (a *app) statCache() *statcache.Cache {
	return statcache.Open(a.places().State().StatCache(digest.BLAKE3), digest.BLAKE3, time.Now)
}

// deviceState is where runs on devices keep what they know between runs.
func (a *app) deviceState() string { return a.places().State().Runner() }

// leaseDevice makes this process the only user of the device, among processes of all machines.
func (a *app) leaseDevice(ctx context.Context, dev link.Device) (*lease.Lease, error) {
	held, err := lease.OnDevice(ctx, dev, func(owner string) {
		fmt.Fprintf(a.Env.Stderr, "hexmage: waiting for device %s, in use by %s\n", dev.Place().Serial, owner)
	})
	if err != nil {
		return nil, engineError(err)
	}
	return held, nil
}

// devicePullCmd is `hexmage device pull REMOTE… [LOCAL]`.
type devicePullCmd struct {
	deviceTarget
	Remote string `arg:"" help:"A file or folder of the device."`
	Local  string `arg:"" optional:"" default:"." help:"Where to put it; a folder that exists is copied into."`
}

// Help has the examples of `hexmage device pull --help`.
func (*devicePullCmd) Help() string {
	return `What is there is replaced once all has arrived, and not before.

Examples:

    hexmage device pull /data/local/tmp/qwen3/profile.json
    hexmage device pull /data/local/tmp/qwen3/results out/results
    hexmage device pull --serial R5CXC1AAAAA /data/tombstones .`
}

// Run pulls.
func (c *devicePullCmd) Run(ctx context.Context, a *app) error {
	dev, err := c.open(ctx, a)
	if err != nil {
		return err
	}
	to := absolute(a.WorkDir, c.Local)
	if st, err := os.Stat(to); err == nil && st.IsDir() {
		to = filepath.Join(to, path.Base(path.Clean(c.Remote)))
	}
	if to, err = a.place(to); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return engineError(err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(to), ".pull")
	if err != nil {
		return engineError(err)
	}
	defer os.RemoveAll(tmp)
	bar, pulled := a.progressLine(a.Live, 0), int64(0)
	show := bar.bytes("pull ")
	name, err := session.Pull(ctx, dev, c.Remote, tmp, func(done, total int64) {
		pulled = done
		show(done, total)
	})
	bar.end()
	if err != nil {
		return engineError(err)
	}
	from := filepath.Join(tmp, name)
	if st, err := os.Lstat(to); err == nil && st.IsDir() {
		return engineError(fmt.Errorf("%s is a folder: remove it first, or name another", to))
	}
	if err := os.Rename(from, to); err != nil {
		return engineError(err)
	}
	if a.JSON {
		return a.printJSON(map[string]any{"path": to, "bytes": pulled})
	}
	fmt.Fprintf(a.Env.Stdout, "%s, %s\n", to, bytesize.Decimal(pulled))
	return nil
}
