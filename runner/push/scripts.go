package push

import "github.com/hexmage/hexmage/runner/layout"

// The scripts run in the device's own shell (mksh and toybox on phones, ash and busybox in the emulator); they read lists from
// standard input since command lines are short. Each may run twice, when the link breaks before its answer is here.
const (
	// Input: sums. Output: "free KILOBYTES", then "SIZE,TIME SUM" of those that are there. What crashed sessions left is removed: folders
	// of runs and parts of large blobs when they are a day old, half pushed files (which are dated long ago) at once.
	missingScript = layout.Guard + `mkdir -p ` + layout.CAS + ` ` + layout.Chunks + ` ` + layout.Used + ` ` + layout.Runs + ` && cd ` + layout.CAS + ` || exit 1
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

	// Input: the session, then sums. Output: "ok SUM" or "bad SUM".
	commitScript = sumFunc + `cd ` + layout.CAS + ` && read -r id || exit 1
while read -r h; do
	[ -n "$h" ] || continue
	if [ ! -e ".$h.$id" ] && [ -e "$h" ]; then echo "ok $h"; continue; fi
	s=$(sum ".$h.$id")
	if [ "${s%% *}" = "$h" ] && chmod 555 ".$h.$id" && mv -f ".$h.$id" "$h" && : >` + layout.Used + `/$h; then echo "ok $h"; else rm -f ".$h.$id"; echo "bad $h"; fi
done 2>/dev/null
exit 0`

	// Ends what this session may still have running since the link broke and nobody told it.
	endScript = `for f in .$id.pid .$id.sum.pid; do
	[ -f $f ] || continue
	read -r g <$f && kill -9 "-$g" 2>/dev/null && n=0 && while kill -0 "$g" 2>/dev/null && [ $n -lt 40 ]; do sleep 0.05; n=$((n + 1)); done
	rm -f $f
done`

	// Input: the session, which is given up. Its parts stay for a later one, its half files do not.
	quitScript = `cd ` + layout.CAS + ` && read -r id || exit 1
` + endScript + `
rm -f .*.$id
exit 0`

	// Input: the session, then a sum. Output: how much of the blob is there. What an earlier session left of it is taken over. A command
	// of this session that may still write to it is ended first.
	partScript = `cd ` + layout.CAS + ` && read -r id && read -r h || exit 1
p=.$h.$id.part
` + endScript + `
if [ ! -f $p ]; then
	for f in .$h.*.part; do [ -f "$f" ] && mv -f "$f" $p && break; done
	: >>$p
fi
stat -c %s $p`

	// Input: bytes to add to the part. Output: its size. The words ID and SUM are replaced.
	appendScript = `cd ` + layout.CAS + ` && echo $$ >.ID.pid && cat >>.SUM.ID.part && rm -f .ID.pid && stat -c %s .SUM.ID.part`

	// Input: the session, a sum, then "BLOB OFFSET SIZE" of what is to be added to the part. Output: its size.
	copyScript = `cd ` + layout.CAS + ` && read -r id && read -r h && echo $$ >.$id.pid || exit 1
while read -r b at n; do
	dd if=$b bs=131072 iflag=skip_bytes,count_bytes skip=$at count=$n >>.$h.$id.part || exit 1
done
rm -f .$id.pid
stat -c %s .$h.$id.part`

	// Input: the session, a sum, the size of the blob. Output: the SHA-256 of the part, once it has that size: it is read while it grows. Sizes
	// may be larger than what a shell can count, so it counts megabytes, by leaving out digits.
	sumScript = `cd ` + layout.CAS + ` && read -r id && read -r h && read -r size && echo $$ >.$id.sum.pid || exit 1
p=.$h.$id.part
{ at=0 idle=0
while :; do
	n=$(stat -c %s $p) || exit 1
	case $n in ???????*) m=${n%??????} ;; *) m=0 ;; esac
	if [ "$n" = "$size" ]; then dd if=$p bs=1000000 skip=$at; break; fi
	if [ $m -gt $at ]; then dd if=$p bs=1000000 skip=$at count=$((m - at)) || exit 1; at=$m idle=0; continue; fi
	idle=$((idle + 1))
	[ $idle -lt 2000 ] && sleep 0.05 || exit 1
