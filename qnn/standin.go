package qnn

// StandIn is in what this project has written in place of a vendor's SDK, model or program, and in nothing of a vendor's. A profile
// whose results are to be a vendor's refuses what has it.
const StandIn = "hexmage open"

// StandInContext begins the blob of a context that no vendor's compiler has made.
const StandInContext = "HXMGCTX1"

// StandInKey is the key under which the metadata of a .safetensors file says it.
const StandInKey = "stand_in"
