// Package layout has the paths of hexmage's files on a device, all below one folder. It does not know the files'
// contents.
package layout

import (
	"crypto/rand"
	"encoding/hex"
)

// Folder is hexmage's folder on a device: an absolute path of letters, digits and "._+-/".
type Folder string

// Android is hexmage's folder on phones. The adb user may run programs in its parent folder.
const Android Folder = "/data/local/tmp/hexmage"

// Script returns the script with a header that sets the shell variable in Root.
func (f Folder) Script(script string) string {
	return "export LC_ALL=C\nhexmage=" + string(f) + "\n" + script // hexmage parses the output of tools
}

// CAS returns the folder that stores file contents. Each file is named by its SHA-256.
func (f Folder) CAS() string { return string(f) + "/cas" }

func (f Folder) Runs() string { return string(f) + "/run" }

// Folders of a device, as written in scripts.
const (
	Root  = "$hexmage"
	CAS   = Root + "/cas"
	Parts = Root + "/parts" // digests of the parts of large blobs
	Used  = Root + "/used"  // empty files whose times are the last uses of the blobs
	Runs  = Root + "/run"
	Lease = Root + "/lease" // the device's lease
)

// PID is the name of a file in a run's folder. It contains the id of the command's process group.
const PID = ".hexmage.pid"

// Guard is the start of a script that removes files. It ends the script if one of hexmage's folders is a symbolic link.
const Guard = `for d in ` + Root + ` ` + CAS + ` ` + Parts + ` ` + Used + ` ` + Runs + ` ` + Lease + `; do
	[ -L $d ] && { echo "$d is a link: remove it" >&2; exit 1; }
done
`

// NewID returns a unique name of 16 hexadecimal digits.
func NewID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
