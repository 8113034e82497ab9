//go:build linux

package release_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// kernelLimit is for a machine whose processors are emulated: /dev/kvm is not used, which not every machine has that
// tests run on, nor does it work on all.
const kernelLimit = time.Hour

// firstProgram is what a system's kernel starts. The kernel's first root can be neither left nor changed, as the
// simulated phone does: one that is mounted over it can.
const firstProgram = `#!/bin/sh
mount --bind / /mnt
cd /mnt
mount --move . /
exec chroot . /bin/sh /second
`

// secondProgram runs the main job as the person of the system, before and after the machine has programs for qemu.
const secondProgram = `#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=1777 tmp /tmp
busybox ip link set lo up
try() {
	echo "=== $*"
	su new -c "cd ~/work && PATH=/opt/hexmage_linux_amd64:\$PATH $*" </dev/null >/tmp/said 2>&1 # not on the console, which is a terminal
	code=$?
	cat /tmp/said
	echo "=== exit code $code"
}
try uname -r
busybox insmod /binfmt_misc.ko
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
try hexmage run --offline qwen3-aot-v79
for machine in aarch64 hexagon; do
	cat /usr/lib/binfmt.d/qemu-$machine.conf > /proc/sys/fs/binfmt_misc/register
done
try hexmage run --offline qwen3-aot-v79
try hexmage run --offline qwen3-aot-v79
try hexmage doctor --offline --profile simulated qwen3-aot-v79
busybox poweroff -f
`

