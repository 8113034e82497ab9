// Package layout has the paths of hexmage's files on a device, all below one folder. It does not know the files'
// contents.
package layout

import (
	"crypto/rand"
	"encoding/hex"
)

// Folder is hexmage's folder on a device: an absolute path of letters, digits and "._+-/".
type Folder string

// Android is hexmage's folder on phones. Its parent is a folder in which adb's user may execute programs.
const Android Folder = "/data/local/tmp/hexmage"

// Script puts a header before a script. The header sets Root to this folder.
func (f Folder) Script(script string) string {
	return "export LC_ALL=C\nhexmage=" + string(f) + "\n" + script // hexmage parses the output of tools
}

// CAS returns the folder of blobs. A blob's name is its SHA-256, which every device can compute.
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

// PID is the name of a file in a run's folder. The file contains the process group of the run's command.
const PID = ".hexmage.pid"

// Guard is the start of a script that removes files. It ends the script if a folder is a link, to protect files
// elsewhere.
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
