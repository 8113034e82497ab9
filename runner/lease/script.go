package lease

import "github.com/hexmage/hexmage/runner/layout"

// Input: who it is for; a token of that holder; its host; then "new", "again" for a holder whose link broke, or the token of a hold that is
// to be taken over; then nothing until the line "done", which gives the device back. An input that ends without it is a link that broke: the
// hold stays for its holder. Output: "got"; "busy OWNER"; "stale TOKEN OWNER" of one whose process is gone; "lost OWNER" to a holder
// that came too late. The word hexmage-lease is in the command line of those that are there.
const script = layout.Guard + `: hexmage-lease
read -r who && read -r me && read -r host && read -r mode && mkdir -p ` + layout.Root + ` && cd ` + layout.Root + ` || exit 1
if mkdir lease 2>/dev/null; then
	if [ "$mode" = again ]; then rmdir lease; echo lost; exit 0; fi
else
	t= p=
	{ read -r t <lease/token || { sleep 1; read -r t <lease/token; }; read -r p <lease/pid; } 2>/dev/null
	o=$(cat lease/owner 2>/dev/null)
	here=
	[ -n "$p" ] && grep -q hexmage-lease "/proc/$p/cmdline" 2>/dev/null && here=yes
	if [ "$t" = "$me" ]; then
		[ -n "$here" ] && kill -9 "$p" 2>/dev/null
	elif [ "$mode" = again ]; then echo "lost $o"; exit 0
	elif [ -n "$here" ]; then echo "busy $o"; exit 0
	elif [ -n "$t" ] && [ "$mode" != "$t" ] && [ "$(cat lease/host 2>/dev/null)" != "$host" ]; then echo "stale $t $o"; exit 0
	else
		mv lease "lease.$$" 2>/dev/null
		if [ "$(cat "lease.$$/token" 2>/dev/null)" != "$t" ]; then mv "lease.$$" lease; echo "busy $o"; exit 0; fi
		rm -rf "lease.$$"
		mkdir lease 2>/dev/null || { echo busy; exit 0; }
	fi
fi
echo $$ >lease/pid
echo "$host" >lease/host
echo "$who" >lease/owner
echo "$me" >lease/token
echo got
read -r bye
[ "$bye" = done ] && [ "$(cat lease/token 2>/dev/null)" = "$me" ] && rm -rf lease
exit 0`
