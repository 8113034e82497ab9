//go:build !unix

package atomicfile

import "io/fs"

// Links returns 0, because the number of hard links is unknown. Callers then copy the file.
func Links(st fs.FileInfo) uint64 { return 0 }
