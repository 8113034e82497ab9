package compiler

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/qnn/buildid"
)

// maxBackend bounds libQnnHtp.so, in bytes; the vendor's have some megabytes.
const maxBackend = 64 << 20

// signedPD is QNN's number of the option that asks for a signed protection domain.
const signedPD = 2

// backend is what the library of a QNN release says of itself.
type backend struct {
	buildID       string
	socs, options []int // the numbers it knows; nil: it does not say
}

// openBackend concatenates as upstream does, but says what a missing slash does.
func openBackend(env string) (backend, error) {
	path := env + "libQnnHtp.so"
	raw, err := boundedfile.Read(path, maxBackend)
	if err != nil {
		hint := ""
		if os.IsNotExist(err) && !strings.HasSuffix(env, "/") {
			hint = "; --qnn_env_path must end in a slash"
		}
		// "Failed to open QNN libs" is upstream's message, which log rules look for.
		return backend{}, fmt.Errorf("%s: Failed to open QNN libs: %w%s", path, err, hint)
	}
	id, err := buildid.One(bytes.NewReader(raw))
	if err != nil {
		return backend{}, fmt.Errorf("%s: %w; is it the library of an SDK?", path, err)
	}
	return backend{id, numbers(raw, "open_socs="), numbers(raw, "open_device_options=")}, nil
}

// numbers reads "key1,2,3;", as the stand-in's libraries list what they know.
func numbers(raw []byte, key string) []int {
	_, rest, ok := bytes.Cut(raw, []byte(key))
	list, _, ended := bytes.Cut(rest, []byte(";"))
	if !ok || !ended {
		return nil
	}
	var all []int
	for s := range strings.SplitSeq(string(list), ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil
		}
		all = append(all, n)
	}
	return all
}

// takes makes the device that the config describes, as far as a host can; the errors are in the words of the vendor's libraries.
func (b backend) takes(a aim) error {
	if b.socs != nil && !slices.Contains(b.socs, int(a.soc)) {
		return fmt.Errorf("make the device: Dsp startup: SoC model (SnapdragonModel) is unknown: %s is %d, which QNN %s does not know", a.chipset, a.soc, b.buildID)
	}
	if a.signed && b.options != nil && !slices.Contains(b.options, signedPD) {
		return fmt.Errorf("make the device: Unsupported config option %d: QNN %s takes no signed protection domain, which htp_security_pd_session asks for", signedPD, b.buildID)
	}
	return nil
}
