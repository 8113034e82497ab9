package cli

import (
	"fmt"

	"github.com/hexmage/hexmage/internal/execute/sandbox"
)

// sandbox returns what restricted actions may see of this machine, nil if they are not to be restricted, and the folder
// where an action that failed may have looked for files.
func (a *app) sandbox() (*sandbox.Base, string, error) {
	name, from := a.Sandbox, "--sandbox"
	if name == "" {
		name, from = a.env.Var("HEXMAGE_SANDBOX"), "HEXMAGE_SANDBOX"
	}
	level := sandbox.Strict
	if name != "" {
		var err error
		if level, err = sandbox.ParseLevel(name); err != nil {
			return nil, "", usage("%s: %w", from, err)
		}
	}
	switch level {
	case sandbox.Off:
		return nil, "", nil
	case sandbox.Staged:
		return nil, a.root, nil
	}
	base, err := sandbox.Open()
	switch {
	case err == nil:
		return base, a.root, nil
	case name != "": // asked for by name
		return nil, "", usage("%s: this machine can have no strict sandbox: %w", from, err)
	}
	fmt.Fprintf(a.env.Stderr, "hexmage: actions are not kept from what they do not declare (sandbox \"staged\"): %v\n", err)
	return nil, a.root, nil
}
