package build

import "runtime/debug"

// manyActions are so many that giving memory back takes little beside them.
const manyActions = 2_000

// freeHeap gives memory that is in use no longer back to the system, where a build of so many actions goes on to something else: from planning to
// building, and from that to the snapshot.
func freeHeap(actions int) {
	if actions >= manyActions {
		debug.FreeOSMemory()
	}
}
