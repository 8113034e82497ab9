package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Limits for the search in outputs.
const (
	maxFile = 64 << 20 // bytes of one file
	window  = 256 << 10
)

// Find searches the outputs for secret values. The outputs are slash paths below the folder root. Find returns the
// first output with a secret value, and the reference to the value, such as "var.token". If it finds nothing, it
// returns "" and "". Find searches names, targets of symlinks and the first 64 MB of each file. It does not find values
// in compressed or encrypted files.
func (s *Set) Find(root string, outputs []string) (output, ref string, err error) {
	if s == nil || len(s.forms) == 0 {
		return "", "", nil
	}
	buf := make([]byte, s.longest+window)
	for _, o := range outputs {
		at, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(o)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			ref, err = s.below(at, buf)
		}
		if err != nil {
			return "", "", fmt.Errorf("search output %s for secrets: %s", o, s.Redact(err.Error()))
		}
		if ref != "" {
			return o, ref, nil
		}
	}
	return "", "", nil
}

// below looks into a file, or all that is in a folder.
func (s *Set) below(at string, buf []byte) (ref string, err error) {
	err = filepath.WalkDir(at, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := []byte(d.Name())
		switch {
		case p == at: // its name is known while planning
			name = nil
		case d.Type() == fs.ModeSymlink:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			name = append(append(name, 0), to...)
		}
		if ref = s.in(name); ref == "" && d.Type().IsRegular() {
			ref, err = s.file(p, buf)
		}
		if ref != "" {
			return fs.SkipAll
		}
		return err
	})
	return ref, err
}

func (s *Set) file(p string, buf []byte) (ref string, err error) {
	f, err := os.Open(p)
	if errors.Is(err, fs.ErrPermission) { // the command took away the right to read its own output
		if info, serr := os.Lstat(p); serr == nil && os.Chmod(p, info.Mode().Perm()|0o400) == nil {
			f, err = os.Open(p)
		}
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	in := io.LimitReader(f, maxFile)
	kept := 0 // bytes at the start of buf, in which a value may begin
	for {
		n, err := io.ReadFull(in, buf[kept:])
		if ref = s.in(buf[:kept+n]); ref != "" {
			return ref, nil
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil
			}
			return "", err
		}
		kept = copy(buf, buf[kept+n-(s.longest-1):kept+n])
	}
}
