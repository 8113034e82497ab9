//go:build !unix

package build

import "os"

func stamp(path string) (fileStamp, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return fileStamp{}, err
	}
	return fileStamp{Size: st.Size(), MTime: st.ModTime().UnixNano()}, nil
}
