package langserver

import "slices"

// described returns words from pairs of a name and its documentation.
func described(pairs ...string) (words []Word) {
	for pair := range slices.Chunk(pairs, 2) {
		words = append(words, Word{Name: pair[0], Doc: pair[1]})
	}
	return words
}

// blocks is described for blocks.
func blocks(pairs ...string) []Word {
	words := described(pairs...)
	for i := range words {
		words[i].block = true
	}
	return words
}

// only returns the words of some names.
func only(words []Word, names ...string) []Word {
	return slices.DeleteFunc(slices.Clone(words), func(w Word) bool { return !slices.Contains(names, w.Name) })
}

// language returns the words of the language. Its keys are those of view.words.
func language() map[string][]Word {
	meta := described(
		"cache", "`true`, the default: hexmage reuses results. `false`: the step runs every time. "+
			"`\"local\"`: results stay on this machine.",
		"depends_on", "Steps that run before this one, beside those that it refers to: `[step.patch.ops]`.",
		"description", "Purpose; a constant.",
		"env", "Environment variables of its commands.",
		"for_each", "A map or a set of strings: one copy for each element, with `each.key` and `each.value`.",
		"resources", "Limited resources that its actions take: `{ memory_gb = 64 }`.",
		"retries", "Number of retries of an action after a failure that may be temporary.",
		"retry_exit_codes", "Exit codes after which hexmage retries an action: `[75]`.",
		"side_effects", "`true` if the step flashes, deploys or uploads: it runs if its inputs changed.",
		"target", "The target, if the pipeline has several: `target.NAME`.",
		"timeout", "Time limit of each of its actions: `\"90s\"`, `\"10m\"`, `\"2h\"`.",
		"when", "`false`: the block does not exist, and references to its outputs are `null`.",
	)
	description := only(meta, "description")
	condition := described("condition", "A condition that must be true.", "error_message", "Message if it is false.")
	top := blocks(
		"pipeline", "Describes the pipeline; at most one block.",
		"variable", "A value that users may set: `var.NAME`.",
		"profile", "A named choice of steps, toolchains and values of variables.",
		"target", "Hardware to build for: `target`, or `target.NAME` if there are several.",
		"locals", "Names for expressions: `local.NAME`.",
		"toolchain", "An SDK: `toolchain.NAME`.",
		"step", "A step of a kind: `step.KIND.NAME.outputs.OUTPUT`.",
		"module", "Steps of a module: `module.NAME.OUTPUT`.",
		"output", "An output of the pipeline or module.",
		"check", "A condition that must be true after the run.",
	)
	return map[string][]Word{
		"{":         top,
		"pipeline{": description,
		"variable{": slices.Concat(description, described("default", "Default value.",
			"sensitive", "`true`: hexmage hides the value in logs and keeps it out of keys.",
			"type", "`string`, `number`, `bool`, `list(string)`, `object({ … })`; `optional(string)` may be unset."),
			blocks("validation", "A condition on the value of a variable.")),
		"variable/validation{": condition,
		"profile{": slices.Concat(described("default", "`true`: hexmage uses this profile by default.",
			"variables", "Values of variables, by name."), description,
			only(top, "locals", "toolchain", "step", "module", "output", "check")),
		"toolchain{": slices.Concat(only(meta, "description", "when"), described("default",
			"`true`, in a module: a caller's toolchain of this name comes first.")),
		"step{": slices.Concat(meta, blocks("output", "An output of the step: a file, a tree or a value.",
			"secret_file", "A file with a secret. The environment variable has its path.")),
		"step/output{": described("file", "Path of a file that the command writes.",
			"tree", "Path of a folder that the command fills.",
			"value", "Path of a JSON file that the command writes. Other steps use its value."),
		"step/secret_file{": described("content", "Content of the file."),
		"module{": slices.Concat(described("source", "A name, or a path that begins with `./` or `../`."),
			only(meta, "for_each", "when", "target", "depends_on", "description")),
		"output{": slices.Concat(description, described("value", "Value of the output.",
			"show", "`\"table\"`: hexmage prints the value as a table.")),
		"check{": slices.Concat(condition, described("severity", "`\"error\"` or `\"warning\"`."),
			only(meta, "description", "for_each", "when")),
		"each.":    described("key", "Key of this copy.", "value", "Value of this copy."),
		"profile.": described("name", "Name of the chosen profile."),
		"path.": described("module", "Folder of the module.", "pipeline", "Folder of the pipeline.",
			"workspace", "Folder with `pipelines/`."),
	}
}
