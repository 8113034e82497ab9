package cli

// Kong shows what Help returns below a command's one-line description; indented lines stay as they are.

// Help has the examples of `hexmage run --help`.
func (*runCmd) Help() string {
	return `Outputs appear in out/PIPELINE. What was done before is not done again.

Examples:

    hexmage run qwen3-aot-v79                          everything
    hexmage run qwen3-aot-v79 oppackage.llama          one step and what it needs
    hexmage run qwen3-aot-v79 --var prompt="Who are you?"
    hexmage run qwen3-aot-v79 --profile device         the real SDKs, a real phone
    hexmage run qwen3-aot-v79 --json | jq .event       for programs`
}

// Help has the examples of `hexmage plan --help`.
func (*planCmd) Help() string {
	return `It says of each action whether its result is known, and if not, what changed since it last ran.
It also says what this machine lacks.

Examples:

    hexmage plan qwen3-aot-v79                         every command, its inputs and outputs
    hexmage plan qwen3-aot-v79 context.qwen3           one step and what it needs
    hexmage plan qwen3-aot-v79 --profile device        before the SDKs are there
    hexmage plan qwen3-aot-v79 --json | jq '.steps[].address'`
}

// Help has the examples of `hexmage explain --help`.
func (*explainCmd) Help() string {
	return `It runs nothing. What changed is told by digests, for input files with their paths.

Examples:

    hexmage explain qwen3-aot-v79 oppackage.llama                  every action of the step that is not cached
    hexmage explain qwen3-aot-v79 context.qwen3 --json             for programs
    hexmage explain wide exec.obj["src/a.c"]                       one copy of a step with for_each`
}

// Help has the examples of `hexmage graph --help`.
func (*graphCmd) Help() string {
	return `Examples:

    hexmage graph qwen3-aot-v79                        mermaid, which many forges draw
    hexmage graph qwen3-aot-v79 --format dot | dot -Tsvg > graph.svg`
}

// Help has the examples of `hexmage lock --help`.
func (*lockCmd) Help() string {
	return `Nothing is downloaded without a digest, but by this command: it downloads once and pins what came. What is pinned already
is left alone. Proxies come from HTTPS_PROXY, logins of hosts from ~/.netrc, secrets from HEXMAGE_VAR_name, mirrors from
HEXMAGE_MIRRORS="https://from/=https://to/ …"; docs/fetching.md tells more.

Examples:

    hexmage lock                                       what the workspace's pipelines need and nobody has pinned
    hexmage lock qwen3-aot-v79 --profile device        all toolchains of the pipeline
    hexmage lock qairt 2.41.0.251128 --profile device  this release
    hexmage lock --upgrade llvm                        pin anew: take what there is now
    hexmage lock --check                               for continuous integration: is all pinned?`
}

// Help has the examples of `hexmage env --help`.
func (*envCmd) Help() string {
	return `It sets what the SDKs' own scripts set, and fetches what is not here yet. Twice is once, and the folders of another
release give way.

Examples:

    eval "$(hexmage env qwen3-aot-v79)"                then: make -C out/qwen3-aot-v79/makefile htp_v79
    eval "$(hexmage env qairt@2.31.0.250130 hexagon)"  toolchains instead of a pipeline
    hexmage env qairt --shell fish | source
    hexmage env qwen3-aot-v79 --json | jq -r .QAIRT_SDK_ROOT`
}

// Help has the examples of `hexmage toolchain --help`.
func (*toolchainCmd) Help() string {
	return `Examples:

    hexmage toolchain list qairt                       its releases, and which are here
    hexmage toolchain show qairt@2.41.0.251128         sources, digests, archs, licence, page
    hexmage toolchain fetch ndk@r28b --profile device  the real one; a pipeline finds it in the store
    hexmage toolchain verify $QNN_SDK_ROOT             is this SDK whole, and of one release?
    make -C src SDK="$(hexmage toolchain where qairt)"`
}

// Help has the examples of `hexmage patch --help`.
func (*patchCmd) Help() string {
	return `What the SDK's headers declare decides which patches and rules of a series are needed.
A step "patch" of a pipeline does the same. All of it: docs/patches.md.

Examples:

    hexmage patch lint LLaMAPackage --sdk $QAIRT_SDK_ROOT      what will not compile, and what to do
    hexmage patch check LLaMAPackage --sdk $QAIRT_SDK_ROOT     what the series mllm would do
    hexmage patch diff LLaMAPackage --sdk qairt@2.41.0.251128  the same as a diff
    hexmage patch apply LLaMAPackage --sdk qairt --out patched
    hexmage patch new patches/own/2.31-2.34 LLaMAPackage --title "Unique names"
    hexmage patch check src --sdk qairt --series own=patches/own`
}

// Help has the examples of `hexmage patch lint --help`.
func (*patchLintCmd) Help() string {
	return `Exit code 1 when there is something. "error" will not compile; "maybe" is of a release that nobody has looked at.

Examples:

    hexmage patch lint src --sdk $QAIRT_SDK_ROOT
    hexmage patch lint src --sdk qairt@2.36.1          an SDK that is not here: by its version
    hexmage patch lint src --sdk qairt --json | jq -r '"\(.file):\(.line) \(.name)"'`
}

// Help has the examples of `hexmage patch new --help`.
func (*patchNewCmd) Help() string {
	return `Every patch is applied again to what was before, and kept only if it gives what was edited.

Examples:

    hexmage patch new patches/own/2.31-2.34 ops --title "Unique tensor names"    what is not committed
    hexmage patch new patches/own/2.31-2.34 ops --since v1.0                     each commit since v1.0, and that
    hexmage patch new patches/own/2.31-2.34 edited --before original             two folders
    hexmage patch new patches/own/2.31-2.34 ops --lacks old_name --declares new_name`
}

// Help has the examples of `hexmage validate --help`.
func (*validateCmd) Help() string {
	return `Examples:

    hexmage validate                                   all pipelines, in the default profile
    hexmage validate qwen3-aot-v79 --profile device`
}

// Help has the examples of `hexmage fmt --help`.
func (*fmtCmd) Help() string {
	return `Examples:

    hexmage fmt                                        all pipelines of the workspace
    hexmage fmt --check                                for CI: names the files, exits with 1`
}
