package push

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/runner/adb"
)

// maxSize is more than any file of a device has, and so little that sums of sizes are numbers.
const maxSize = 1 << 50

// spare is what a push leaves free, for the run and for the rest of the device.
const spare = 1 << 20

// stored is a file of the device's store.
type stored struct {
	name string
	size int64
}

// room sees to it that size bytes fit. Negative free is unknown: then the device says when it is full.
func (s *Store) room(ctx context.Context, keep map[string]blob, size, free int64) error {
	if free < 0 || free >= size+spare {
		return nil
	}
	return s.evict(ctx, keep, size+spare-free)
}

// errFull says that a device has too little space for a push.
var errFull = errors.New("no space left on device")

// evict frees at least so many bytes by removing blobs, those that were used longest ago first, except for those to keep.
func (s *Store) evict(ctx context.Context, keep map[string]blob, bytes int64) error {
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	victims, freed := choose(all, keep, bytes)
	if freed < bytes {
		return fmt.Errorf("%w: the push needs %s more than is free, and contents of earlier pushes, which would be removed, take up %s only: remove files from the device's /data, or push less",
			errFull, bytesize.Decimal(bytes), bytesize.Decimal(freed))
	}
	s.pushed.Evicted += len(victims)
	_, err = s.output(ctx, removeScript, strings.Join(victims, "\n")+"\n")
	return err
}

// choose picks files, in order, until they are at least so many bytes.
func choose(all []stored, keep map[string]blob, bytes int64) (victims []string, freed int64) {
	for _, f := range all {
		if freed >= bytes {
			break
		}
		sum := strings.TrimPrefix(f.name, ".") // of one that is being pushed the part keeps its name
		if _, ok := keep[sum[:min(len(sum), 64)]]; ok {
			continue
		}
		victims, freed = append(victims, f.name), freed+f.size
	}
	return victims, freed
}

// list returns the files of the device's store, those that were used longest ago first.
func (s *Store) list(ctx context.Context) ([]stored, error) {
	out, err := s.output(ctx, listScript, "")
	if err != nil {
		return nil, fmt.Errorf("list what the device has: %w", err)
	}
	return parseStored(out), nil
}

// parseStored reads "SIZE NAME" lines.
func parseStored(out string) (all []stored) {
	for line := range strings.Lines(out) {
		size, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || n < 0 || n > maxSize || name == "" || strings.Contains(name, "/") {
			continue // no file of ours
		}
		all = append(all, stored{name, n})
	}
	return all
}

func isFull(err error) bool {
	var denied *adb.DeviceError
	return errors.Is(err, errFull) || errors.As(err, &denied) && strings.Contains(strings.ToLower(denied.Message), errFull.Error())
}

// Clear removes all that was pushed to a device, and what runs left there. It returns how many bytes that were, as far as the device says.
// Nothing outside hexmage's own folder is touched.
func Clear(ctx context.Context, dev *adb.Device) (int64, error) {
	out, err := dev.Output(ctx, clearScript, nil)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(out), 10, 42)
	if err != nil || n < 0 {
		return 0, nil // it is gone; how much it was is not worth a failure
	}
	return n << 10, nil
}