// TestReleaseOldKernel: on Debian 12's own kernel, in a virtual machine, the released program says once what the
// sandbox lacks there, and how the simulated phone gets what only newer kernels give; then the main job runs.
func TestReleaseOldKernel(t *testing.T) {
	if os.Getenv(rootsLong) != "all" {
		t.Skip("mage testAll runs this: " + rootsLong + " is not set")
	}
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: debootstrap wants root")
	}
	system := debian(t, "bookworm")
	unpacked(t, releaseArchive(t), filepath.Join(system, "opt"))
	Wants(t, asPerson(t, system, "hexmage", "run", Simulated, Pipeline), 0, "tokens as the reference")
	home := filepath.Join(system, "home/new")
	keepDownloads(t, home)
	inside(t, system, "apt-get update -q && apt-get install -q -y --no-install-recommends busybox-static "+
		"qemu-user-static && apt-get clean && "+
		"find /usr/bin -name 'qemu-*-static' ! -name qemu-aarch64-static ! -name qemu-hexagon-static -delete")
	run(t, home, "install", "-d", "-o", "1000", "-g", "1000", "work")

	tools := debian(t, "bookworm")
	inside(t, tools, "apt-get update -q && apt-get install -q -y --no-install-recommends qemu-system-x86 && "+
		"cd /tmp && apt-get download -q $(apt-cache depends linux-image-amd64 | sed -n 's/ *Depends: //p') && "+
		"dpkg-deb -x "+
		"linux-image-*.deb /linux")
	modules, err := filepath.Glob(filepath.Join(tools, "linux/lib/modules/*/kernel/fs/binfmt_misc.ko"))
	if err != nil || len(modules) != 1 {
		t.Fatalf("the kernel's module: %q, %v", modules, err)
	}
	if err := CopyFile(modules[0], filepath.Join(system, "binfmt_misc.ko")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"init": firstProgram, "second": secondProgram} {
		if err := os.WriteFile(filepath.Join(system, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	packed, err := os.Create(filepath.Join(tools, "system"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	if err := pack(packed, system); err != nil {
		t.Fatal(err)
	}
	said := boot(t, tools)
	t.Logf("%s", said)
	parts := strings.Split(said, "=== ")
	if len(parts) != 11 {
		t.Fatalf("it did not come to its end: %d parts", len(parts))
	}
	kernel, before, after, again, doctor := parts[1], parts[3]+parts[4], parts[5]+parts[6], parts[7]+parts[8],
		parts[9]+parts[10]
	if !strings.Contains(kernel, "\n6.1.") {
		t.Errorf("it is another kernel than Debian 12's: %s", kernel)
	}
	for what, c := range map[string]struct {
		said  string
		wants []string
	}{
		"without qemu": {before, []string{"exit code 3", "apt-get install qemu-user-static"}},
		"the main job": {after, []string{"exit code 0", "profile: simulated", "tokens as the reference    32 of 32"}},
		"again":        {again, []string{"exit code 0", "0 executed"}},
		"doctor": {doctor, []string{"exit code 0", "staged: the kernel has Landlock version", "for the whole " +
			"machine, with AArch64 and Hexagon programs"}},
	} {
		for _, want := range c.wants {
			if !strings.Contains(c.said, want) {
				t.Errorf("%s: it does not say %q", what, want)
			}
		}
	}
	if n := strings.Count(after, `sandbox "staged"`); n != 1 {
		t.Errorf("what the sandbox lacks is said %d times", n)
	}
}

// inside has a shell of a system run a line as its root.
func inside(t *testing.T, root, line string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Path, cmd.Err = "/bin/sh", nil
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
		"TMPDIR=/tmp", "HOME=/root")
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	cmd = Apart(cmd, syscall.CLONE_NEWNS, Rooted, "chroot", root)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// keepDownloads removes all that a run left in a home but what it downloaded.
func keepDownloads(t *testing.T, home string) {
	t.Helper()
	cache := filepath.Join(home, ".cache/hexmage/v3")
	entries, err := os.ReadDir(cache)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "downloads" {
			Remove(filepath.Join(cache, e.Name()))
		}
	}
	Remove(filepath.Join(home, "out"))
}

// boot starts a virtual machine with the tools' kernel and the packed system, and returns what it printed until it
// was off.
func boot(t *testing.T, tools string) string {
	t.Helper()
	kernels, err := filepath.Glob(filepath.Join(tools, "linux/boot/vmlinuz-*"))
	if err != nil || len(kernels) != 1 {
		t.Fatalf("the kernel: %q, %v", kernels, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), kernelLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/usr/bin/qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "2", "-m",
		"8192",
		"-kernel", "/linux/boot/"+filepath.Base(kernels[0]), "-initrd", "/system", "-append",
		"console=ttyS0 quiet panic=-1",
		"-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot")
	cmd.Err = nil // it is there in that root
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	o := Ended(t, Apart(cmd, syscall.CLONE_NEWNS, Rooted, "chroot", tools))
	if o.Code != 0 {
		t.Errorf("qemu: %s", o)
	}
	t.Logf("the machine was on for %v; %s", o.Took, o.Stderr)
	return strings.ReplaceAll(o.Stdout, "\r\n", "\n")
}

// pack writes a folder as the kernel takes its first root: cpio's new format, with who owns what.
func pack(to io.Writer, root string) error {
	w := bufio.NewWriterSize(to, 1<<20)
	written := 0
	put := func(b string) error {
		n, err := w.WriteString(b)
		written += n
		return err
	}
	even := func() error { return put("\x00\x00\x00"[:(4-written%4)%4]) }
	number := 0
	entry := func(name string, st *unix.Stat_t, size int64) error {
		number++
		err := put(fmt.Sprintf("070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s\x00",
			number, st.Mode, st.Uid, st.Gid, 1, st.Mtim.Sec, size, 0, 0, 0, 0, len(name)+1, 0, name))
		if err == nil {
			err = even()
		}
		return err
	}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		rel, rerr := filepath.Rel(root, p)
		if err != nil || rerr != nil || rel == "." {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(p, &st); err != nil {
			return err
		}
		switch {
		case d.Type().IsRegular():
			if err := entry(rel, &st, st.Size); err != nil {
				return err
			}
			f, err := os.Open(p)
			if err != nil {
				return err
			}
			defer f.Close()
			n, err := io.Copy(w, f)
			if written += int(n); err == nil && n != st.Size {
				err = fmt.Errorf("%s: %d bytes, want %d", p, n, st.Size)
			}
			if err != nil {
				return err
			}
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			if err := entry(rel, &st, int64(len(target))); err != nil {
				return err
			}
			if err := put(target); err != nil {
				return err
			}
		case d.IsDir():
			return entry(rel, &st, 0)
		default:
			return nil // what is in /dev: the kernel makes it
		}
		return even()
	})
	if err == nil {
		err = entry("TRAILER!!!", &unix.Stat_t{}, 0)
	}
	if err != nil {
		return err
	}
	return w.Flush()
}
