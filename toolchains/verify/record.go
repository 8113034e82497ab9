package verify

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	maxRecord   = 64 << 20  // bytes of a RECORD
	maxRecorded = 1_000_000 // files that one names
)

// record compares the tree with what the wheels in it say of their files: each names all of its own, with digests.
func (t *tree) record() {
	names := t.glob("*.dist-info/RECORD")
	if len(names) == 0 && t.checks.Record {
		t.add("*.dist-info/RECORD", "nothing", "the list of files that every wheel has", again)
	}
	for _, name := range names {
		if err := t.recorded(name); err != nil {
			t.add(name, err.Error(), "a list of files with digests", again)
		}
	}
}

// recorded looks at the files of one RECORD.
func (t *tree) recorded(name string) error {
	f, err := openFile(filepath.Join(t.root, filepath.FromSlash(name)))
	if err == nil && f == nil {
		err = errNoFile
	}
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(io.LimitReader(f, maxRecord))
	r.FieldsPerRecord, r.ReuseRecord = 3, true
	for n := 0; ; n++ {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || n > maxRecorded {
			return fmt.Errorf("a list that is damaged after %d files", n)
		}
		file, sum, size := row[0], row[1], row[2]
		if path.IsAbs(file) || path.Clean(file) != file || strings.HasPrefix(file, "../") {
			continue // of an installed wheel: programs, beside the packages
		}
		want, known := strings.CutPrefix(sum, "sha256=")
		if !known { // of the RECORD itself there can be none
			continue
		}
		t.report.Checked.Recorded++
		switch got, n, err := sumOf(filepath.Join(t.root, filepath.FromSlash(file))); {
		case err != nil:
			t.add(file, "nothing that can be read", "the file that "+name+" names", again)
		case got != strings.TrimRight(want, "="):
			t.add(file, fmt.Sprintf("another file, of %d bytes", n), "the one of "+size+" bytes that "+name+" names", "it was changed after the wheel was made: get the wheel again, and see who writes there")
		case size != "" && size != strconv.FormatInt(n, 10):
			t.add(file, fmt.Sprintf("%d bytes", n), size+" bytes, as "+name+" has it", again)
		}
	}
}

// sumOf returns the digest of a file, spelt as a RECORD spells it.
func sumOf(name string) (sum string, size int64, err error) {
	f, err := openFile(name)
	if err == nil && f == nil {
		err = errNoFile
	}
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)), size, err
}
