# A phone runs the profile with qnn-net-run of QAIRT, if profiling is set. All else is as in profile emulator.

profile "device" {
  toolchain "adb" { when = var.profiling != "" }
  toolchain "qairt" {
    when    = var.profiling != ""
    version = "2.48.40.260702" # the compiler's release: a phone loads contexts of its own runtime's release and older ones
  }

  locals {
    emulated  = false
    htp_host  = var.profiling == "" ? null : "2.4.0" # the compiler of that release
    profiling = null
    profiles  = { for scheme, s in step.exec.view : scheme => s.outputs.csv }
    csv       = local.profiles
    logs      = { for scheme, s in step.run.net : scheme => s.outputs.results }
    metrics   = { for scheme, s in step.run.net : scheme => s.outputs.metrics }
  }

  check "graph" {
    condition     = var.profiling == "" || !local.llm
    error_message = "profiling: a phone profiles graphs, not language models. Use profile emulator."
  }

  check "gpu" {
    severity      = "warning"
    condition     = alltrue([for scheme, s in step.run.net : try(s.outputs.measured.mean_gpu_busy.median, 0) < 10])
    error_message = "The GPU was busy while the graph ran: the metrics do not show that the NPU ran it. Close what draws on the screen."
  }

  step "python" "raw" {
    description = "samples for qnn-net-run"
    when        = length(local.profiled) > 0
    environment = toolchain.onnx.dir
    script      = "${path.module}/raw.py"
    args        = [local.samples, "inputs"]
    inputs      = [local.samples]
    output "dir" { tree = "inputs" }
  }

  step "run" "net" {
    for_each  = local.profiled
    title     = "qnn-net-run, ${each.key}, on ${target.soc}"
    serial    = var.serial == "" ? null : var.serial
    timeout   = "30m"
    sample_ms = 20 # a small graph runs for a short time
    argv = concat([
      "./qnn-net-run", "--backend", "libQnnHtp.so", "--retrieve_context", "context.bin", "--input_list", "inputs/list.txt", "--use_native_input_files",
      "--output_dir", "results", "--profiling_level", var.profiling == "basic" ? "basic" : "detailed",
    ], var.profiling == "optrace" ? ["--profiling_option", "optrace"] : [])
    pull = ["results/qnn-profiling-data_0.log"]
    env = {
      LD_LIBRARY_PATH   = "$HEXMAGE_ROOT"
      ADSP_LIBRARY_PATH = "$HEXMAGE_ROOT;/vendor/dsp/cdsp;/vendor/lib/rfsa/adsp;/system/lib/rfsa/adsp;/dsp"
    }
    push = merge(lookup(toolchain.qairt, "htp_runtime", {})[target.arch], {
      "qnn-net-run" = "${toolchain.qairt.dir}/bin/aarch64-android/qnn-net-run"
      "context.bin" = "${step.htp_context.scheme[each.key].outputs.dir}/device/${local.stem}_ctx_qnn.bin"
      "inputs/"     = step.python.raw.outputs.dir
    })
  }

  step "exec" "view" {
    description = "the log as CSV"
    for_each    = local.profiled
    argv        = ["${toolchain.qairt.dir}/bin/x86_64-linux-clang/qnn-profile-viewer", "--input_log", "${step.run.net[each.key].outputs.results}/qnn-profiling-data_0.log", "--output", "${local.stem}.csv"]
    env         = { LD_LIBRARY_PATH = "${toolchain.qairt.dir}/lib/x86_64-linux-clang" }
    output "csv" { file = "${local.stem}.csv" }
  }
}
