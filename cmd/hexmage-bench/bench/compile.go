package bench

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed programs
var programs embed.FS

// Compiler compiles the programs that are the actions.
type Compiler struct {
	Program      string   // cc, or a clang
	Args         []string // more arguments
	Freestanding bool     // it has neither headers nor a C library
}

// String says what the programs are, for the report.
func (c Compiler) String() string {
	if c.Freestanding {
		return "static programs without a C library"
	}
	return "programs linked with the C library of the machine"
}

// build compiles programs/NAME.c to dir/NAME.
func (c Compiler) build(ctx context.Context, dir string) error {
	if err := os.CopyFS(dir, programs); err != nil {
		return err
	}
	for _, name := range []string{"tiny", "flip"} {
		args := append([]string{"-O2", "-o", filepath.Join(dir, name)}, c.Args...)
		if c.Freestanding {
			args = append(args, "-DFREESTANDING", "-ffreestanding", "-fno-stack-protector", "-static", "-nostdlib")
		}
		cmd := exec.CommandContext(ctx, c.Program, append(args, filepath.Join(dir, "programs", name+".c"))...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("compile %s.c: %w\n%s", name, err, out)
		}
	}
	return nil
}
