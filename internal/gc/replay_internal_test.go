package gc

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
)

// A replay has the runs of a log use a cache that is kept to a size after each of them, by one policy or another, and
// counts the minutes that went into making again what had been made before. The policies act on the survey and the
// plan that Collect has; there is no disk.

// replayed is a run of a log.
type replayed struct {
	At  int    `json:"at"` // minutes since the first
	Was []used `json:"was"`
}

// used is an action of a run, and what its result is.
type used struct {
	Key     string           `json:"key"`
	Seconds float64          `json:"s"`
	Bytes   map[string]int64 `json:"b"` // of what it names: what several name has one name
}

// kept is a result in the cache of a replay.
type kept struct {
	used
	last  time.Time
	often float64
	worth float64 // of dual
}

// replay is a cache, and what came of the runs so far.
type replay struct {
	now   time.Time
	has   map[string]*kept
	made  map[string]bool
	floor float64 // of dual
	again time.Duration
}

// policy removes results until no more than the size is left.
type policy struct {
	name string
	drop func(*replay, *plan, map[*result]*kept, int64)
}

// by is a policy that drops what has the least of a number.
func by(name string, number func(*replay, *kept) float64) policy {
	return policy{name, func(r *replay, p *plan, of map[*result]*kept, size int64) {
		all := slices.SortedFunc(maps.Keys(of), func(a, b *result) int {
			return cmp.Or(cmp.Compare(number(r, of[a]), number(r, of[b])), strings.Compare(a.path, b.path))
		})
		for _, x := range all {
			if p.ledger.total <= size {
				return
			}
			r.floor = max(r.floor, of[x].worth)
			p.drop(x, time.Time{})
		}
	}}
}

// policies are ours first, then what it is measured against.
func policies() []policy {
	return []policy{
		{"hexmage", func(r *replay, p *plan, _ map[*result]*kept, size int64) {
			p.shrink(CollectOptions{MaxSize: size, Now: r.now})
		}},
		by("LRU", func(r *replay, k *kept) float64 { return -r.now.Sub(k.last).Seconds() }),
		by("LFU", func(r *replay, k *kept) float64 { return k.often - r.now.Sub(k.last).Hours()/1e6 }),
		by("GreedyDual-SF", func(_ *replay, k *kept) float64 { return k.worth }),
		by("dearest", func(_ *replay, k *kept) float64 { return k.Seconds }),
	}
}

// play has the runs use a cache of the size.
func play(log []replayed, size int64, drop policy) *replay {
	r := &replay{has: map[string]*kept{}, made: map[string]bool{}}
	for _, run := range log {
		r.now = time.Date(2026, 11, 23, 9, run.At, 0, 0, time.UTC)
		for _, u := range run.Was {
			k := r.has[u.Key]
			if k == nil {
				k = &kept{used: u}
				r.has[u.Key] = k
				if r.made[u.Key] {
					r.again += time.Duration(u.Seconds * float64(time.Second))
				}
				r.made[u.Key] = true
			}
			k.last = r.now
			k.often++
			k.worth = r.floor + k.often*k.Seconds/float64(k.size())
		}
		r.collect(size, drop)
	}
	return r
}

func (u *used) size() (n int64) {
	for _, b := range u.Bytes {
		n += b
	}
	return max(n, 1)
}

// collect is Collect without a disk.
func (r *replay) collect(size int64, drop policy) {
	var total int64
	counted := map[string]bool{}
	for _, k := range r.has {
		total += 1000
		for name, n := range k.Bytes {
			if !counted[name] {
				counted[name] = true
				total += n
			}
		}
	}
	if total <= size {
		return
	}
	s := newSurvey("")
	blobs := map[string]*blob{}
	of := map[*result]*kept{}
	at := uint64(0)
	for _, key := range slices.Sorted(maps.Keys(r.has)) {
		k := r.has[key]
		x := &result{item: &item{path: key, used: k.last, inodes: []inode{{bytes: 1000}}},
			value: &action.Result{Worker: "local", Duration: time.Duration(k.Seconds * float64(time.Second))}}
		for _, name := range slices.Sorted(maps.Keys(k.Bytes)) {
			b := blobs[name]
			if b == nil {
				at++
				b = &blob{item: &item{path: name, inodes: []inode{{fileID{1, at}, k.Bytes[name]}}}}
				blobs[name] = b
			}
			if k.last.After(b.used) {
				b.used = k.last
			}
			x.blobs = append(x.blobs, b)
		}
		x.hold()
		s.results = append(s.results, x)
		of[x] = k
	}
	i := uint64(0)
	for _, b := range blobs { // under any name that is one
		i++
		s.blobs[digest.BLAKE3.Bytes(binary.BigEndian.AppendUint64(nil, i)).Unsized()] = b
	}
	p := s.newPlan()
	drop.drop(r, p, of, size)
	for x, k := range of {
		if p.gone[x.item] {
			delete(r.has, k.Key)
		}
	}
}

