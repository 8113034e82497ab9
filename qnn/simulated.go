package qnn

// Simulated marks the files that hexmage ships in place of Qualcomm's SDK, models and programs. Profiles with real SDKs
// reject files with this mark.
const Simulated = "hexmage simulated"

// SimulatedContext begins the blob of a simulated context.
const SimulatedContext = "HXMGCTX1"

// SimulatedKey is the metadata key of the mark in a .safetensors file.
const SimulatedKey = "simulated"
