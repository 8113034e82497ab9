# Sets up a shell for this SDK: source it, do not run it.
# hexmage simulated: sets the variables that the vendor's sets; sourcing it twice changes nothing.
if [ -n "${BASH_SOURCE:-}" ]; then
	_open_here=${BASH_SOURCE%/*}
	[ "$_open_here" != "$BASH_SOURCE" ] || _open_here=.
else
	_open_here=$PWD/bin
fi
if [ ! -f "$_open_here/../sdk.yaml" ]; then
	echo "envsetup.sh: cannot find the SDK from $_open_here: change to the SDK's folder and source bin/envsetup.sh there." >&2
	unset _open_here
	return 1
fi
QAIRT_SDK_ROOT=$(CDPATH= cd -- "$_open_here/.." && pwd && echo .)
QAIRT_SDK_ROOT=${QAIRT_SDK_ROOT%??} # without the newline and the dot: a folder's name may end with newlines
QNN_SDK_ROOT=$QAIRT_SDK_ROOT
export QAIRT_SDK_ROOT QNN_SDK_ROOT
[ ! -d "$QAIRT_SDK_ROOT/include/SNPE" ] || export SNPE_ROOT="$QAIRT_SDK_ROOT"
case :${PATH:-}: in
*":$QAIRT_SDK_ROOT/bin/x86_64-linux-clang:"*) ;;
*) export PATH="$QAIRT_SDK_ROOT/bin/x86_64-linux-clang${PATH:+:$PATH}" ;;
esac
case :${LD_LIBRARY_PATH:-}: in
*":$QAIRT_SDK_ROOT/lib/x86_64-linux-clang:"*) ;;
*) export LD_LIBRARY_PATH="$QAIRT_SDK_ROOT/lib/x86_64-linux-clang${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ;;
esac
case :${PYTHONPATH:-}: in
*":$QAIRT_SDK_ROOT/lib/python/:"*) ;;
*) export PYTHONPATH="$QAIRT_SDK_ROOT/benchmarks/QNN/:$QAIRT_SDK_ROOT/lib/python/${PYTHONPATH:+:$PYTHONPATH}" ;;
esac
unset _open_here
