// Package layout says where hexmage keeps its things on a device. Everything that it leaves there is below Root.
//
// It knows paths and nothing of what is put there, or how.
package layout

import (
	"crypto/rand"
	"encoding/hex"
)

// Folders of a device. Blobs are named by their SHA-256, which every phone can compute.
const (
	Root   = "/data/local/tmp/hexmage"
	CAS    = Root + "/cas"
	Chunks = Root + "/chunks" // the recipes of large blobs
	Used   = Root + "/used"   // empty files: their times say when a blob was last asked for
	Runs   = Root + "/run"
	Lease  = Root + "/lease" // who has the device
)

// Guard begins a script that removes things: it ends the script where one of the folders is a link, as what is removed must be ours.
const Guard = `for d in ` + Root + ` ` + CAS + ` ` + Chunks + ` ` + Used + ` ` + Runs + `; do
	[ -L $d ] && { echo "$d is a link: remove it" >&2; exit 1; }
done
`

// NewID returns a name that nothing else has: 16 hexadecimal digits.
func NewID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
