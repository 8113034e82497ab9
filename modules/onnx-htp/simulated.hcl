# Simulated tools and a simulated phone. Nothing is quantized: ONNX Runtime computes the float graph in the NPU's place.

profile "simulated" {
  toolchain "adb" {}
  toolchain "busybox" {}
  toolchain "linux_arm64" {}
  toolchain "linux_arm64_dev" {}
  toolchain "llvm" {}
  toolchain "ort_linux_arm64" {}
  toolchain "qemu" { version = "11.1" }

  locals {
    qairt     = true
    note      = "Simulated tools, nothing quantized: "
    marks     = ["--simulated"]
    release   = "2.42.0.251225"
    device    = step.simulated_phone.phone.outputs.image
    python    = toolchain.onnx.dir
    libraries = []
    runner = {
      "qnn-net-run"       = step.exec.net_run.outputs.bin
      "arguments.txt"     = "${local.bin}/arguments.txt"
      "libonnxruntime.so" = "${toolchain.ort_linux_arm64.dir}/onnxruntime/capi/libonnxruntime.so.1.31.1"
    }
  }

  check "profiling" {
    condition     = var.profiling == null
    error_message = "The simulated phone has no profile of an NPU. Use profile emulator or device."
  }

  step "simulated_phone" "phone" {
    description = "a phone for machines without one"
    linux       = true
  }

  step "exec" "net_run" {
    description = "the simulated qnn-net-run"
    argv = [
      "${toolchain.llvm.dir}/usr/bin/clang-22", "--target=aarch64-linux-gnu", "--sysroot=${toolchain.linux_arm64_dev.dir}", "-fuse-ld=lld", "-std=gnu11", "-O2",
      "-fPIE", "-pie", "-o", "qnn-net-run", "${toolchain.qairt.dir}/src/qnn-net-run.c", "-ldl", "-lm",
    ]
    output "bin" { file = "qnn-net-run" }
  }
}
