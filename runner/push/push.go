// Package push has files on a device that lacks them, and sends no byte twice: contents are named by their SHA-256 in a store on the device, large ones are
// cut into chunks by content, a link that breaks is gone on with to the byte, and the device verifies what arrived.
//
// The way in is New, a Store for one session, its Ensure, and Place, which makes files of what is there. The package knows links and the folders of
// layout; it does not know what the files are, nor what is run.
package push

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/runner/agent"
	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/link"
)

// File is a file for the device.
type File struct {
	Open       func() (io.ReadCloser, error) // called at least once when the device lacks the content; may be called again
	Size       int64
	Key        string // names the content for Sums; empty: not named
	Executable bool
}

// New returns the store of a device for one session. held may be nil where nobody else knows the device; wait is for a device that went away,
// from the moment it did (0: half a minute); progress, if not nil, is told of bytes that moved.
func New(dev link.Device, held *lease.Lease, sums Sums, wait time.Duration, progress func(done, total int64)) *Store {
	return &Store{dev: dev, held: held, sums: sums, id: layout.NewID(), wait: wait, progress: progress}
}

// Ensure has the device have the files' contents, and returns the SHA-256 of each.
func (s *Store) Ensure(ctx context.Context, files map[string]File) (sums map[string]string, err error) {
	blobs, sums, err := s.hash(ctx, files)
	if err != nil {
		return nil, err
	}
	if err := s.have(ctx, blobs); err != nil {
		return nil, fmt.Errorf("push: %w", err)
	}
	return sums, nil
}

// Folder puts files into a folder of the device, which is an absolute path; what is there under the same names is replaced. Contents that
// the device has are not sent. The files are the store's own, as far as the folder is on its file system: a program that writes to one
// has its content sent again.
func (s *Store) Folder(ctx context.Context, dir string, files map[string]File) (Pushed, error) {
	if !path.IsAbs(dir) || strings.ContainsAny(dir, "\n\r\\") || strings.TrimSpace(dir) != dir {
		return Pushed{}, fmt.Errorf("%q is no folder for a device: want an absolute path", dir)
	}
	if err := CheckPaths(slices.Collect(maps.Keys(files))...); err != nil {
		return Pushed{}, err
	}
	sums, err := s.Ensure(ctx, files)
	if err != nil {
		return s.pushed, err
	}
	var p Placement
	for _, name := range slices.Sorted(maps.Keys(files)) {
		p.File(name, sums[name], true) // as a program: a link into the store would break when the store is cleared
	}
	return s.pushed, s.Place(ctx, dir, &p)
}

// Pushed says what was done so far.
func (s *Store) Pushed() Pushed { return s.pushed }

// CheckPaths refuses paths that the device's shell, or we, could misunderstand.
func CheckPaths(paths ...string) error {
	for _, p := range paths {
		if !fs.ValidPath(p) || p == "." || strings.ContainsAny(p, "\n\r") || strings.TrimSpace(p) != p {
			return fmt.Errorf("%q is no path for a device: want a relative slash path without line ends, or spaces at its ends", p)
		}
	}
	return nil
}

// Placement lists what is to be made in a folder. The zero value is an empty list.
type Placement struct {
	folders map[string]bool
	body    strings.Builder
}

// Folder has the folder that the path is in exist.
func (p *Placement) Folder(of string) {
	if p.folders == nil {
		p.folders = map[string]bool{}
	}
	p.folders[path.Dir(of)] = true
}

// File puts a content of the store at the path.
func (p *Placement) File(at, sum string, program bool) {
	p.Folder(at)
	kind := "f"
	if program {
		kind = "x"
	}
	fmt.Fprintf(&p.body, "%s %s %s\n", kind, sum, at)
}

// Link puts a symbolic link at the path.
func (p *Placement) Link(at, target string) {
	p.Folder(at)
	fmt.Fprintf(&p.body, "l - %s\n%s\n", at, target)
}

// String is what placeScript reads: first the folders.
func (p *Placement) String() string {
	var list strings.Builder
	for _, d := range slices.Sorted(maps.Keys(p.folders)) {
		fmt.Fprintf(&list, "d - %s\n", d)
	}
	return list.String() + p.body.String()
}

// hash finds the SHA-256 of every file, and the distinct contents. Each is read once at most.
func (s *Store) hash(ctx context.Context, files map[string]File) (blobs map[string]blob, sums map[string]string, err error) {
	blobs, sums = map[string]blob{}, map[string]string{}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		f := files[p]
		sum, r, err := s.sums.read(ctx, f)
		if err != nil {
			return nil, nil, fmt.Errorf("push %s: %w", p, err)
		}
		sums[p] = sum
		if have, ok := blobs[sum]; ok && have.recipe != nil {
			continue
		}
		blobs[sum] = blob{sum: sum, size: f.Size, open: f.Open, recipe: r}
	}
	return blobs, sums, nil
}

// raceFrom is how much a push must send before it is worth knowing what computes SHA-256 faster on the device.
const raceFrom = 64 << 20

// choose has the device's sha256sum and our agent hash the same bytes, and takes the agent for this push if it is faster. Those of phones differ a
// lot: some use the processor's instructions for it, some do not. What goes wrong here leaves sha256sum.
func (s *Store) choose(ctx context.Context) {
	program, sum := agent.Program()
	for try := range 2 {
		out, err := s.script(ctx, raceScript, strings.NewReader(s.id+"\n"+sum+"\n"))
		switch said := strings.TrimSpace(out); {
		case err == nil && said == "agent":
			s.agent = layout.CAS + "/" + sum
			return
		case err != nil || said != "absent" || try > 0:
			return
		}
		b := blob{sum: sum, size: int64(len(program)), open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(program)), nil }}
		own := *s
		own.progress = nil
		t := newTransfer(&own, map[string]blob{sum: b})
		t.left = []string{sum}
		err = t.small(ctx)
		s.pushed.Sent = own.pushed.Sent
		if err != nil {
			return
		}
	}
}

const (
	// Prints the SHA-256 of a file, and more.
	sumFunc = `sum() { { [ -n "$agent" ] && echo "$1" | "$agent" sum 2>/dev/null; } || sha256sum "$1"; }
`

	// Input: the session, the agent's SHA-256. Output: "absent" if the device lacks it, "agent" if it is faster by more than the hundredth of a
	// second that a clock of the kernel tells.
	raceScript = `cd ` + layout.CAS + ` && read -r id && read -r a || exit 1
[ -f "$a" ] && [ -x "$a" ] || { echo absent; exit 0; }
now() { read -r t _ </proc/uptime && echo "${t%.*}${t#*.}"; }
f=.race.$id
head -c 8388608 /dev/zero >$f
b=$(now) && s=$(sha256sum $f) && c=$(now) && m=$(echo $f | ./$a sum) && d=$(now) && [ "${s%% *}" = "${m%% *}" ] && [ $((d - c + 1)) -lt $((c - b)) ] && echo agent
rm -f $f
exit 0`
)
