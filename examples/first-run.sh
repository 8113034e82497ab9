#!/bin/sh
# Runs hexmage's flows for an SDK or a phone, and collects what happened into one archive: first-run.sh [GRAPH SAMPLES].
# It sends nothing. Without a phone the flows go as far as the contexts. BOARD is the address of a Linux board for onnx-device.
set -u
graph=${1:-example} samples=${2:-} out=hexmage-first-run
hexmage=${HEXMAGE:-hexmage}
rm -rf "$out" && mkdir "$out" || exit 1
# clean hides names, folders, serial numbers and addresses.
escaped() { sed 's/[].[^$*\/]/\\&/g'; }
home=$(echo "$HOME" | escaped) here=$(pwd | escaped) user=$(id -un | escaped) host=$(uname -n | escaped)
# Without a phone a run ends with the contexts.
qairt=module.net.python.context compile=module.llm.module.host.htp_context.scheme
serials=$("$hexmage" --json device list 2>/dev/null | sed -n 's/.*"serial": *"\([^"]*\)".*/\1/p' | escaped)
[ -z "$serials${BOARD:-}" ] || compile=
[ -z "$serials" ] || qairt=
clean() {
	set -- -e "s/$here/WORKSPACE/g" -e "s/$home/HOME/g" -e "s/\([^A-Za-z]\)$user\([^A-Za-z]\)/\1USER\2/g" -e "s/$host/HOST/g"
	set -- "$@" -e 's/ssh:[^ "]*/BOARD/g' -e 's/[0-9]\{1,3\}\(\.[0-9]\{1,3\}\)\{3\}:[0-9]\{1,5\}/ADDRESS/g'
	for serial in $serials; do set -- "$@" -e "s/$serial/SERIAL/g"; done
	sed "$@"
}

# step NAME COMMAND… keeps output and exit code of a command.
step() {
	name=$1 && shift
	echo "$name: $*"
	"$@" >"$out/raw" 2>&1
	code=$?
	{ echo "\$ $*" && cat "$out/raw" && echo "exit code $code"; } | clean >"$out/$name.txt"
	echo "$name $code" >>"$out/outcomes.txt"
	rm -f "$out/raw"
}

# keep PIPELINE keeps the results of the step before.
keep() {
	for file in "out/$1"/contexts.*/report.json "out/$1"/contexts.*/htp.json "out/$1/table" "out/$1"/metrics*; do
		[ -f "$file" ] && clean <"$file" >"$out/$name-$(echo "${file#out/*/}" | tr / -)"
	done
}

step version "$hexmage" version
step machine uname -srm
step devices "$hexmage" device list
step doctor "$hexmage" doctor onnx-htp --profile device

set -- --profile device --var "graph=$graph"
[ -z "$samples" ] || set -- "$@" --var "samples=$samples"
step plan-qairt "$hexmage" plan -v onnx-htp "$@"
step run-qairt "$hexmage" run --keep-going onnx-htp $qairt "$@" --var 'schemes=["a16w8", "qairt_a16w8", "none"]'
keep onnx-htp
step run-profile "$hexmage" run --keep-going onnx-htp $qairt "$@" --var profiling=basic
keep onnx-htp
set -- --profile device ${BOARD:+--var "board=$BOARD"}
step plan-onnx-device "$hexmage" plan -v onnx-device "$@"
step run-onnx-device "$hexmage" run --keep-going onnx-device $compile "$@"
keep onnx-device

tar -czf "$out.tar.gz" "$out" || exit 1
cat "$out/outcomes.txt"
echo "$out.tar.gz: read it, then attach it to an issue on the project's page: what ran, on which SoC, with which QAIRT."