done; } 2>/dev/null | sha256sum
rm -f .$id.sum.pid`

	// Input: the session, a sum, "right" if the part was found so, then the blob's recipe. Output: "ok" or "bad". What is given a name is on the disk before, or a device
	// that loses power would have a blob of the right size with nothing in it.
	finishScript = sumFunc + `cd ` + layout.CAS + ` && read -r id && read -r h && read -r s || exit 1
p=.$h.$id.part
if [ ! -e $p ] && [ -e $h ]; then echo ok; exit; fi
if [ "$s" = right ]; then s=$h; else s=$(sum $p); fi
if [ "${s%% *}" != "$h" ]; then rm -f $p; echo bad; exit; fi
cat >` + layout.Chunks + `/.$h.$id && mv -f ` + layout.Chunks + `/.$h.$id ` + layout.Chunks + `/$h || exit 1
{ touch -d @1000000000 $p || TZ=UTC0 touch -t 200109090146.40 $p; } 2>/dev/null
{ fsync $p || sync $p; } 2>/dev/null
chmod 555 $p && mv -f $p $h && : >` + layout.Used + `/$h && echo ok`

	// Output: the recipes of the blobs that were used last, each after a line "blob SUM SIZE,TIME".
	recipesScript = `cd ` + layout.Chunks + ` || exit 1
ls -t ` + layout.Used + ` | { n=0; while read -r h && [ $n -lt 8000000 ]; do
	[ -f "$h" ] && [ -f ` + layout.CAS + `/$h ] || continue
	n=$((n + $(stat -c %s "$h")))
	stat -c 'blob %n %s,%Y' ` + layout.CAS + `/$h | sed "s|` + layout.CAS + `/||"
	cat $h
done; }
exit 0`

	// Output: "SIZE NAME" of all that is in the store, those that were used longest ago first.
	listScript = `cd ` + layout.CAS + ` || exit 1
{ for f in *; do [ -e ` + layout.Used + `/$f ] || echo "$f"; done; ls -tr ` + layout.Used + `; ls -A | grep '^[.]'; } | while read -r f; do
	[ -f "$f" ] && stat -c '%s %n' "$f"
done
exit 0`

	// Input: names of the store's files, to be removed.
	removeScript = layout.Guard + `cd ` + layout.CAS + ` || exit 1
while read -r f; do
	case $f in */* | '' | . | ..) continue ;; esac
	rm -f "$f" ` + layout.Chunks + `/"$f" ` + layout.Used + `/"$f"
done
exit 0`

	// Removes all that was ever pushed, and what runs left. Output: the kilobytes that were there.
	clearScript = layout.Guard + `[ -d ` + layout.Root + ` ] || { echo 0; exit 0; }
du -sk ` + layout.CAS + ` ` + layout.Runs + ` 2>/dev/null | { s=0; while read -r n _; do s=$((s + n)); done; echo $s; }
find ` + layout.Root + ` -type d -exec chmod u+w {} + 2>/dev/null
rm -rf ` + layout.Root

	// Input: the run's folder, then lines "d - FOLDER", "f SUM FILE", "x SUM PROGRAM", "l - LINK" with the target on the next line.
	// Output: what went wrong. Hard links cost nothing, but some devices forbid them; then a symbolic link has to do, and for programs,
	// which may look for files beside themselves, a copy.
	placeScript = `read -r dir && mkdir -p "$dir" && cd "$dir" || exit 1
while read -r k h p; do
	case $k in
	d) mkdir -p "$p" ;;
	f) ln -f ` + layout.CAS + `/$h "$p" || ln -sf ` + layout.CAS + `/$h "$p" || cp ` + layout.CAS + `/$h "$p" ;;
	x) ln -f ` + layout.CAS + `/$h "$p" || { cp ` + layout.CAS + `/$h "$p" && chmod 755 "$p"; } ;;
	l) read -r t && ln -sfn "$t" "$p" ;;
	esac 2>/dev/null || echo "cannot make $p"
done
exit 0`
)
