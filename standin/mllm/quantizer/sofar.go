package quantizer

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// soFar is what calibration has seen after some of its samples. It is written whole, by renaming, so that a quantiser that is killed goes on from there;
// what is no whole file counts as none. A folder "" keeps nothing.
type soFar struct {
	Samples int                  `json:"samples"`
	Spans   map[string][2]uint64 `json:"spans"` // the bits of the ends
	Turned  []string             `json:"turned,omitempty"`
}

func soFarFile(dir string) string { return filepath.Join(dir, "calibration.json") }

func readSoFar(dir string) (samples int, spans map[string]*span, turned map[string]bool) {
	spans, turned = map[string]*span{}, map[string]bool{}
	var s soFar
	if b, err := os.ReadFile(soFarFile(dir)); dir == "" || err != nil || json.Unmarshal(b, &s) != nil {
		return 0, spans, turned
	}
	for name, ends := range s.Spans {
		spans[name] = &span{math.Float64frombits(ends[0]), math.Float64frombits(ends[1])}
	}
	for _, name := range s.Turned {
		turned[name] = true
	}
	return s.Samples, spans, turned
}

func writeSoFar(dir string, samples int, spans map[string]*span, turned map[string]bool) error {
	if dir == "" {
		return nil
	}
	s := soFar{Samples: samples, Spans: map[string][2]uint64{}, Turned: slices.Sorted(maps.Keys(turned))}
	for name, x := range spans {
		s.Spans[name] = [2]uint64{math.Float64bits(x.lo), math.Float64bits(x.hi)}
	}
	b, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(soFarFile(dir)+".half", b, 0o644)
	}
	if err != nil {
		return err
	}
	return os.Rename(soFarFile(dir)+".half", soFarFile(dir))
}
