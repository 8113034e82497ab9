package front

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// freeProgram gives the pages of this program back to the system, which has them in its cache of files, and gives those that are needed again. A program
// touches most of itself as it starts, where it is spread over all of it, and little later.
func freeProgram() {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, _ := os.ReadFile("/proc/self/maps")
	for line := range bytes.Lines(maps) {
		// 00400000-012ac000 r-xp 00000000 fe:00 9977972    /usr/bin/hexmage-engine
		fields := bytes.Fields(line)
		if len(fields) != 6 || string(fields[5]) != self || bytes.IndexByte(fields[1], 'w') >= 0 {
			continue
		}
		from, to, _ := bytes.Cut(fields[0], []byte("-"))
		begin, err1 := strconv.ParseUint(string(from), 16, 64)
		end, err2 := strconv.ParseUint(string(to), 16, 64)
		if err1 != nil || err2 != nil || end <= begin {
			continue
		}
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(begin), uintptr(end-begin), unix.MADV_DONTNEED)
	}
}
