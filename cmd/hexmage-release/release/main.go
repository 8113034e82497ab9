package release

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
)

// Main is the command: it makes a release of the repository in the working directory, and prints the files that it
// wrote. It returns the exit code.
func Main(ctx context.Context, args, env []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("hexmage-release", flag.ContinueOnError)
	flags.SetOutput(stderr)
	o := Options{Repo: ".", Env: env}
	flags.StringVar(&o.Out, "o", "dist", "the folder for the archives; what an earlier release left in it goes")
	only := flags.String("only", "", "only these, with commas between, such as linux/amd64")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	var err error
	if o.Targets, err = chosen(*only); err != nil || flags.NArg() > 0 {
		fmt.Fprintf(stderr, "hexmage-release: want -o FOLDER and -only OS/ARCH,…, and nothing else: %q: %v\n",
			flags.Args(), err)
		return 2
	}
	files, err := Make(ctx, o)
	if err != nil {
		fmt.Fprintln(stderr, "hexmage-release:", err)
		return 1
	}
	fmt.Fprintln(stdout, strings.Join(files, "\n"))
	return 0
}

// chosen are the targets that a list names; all, where it names none.
func chosen(list string) ([]Target, error) {
	if list == "" {
		return Targets(), nil
	}
	var out []Target
	for name := range strings.SplitSeq(list, ",") {
		found := false
		for _, t := range Targets() {
			if t.String() == name {
				out, found = append(out, t), true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no release for %q: there are %v", name, Targets())
		}
	}
	return out, nil
}
