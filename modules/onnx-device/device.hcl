# The NPU of a phone or board, through ONNX Runtime's QNN execution provider. Boards take Qualcomm's libraries from the wheel of that provider; phones take them from QAIRT
# in the release of htp_host, because an NPU loads contexts of its own release and older ones.

profile "device" {
  toolchain "htp_linux_arm64" { when = local.linux }
  toolchain "ndk" { when = !local.linux }
  toolchain "ort_android" { when = !local.linux && var.runtime == null }
  toolchain "ort_qnn_android" { when = !local.linux && var.runtime == null }
  toolchain "qairt" {
    version = "2.51.0.260929"
    only    = ["sdk.yaml", "lib/aarch64-android/*", "lib/hexagon-${target.arch}/unsigned/*"]
  }

  locals {
    linux   = var.board != null
    where   = "the NPU"
    device  = null
    graphs  = {}
    options = []

    # libQnnHtp and its stub run on the processor, the skel on the NPU of one arch.
    arch     = upper(target.arch)
    plugin   = "libonnxruntime_providers_qnn.so"
    qnn      = ["libQnnHtp.so", "libQnnSystem.so", "libQnnHtp${local.arch}Stub.so", "libQnnHtp${local.arch}Skel.so"]
    compiler = local.linux ? local.on_linux.compiler : ["${toolchain.ndk.dir}/toolchains/llvm/prebuilt/linux-x86_64/bin/clang", "--target=aarch64-linux-android28"]
    env      = local.linux ? {} : { ADSP_LIBRARY_PATH = "$HEXMAGE_ROOT/runtime;/vendor/dsp/cdsp;/vendor/lib/rfsa/adsp;/system/lib/rfsa/adsp;/dsp" } # Android reads a list with ':' as one folder

    # A folder without the plug-in has the provider in libonnxruntime.so, as Microsoft's AAR onnxruntime-android-qnn does.
    given = {
      for from in var.runtime == null ? [] : fileset(var.runtime, "*.so") : basename(from) => from
      if contains(concat(["libonnxruntime.so", local.plugin, "libc++_shared.so"], local.qnn), basename(from))
    }
    fetched = local.linux || var.runtime != null ? {} : {
      "libonnxruntime.so" = "${toolchain.ort_android.dir}/libonnxruntime.so"
      (local.plugin)      = "${toolchain.ort_qnn_android.dir}/${local.plugin}"
    }
    runtime = local.linux ? merge(
      local.on_linux.runtime, { for name in concat([local.plugin], local.qnn) : name => "${toolchain.htp_linux_arm64.dir}/onnxruntime_qnn/${name}" },
    ) : merge(contains(keys(local.given), "libQnnHtp.so") ? {} : toolchain.qairt.htp_runtime[target.arch], local.fetched, local.given)
  }
}
