// Package runner runs actions on devices. Device is an executor, so the cache, limits and reports work for device runs
// as for compiles.
//
// adb connects to phones, and ssh to boards. Execute reads from the action's platform which device it needs. It finds
// (devinfo), takes (pool) and leases (lease) such a device, or starts a simulated one. Then it checks the files
// (check). A session pushes missing files (push) and waits until the device is cool (thermal). It then runs the
// command, samples the device (sample) and pulls outputs into the store. Package measure makes tables of runs, and
// package diagnose explains failures.
//
// The package knows adb and actions. It does not know pipelines, models, the purpose of a command, or how a simulated
// device is made.
package runner
