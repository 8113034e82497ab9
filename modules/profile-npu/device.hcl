# A phone, and the vendor's SDK: qnn-net-run with its profiling, the viewer that makes a CSV of its log, and what the phone's kernel tells anybody while it runs: where
# an NPU's own counters are shut, GPU, processors and memory are what there is to go by.

profile "device" {
  toolchain "adb" {}
  toolchain "onnx" {}
  toolchain "qairt" { version = "2.48.40.260702" } # the release of the compiler: a phone loads contexts of its own runtime's release and older ones

  locals {
    htp_host = "2.4.0" # which is of that release
    stem     = var.model == "" ? "net" : trimsuffix(basename(var.model), ".onnx")
    profile  = step.exec.view.outputs.csv
    log      = step.run.net.outputs.results
    metrics  = step.run.net.outputs.metrics
    emulator = false
    sampled  = { for name, m in step.run.net.outputs.measured : name => m.median }
  }

  check "gpu" {
    severity      = "warning"
    condition     = try(step.run.net.outputs.measured.mean_gpu_busy.median, 0) < 10
    error_message = "The GPU was busy to ${try(step.run.net.outputs.measured.mean_gpu_busy.median, 0)} % while the graph ran: what is said of the phone beside the profile is no proof that it ran on the NPU. Close what draws on the screen."
  }

  step "python" "raw" {
    description = "samples as qnn-net-run reads them"
    environment = toolchain.onnx.dir
    script      = "${path.module}/raw.py"
    args        = [module.net.samples, "inputs"]
    inputs      = [module.net.samples]
    output "dir" { tree = "inputs" }
  }

  step "run" "net" {
    title     = "qnn-net-run on ${target.soc}"
    serial    = var.serial == "" ? null : var.serial
    timeout   = "30m"
    sample_ms = 20 # a run of a small graph is short
    argv = concat([
      "./qnn-net-run", "--backend", "libQnnHtp.so", "--retrieve_context", "context.bin", "--input_list", "inputs/list.txt", "--use_native_input_files",
      "--output_dir", "results", "--profiling_level", var.level == "basic" ? "basic" : "detailed",
    ], var.level == "optrace" ? ["--profiling_option", "optrace"] : [])
    pull = ["results/qnn-profiling-data_0.log"]
    env = {
      LD_LIBRARY_PATH   = "$HEXMAGE_ROOT"
      ADSP_LIBRARY_PATH = "$HEXMAGE_ROOT;/vendor/lib/rfsa/adsp;/system/lib/rfsa/adsp;/dsp"
    }
    push = merge(toolchain.qairt.htp_runtime[target.arch], {
      "qnn-net-run" = "${toolchain.qairt.dir}/bin/aarch64-android/qnn-net-run"
      "context.bin" = "${module.net.context}/device/${local.stem}_ctx_qnn.bin"
      "inputs/"     = step.python.raw.outputs.dir
    })
  }

  step "exec" "view" {
    description = "the log as a CSV"
    argv        = ["${toolchain.qairt.dir}/bin/x86_64-linux-clang/qnn-profile-viewer", "--input_log", "${step.run.net.outputs.results}/qnn-profiling-data_0.log", "--output", "${local.stem}.csv"]
    env         = { LD_LIBRARY_PATH = "${toolchain.qairt.dir}/lib/x86_64-linux-clang" }
    output "csv" { file = "${local.stem}.csv" }
  }
}
