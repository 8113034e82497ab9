package execute

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// HostPath is where programs without a slash in their name are looked for: the host's base system.
const HostPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// LookPath finds a program of the host as actions see it: in the folders of list, by default HostPath, and not in those of
// the user's own PATH. A name with a slash is a path already.
func LookPath(name, list string) (string, error) {
	if list == "" {
		list = HostPath
	}
	if strings.Contains(name, "/") {
		if isProgram(name) {
			return name, nil
		}
		return "", fmt.Errorf("there is no program %s", name)
	}
	for _, dir := range filepath.SplitList(list) {
		if p := filepath.Join(dir, name); isProgram(p) {
			return p, nil
		}
	}
	return "", fmt.Errorf("no program %s in %s", name, list)
}

func isProgram(p string) bool {
	st, err := os.Stat(p)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}
