// Package layout says where hexmage keeps its things on a device. Everything that it leaves there is below one folder.
//
// It knows paths and nothing of what is put there, or how.
package layout

import (
	"crypto/rand"
	"encoding/hex"
)

// Folder is the folder of a device that is hexmage's: an absolute path of letters, digits and "._+-/".
type Folder string

// Android is the folder of phones: below one where programs may be executed by whoever adb is.
const Android Folder = "/data/local/tmp/hexmage"

// Script makes a script ready to run, in which Root is this folder.
func (f Folder) Script(script string) string {
	return "export LC_ALL=C\nhexmage=" + string(f) + "\n" + script // what its tools say is read
}

// CAS is where blobs are, named by their SHA-256, which every device can compute.
func (f Folder) CAS() string { return string(f) + "/cas" }

// Runs is where runs have folders of their own.
func (f Folder) Runs() string { return string(f) + "/run" }

// Folders of a device, as scripts name them.
const (
	Root  = "$hexmage"
	CAS   = Root + "/cas"
	Parts = Root + "/parts" // digests of the parts of large blobs
	Used  = Root + "/used"  // empty files: their times say when a blob was last asked for
	Runs  = Root + "/run"
	Lease = Root + "/lease" // who has the device
)

// PID is a file in a run's folder: the process group of its command.
const PID = ".hexmage.pid"

// Guard begins a script that removes things: it ends the script where one of the folders is a link, as what is removed must be ours.
const Guard = `for d in ` + Root + ` ` + CAS + ` ` + Parts + ` ` + Used + ` ` + Runs + ` ` + Lease + `; do
	[ -L $d ] && { echo "$d is a link: remove it" >&2; exit 1; }
done
`

// NewID returns a name that nothing else has: 16 hexadecimal digits.
func NewID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
