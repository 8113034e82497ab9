package cli

import (
	"fmt"
	"io"

	"github.com/hexmage/hexmage/internal/fetch"
)

// environmentTopic is the topic of `hexmage help environment`.
const environmentTopic = "environment"

// environmentVariable is a variable for users.
type environmentVariable struct{ Name, Doc string }

// environment returns all variables for users.
func environment() []environmentVariable {
	return []environmentVariable{
		{"HEXMAGE_CACHE", "cache folder. Default: $XDG_CACHE_HOME/hexmage, else ~/.cache/hexmage"},
		{"HEXMAGE_PROFILE", "profile. --profile overrides it"},
		{"HEXMAGE_VAR_name", "value of the pipeline's variable name. --var name=VALUE overrides it. Use it for " +
			"secrets"},
		{"HEXMAGE_REMOTE", "remote for shared results: a name, or off. --remote overrides it"},
		{"HEXMAGE_SANDBOX", "sandbox level: strict, staged or off. --sandbox overrides it"},
		{"HEXMAGE_DEVICES", "file that lists your devices. Default: hexmage/devices.hcl in $XDG_CONFIG_HOME, else in " +
			"~/.config"},
		{fetch.EnvMirrors, "replacements for addresses of downloads: FROM=TO pairs, separated by spaces"},
		{fetch.EnvNetrc, "file with logins for hosts. Default: ~/.netrc"},
		{"HEXMAGE_DIGEST", "digest function of the cache: blake3 or sha256"},
		{"XDG_CACHE_HOME", "parent of the cache folder if HEXMAGE_CACHE is not set"},
		{"XDG_CONFIG_HOME", "folder of config.hcl, and of devices.hcl if HEXMAGE_DEVICES is not set"},
		{"XDG_RUNTIME_DIR", "folder for an action's secret files and for ssh sockets"},
		{"HTTPS_PROXY", "proxy for downloads. Also HTTP_PROXY and NO_PROXY"},
		{"NO_COLOR", "set: no colors"},
		{"TERM", "dumb: no colors and no live lines"},
		{"CI", "if set: no live lines, and remotes with `upload = \"ci\"` receive results"},
		{"GITHUB_ACTIONS", "true: print failures as annotations, with paths relative to GITHUB_WORKSPACE"},
		{"ANDROID_SERIAL", "device for `hexmage device`, as for adb"},
		{"ADB_SERVER_SOCKET", "address of the adb server, as for adb; else ANDROID_ADB_SERVER_ADDRESS and " +
			"ANDROID_ADB_SERVER_PORT"},
		{"ANDROID_HOME", "Android SDK with adb if PATH has none. Also ANDROID_SDK_ROOT"},
		{"SSH_AUTH_SOCK", "ssh agent with your keys, for boards and for git over ssh"},
		{"PATH", "folders with adb, ssh, and the clients of vendors and registries"},
		{"LD_LIBRARY_PATH", "more folders in which `hexmage toolchain verify` looks for libraries that an SDK needs"},
		{"HOME", "home folder: cache, config.hcl, devices.hcl, .netrc, .ssh, and configuration of pip, npm and Maven"},
	}
}

// printEnvironment prints the variables for people.
func printEnvironment(w io.Writer) {
	fmt.Fprint(w, "Environment variables that hexmage reads:\n\n")
	for _, v := range environment() {
		fmt.Fprintf(w, "  %s\n%s\n", v.Name, paragraph(v.Doc+".", 6))
	}
}
