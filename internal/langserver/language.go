package langserver

import (
	"slices"
)

// block is a block of the language that is no step: what may stand in it.
type block struct {
	name      string
	labels    int
	doc       string
	arguments []Word
	blocks    []string
}

func described(name, doc string) Word { return Word{Name: name, Doc: doc} }

// metaArguments are those that every step has, whatever its kind.
func metaArguments() []Word {
	return []Word{
		described("cache", "`true`, the default: what is known is not done again. `false`: it runs every time. `\"inputs\"`: for steps that change something beside their outputs. `\"local\"`: results stay on this machine."),
		described("depends_on", "What must be done before, beyond what it refers to: `[step.patch.ops]`."),
		described("description", "What it is for; a constant."),
		described("env", "Variables of the environment of its commands, by name."),
		described("for_each", "A map or a set of strings: one copy for each, with `each.key` and `each.value`."),
		described("resources", "What its actions take of limited things: `{ memory_gb = 64 }`."),
		described("retries", "How many more times an action is tried that could not run for a reason that may pass."),
		described("retry_exit_codes", "Exit codes after which trying again may help: `[75]`."),
		described("target", "What it is built for, where there are several targets: `target.NAME`."),
		described("timeout", "How long each of its actions may take: `\"90s\"`, `\"10m\"`, `\"2h\"`."),
		described("when", "`false`: it does not exist, and references to its outputs are `null`."),
	}
}

// callArguments are those of a module block that are not values of the module's variables.
func callArguments() []Word {
	all := []Word{described("source", "The module: a name, a path that begins with `./` or `../`, or `git::URL//FOLDER?ref=REF`.")}
	for _, w := range metaArguments() {
		if slices.Contains([]string{"for_each", "when", "target", "depends_on", "description"}, w.Name) {
			all = append(all, w)
		}
	}
	return all
}

// blocks are the blocks of files, and of blocks in them.
func blocks() []block {
	description := described("description", "What it is for.")
	parts := []string{"locals", "toolchain", "step", "module", "output", "check"}
	each := []Word{metaArguments()[4], metaArguments()[10]}
	return []block{
		{name: "pipeline", doc: "What the pipeline is for; at most one.", arguments: []Word{description}},
		{name: "variable", labels: 1, doc: "A value that can be given from outside: `var.NAME`.", blocks: []string{"validation"}, arguments: []Word{
			described("default", "The value when none is given."), description,
			described("sensitive", "`true`: never shown, in no log and no key."),
			described("type", "`string`, `number`, `bool`, `list(string)`, `object({ … })`; `optional(string)` may be left out."),
		}},
		{name: "validation", doc: "A condition that a variable's value must meet.", arguments: []Word{
			described("condition", "What must be true; it sees the variable."), described("error_message", "What is said when it is not."),
		}},
		{name: "locals", doc: "Names for expressions: `local.NAME`."},
		{name: "profile", labels: 1, doc: "A named choice: of steps, toolchains, values of variables.", blocks: parts, arguments: []Word{
			described("default", "`true`: the profile when none is chosen."), description, described("variables", "Values of variables, by name."),
		}},
		{name: "target", labels: 1, doc: "What to build for: `target.NAME`, and where there is one, `target`."},
		{name: "toolchain", labels: 1, doc: "An SDK: `toolchain.NAME`."},
		{name: "step", labels: 2, doc: "Something to do: `step.KIND.NAME.outputs.OUTPUT`."},
		{name: "module", labels: 1, doc: "Steps that are written elsewhere, with values for their variables: `module.NAME.OUTPUT`.", arguments: callArguments()},
		{name: "output", labels: 1, doc: "What the pipeline or module gives.", arguments: []Word{
			description, described("show", "`\"table\"`: how it is shown."), described("value", "What it is."),
		}},
		{name: "check", labels: 1, doc: "What must be true when all is done.", arguments: slices.Concat([]Word{
			described("condition", "What must be true; it sees outputs."), description, described("error_message", "What is said when it is not."),
			described("severity", "`\"error\"` or `\"warning\"`."),
		}, each)},
	}
}

// blocksOfSteps are those of every step that may have them.
func blocksOfSteps() []block {
	return []block{
		{name: "output", labels: 1, doc: "What the step makes: one of file, tree and value.", arguments: []Word{
			described("file", "Path of a file that the command writes."), described("tree", "Path of a folder that the command fills."),
			described("value", "Path of a file with JSON that the command writes: other steps use what is in it."),
		}},
		{name: "secret_file", labels: 1, doc: "A file with a secret, whose path a variable of the environment has.", arguments: []Word{described("content", "What is in it.")}},
	}
}

// blockNamed returns a block of files.
func blockNamed(name string) (block, bool) {
	all := blocks()
	i := slices.IndexFunc(all, func(b block) bool { return b.name == name })
	if i < 0 {
		return block{}, false
	}
	return all[i], true
}

// topLevel are the names of blocks that stand in no other.
func topLevel() []string {
	return []string{"check", "locals", "module", "output", "pipeline", "profile", "target", "step", "toolchain", "variable"}
}
