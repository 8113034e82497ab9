// Package runner runs actions on devices. Device is an executor, so the cache, limits and reports work for device runs
// as for compiles.
//
// Links reach devices: adb reaches phones, ssh reaches boards. Execute reads the wanted device from the action's
// platform. It finds (devinfo), takes (pool) and leases (lease) a device, or starts a simulated one, and checks the
// files (check). A session pushes missing files (push), waits until the device is cool (thermal), runs the command,
// samples (sample) and pulls outputs into the store. Package measure makes tables of runs, and package diagnose
// explains failures.
//
// The package knows adb and actions. It does not know pipelines, models, the purpose of a command, or how a simulated
// device is made.
package runner
