package session

import "github.com/hexmage/hexmage/runner/layout"

const (
	// In the run's folder.
	pidFile     = ".hexmage.pid"     // the process group of the command
	startedFile = ".hexmage.started" // when it began, as the device's log spells that

	// Input: the run's folder. The shell that adb starts leads a session and a process group of its own.
	killScript = `read -r dir && read -r p <"$dir/` + pidFile + `" && kill -9 -- "-$p" 2>/dev/null
exit 0`

	// Input: the run's folder. What the command left running is ended: it would take part in the next measurement. The folder's files are the
	// store's, too: only folders are made writable.
	cleanScript = layout.Guard + `read -r dir || exit 1
case $dir in ` + layout.Runs + `/*/* | *..*) exit 1 ;; ` + layout.Runs + `/?*) ;; *) exit 1 ;; esac
[ -f "$dir/` + pidFile + `" ] && read -r p <"$dir/` + pidFile + `" && kill -9 -- "-$p" 2>/dev/null
find "$dir" -type d -exec chmod u+w {} + 2>/dev/null
rm -rf "$dir"`
)
