# QAIRT's own tools: converter, quantizer, context generator, and qnn-net-run on the phone. qairt.py runs each tool and decides whether it succeeded.

toolchain "qairt" {
  when    = local.qairt
  version = local.release
  only = ["sdk.yaml", "bin/x86_64-linux-clang/*", "bin/aarch64-android/qnn-net-run", "lib/python/**", "lib/x86_64-linux-clang/**", "lib/aarch64-android/*",
  "lib/hexagon-${target.arch}/unsigned/*", "share/QNN/**", "src/*"] # src is of the simulated tools
}

locals {
  sdk  = local.qairt ? toolchain.qairt.dir : ""
  bin  = "${local.sdk}/bin/x86_64-linux-clang"
  libs = "${local.sdk}/lib/x86_64-linux-clang"
  sdk_env = { # what bin/envsetup.sh would set
    PYTHONPATH      = "${local.sdk}/lib/python"
    LD_LIBRARY_PATH = join(":", concat([local.libs], local.libraries))
    QNN_SDK_ROOT    = local.sdk
    QAIRT_SDK_ROOT  = local.sdk
  }
  flags = step.python.flags.outputs.flags
  tools = ["qairt-converter", "qairt-quantizer", "qnn-context-binary-generator", "qnn-net-run"]

  # The converter names a graph by its file, with _ for what is no letter or digit.
  jobs = merge([for scheme in local.qairt ? local.schemes : [] : { for name in local.names : "${scheme}.${name}" => {
    scheme = scheme
    name   = name
    id     = regexreplace(name, "[^A-Za-z0-9_]", "_")
    bits   = lookup({ qairt_a16w8 = 16, qairt_a8w8 = 8 }, scheme, 0) # of activations, for qairt-quantizer
  } }]...)
  methods = { for scheme in local.schemes : scheme => try(local.settings[scheme].method, "") }
  onnx = { for key, job in local.jobs : key => local.methods[job.scheme] == "aimet" ? "${step.onnx_quantize.scheme[job.scheme].outputs.encodings}/${job.name}.onnx" : (
    local.methods[job.scheme] != "" || local.llm ? "${lookup(local.graphs, job.scheme, local.float)}/${job.name}.onnx" : local.graph
  ) }
  dlcs   = { for key, job in local.jobs : key => job.bits == 0 ? step.python.convert[key].outputs.dlc : step.python.quantize[key].outputs.dlc }
  binary = local.llm ? "model" : regexreplace(local.stem, "[^A-Za-z0-9_]", "_")

  targeted = merge({}, [for scheme in local.qairt ? local.schemes : [] : merge({ (scheme) = { scheme = scheme, soc = target } }, {
    for name, soc in var.socs : "${scheme}.${name}" => { scheme = scheme, soc = soc } if name != target.soc
  })]...)
  ran      = local.qairt && local.runs ? local.schemes : []
  native   = var.native_io ? ["--use_native_input_files", "--use_native_output_files"] : []
  profiler = var.profiling == null ? [] : concat(["--profiling_level", var.profiling == "basic" ? "basic" : "detailed"], var.profiling == "optrace" ? ["--profiling_option", "optrace"] : [])
}

step "python" "flags" {
  when        = local.qairt
  description = "arguments and releases of QAIRT's tools"
  environment = local.python
  script      = "${path.module}/qairt.py"
  args        = concat(["flags", "--sdk", local.sdk, "--out", "flags.json", "--tools"], local.tools)
  env         = local.sdk_env
  output "flags" { file = "flags.json" }
}

step "python" "convert" {
  for_each    = local.jobs
  environment = local.python
  script      = "${path.module}/qairt.py"
  inputs      = [local.onnx[each.key]]
  args = concat([
    "convert", "--flags", local.flags, "--report", "dlc/convert.json", "--", "${local.bin}/qairt-converter", "--input_network", local.onnx[each.key],
    "--output_path", "dlc/${each.value.id}.dlc", "--float_bitwidth", each.value.bits == 0 ? "16" : "32",
    ], local.methods[each.value.scheme] != "aimet" ? [] : [
    "--quantization_overrides", "${step.onnx_quantize.scheme[each.value.scheme].outputs.encodings}/1.0.0/${each.value.name}.encodings",
  ])
  env = local.sdk_env
  output "dlc" { tree = "dlc" }
}

step "python" "calibration" {
  description = "samples for qairt-quantizer"
  for_each    = { for key, job in local.jobs : key => job if job.bits > 0 }
  environment = toolchain.onnx.dir
  script      = "${path.module}/qairt.py"
  inputs      = [local.samples, local.onnx[each.key]]
  args        = ["raw", "--samples", local.samples, "--graph", local.onnx[each.key], "--out", "calibration"]
  output "dir" { tree = "calibration" }
}

