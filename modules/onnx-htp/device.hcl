# QAIRT's own tools and a phone, or with compiler = "onnxruntime" the compiler of profile emulator, without a phone. From QAIRT 2.47 on its Python programs run
# under Python 3.12; 2.48.40 is a release with a published digest.

profile "device" {
  toolchain "adb" { when = length(local.ran) > 0 }
  toolchain "qairt" { when = true } # check "release" has its version; what no step uses is not fetched
  toolchain "qairt_host" { when = local.qairt }
  toolchain "qairt_python" { when = local.qairt }

  locals {
    qairt     = var.compiler == "qairt"
    note      = ""
    marks     = []
    release   = "2.48.40.260702"
    device    = null
    python    = toolchain.qairt_python.dir
    libraries = local.qairt ? ["${toolchain.qairt_host.dir}/usr/lib/x86_64-linux-gnu", "${toolchain.qairt_python.dir}/lib"] : []
    runner    = { "qnn-net-run" = "${local.sdk}/bin/aarch64-android/qnn-net-run" }
  }

  check "release" {
    condition     = !local.qairt || tonumber(split(".", toolchain.qairt.version)[1]) >= 47
    error_message = "QAIRT ${toolchain.qairt.version} runs only under Python 3.10. Use QAIRT 2.47 or newer."
  }

  check "language_model" {
    severity      = "warning"
    condition     = !local.llm || !local.qairt
    error_message = "This pipeline only compiles language models, because qnn-net-run runs one graph once. To run one on a phone, use pipeline onnx-device or qwen3-aot-v79."
  }

  check "gpu" {
    severity      = "warning"
    condition     = alltrue([for scheme, s in step.run.net : try(s.outputs.measured.mean_gpu_busy.median, 0) < 10])
    error_message = "The GPU was busy while the graph ran: the metrics do not show that the NPU ran it. Close apps that draw on the screen."
  }
}
