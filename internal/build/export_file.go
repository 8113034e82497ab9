package build

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// errInTheWay says that something stands in an output's place which a rename does not replace.
var errInTheWay = errors.New("a folder is in the way")

// file puts a file in place under the name and returns its stamp there, if it is known.
func (p *placer) file(ctx context.Context, d digest.Digest, name string, perm fs.FileMode) ([]fileStamp, error) {
	tmp := ""
	if p.move {
		tmp = p.dir.TempName(p.temp, tempPrefix)
	}
	if d.Size() <= atOnce {
		b, err := p.read(ctx, d)
		if err != nil {
			return nil, err
		}
		st, err := p.dir.CreateStamped(name, tmp, b, perm)
		return []fileStamp{{"", st}}, inTheWay(err)
	}
	at := name
	if p.move {
		at = tmp
	}
	if err := store.CopyFile(ctx, p.blobs, d, p.dir.Path(at), perm); err != nil {
		return nil, err
	}
	if p.move {
		if err := os.Rename(p.dir.Path(tmp), p.dir.Path(name)); err != nil {
			os.Remove(p.dir.Path(tmp))
			return nil, inTheWay(err)
		}
	}
	return p.stamp(name), nil
}

func inTheWay(err error) error {
	if errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrExist) {
		return errors.Join(errInTheWay, err)
	}
	return err
}
