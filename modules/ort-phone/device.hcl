# A real phone: ONNX Runtime for Android with the vendor's provider, and the vendor's libraries of the release that made the context.

profile "device" {
  toolchain "ndk" {}
  toolchain "qairt" { version = "2.51.0.260929" } # the release of htp_host: a phone loads contexts of its own runtime's release and older ones
  toolchain "ort_android" {}
  toolchain "ort_qnn_android" { when = !var.built_in }

  locals {
    where    = "the NPU"
    compiler = ["${toolchain.ndk.dir}/toolchains/llvm/prebuilt/linux-x86_64/bin/clang", "--target=aarch64-linux-android28"]
    device   = null
    serial   = var.phone == "" ? null : var.phone
    graphs   = step.bundle.way.outputs.dir
    options  = []
    env      = { LD_LIBRARY_PATH = "$HEXMAGE_ROOT/runtime" }
    runtime = merge(
      { for name, from in toolchain.qairt.htp_runtime[target.arch] : "runtime/${name}" => from },
      { "runtime/libonnxruntime.so" = "${toolchain.ort_android.dir}/libonnxruntime.so" },
      var.built_in ? {} : { "runtime/libonnxruntime_providers_qnn.so" = "${toolchain.ort_qnn_android.dir}/libonnxruntime_providers_qnn.so" },
    )
  }
}
