package kerneltest

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/version"
)

// HVX returns the HVX version to compile code for, so that a release of qemu can run the code. For an unknown release,
// the parameter qemu is "".
//
// Before version 10, qemu supports HVX v66 and executes some newer instructions wrongly, so the compiler must reject
// them. Later releases support the integer instructions of v68 and v69. Unsafe finds all other instructions.
func HVX(qemu, arch string) string {
	if version.Compare(qemu, "10") < 0 {
		return "v66"
	}
	return arch
}

// Source is a source file of the package, with the compiler's assembly text for it.
type Source struct {
	Path     string `json:"path"`
	Assembly string `json:"assembly"`
}

var (
	statement = lazyregexp.New(`[^{};\n]+`)
	typed     = lazyregexp.New(`(?i)\bv(?:\d+(?::\d+)?|tmp)\.([a-z]\w*)|\b(?:vf[a-z]\w*|valign4)\(`)
	register  = lazyregexp.New(`(?i)\b([vrpqm])\d+(?::\d+)?\b`)
)

// Unsafe lists instructions in an assembly text that qemu does not support: vector instructions on floats, and integer
// instructions newer than v69. The most frequent instruction is first, such as "2 × V.qf32 = vmpy(V.hf,V.hf)".
func Unsafe(assembly string) []string {
	integers := []string{"b", "ub", "h", "uh", "w", "uw", "cur", "tmp", "new"}
	letter := func(r string) string { return strings.ToUpper(r[:1]) }
	times := map[string]int{}
	for line := range strings.Lines(assembly) {
		line, _, _ = strings.Cut(line, "//")
		for _, s := range statement.Get().FindAllString(line, -1) {
			if slices.ContainsFunc(typed.Get().FindAllStringSubmatch(s, -1), func(m []string) bool {
				return !slices.Contains(integers, strings.ToLower(m[1]))
			}) {
				times[register.Get().ReplaceAllStringFunc(strings.Join(strings.Fields(s), " "), letter)]++
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(times), func(a, b string) int {
		return cmp.Or(times[b]-times[a], cmp.Compare(a, b))
	})
	for i, n := range names {
		names[i] = fmt.Sprintf("%d × %s", times[n], n)
	}
	return names
}

// refused returns a message for each source with unsafe instructions.
func refused(sources []Source) ([]string, error) {
	var all []string
	for _, s := range sources {
		text, err := os.ReadFile(s.Assembly)
		if err != nil {
			return nil, err
		}
		if bad := Unsafe(string(text)); len(bad) > 0 {
			all = append(all, fmt.Sprintf("%s: the simulated DSP cannot run %s: leave the source out with "+
				"`sources`, and test its ops on a device",
				path.Base(s.Path), strings.Join(bad, ", ")))
		}
	}
	return all, nil
}
