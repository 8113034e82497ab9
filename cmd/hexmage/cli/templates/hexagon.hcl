# An op package, compiled for the Hexagon of @soc@: by real compilers behind simulations of the SDKs, no account.
# mllm's compiler does not know @soc@, so this pipeline compiles no context.
#
#   hexmage run @name@                     what of the example compiles, in a table
#   hexmage run @name@ --profile device    with Qualcomm's SDKs
#   hexmage show module sdk-matrix        sources, package and what else it takes

pipeline { description = "The example op package, compiled for a new SoC" }
profile "simulated" { default = true }
profile "device" {}
target "@soc@" {}
toolchain "hexagon" { version = "6.4.0.2" }
toolchain "ndk" { version = "r28b" }
locals { release = "2.42.0.251225" }

module "ops" {
  source  = "sdk-matrix"
  release = local.release
  series  = "mllm" # patches for what QAIRT has renamed
  targets = ["htp_${target.arch}"]
}
step "sdk_matrix" "ops" {
  title = "What compiles for @soc@"
  cells = { (local.release) = module.ops.cells }
}
output "table" {
  value = step.sdk_matrix.ops.outputs.table
  show  = "table"
}
