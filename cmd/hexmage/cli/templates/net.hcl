# Which operations of your network stay on the CPU, why, and what to change. From public packages: no SDK, no account,
# no phone.
#
#   hexmage run @name@

pipeline { description = "Which operations of a network the NPU runs" }
profile "emulator" { default = true }
target "@soc@" {}

module "net" {
  source = "fallback" # hexmage show module fallback has what else it takes
  model  = "@path@"
}
output "nodes.json" { value = module.net.nodes }
output "table" { value = module.net.table }