// TestReplay has users' weeks and a log of this project's own runs use caches of several sizes, and prints the table
// of docs/design/0003:
//
//	go test ./internal/gc -run TestReplay -v
//
// What is made again is less than half of what it is where the results go that were used longest ago, and never more.
func TestReplay(t *testing.T) {
	type log struct {
		name  string
		runs  []replayed
		sizes []int64
	}
	logs := []log{{"recorded", readLog(t), []int64{16e9, 12e9, 8e9, 4e9, 2e9}}}
	for seed := range uint64(2) {
		logs = append(logs, log{fmt.Sprintf("week %d", seed+1), week(seed), []int64{20e9, 15e9, 10e9}})
	}
	var table strings.Builder // as in the design
	table.WriteString("| log | cache |")
	for _, p := range policies() {
		fmt.Fprintf(&table, " %s |", p.name)
	}
	table.WriteString("\n|" + strings.Repeat("---|", 2+len(policies())) + "\n")
	for _, l := range logs {
		for _, size := range l.sizes {
			fmt.Fprintf(&table, "| %s | %d GB |", l.name, size/1e9)
			var minutes []float64
			for _, p := range policies() {
				minutes = append(minutes, math.Round(play(l.runs, size, p).again.Minutes()))
				fmt.Fprintf(&table, " %.0f |", minutes[len(minutes)-1])
			}
			table.WriteByte('\n')
			ours, lru := minutes[0], minutes[1]
			if ours > lru || lru > 30 && ours > 0.55*lru {
				t.Errorf("%s, %d GB: %.0f minutes are made again, and %.0f with LRU", l.name, size/1e9, ours, lru)
			}
		}
	}
	t.Logf("minutes made again:\n%s", table.String())
	if !strings.Contains(read(t, "docs/design/0003-cache.md"), table.String()) {
		t.Error("docs/design/0003-cache.md has another table")
	}
}

// read returns a page of this project.
func read(t *testing.T, name string) string {
	b, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// week is a user's week, about as this project's were: an op package whose sources are edited, now and then from an
// earlier state; models that are quantized, made into contexts and bundles; two SDKs that are swapped, on which all
// of it depends.
func week(seed uint64) []replayed {
	r := rand.New(rand.NewPCG(seed, 35))
	// of: the same name always took as long and is as large.
	of := func(name string, seconds, bytes float64) used {
		h := digest.BLAKE3.Bytes([]byte(name)).Hex()
		var x uint64
		_, _ = fmt.Sscanf(h[:8], "%x", &x)
		f := math.Exp2(2*float64(x)/math.MaxUint32 - 1) // half to twice
		return used{Key: name, Seconds: seconds * f, Bytes: map[string]int64{name: int64(bytes * f)}}
	}
	const sources, models, schemes = 24, 4, 5
	sdk := 1
	var source [sources]int
	saved := [][sources]int{source} // states of the sources that somebody may come back to
	edits := 0
	model, scheme := 0, 0
	var log []replayed
	for day := range 5 {
		at := day * 24 * 60
		for range 25 + r.IntN(15) {
			at += 5 + r.IntN(25)
			convert := false
			switch n := r.IntN(100); {
			case n < 55: // an edit, of a header one time in ten
				edits++
				for i := range source {
					if all := n < 6; all || i == (edits*7+n)%sources {
						source[i] = edits
					}
				}
			case n < 65: // another branch
				saved = append(saved, source)
				source = saved[r.IntN(len(saved))]
			case n < 73: // the other SDK
				sdk = 3 - sdk
			default:
				convert = true
				if r.IntN(3) == 0 {
					model = r.IntN(models)
				}
				if r.IntN(2) == 0 {
					scheme = r.IntN(schemes)
				}
			}
			run := replayed{At: at}
			add := func(u used) { run.Was = append(run.Was, u) }
			add(of(fmt.Sprintf("sdk %d", sdk), 60, 1.6e9))
			add(of("compiler", 40, 1.5e9))
			for i, edit := range source {
				for _, target := range []string{"one", "two", "three"} {
					add(of(fmt.Sprintf("compile %d %d %s %d", i, edit, target, sdk), 2, 60e3))
				}
			}
			add(of(fmt.Sprintf("link %v %d", source, sdk), 1.5, 3e6))
			if convert {
				m, s := fmt.Sprintf("%d", model), fmt.Sprintf("%d %d", model, scheme)
				add(of("packages", 180, 3e9))
				add(of("export "+m, 45, 650e6))
				add(of("calibrate "+m, 600, 17e6))
				quantize := 200.0
				if scheme == 0 {
					quantize = 40 * 60
				}
				add(of("quantize "+s, quantize, 150e6))
				context := of(fmt.Sprintf("context %s %d", s, sdk), 150, 450e6)
				add(context)
				bundle := of(fmt.Sprintf("bundle %s %d", s, sdk), 3, 20e6)
				maps.Copy(bundle.Bytes, context.Bytes) // it has the context in it
				add(bundle)
			}
			log = append(log, run)
		}
	}
	return log
}

const recorded = "testdata/recorded.jsonl"

func readLog(t *testing.T) (log []replayed) {
	f, err := os.Open(recorded)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	known := map[string]used{} // a result is written once
	for lines.Scan() {
		var run replayed
		if err := json.Unmarshal(lines.Bytes(), &run); err != nil {
			t.Fatal(err)
		}
		for i, u := range run.Was {
			if u.Bytes != nil {
				known[u.Key] = u
			}
			run.Was[i] = known[u.Key]
		}
		log = append(log, run)
	}
	if err := lines.Err(); err != nil || len(log) == 0 {
		t.Fatal(len(log), err)
	}
	return log
}
