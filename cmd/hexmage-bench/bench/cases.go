package bench

import "fmt"

// Case is a graph, with what is measured on it and what that may take.
type Case struct {
	Name      string
	Graph     func() Graph
	Tools     []string   // that build it beside hexmage and the floor
	Scenarios []Scenario // beside cold
	NoOps     int        // how many after each cold build; 0: noOps
	ColdOnce  bool       // in the first round alone: it takes minutes
	Traced    bool       // hexmage's system calls are counted
	Asked     bool       // it is only measured if it is asked for by name

	Limits Limits
}

// Limits are what hexmage promises of a graph. What is 0, or not there, has none.
type Limits struct {
	Ninja    map[Scenario]float64 // hexmage's time over ninja's
	Time     map[Scenario]float64 // seconds
	Memory   map[Scenario]float64 // bytes
	Restore  float64              // seconds, or restoreLinks times the floor
	Syscalls float64              // of hexmage's own process, for each action of a cold build
}

const (
	restoreLinks = 3 // times as long as making hard links a restore may take
	// times the floor: what misses a ratio to ninja, and is as near as that, is what the promises cost
	nearFloor = 1.3

	// Seconds.
	watchLimit = 0.06  // from a save to the final output
	startLimit = 0.015 // a small graph or pipeline with nothing to do
	mainLimit  = 0.025 // the main pipeline with nothing to do
)

// Sizes say how large the graphs of the cases are. Of size 0 there are none.
type Sizes struct {
	Small           int // actions in the smallest wide graph
	Few, Many, Most int // actions in a wide graph
	Chain           int
	Layers, Width   int
	Large           int64 // bytes of each of the eight large files
}

// FullSizes are those that the promises are about.
func FullSizes() Sizes {
	return Sizes{Small: 5, Few: 1000, Many: 10_000, Most: 100_000, Chain: 500, Layers: 20, Width: 500, Large: 256 << 20}
}

// QuickSizes are those of what is done in about a minute.
func QuickSizes() Sizes { return Sizes{Small: 5, Few: 1000, Chain: 100, Large: 16 << 20} }

// Cases are all that is measured.
func Cases(s Sizes) []Case {
	everyone, others := []string{staged, ninja, ninjaDefault, samurai, maketool, isolated}, []string{staged, ninja, samurai, maketool, isolated}
	everything := []Scenario{NoOp, Changed, Back, Touched, Comment, Restored}
	most := []Scenario{NoOp, Changed}
	var all []Case
	if s.Small > 0 {
		all = append(all, Case{
			Name:  fmt.Sprintf("small %d", s.Small),
			Graph: func() Graph { return Wide(s.Small-1, 1, false) },
			Tools: []string{ninja, samurai, maketool}, Scenarios: []Scenario{NoOp}, NoOps: brief,
			Limits: Limits{Time: map[Scenario]float64{NoOp: startLimit}},
		})
	}
	if s.Chain > 0 {
		all = append(all, Case{
			Name:  fmt.Sprintf("chain %d", s.Chain),
			Graph: func() Graph { return Chain(s.Chain) },
			Tools: others, Scenarios: most,
			Limits: Limits{Ninja: map[Scenario]float64{Cold: 0.9, NoOp: 1.5}},
		})
	}
	for _, explicit := range []bool{false, true} {
		// The second form of a graph is compared with what matters most.
		form := ""
		if explicit {
			form, everyone, others = " explicit", []string{ninja, isolated}, []string{ninja, isolated}
		}
		if s.Few > 0 {
			all = append(all, Case{
				Name:  fmt.Sprintf("wide %d%s", s.Few, form),
				Graph: func() Graph { return Wide(s.Few, 1, explicit) },
				Tools: everyone, Scenarios: everything, Traced: true,
				Limits: Limits{
					Ninja:    map[Scenario]float64{Cold: 1, NoOp: 1, Changed: 1},
					Syscalls: 85,
				},
			})
		}
		if s.Many > 0 {
			all = append(all, Case{
				Name:  fmt.Sprintf("wide %d%s", s.Many, form),
				Graph: func() Graph { return Wide(s.Many, 1, explicit) },
				Tools: others, Scenarios: everything,
				Limits: Limits{
					Ninja:   map[Scenario]float64{Cold: 1, NoOp: 0.5, Changed: 0.7, Touched: 0.3, Comment: 0.3, Back: 0.3},
					Memory:  map[Scenario]float64{Cold: 150e6, NoOp: 60e6},
					Restore: 0.4,
				},
			})
		}
		if s.Layers > 0 {
			all = append(all, Case{
				Name:  fmt.Sprintf("layered %d x %d%s", s.Layers, s.Width, form),
				Graph: func() Graph { return Layered(s.Layers, s.Width, explicit) },
				Tools: others, Scenarios: most,
				Limits: Limits{Ninja: map[Scenario]float64{Cold: 1.1, NoOp: 0.2, Changed: 0.6}},
			})
		}
		if s.Most > 0 {
			all = append(all, Case{
				Name:  fmt.Sprintf("wide %d%s", s.Most, form),
				Graph: func() Graph { return Wide(s.Most, 10, explicit) },
				Tools: []string{ninja}, Scenarios: most, ColdOnce: true, Asked: explicit,
				Limits: Limits{Ninja: map[Scenario]float64{NoOp: 0.4}},
			})
		}
	}
	if s.Large > 0 {
		all = append(all, Case{
			Name:  fmt.Sprintf("large 8 x %d MB", s.Large>>20),
			Graph: func() Graph { return Large(8, s.Large) },
			// a copy, or a link, of what all tools share would cost more, or show in its times
			Tools: []string{ninja}, Scenarios: most,
			Limits: Limits{Ninja: map[Scenario]float64{Cold: 2, NoOp: 2, Changed: 2.5}},
		})
	}
	return all
}
