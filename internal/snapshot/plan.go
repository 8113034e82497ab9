package snapshot

import "github.com/hexmage/hexmage/internal/plan"

// Plan returns the whole plan, as it was made, but for its Reads: what it was made from the snapshot tells in more detail. Of an instance that waited for
// something, the specs are left out: they are for an Extender to give.
func (r *Reader) Plan() (*plan.Plan, error) {
	t, err := r.Title()
	if err != nil {
		return nil, err
	}
	p := &plan.Plan{Pipeline: t.Pipeline, Description: t.Description, Profile: t.Profile, Instances: make([]*plan.Instance, 0, r.Instances())}
	for i := range r.Instances() {
		n, err := r.Instance(i)
		if err != nil {
			return nil, err
		}
		p.Instances = append(p.Instances, &n.Plan)
	}
	for i := range r.Units() {
		u, err := r.Unit(i)
		if err != nil {
			return nil, err
		}
		if n := p.Instances[u.Instance]; n.Waits == plan.ForNothing {
			n.Specs = append(n.Specs, u.Spec)
		}
	}
	for i := range r.Outputs() {
		x, err := r.Output(i)
		if err != nil {
			return nil, err
		}
		p.Outputs = append(p.Outputs, x.Plan)
	}
	checks, err := r.Checks()
	for i := range checks {
		p.Checks = append(p.Checks, checks[i].Plan)
	}
	return p, err
}
