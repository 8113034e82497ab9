package build

import (
	"io/fs"
	"os"
	"path/filepath"
)

// fileStamp is what the file system says of an exported file. A tampered, replaced or deleted one has another stamp.
type fileStamp struct {
	Path  string `json:"path"` // relative to the output's place; "" for a file
	Size  int64  `json:"size"`
	MTime int64  `json:"mtime"`
	Inode uint64 `json:"inode"`
	CTime int64  `json:"ctime"`
}

func stamps(path string) ([]fileStamp, error) {
	var out []fileStamp
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(path, p)
		if err != nil {
			return err
		}
		if rel == "." {
			rel = ""
		}
		s, err := stamp(p)
		s.Path = filepath.ToSlash(rel)
		out = append(out, s)
		return err
	})
	return out, err
}

// standing tells whether what was exported to path is still there, every file with its stamp.
func standing(path string, e exported) bool {
	if st, err := os.Lstat(path); err != nil || st.IsDir() != e.Dir {
		return false
	}
	for _, f := range e.Files {
		s, err := stamp(filepath.Join(path, filepath.FromSlash(f.Path)))
		if s.Path = f.Path; err != nil || s != f {
			return false
		}
	}
	return true
}
