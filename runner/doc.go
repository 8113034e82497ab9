// Package runner runs actions on devices. Device is an executor like any other, so device runs are cached, limited and reported like compiles.
//
// A device is reached by a link: adb for phones, ssh for boards. The way of an action: Execute takes from its platform which device it wants; one is found (devinfo), lent (pool) and leased (lease), or an
// simulated one is started; what would fail there is found (check); a session pushes what the device lacks (push), waits until it is cool (thermal),
// runs the command, samples (sample) and pulls; the outputs go to the store. What runs measured is put together by measure, what went wrong is found by
// diagnose, each for itself.
//
// The package knows adb and what actions are; it does not know pipelines, models, what a command computes, or how a simulated device is made.
package runner
