package push

import "github.com/hexmage/hexmage/runner/layout"

// The scripts run in the device's own shell: mksh and toybox on phones, ash and busybox in the simulation. They read
// lists from standard input, because command lines are short. A script may run twice if the link breaks before its
// answer arrives. A script of a broken link may still run; it writes the same bytes to the same places.
const (
	// sum prints the SHA-256 of a file; keep verifies and names a content.
	functions = `sum() { { [ -n "$agent" ] && echo "$1" | "$agent" sum 2>/dev/null; } || sha256sum "$1"; }
keep() {
	if [ ! -e ".$1.part" ]; then [ -e "$1" ]; return; fi
	s=$(sum ".$1.part")
	if [ "${s%% *}" = "$1" ]; then
		touch -d @1000000000 ".$1.part" 2>/dev/null || TZ=UTC0 touch -t 200109090146.40 ".$1.part"
		chmod 555 ".$1.part" && mv -f ".$1.part" "$1" && : >` + layout.Used + `/$1 && return
	fi
	rm -f ".$1.part"
	return 1
}
`

	// Input: sums. Output: "free KILOBYTES", then "SIZE,TIME SUM" of each stored content among them. It removes
	// leftovers of crashed sessions after a day.
	missingScript = layout.Guard + `mkdir -p ` + layout.CAS + ` ` + layout.Parts + ` ` + layout.Used + ` ` + layout.Runs + ` && cd ` + layout.CAS + ` || exit 1
find ` + layout.Runs + ` -mindepth 1 -maxdepth 1 -mtime +0 -exec rm -rf {} \; 2>/dev/null
find . -maxdepth 1 -type f -name '.*' -mtime +0 -exec rm -f {} \; 2>/dev/null
set -- $(df -Pk . 2>/dev/null | tail -n 1)
echo "free $4"
show() { [ $# -eq 0 ] || { stat -c '%s,%Y %n' "$@"; (cd ` + layout.Used + ` && touch "$@"); }; }
set --
while read -r h; do
	[ -f "$h" ] && set -- "$@" "$h"
	if [ $# -ge 100 ]; then show "$@"; set --; fi
done
show "$@"
exit 0`

	// Input: the agent's SHA-256. Output: "agent" if the agent is faster than sha256sum by more than the clock's
	// resolution, a hundredth of a second.
	raceScript = `cd ` + layout.CAS + ` && read -r a || exit 1
now() { read -r t _ </proc/uptime && echo "${t%.*}${t#*.}"; }
head -c 8388608 /dev/zero >.race
b=$(now) && s=$(sha256sum .race) && c=$(now) && m=$(echo .race | "./$a" sum) && d=$(now) && [ "${s%% *}" = "${m%% *}" ] &&
[ $((d - c + 1)) -lt $((c - b)) ] && echo agent
rm -f .race
exit 0`

	// Input: sums, an empty line, and a tar archive of these contents. Output: sums of corrupt contents.
	togetherScript = functions + `cd ` + layout.CAS + ` || exit 1
set --
while read -r h && [ -n "$h" ]; do set -- "$@" "$h"; done
said=$(tar -xof - 2>&1)
case $said in # GNU tar does not say why it wrote less
*[Nn]o\ space*|*rote\ only*|*hort\ write*) echo "No space left on device: $said" >&2; exit 1 ;;
esac
for h; do keep "$h" 2>/dev/null || echo "$h"; done
exit 0`

	// Input: a sum. Output: the number of stored bytes of the content.
	sizeScript = `cd ` + layout.CAS + ` && read -r h && { [ -f ".$h.part" ] || : >".$h.part"; } && stat -c %s ".$h.part"`

	// Input: bytes of a content. Output: the size of its file. The words SUM and AT are replaced.
	sendScript = `cd ` + layout.CAS + ` && dd of=.SUM.part bs=1048576 seek=AT conv=notrunc && stat -c %s .SUM.part`

	// Input: a sum, a stored content, the first part to copy from it, the first part to write, and the number of
	// parts. Output: the size of the file.
	copyScript = `cd ` + layout.CAS + ` && read -r h b from to n &&
dd if="$b" of=".$h.part" bs=1048576 skip="$from" seek="$to" count="$n" conv=notrunc && stat -c %s ".$h.part"`

	// Input: a sum, then the digests of the parts. Output: "ok" or "bad". The content is synced before its rename:
	// else a device that loses power would keep an empty content of the right size.
	finishScript = functions + `cd ` + layout.CAS + ` && read -r h || exit 1
{ fsync ".$h.part" || sync ".$h.part"; } 2>/dev/null
keep "$h" || { echo bad; exit 0; }
cat >` + layout.Parts + `/.$h && mv -f ` + layout.Parts + `/.$h ` + layout.Parts + `/$h && echo ok`

	// Output: for each large content "blob SUM", then the digests of its parts.
	partsScript = `cd ` + layout.Parts + ` || exit 1
for f in *; do
	[ -f "` + layout.CAS + `/$f" ] && echo "blob $f" && cat "$f"
done
exit 0`

	// Output: "SIZE NAME" of each file in the store: first parts, then contents, least recently used first.
	listScript = `cd ` + layout.CAS + ` || exit 1
{ ls -A | grep '^[.]'; for f in *; do [ -e ` + layout.Used + `/$f ] || echo "$f"; done; ls -tr ` + layout.Used + `; } | while read -r f; do
	[ -f "$f" ] && stat -c '%s %n' "$f"
done
exit 0`

	// Input: names of files in the store, to remove.
	removeScript = layout.Guard + `cd ` + layout.CAS + ` || exit 1
while read -r f; do
	case $f in */* | '' | . | ..) continue ;; esac
	rm -f "$f" ` + layout.Parts + `/"$f" ` + layout.Used + `/"$f"
done
exit 0`

	// Removes everything that was pushed, and leftovers of runs. Output: its size in kilobytes.
	clearScript = layout.Guard + `[ -d ` + layout.Root + ` ] || { echo 0; exit 0; }
du -sk ` + layout.CAS + ` ` + layout.Runs + ` 2>/dev/null | { s=0; while read -r n _; do s=$((s + n)); done; echo $s; }
find ` + layout.Root + ` -type d -exec chmod u+w {} + 2>/dev/null
rm -rf ` + layout.Root

	// Input: the folder, then a line for each file. "f SUM FILE" is a data file, "x SUM PROGRAM" a program. "l -
	// LINK" is a link with the target on the next line. "d - PATH" makes the folder of a path only. Output: failures.
	// Some devices forbid hard links. A data file then becomes a symbolic link. A program becomes a copy, because it
	// may look for files beside itself.
	placeScript = `read -r dir && mkdir -p "$dir" && cd "$dir" || exit 1
while read -r k h p; do
	d=./$p d=${d%/*}
	[ -d "$d" ] || mkdir -p "$d"
	case $k in
	d) [ -d "$d" ] ;;
	f) ln -f ` + layout.CAS + `/$h "$p" || ln -sf ` + layout.CAS + `/$h "$p" || cp ` + layout.CAS + `/$h "$p" ;;
	x) ln -f ` + layout.CAS + `/$h "$p" || { cp ` + layout.CAS + `/$h "$p" && chmod 755 "$p"; } ;;
	l) read -r t && ln -sfn "$t" "$p" ;;
	esac 2>/dev/null || echo "cannot make $p"
done
exit 0`
)
