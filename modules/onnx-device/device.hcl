# The NPU of a phone or board, through ONNX Runtime's QNN execution provider. Boards take Qualcomm's libraries from the wheel of that provider; phones take them from QAIRT
# in the release of htp_host, because an NPU loads contexts of its own release and older ones.

profile "device" {
  toolchain "ndk" { when = !local.linux }
  toolchain "ort_android" { when = !local.linux && var.runtime == "" }
  toolchain "ort_qnn_android" { when = !local.linux && var.runtime == "" }
  toolchain "qairt" { version = "2.51.0.260929" }

  locals {
    linux  = var.board != ""
    npu    = true
    device = null
    env    = local.linux ? {} : { ADSP_LIBRARY_PATH = "$HEXMAGE_ROOT/runtime;/vendor/lib/rfsa/adsp;/system/lib/rfsa/adsp;/dsp" } # Android reads a list with ':' as one folder

    android_compiler = local.linux ? [] : ["${toolchain.ndk.dir}/toolchains/llvm/prebuilt/linux-x86_64/bin/clang", "--target=aarch64-linux-android28"]

    # A folder without the plug-in has the provider in libonnxruntime.so, as Microsoft's AAR onnxruntime-android-qnn does.
    given = {
      for from in var.runtime == "" ? [] : fileset(var.runtime, "*.so") : basename(from) => from
      if contains(concat(["libonnxruntime.so", "libonnxruntime_providers_qnn.so", "libc++_shared.so"], local.qnn), basename(from))
    }
    fetched = local.linux || var.runtime != "" ? {} : {
      "libonnxruntime.so"               = "${toolchain.ort_android.dir}/libonnxruntime.so"
      "libonnxruntime_providers_qnn.so" = "${toolchain.ort_qnn_android.dir}/libonnxruntime_providers_qnn.so"
    }
    on_android = merge(local.linux || contains(keys(local.given), "libQnnHtp.so") ? {} : toolchain.qairt.htp_runtime[target.arch], local.fetched, local.given)
  }
}
