package fetchstep

import "strings"

// explain turns what the tools print when they fail into causes and remedies.
func explain(_ string, output []byte) []string {
	text := strings.ToLower(string(output))
	var hints []string
	for _, h := range []struct{ has, hint string }{
		{"hexmage is offline", "--offline forbids the network. Run once without it; what was fetched stays in the store."},
		{"apt-get is not there", "Packages come through apt-get. On another system install the tool and write use = \"installed\" in its toolchain block."},
		{"update the package lists", "apt-get could not reach the distribution's servers: check the network, the proxy settings and /etc/apt/sources.list."},
		{"sent a page instead of the file", "The vendor's server sends a page where the file should be when it is busy or wants a licence accepted. Try again later, accept the licence in a browser, or download by hand and give the file as urls = [\"file:///…\"]."},
		{"is not what its digest says", "The file is another one than the one that was pinned: it was replaced, or is damaged on the way. If the new one is right, `hexmage lock` pins it."},
		{"all of it is downloaded", "Parts of the archive alone could not be had from this server, which costs time and nothing else."},
		{"changed while it was downloaded", "The server has another file every time it is asked, as broken mirrors behind one name do: try again later, or name another address first."},
		{"it wants a login", "A login for the host goes into ~/.netrc (machine HOST login USER password TOKEN); a token for a header into a variable, which a header block of the source names."},
		{"needs the secret", "The variable is read when the file is downloaded, and kept nowhere: `export HEXMAGE_VAR_NAME=…`, best from your password store."},
		{"no space left", "The disk of the cache is full: make room, or put the cache elsewhere with HEXMAGE_CACHE=DIR. Deleting the cache costs time and nothing else."},
		{"error while loading shared libraries", "A program of the toolchain needs a library that this machine does not have; the message names it. `hexmage doctor` says which package has it."},
		{"no such host", "The machine has no network, or needs a proxy: set HTTPS_PROXY."},
	} {
		if strings.Contains(text, strings.ToLower(h.has)) {
			hints = append(hints, h.hint)
		}
	}
	return hints
}
