# No NPU: ONNX Runtime's own kernels run the quantized graphs, on a simulated phone or on a board of yours.

profile "emulator" {
  default = true

  toolchain "qemu" { version = "11.1" }
  toolchain "busybox" {}
  toolchain "linux_arm64" {}

  locals {
    linux    = true
    where    = "ONNX Runtime's own kernels in the NPU's place"
    device   = step.simulated_phone.phone.outputs.image # null with a board
    compiler = local.on_linux.compiler
    runtime  = local.on_linux.runtime
    graphs   = { "graphs/" = module.host.quantized[var.scheme] }
    options  = ["--processor", "graphs"]
    env      = {}
  }

  step "simulated_phone" "phone" {
    description = "a phone for machines without one"
    when        = var.board == null
    linux       = true
  }
}
