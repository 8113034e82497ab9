# Nothing of Qualcomm's: real compilers, a toy model and a simulated phone.

profile "simulated" {
  toolchain "llvm" {} # real compilers behind the names of the simulated SDKs

  module "toy" {
    source       = "./toy"
    architecture = var.architecture
    block_size   = local.block_size
    prompt       = var.prompt
    compiler     = local.compiler
    program      = local.program
  }

  locals {
    quantizer = null # the toy model runs as it is
    model     = null
    mllm      = null
    quantized = module.toy.model
    htp       = null
    table     = null

    example = var.mllm == null
    runs    = local.example
    title   = "Simulated phone: toy "
    ops     = local.sources
    phone   = merge(module.toy.phone, { packages = local.packages })
  }
}
