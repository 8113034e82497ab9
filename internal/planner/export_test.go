package planner

// Left is what planning leaves of the budget.
func Left(o Options) int64 {
	p := newPlanner(o)
	p.build()
	return p.budget.Left()
}
