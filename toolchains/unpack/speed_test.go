package unpack_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

var (
	sdkFiles = flag.Int("sdk.files", 1000, "files of the synthetic SDK")
	sdkBytes = flag.Int64("sdk.bytes", 80<<20, "unpacked size of the synthetic SDK")
	sdkRuns  = flag.Int("sdk.runs", 3, "how often each program unpacks it")
	sdkDir   = flag.String("sdk.dir", "", "where to do that")
)

const envUnpack = "HEXMAGE_TEST_UNPACK" // an archive, a colon and a destination: the test's program is an unpacker then

func TestMain(m *testing.M) {
	if from, to, ok := strings.Cut(os.Getenv(envUnpack), ":"); ok {
		if err := archive.Unpack(context.Background(), to, archive.Options{}, from); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		status, _ := os.ReadFile("/proc/self/status")
		os.Stdout.Write(status)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const maxMemory = 100 << 20 // bytes of resident memory while unpacking

// TestUnpackSDK unpacks the same zip with unzip and with internal/archive, in turn, each in a process of its own. For the size
// of a real SDK: go test ./toolchains/unpack -run UnpackSDK -v -sdk.files 11000 -sdk.bytes 3500000000 -sdk.dir /dev/shm
func TestUnpackSDK(t *testing.T) {
	dir := *sdkDir
	if dir == "" {
		dir = t.TempDir()
	} else {
		var err error
		if dir, err = os.MkdirTemp(dir, "unpack-*"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
	}
	file, out := filepath.Join(dir, "sdk.zip"), filepath.Join(dir, "out")
	syntheticSDK(t, file, *sdkFiles, *sdkBytes)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(toolchaintest.EnvRoot, "") // unzip is always fetched
	unzip := toolchaintest.Path(t, "unzip", "usr/bin/unzip")
	var ours, theirs []time.Duration
	var oursCPU, theirsCPU time.Duration
	peak := int64(0)
	for range *sdkRuns {
		cmd := exec.CommandContext(t.Context(), unzip, "-q", file, "-d", out)
		d, _ := timed(t, cmd, out)
		theirs, theirsCPU = append(theirs, d), theirsCPU+cpu(cmd)
		cmd = exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), envUnpack+"="+file+":"+out)
		d, rss := timed(t, cmd, out)
		ours, oursCPU = append(ours, d), oursCPU+cpu(cmd)
		peak = max(peak, rss)
	}
	runs := time.Duration(*sdkRuns)
	t.Logf("%d files, %d bytes: unzip %v (processor time %v), hexmage %v (%v): %.2f of unzip's time, best of each; peak memory %.1f MB", *sdkFiles, *sdkBytes,
		rounded(theirs), (theirsCPU / runs).Round(10*time.Millisecond), rounded(ours), (oursCPU / runs).Round(10*time.Millisecond),
		slices.Min(ours).Seconds()/slices.Min(theirs).Seconds(), float64(peak)/1e6)
	// In the form that always runs, whatever else the machine does decides.
	if *sdkBytes >= 1e9 && slices.Min(ours) >= slices.Min(theirs) {
		t.Errorf("unpacking took %v, unzip %v", ours, theirs)
	}
	if peak == 0 || peak > maxMemory {
		t.Errorf("peak memory %d bytes, at most %d are allowed", peak, maxMemory)
	}
}

func cpu(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func rounded(all []time.Duration) []time.Duration {
	var r []time.Duration
	for _, d := range all {
		r = append(r, d.Round(10*time.Millisecond))
	}
	return r
}

// timed runs the command, which makes out, and removes that. It returns the time and the peak memory in bytes that the
// command printed, 0 when it printed none.
func timed(t *testing.T, cmd *exec.Cmd, out string) (time.Duration, int64) {
	t.Helper()
	begin := time.Now()
	msg, err := cmd.CombinedOutput()
	took := time.Since(begin)
	if err != nil {
		t.Fatalf("%s: %v: %s", cmd.Path, err, msg)
	}
	n := 0
	_ = filepath.WalkDir(out, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return nil
	})
	if n != *sdkFiles {
		t.Fatalf("%s made %d files of %d", cmd.Path, n, *sdkFiles)
	}
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
	peak := int64(0) // the kernel's own count at the end of a process begins with the memory of its parent
	if _, rest, ok := strings.Cut(string(msg), "VmHWM:"); ok {
		if _, err := fmt.Sscanf(rest, "%d kB", &peak); err != nil {
			t.Fatal(err)
		}
	}
	return took, peak << 10
}
