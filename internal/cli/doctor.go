package cli

import (
	"context"
	"fmt"

	"github.com/hexmage/hexmage/toolchains/doctor"
)

// doctorCmd is `hexmage doctor`.
type doctorCmd struct{}

// Run says what this machine has and lacks. It fails when something is missing that the chosen profile (open, when none
// is) needs.
func (*doctorCmd) Run(ctx context.Context, a *app) error {
	workspace := a.root
	if workspace == "" {
		workspace = a.dir
	}
	d, err := a.domain(workspace)
	if err != nil {
		return err
	}
	found := doctor.Examine(ctx, doctor.Options{Catalogue: d.catalogue, Lock: d.lock, Machine: d.machine, Profile: a.Profile, Store: a.cache})
	if a.JSON {
		return a.printJSON(found)
	}
	missing := 0
	for _, f := range found {
		mark := map[doctor.Status]string{doctor.OK: a.painted("32", "ok      "), doctor.Missing: a.painted("31", "missing "), doctor.Optional: a.painted("33", "optional")}[f.Status]
		fmt.Fprintf(a.env.Stdout, "%s  %-26s %s\n", mark, f.Name, f.Detail)
		if f.Status != doctor.OK && f.Remedy != "" {
			fmt.Fprintf(a.env.Stdout, "          %-26s → %s\n", "", f.Remedy)
		}
		if f.Status == doctor.Missing {
			missing++
		}
	}
	if missing > 0 {
		return &exitError{code: ExitFailed}
	}
	return nil
}

func (a *app) painted(code, s string) string {
	if !a.colour() {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
