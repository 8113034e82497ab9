package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/tools/txtar"

	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// completed is what is typed behind "hexmage ", with tabs, and the words that stand there then.
func completed() map[string]string {
	return map[string]string{
		"val\tgree\t":                            "<hexmage><validate><greetings>",
		"plan greetings --verb\t":                "<hexmage><plan><greetings><--verbose>",
		"validate greetings --verb\t":            "<hexmage><validate><greetings><--verb>",
		"plan greetings --soc=SM875\t":           "<hexmage><plan><greetings><--soc=SM8750>",
		"plan greetings --soc SM8650,+SM875\t":   "<hexmage><plan><greetings><--soc><SM8650,+SM8750>",
		"run greetings --var greet\tHi":          "<hexmage><run><greetings><--var><greeting=Hi>",
		"run greetings --var=greet\tHi":          "<hexmage><run><greetings><--var=greeting=Hi>",
		"run greetings --prof\tla\t":             "<hexmage><run><greetings><--profile><later>",
		"run greetings exec.gr\t":                "<hexmage><run><greetings><exec.greet>",
		"run greetings --profile later exec.t\t": "<hexmage><run><greetings><--profile><later><exec.then>",
		"run greetings --force=module.part.e\t":  "<hexmage><run><greetings><--force=module.part.exec.inner>",
		"-C deeper run oth\t":                    "<hexmage><-C><deeper><run><others>",
		"inspect pipelines/gre\t":                "<hexmage><inspect><pipelines/greetings.hcl>",
		"run --trace=pipelines/gre\t":            "<hexmage><run><--trace=pipelines/greetings.hcl>",
		"--col\tne\t":                            "<hexmage><--color><never>",
		"help dev\tpul\t":                        "<hexmage><help><device><pull>",
		"show kind sdk_\t":                       "<hexmage><show><kind><sdk_matrix>",
		"show so\tSM875\t":                       "<hexmage><show><soc><SM8750>",
		"show error skel-not-l\t":                "<hexmage><show><error><skel-not-loaded>",
		"show toolchain hexa\t":                  "<hexmage><show><toolchain><hexagon>",
		"completion fi\t":                        "<hexmage><completion><fish>",
		"comple\t":                               "<hexmage><completion>", // and not complete, which is the scripts'
		"run zz\t":                               "<hexmage><run><zz>",    // whatever is called like that would be run
		"nosuch \t":                              "<hexmage><nosuch>",
	}
}

const completedWorkspace = `
-- pipelines/greetings.hcl --
pipeline { description = "To everybody, $(touch hacked)" }
variable "greeting" { default = "Hello" }
profile "now" { default = true }
profile "later" {
  step "exec" "then" { argv = ["true"] }
}
step "exec" "greet" { argv = ["echo", var.greeting] }
module "part" { source = "./part" }
-- pipelines/part/part.hcl --
step "exec" "inner" { argv = ["true"] }
-- pipelines/zz$(touch hacked).hcl --
step "exec" "greet" { argv = ["true"] }
-- deeper/pipelines/others.hcl --
step "exec" "other" { argv = ["true"] }
`

// TestCompletion types into the real shells, on a terminal.
func TestCompletion(t *testing.T) {
	shells := map[string]func(t *testing.T, home string) *exec.Cmd{
		"bash": func(t *testing.T, home string) *exec.Cmd {
			rc := filepath.Join(home, "rc")
			writeFile(t, rc, "PS1='READY> '\neval \"$(hexmage completion bash)\"\n")
			return exec.Command("bash", "--noprofile", "--rcfile", rc, "-i")
		},
		"zsh": func(t *testing.T, home string) *exec.Cmd {
			root := toolchaintest.Root(t, "zsh")
			writeFile(t, filepath.Join(home, ".zshenv"),
				fmt.Sprintf("module_path=(%[1]s/usr/lib/x86_64-linux-gnu/zsh/5.9)\n"+
					"fpath=(%[1]s/usr/share/zsh/functions/**/*(/))\n", root))
			writeFile(t, filepath.Join(home, ".zshrc"),
				"PS1='READY> '\nautoload -Uz compinit && compinit -u -D\neval \"$(hexmage completion zsh)\"\n")
			return unpackedShell(root, "bin/zsh", "-d", "-i")
		},
		"fish": func(t *testing.T, home string) *exec.Cmd {
			root := toolchaintest.Root(t, "fish")
			writeFile(t, filepath.Join(home, ".config", "fish", "config.fish"),
				"function fish_prompt; echo -n 'READY> '; end\nset -g fish_greeting\nhexmage completion fish | "+
					"source\n")
			return unpackedShell(root, "usr/bin/fish", "-i")
		},
	}
	for name, start := range shells {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), t.TempDir()
			for _, f := range txtar.Parse([]byte(completedWorkspace)).Files {
				writeFile(t, filepath.Join(dir, f.Name), string(f.Data))
			}
			cmd := start(t, home)
			cmd.Dir = dir
			cmd.Env = append(cmd.Env, "HOME="+home, "ZDOTDIR="+home, "TERM=xterm", "INPUTRC=/dev/null",
				"PATH="+os.Getenv("PATH"), "HEXMAGE_CACHE="+filepath.Join(home, "cache"))
			term := startTyping(t, cmd)
			for typed, want := range completed() {
				// a shell that does not read yet would take a tab for a blank
				term.wait(t, "READY> ")
				term.write(t, "hexmage "+typed+"\x01printf '<%s>' \r") // at the line's beginning
				term.wait(t, want)
			}
			if _, err := os.Stat(filepath.Join(dir, "hacked")); err == nil {
				t.Error("what is completed was run")
			}
		})
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// unpackedShell is a shell that is not installed.
func unpackedShell(root, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(root, program), args...)
	cmd.Env = []string{"LD_LIBRARY_PATH=" + filepath.Join(root, "lib/x86_64-linux-gnu") + ":" +
		filepath.Join(root, "usr/lib/x86_64-linux-gnu")}
	return cmd
}

// typing is a program on a terminal of its own, at which somebody types.
type typing struct {
	keys *os.File

	mu     sync.Mutex
	screen bytes.Buffer
}

// startTyping starts the program, until the test ends.
func startTyping(t *testing.T, cmd *exec.Cmd) *typing {
	t.Helper()
	end, tty := openTerminal(t)
	if err := unix.IoctlSetWinsize(int(end.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 200}); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	term, read := &typing{keys: end}, make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for {
			n, err := end.Read(b)
			term.mu.Lock()
			term.screen.Write(b[:n])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		<-read
		end.Close()
	})
	return term
}

func (term *typing) write(t *testing.T, text string) {
	t.Helper()
	if _, err := term.keys.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// wait waits until the text is on the screen, and forgets what was there up to it.
func (term *typing) wait(t *testing.T, want string) {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		term.mu.Lock()
		said := term.screen.String()
		_, rest, found := strings.Cut(said, want)
		if found {
			term.screen.Reset()
			term.screen.WriteString(rest)
		}
		term.mu.Unlock()
		if found {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("no %s in %q", want, said)
		}
	}
}

// openTerminal opens both ends of a terminal: what is behind it, and the screen.
func openTerminal(t *testing.T) (master, screen *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine has no terminals to give: %v", err)
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if screen, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return master, screen
}
