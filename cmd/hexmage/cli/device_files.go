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
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statcache"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/transport"
)

// devicePushCmd is `hexmage device push LOCAL… REMOTE`.
type devicePushCmd struct {
	deviceTarget
	Paths []string `arg:"" help:"One or more files and folders on this machine, followed by the destination: an absolute path on the device. If the destination is a folder or ends with /, the files go into this folder."`
}

// Help returns the examples of `hexmage device push --help`.
func (*devicePushCmd) Help() string {
	return `Sends only files that the device lacks. For large files, sends only the changed parts. If the
connection drops, hexmage reconnects and continues.

hexmage also keeps a copy of each sent file in a folder on the device. If the device is full, hexmage removes the least
recently used copies. To remove all copies, run hexmage device clean.

Examples:

    hexmage device push model.mllm /data/local/tmp/qwen3/model.mllm        copy a file
    hexmage device push out/qwen3-aot-v79 /data/local/tmp/                 copy a folder into /data/local/tmp
    hexmage device push a.bin b.bin /data/local/tmp/x/ --json | jq .sent   copy two files, and print the number of bytes sent`
}

// Run copies files to a device.
func (c *devicePushCmd) Run(ctx context.Context, a *app) error {
	if len(c.Paths) < 2 {
		return usageError("give local files and then a path on the device, such as `hexmage device push FILE " +
			"/data/local/tmp/`")
	}
	local, remote := c.Paths[:len(c.Paths)-1], c.Paths[len(c.Paths)-1]
	if !path.IsAbs(remote) {
		return usageError("%s: the path on the device must be absolute, such as /data/local/tmp/%s", remote, remote)
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
		st, err := transport.Stat(ctx, dev, remote)
		if into = err == nil && st.Mode.IsDir(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return engineError(err)
		}
	}
	dir := path.Clean(remote)
	p := pushSet{files: map[string]push.File{},
		stats: statcache.Open(a.places().State().StatCache(digest.BLAKE3), digest.BLAKE3, time.Now)}
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
	_ = p.stats.Save() // without it, files are hashed again
	if err != nil {
		return engineError(err)
	}
	took := time.Since(start).Seconds()
	return a.show(struct {
		Files int `json:"files"`
		push.Pushed
		Seconds float64 `json:"seconds"`
	}{len(p.files), done, took}, "%s, %s: %s sent in %.2f s%s\n", report.Count(len(p.files), "file"),
		bytesize.Decimal(done.Size), bytesize.Decimal(done.Sent), took, pushText(done))
}

// pushText describes a push.
func pushText(p push.Pushed) string {
	text := ""
	if p.Reused > 0 {
		text += "; " + bytesize.Decimal(p.Reused) + " were already on the device"
	}
	if p.Dropped > 0 {
		text += fmt.Sprintf("; the connection broke and resumed %d times", p.Dropped)
	}
	if p.Evicted > 0 {
		text += fmt.Sprintf("; %d older files removed", p.Evicted)
	}
	return text
}

// pushSet has the files to push, by path in the device's folder.
type pushSet struct {
	files map[string]push.File
	stats *statcache.Cache // nil: files are not hashed
}

// add adds a file, or the content of a folder. It follows links to files; a link to a folder is an error.
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
			return fmt.Errorf("two files have the name %s; push them to different folders", rel)
		}
		p.files[rel] = file
		return nil
	})
}

// deviceState returns the folder with the state of runs on devices.
func (a *app) deviceState() string { return a.places().State().Runner() }

// leaseDevice makes this process the only user of the device among processes of all machines.
func (a *app) leaseDevice(ctx context.Context, dev transport.Device) (*lease.Lease, error) {
	held, err := lease.OnDevice(ctx, dev, func(owner string) {
		a.say("waiting for device %s, in use by %s", dev.Place().Serial, owner)
	})
	if err != nil {
		return nil, engineError(err)
	}
	return held, nil
}

// devicePullCmd is `hexmage device pull REMOTE… [LOCAL]`.
type devicePullCmd struct {
	deviceTarget
	Remote string `arg:"" help:"File or folder on the device."`
	Local  string `arg:"" optional:"" default:"." help:"Destination on this machine. If <local> is an existing folder, the copy goes into this folder. Default: the working directory."`
}

// Help returns the examples of `hexmage device pull --help`.
func (*devicePullCmd) Help() string {
	return `Replaces an existing file only after the transfer is complete.

Examples:

    hexmage device pull /data/local/tmp/qwen3/profile.json          copy a file to the working directory
    hexmage device pull /data/local/tmp/qwen3/results out/results   copy a folder
    hexmage device pull --serial R5CXC1AAAAA /data/tombstones .     copy a folder from one of several devices`
}

// Run copies files from a device.
func (c *devicePullCmd) Run(ctx context.Context, a *app) error {
	dev, err := c.open(ctx, a)
	if err != nil {
		return err
	}
	to := absolute(a.WorkDir, c.Local)
	if isFolder(to) {
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
		return engineError(fmt.Errorf("destination %s is a folder; remove the folder, or choose another destination",
			to))
	}
	if err := os.Rename(from, to); err != nil {
		return engineError(err)
	}
	return a.show(map[string]any{"path": to, "bytes": pulled}, "%s, %s\n", to, bytesize.Decimal(pulled))
}
