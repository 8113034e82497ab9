# Nothing of Qualcomm's: real compilers, a toy model and a simulated phone.

profile "simulated" {
  toolchain "llvm" {} # real compilers behind the names of the simulated SDKs

  module "toy" {
    source       = "./toy"
    architecture = var.architecture
    block_size   = local.block_size
    prompt       = var.prompt
    compiler     = local.compiler
  }

  locals {
    quantized = module.toy.model
    htp       = null
    table     = null

    example = var.mllm == ""
    runs    = local.example
    title   = "Simulated phone: toy "
    ops     = local.sources
    phone = {
      context   = module.toy.context
      config    = module.toy.config
      tokenizer = module.toy.tokenizer

      serial   = null
      device   = module.toy.phone
      runner   = { (local.program) = module.toy.runner }
      packages = local.packages
      flags    = []
      pull     = ["results/tokens.json"]
      expect   = module.toy.tokens
      env      = { OPEN_RUNNER_RESULTS = "results/tokens.json" } # the simulated runner's alone: mllm's writes no file
    }
  }
}
