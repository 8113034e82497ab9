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
toolchain "hexagon" { version = "@hexagon@" }
toolchain "ndk" { version = "r28b" }

module "ops" {
  source  = "sdk-matrix"
  release = "@qairt@"
  series  = "mllm" # patches for what QAIRT has renamed
  targets = ["htp_${target.arch}"]
}
output "compiled" {
  value = [for target, c in module.ops.found :
  { target = target, compiled = "${c.compiled} of ${c.of}", error = c.first }]
  show = "table"
}
