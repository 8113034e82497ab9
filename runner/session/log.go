package session

import (
	"bytes"
	"context"
	"strings"
	"time"
)

// LogWords, an extended regular expression for grep -i, is in lines of a device's log that have to do with the NPU, or with programs that died.
const LogWords = `adsprpc|fastrpc|cdsp|qnn|htp|hexagon|genie|mllm|tombstoned|DEBUG   |F libc|lowmemorykiller|avc: +denied`

// maxLogged bounds what of a device's log goes with a failure, in lines; of a tombstone likewise.
const (
	maxLogged    = "300"
	maxTombstone = "60"
)

// logScript prints what the log says since the command began, as far as it has to do with the NPU or with programs that died, then the start
// of the newest crash dump since then, where it may be read. Input: the run's folder. logcat's own -T is no help on devices without it.
const logScript = `read -r dir && cd "$dir" && read -r at <` + startedFile + ` || exit 0
echo "since $at"
logcat -d -v threadtime -b main,system,crash -T "${at%.*}.000" 2>/dev/null | grep -iE '` + LogWords + `' | tail -n ` + maxLogged + `
f=$(ls -t /data/tombstones/tombstone_?? 2>/dev/null | head -n 1)
[ -n "$f" ] && [ -r "$f" ] && [ ! ` + startedFile + ` -nt "$f" ] && echo "tombstone $f" && head -n ` + maxTombstone + ` "$f"
exit 0`

// logOf returns what the device's log says of the command that ran in the folder; nothing where that cannot be found out.
func (s *Session) logOf(ctx context.Context, dir string) []byte {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterWait)
	defer cancel()
	out, err := s.Device.Output(ctx, logScript, strings.NewReader(dir+"\n"))
	if err != nil {
		return nil
	}
	return since(out)
}

// since drops the lines of the log that are older than the time in the first line of what logScript printed. That has no fractions of
// a second where the device's date cannot tell them.
func since(out string) []byte {
	first, rest, _ := strings.Cut(out, "\n")
	at, ok := strings.CutPrefix(first, "since ")
	if !ok {
		return nil
	}
	const form = "01-02 15:04:05.000"
	at = at[:min(len(at), len(form))]
	var kept bytes.Buffer
	for line := range strings.Lines(rest) {
		t := line[:min(len(line), len(form))]
		if _, err := time.Parse(form, t); err != nil || t >= at || at > "12-31" && t < "01-02" {
			kept.WriteString(line)
		}
	}
	return kept.Bytes()
}
