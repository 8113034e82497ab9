# A real phone: ONNX Runtime for Android with the vendor's provider, and the vendor's libraries of the release that made the context.

profile "device" {
  toolchain "ndk" {}
  toolchain "ort_android" { when = var.runtime == "" }
  toolchain "ort_qnn_android" { when = var.runtime == "" }
  toolchain "qairt" { version = "2.51.0.260929" } # the release of htp_host: a phone loads contexts of its own runtime's release and older ones

  locals {
    where    = "the NPU"
    compiler = ["${toolchain.ndk.dir}/toolchains/llvm/prebuilt/linux-x86_64/bin/clang", "--target=aarch64-linux-android28"]
    device   = null
    serial   = var.phone == "" ? null : var.phone
    graphs   = local.bundle
    options  = []
    env = {
      LD_LIBRARY_PATH   = "$HEXMAGE_ROOT/runtime"
      ADSP_LIBRARY_PATH = "$HEXMAGE_ROOT/runtime;/vendor/lib/rfsa/adsp;/system/lib/rfsa/adsp;/dsp" # a list with ':' is taken as one folder
    }

    # Without the plug-in among them the provider is in libonnxruntime.so, as of Microsoft's AAR onnxruntime-android-qnn.
    arch = upper(target.arch)
    given = {
      for from in var.runtime == "" ? [] : fileset(var.runtime, "*.so") : basename(from) => from if contains([
        "libonnxruntime.so", "libonnxruntime_providers_qnn.so", "libc++_shared.so",
        "libQnnHtp.so", "libQnnSystem.so", "libQnnHtp${local.arch}Stub.so", "libQnnHtp${local.arch}Skel.so",
      ], basename(from))
    }
    vendors = contains(keys(local.given), "libQnnHtp.so") ? {} : toolchain.qairt.htp_runtime[target.arch]
    fetched = var.runtime != "" ? {} : {
      "libonnxruntime.so"               = "${toolchain.ort_android.dir}/libonnxruntime.so"
      "libonnxruntime_providers_qnn.so" = "${toolchain.ort_qnn_android.dir}/libonnxruntime_providers_qnn.so"
    }
    runtime = { for name, from in merge(local.vendors, local.fetched, local.given) : "runtime/${name}" => from }
  }
}
