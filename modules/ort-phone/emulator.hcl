# A simulated phone behind the real adb server, or a device with arm64 Linux that adb reaches. ONNX Runtime's own kernels do what the NPU would with the quantised graphs, unless
# the device has one.

profile "emulator" {
  default = true

  toolchain "llvm" {}
  toolchain "qemu" { version = "11.1" }
  toolchain "busybox" {}
  toolchain "linux_arm64" {}
  toolchain "linux_arm64_dev" {}
  toolchain "onnx_arm64" {}
  toolchain "htp_linux_arm64" { when = !var.processor }

  locals {
    where    = var.processor ? "ONNX Runtime's own kernels in the NPU's place" : "the NPU"
    compiler = ["${toolchain.llvm.dir}/usr/bin/clang-22", "--target=aarch64-linux-gnu", "--sysroot=${toolchain.linux_arm64_dev.dir}", "-fuse-ld=lld"]
    device   = step.simulated_phone.phone.outputs.image # null where a phone is named
    serial   = var.phone == "" ? null : var.phone
    graphs   = var.processor ? module.host.quantized[var.scheme] : local.bundle
    options  = var.processor ? ["--processor"] : []
    env      = var.processor ? {} : { LD_LIBRARY_PATH = "$HEXMAGE_ROOT/runtime" }

    arch = upper(target.arch)
    npu = var.processor ? {} : {
      for name in ["libonnxruntime_providers_qnn.so", "libQnnHtp.so", "libQnnSystem.so", "libQnnHtp${local.arch}Stub.so", "libQnnHtp${local.arch}Skel.so"] :
      "runtime/${name}" => "${toolchain.htp_linux_arm64.dir}/onnxruntime_qnn/${name}"
    }
    runtime = merge({
      "runtime/libonnxruntime.so" = "${toolchain.onnx_arm64.dir}/lib/python3.13/site-packages/onnxruntime/capi/libonnxruntime.so.1.31.1"
    }, local.npu)
  }

  step "simulated_phone" "phone" {
    description = "a phone for machines without one"
    when        = var.phone == ""
    linux       = true
  }
}
