package cli

type lockCmd struct{}
type patchCmd struct{}
type inspectCmd struct{}
type envCmd struct{}
type doctorCmd struct{}
type fmtCmd struct{}