step "python" "quantize" {
  for_each    = { for key, job in local.jobs : key => job if job.bits > 0 }
  environment = local.python
  script      = "${path.module}/qairt.py"
  inputs      = [local.onnx[each.key]]
  args = concat(["quantize", "--flags", local.flags, "--report", "dlc/quantize.json", "--graph", local.onnx[each.key]], var.allow_fp16 ? ["--allow-float"] : [], [
    "--", "${local.bin}/qairt-quantizer", "--input_dlc", "${step.python.convert[each.key].outputs.dlc}/${each.value.id}.dlc", "--output_dlc", "dlc/${each.value.id}.dlc",
    "--input_list", "${step.python.calibration[each.key].outputs.dir}/list.txt", "--act_bitwidth", tostring(each.value.bits),
    "--weights_bitwidth", "8", "--bias_bitwidth", "32", "--use_per_channel_quantization", "--use_per_row_quantization",
  ])
  env = local.sdk_env
  output "dlc" { tree = "dlc" }
}

step "python" "context" {
  for_each    = local.targeted
  environment = local.python
  script      = "${path.module}/qairt.py"
  args = concat([
    "context", "--flags", local.flags, "--report", "context/report.json", "--extensions", "${local.libs}/libQnnHtpNetRunExtensions.so",
    "--soc", each.value.soc.soc, "--soc-model", tostring(each.value.soc.soc_model), "--arch", each.value.soc.arch, "--vtcm-mb", tostring(each.value.soc.vtcm_mb),
    ], local.marks, var.optimization_level == null ? [] : ["--level", tostring(var.optimization_level)], [
    "--", "${local.bin}/qnn-context-binary-generator", "--backend", "${local.libs}/libQnnHtp.so", "--model", "${local.libs}/libQnnModelDlc.so",
    "--dlc_path", join(",", [for key, job in local.jobs : "${local.dlcs[key]}/${job.id}.dlc" if job.scheme == each.value.scheme]),
    "--binary_file", local.binary, "--output_dir", "context/device", "--config_file", "context/link.json",
  ], var.profiling == "optrace" ? ["--profiling_level", "detailed", "--profiling_option", "optrace"] : [])
  env = local.sdk_env
  output "dir" { tree = "context" }
}

step "python" "inputs" {
  description = "samples for qnn-net-run"
  for_each    = local.ran
  environment = toolchain.onnx.dir
  script      = "${path.module}/qairt.py"
  inputs      = [local.samples]
  args = concat(["raw", "--samples", local.samples, "--graph", local.binary, "--context", "${step.python.context[each.key].outputs.dir}/device/${local.binary}.bin",
  "--out", "inputs"], var.native_io ? ["--native"] : [])
  output "dir" { tree = "inputs" }
}

step "run" "net" {
  for_each  = local.ran
  title     = "${local.name}, ${each.key}, on ${target.soc}"
  device    = local.device
  serial    = var.serial
  timeout   = "30m"
  sample_ms = 20 # a small graph runs for a short time
  argv = ["sh", "-c", join(" ", concat([
    "./qnn-net-run --backend libQnnHtp.so --retrieve_context context.bin --input_list inputs/list.txt --output_dir results --perf_profile ${var.perf_profile}",
  ], local.native, local.profiler, ["&& tar -cf results.tar results"]))]
  pull = concat(["results.tar"], var.profiling == null ? [] : ["results/qnn-profiling-data_0.log"])
  env = {
    LD_LIBRARY_PATH   = "$HEXMAGE_ROOT"
    ADSP_LIBRARY_PATH = "$HEXMAGE_ROOT;/vendor/dsp/cdsp;/vendor/lib/rfsa/adsp;/system/lib/rfsa/adsp;/dsp"
  }
  push = merge(lookup(toolchain.qairt, "htp_runtime", {})[target.arch], local.runner, {
    "context.bin" = "${step.python.context[each.key].outputs.dir}/device/${local.binary}.bin"
    "inputs/"     = step.python.inputs[each.key].outputs.dir
  })
}

step "python" "outputs" {
  description = "results of qnn-net-run"
  for_each    = local.ran
  environment = toolchain.onnx.dir
  script      = "${path.module}/qairt.py"
  inputs      = [local.samples]
  args = concat(["results", "--samples", local.samples, "--graph", local.binary, "--context", "${step.python.context[each.key].outputs.dir}/device/${local.binary}.bin",
  "--log", step.run.net[each.key].outputs.stdout, "--results", "${step.run.net[each.key].outputs.results}/results.tar", "--out", "outputs"], var.native_io ? ["--native"] : [])
  output "dir" { tree = "outputs" }
}

step "exec" "view" {
  description = "the profile as CSV"
  for_each    = var.profiling == null ? [] : local.ran
  argv        = ["${local.bin}/qnn-profile-viewer", "--input_log", "${step.run.net[each.key].outputs.results}/qnn-profiling-data_0.log", "--output", "profile.csv"]
  env         = local.sdk_env
  output "csv" { file = "profile.csv" }
}
