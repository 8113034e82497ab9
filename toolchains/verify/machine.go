package verify

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
)

// Machine returns which shared libraries the machine whose file system is at root ("/") has for programs of its own kind. libraryPath is
// the user's LD_LIBRARY_PATH, whose folders come first.
func Machine(root, libraryPath string) Host {
	dirs := filepath.SplitList(libraryPath)
	for _, d := range configured(root, "/etc/ld.so.conf", 0) {
		dirs = append(dirs, filepath.Join(root, d))
	}
	for _, d := range []string{"/lib64", "/usr/lib64", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib", "/usr/lib"} {
		dirs = append(dirs, filepath.Join(root, d))
	}
	return Host{Library: func(name string) ([]string, bool) {
		if name == "" || strings.ContainsAny(name, "/\x00") {
			return nil, false
		}
		for _, d := range dirs {
			if !filepath.IsAbs(d) {
				continue
			}
			if versions, err := LibraryVersions(filepath.Join(d, name)); err == nil {
				return versions, true
			}
		}
		return nil, false
	}}
}

const maxIncludes = 4 // files of the loader's configuration that include others

// configured returns the folders that a file of the loader's configuration names.
func configured(root, file string, depth int) (dirs []string) {
	f, err := os.Open(filepath.Join(root, file))
	if err != nil || depth > maxIncludes {
		return nil
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		line, _, _ := strings.Cut(s.Text(), "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "include":
			for _, pattern := range words[1:] {
				if !filepath.IsAbs(pattern) {
					pattern = filepath.Join(filepath.Dir(file), pattern)
				}
				names, err := filepath.Glob(filepath.Join(root, pattern))
				if err != nil {
					continue
				}
				for _, name := range names {
					dirs = append(dirs, configured(root, strings.TrimPrefix(name, strings.TrimSuffix(root, "/")), depth+1)...)
				}
			}
		case filepath.IsAbs(words[0]):
			dirs = append(dirs, words[0])
		}
	}
	return dirs
}
