package qnn

// Simulated marks files that hexmage ships in place of Qualcomm's SDK, models and programs. Profiles with real SDKs
// reject these files.
const Simulated = "hexmage simulated"

// SimulatedContext is the start of a simulated context binary's blob.
const SimulatedContext = "HXMGCTX1"

// SimulatedKey is the metadata key of the mark Simulated in a .safetensors file.
const SimulatedKey = "simulated"
