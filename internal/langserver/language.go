package langserver

import "slices"

// block is a block of the language.
type block struct {
	doc       string
	arguments []Word
	blocks    []string
}

// described returns words from pairs of a name and its documentation.
func described(pairs ...string) (words []Word) {
	for pair := range slices.Chunk(pairs, 2) {
		words = append(words, Word{Name: pair[0], Doc: pair[1]})
	}
	return words
}

// metaArguments are the arguments that every step has.
func metaArguments() []Word {
	return described(
		"cache", "`true`, the default: hexmage reuses results. `false`: the step runs every time. "+
			"`\"inputs\"`: the step has side effects. `\"local\"`: results stay on this machine.",
		"depends_on", "Steps that run before this one, beside those that it refers to: `[step.patch.ops]`.",
		"description", "Purpose; a constant.",
		"env", "Environment variables of its commands.",
		"for_each", "A map or a set of strings. hexmage makes one copy for each element, with `each.key` and `each.value`.",
		"resources", "Limited resources that its actions take: `{ memory_gb = 64 }`.",
		"retries", "Number of retries of an action after a failure that may be temporary.",
		"retry_exit_codes", "Exit codes after which hexmage retries an action: `[75]`.",
		"target", "The target, if the pipeline has several: `target.NAME`.",
		"timeout", "Time limit of each of its actions: `\"90s\"`, `\"10m\"`, `\"2h\"`.",
		"when", "`false`: the block does not exist, and references to its outputs are `null`.",
	)
}

// metaArgumentsOf are some of metaArguments.
func metaArgumentsOf(names ...string) []Word {
	return slices.DeleteFunc(metaArguments(), func(w Word) bool { return !slices.Contains(names, w.Name) })
}

// language returns the blocks by name. "" is the file; "step/output" is the output block of a step.
func language() map[string]block {
	description := metaArgumentsOf("description")
	parts := []string{"locals", "toolchain", "step", "module", "output", "check"}
	condition := described("condition", "A boolean expression that must be true.", "error_message", "Message if it is false.")
	return map[string]block{
		"":         {blocks: append([]string{"pipeline", "variable", "profile", "target"}, parts...)},
		"pipeline": {doc: "Describes the pipeline; at most one block.", arguments: description},
		"variable": {doc: "A value that users may set: `var.NAME`.", blocks: []string{"validation"},
			arguments: slices.Concat(description, described("default", "Default value.",
				"sensitive", "`true`: hexmage hides the value in logs and keeps it out of keys.",
				"type", "`string`, `number`, `bool`, `list(string)`, `object({ … })`; `optional(string)` may be unset."))},
		"variable/validation": {doc: "A condition on the value of a variable.", arguments: condition},
		"locals":              {doc: "Names for expressions: `local.NAME`."},
		"profile": {doc: "A named choice of steps, toolchains and values of variables.", blocks: parts,
			arguments: slices.Concat(description, described("default", "`true`: hexmage uses this profile by default.",
				"variables", "Values of variables, by name."))},
		"target": {doc: "A SoC to build for: `target`, or `target.NAME` if there are several."},
		"toolchain": {doc: "An SDK: `toolchain.NAME`.",
			arguments: metaArgumentsOf("description", "when")},
		"step": {doc: "A step of a kind: `step.KIND.NAME.outputs.OUTPUT`.", arguments: metaArguments(),
			blocks: []string{"output", "secret_file"}},
		"step/output": {doc: "An output of the step: a file, a tree or a value.", arguments: described(
			"file", "Path of a file that the command writes.", "tree", "Path of a folder that the command fills.",
			"value", "Path of a JSON file that the command writes. Other steps use its value.")},
		"step/secret_file": {doc: "A file with a secret. The environment variable has its path.",
			arguments: described("content", "Content of the file.")},
		"module": {doc: "Steps of a module: `module.NAME.OUTPUT`.", arguments: slices.Concat(
			described("source", "A name, a path with `./` or `../`, or `git::URL//FOLDER?ref=REF`."),
			metaArgumentsOf("for_each", "when", "target", "depends_on", "description"))},
		"output": {doc: "An output of the pipeline or module.", arguments: slices.Concat(description,
			described("show", "`\"table\"`: hexmage prints the value as a table.", "value", "Value of the output."))},
		"check": {doc: "A condition that must be true after the run.", arguments: slices.Concat(condition,
			metaArgumentsOf("description", "for_each", "when"), described("severity", "`\"error\"` or `\"warning\"`."))},
	}
}
