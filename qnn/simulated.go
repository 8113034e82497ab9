package qnn

// Simulated is in what this project has written in place of a vendor's SDK, model or program, and in nothing of a vendor's. A profile
// whose results are to be a vendor's refuses what has it.
const Simulated = "hexmage simulated"

// SimulatedContext begins the blob of a context that no vendor's compiler has made.
const SimulatedContext = "HXMGCTX1"

// SimulatedKey is the key under which the metadata of a .safetensors file says it.
const SimulatedKey = "simulated"
