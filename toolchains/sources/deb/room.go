package deb

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// listsNeed is what package lists take while they are fetched and unpacked, with room to spare.
const listsNeed = 200 << 20

// room refuses to start what cannot end well: on a full disk, apt-get waits for ever for its own children.
func room(dir string, need int64, what string) error {
	have, known := free(dir)
	if !known || have >= need {
		return nil
	}
	return fmt.Errorf("%s take %d MB in %s, where %d MB are free: %w", what, mb(need+1<<20-1), dir, mb(have), syscall.ENOSPC)
}

func mb(bytes int64) int64 { return bytes >> 20 }

// full says whether an error is about a full disk, which no other package lists can mend.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || err != nil && strings.Contains(strings.ToLower(err.Error()), "no space left on device")
}
