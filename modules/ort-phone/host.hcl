# An emulated phone behind the real adb server, or anything else with arm64 Linux that adb reaches: ONNX Runtime's own kernels do what the NPU would with the quantised
# graphs.

profile "host" {
  toolchain "llvm" {}
  toolchain "qemu" { version = "11.1" }
  toolchain "busybox" {}
  toolchain "linux_arm64" {}
  toolchain "linux_arm64_dev" {}
  toolchain "onnx_arm64" {}

  locals {
    where    = "ONNX Runtime's own kernels in the NPU's place"
    compiler = ["${toolchain.llvm.dir}/usr/bin/clang-22", "--target=aarch64-linux-gnu", "--sysroot=${toolchain.linux_arm64_dev.dir}", "-fuse-ld=lld"]
    device   = step.emulator.phone.outputs.image # null where a phone is named
    serial   = var.phone == "" ? null : var.phone
    graphs   = step.onnx_quantize.way.outputs.dir
    options  = ["--processor"]
    env      = {}
    runtime  = { "runtime/libonnxruntime.so" = "${toolchain.onnx_arm64.dir}/lib/python3.13/site-packages/onnxruntime/capi/libonnxruntime.so.1.31.1" }
  }

  step "emulator" "phone" {
    description = "a phone for machines without one"
    when        = var.phone == ""
    linux       = true
  }
}
