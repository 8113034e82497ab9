package cli

import (
	"fmt"
	"io"

	"github.com/hexmage/hexmage/internal/fetch"
)

// environmentTopic is what `hexmage help environment` asks for.
const environmentTopic = "environment"

// environmentVariable is one of the user's that hexmage reads.
type environmentVariable struct{ Name, Doc string }

// environment is every one of them.
func environment() []environmentVariable {
	return []environmentVariable{
		{"HEXMAGE_CACHE", "the folder of the cache; else $XDG_CACHE_HOME/hexmage, else ~/.cache/hexmage"},
		{"HEXMAGE_PROFILE", "the profile, as --profile; the flag counts first"},
		{"HEXMAGE_VAR_name", "the pipeline's variable of the name, as --var name=VALUE; the flag counts first. The " +
			"place for secrets"},
		{"HEXMAGE_REMOTE", "the remote that results are shared by, as --remote: a name, or off"},
		{"HEXMAGE_SANDBOX", "how far actions are kept to their inputs, as --sandbox: strict, staged or off"},
		{"HEXMAGE_DEVICES", "the file that lists your devices; else hexmage/devices.hcl in $XDG_CONFIG_HOME, else " +
			"in ~/.config"},
		{fetch.EnvMirrors, "what to ask in place of other addresses: FROM=TO, with spaces between pairs"},
		{fetch.EnvNetrc, "the file with logins of hosts; else ~/.netrc"},
		{"HEXMAGE_DIGEST", "the function that names content in the cache: blake3 or sha256"},
		{"XDG_CACHE_HOME", "where the cache is, without HEXMAGE_CACHE"},
		{"XDG_CONFIG_HOME", "where config.hcl is, and devices.hcl without HEXMAGE_DEVICES"},
		{"XDG_RUNTIME_DIR", "a folder for a secret's file of an action, and for sockets of ssh connections"},
		{"HTTPS_PROXY", "the proxy for downloads; HTTP_PROXY and NO_PROXY likewise"},
		{"NO_COLOR", "set: no colours"},
		{"TERM", "dumb: no colours, and no lines that are drawn anew"},
		{"CI", "set: no lines that are drawn anew, and a remote with `upload = \"ci\"` is sent what ran"},
		{"GITHUB_ACTIONS", "true: failures are annotations, with paths from GITHUB_WORKSPACE"},
		{"ANDROID_SERIAL", "the phone that `hexmage device` is about, as for adb"},
		{"ADB_SERVER_SOCKET", "where the adb server listens, as for adb; else ANDROID_ADB_SERVER_ADDRESS and " +
			"ANDROID_ADB_SERVER_PORT"},
		{"ANDROID_HOME", "an Android SDK with adb, where PATH has none; ANDROID_SDK_ROOT likewise"},
		{"SSH_AUTH_SOCK", "the agent that has your keys, for boards and for git over ssh"},
		{"PATH", "where adb, ssh and the clients of vendors and registries are found"},
		{"LD_LIBRARY_PATH", "folders where `hexmage toolchain verify` looks, too, for libraries of this machine " +
			"that an SDK needs"},
		{"HOME", "where the cache, config.hcl, devices.hcl, .netrc, .ssh, and the configuration of pip, npm and " +
			"Maven are"},
	}
}

// printEnvironment prints them for people.
func printEnvironment(w io.Writer) {
	fmt.Fprint(w, "Environment variables that hexmage reads:\n\n")
	for _, v := range environment() {
		fmt.Fprintf(w, "  %s\n%s\n", v.Name, paragraph(v.Doc+".", 6))
	}
}
