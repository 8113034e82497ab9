package disk_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

// crashRoot is the variable that makes the test binary the process that is killed: it writes to the store there.
const crashRoot = "HEXMAGE_TEST_CRASH_ROOT"

func TestMain(m *testing.M) {
	if root := os.Getenv(crashRoot); root != "" {
		if err := writeForever(root); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// writeForever puts and adopts blobs and prints the seed of each that is reported done.
func writeForever(root string) error {
	s, err := disk.NewBlobs(root)
	if err != nil {
		return err
	}
	ctx := context.Background()
	work, err := os.MkdirTemp(filepath.Dir(root), "work")
	if err != nil {
		return err
	}
	for seed := 0; ; seed++ {
		b := crashBytes(seed)
		if seed%2 == 0 {
			err = s.Put(ctx, digest.BLAKE3.Bytes(b), bytes.NewReader(b))
		} else {
			path := filepath.Join(work, strconv.Itoa(seed))
			if err = os.WriteFile(path, b, 0o644); err == nil {
				_, err = s.Adopt(ctx, digest.BLAKE3, path)
			}
		}
		if err != nil {
			return err
		}
		fmt.Println("done", seed)
	}
}

func crashBytes(seed int) []byte { return storetest.Bytes(int64(seed), 10_000+seed*137%200_000) }

// A process is killed at any instant while it writes. What it reported done is there, whole; nothing else is trusted;
// and a store opened on what it left works.
func TestKilled(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	for range 8 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashRoot+"="+root)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := map[int]bool{}
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			seed, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "done "))
			if err != nil {
				t.Fatalf("the process says %q", lines.Text())
			}
			if len(done) == 0 { // however long it took to start on a busy machine
				time.AfterFunc(time.Duration(rand.Intn(100_000))*time.Microsecond, func() { cmd.Process.Kill() })
			}
			done[seed] = true
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the process was not killed")
		}
		if len(done) == 0 {
			t.Fatal("the process was killed before it stored anything")
		}

		s := open(t, root)
		for seed := 0; seed < len(done)+2; seed++ {
			b := crashBytes(seed)
			d := digest.BLAKE3.Bytes(b)
			missing, err := s.Missing(t.Context(), []digest.Digest{d})
			if err != nil {
				t.Fatal(err)
			}
			if len(missing) > 0 {
				if done[seed] {
					t.Errorf("blob %d was reported done and is gone", seed)
				}
				continue
			}
			r, err := s.Open(t.Context(), d)
			if err != nil {
				t.Errorf("blob %d: %v", seed, err)
				continue
			}
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, b) {
				t.Errorf("blob %d is there, but not whole: %v", seed, err)
			}
			r.Close()
		}
	}

	// What was being written lies in new until it is old.
	tmp := filepath.Join(root, "new")
	left, err := os.ReadDir(tmp)
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * time.Hour)
	for _, e := range left {
		if err := os.Chtimes(filepath.Join(tmp, e.Name()), old, old); err != nil {
			t.Fatal(err)
		}
	}
	open(t, root)
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("left in new after it is old: %v, %v", left, err)
	}
}
