# Compatibility rules. A plan evaluates each rule as soon as all objects that it mentions are known; `hexmage compat` evaluates
# them too. docs/compat.md lists these objects. A workspace's own files can add rules, or change the severity of a rule:
#
#   compat "ndk-pages" {
#     severity = "error" # or warning, note, off
#   }

# --- target and QAIRT -----------------------------------------------------------------------------------------------------

compat "qairt-arch" {
  summary    = "Unsupported target"
  argument   = "version"
  when       = length(qairt.arches) > 0 && !contains(qairt.arches, target.arch) && has_htp(target.arch)
  reason     = "QAIRT ${qairt.version} has libraries for ${join(", ", qairt.arches)} but not for ${target.arch}, the Hexagon arch of ${target.soc}: on the phone it fails with \"SoC model (SnapdragonModel) is unknown\", or finds no skel (0x80000406)"
  remedy     = first_with("qairt", target.arch) == "" ? "add a release with ${target.arch} in toolchains/*.hcl of the workspace, because the catalog lacks one" : "use QAIRT ${first_with("qairt", target.arch)} or newer, the first with ${target.arch}"
  confidence = confidence_without("qairt", target.arch)
  source     = source_without("qairt", target.arch)
}

compat "qairt-soc" {
  summary    = "Unsupported target"
  argument   = "version"
  when       = older(qairt.version, soc.min_sdk) && (length(qairt.arches) == 0 || contains(qairt.arches, target.arch))
  reason     = "QAIRT ${qairt.version} does not support ${soc.name}${soc.marketing_name == "" ? "" : " (${soc.marketing_name})"}: on the phone it fails with \"SoC model (SnapdragonModel) is unknown\""
  remedy     = "use QAIRT ${or(first_since("qairt", soc.min_sdk), soc.min_sdk)} or newer; ${soc.min_sdk} is the first with support for it"
  confidence = confidence("soc", soc.name, "min_sdk")
  source     = source("soc", soc.name, "min_sdk")
}

compat "soc-id-as-model" {
  summary    = "Android soc_id used as soc_model"
  argument   = "soc_model"
  when       = target.soc_model != soc.soc_model && soc_with_id(target.soc_model) != ""
  reason     = "the target's soc_model is ${target.soc_model}, Android's soc_id of ${soc_with_id(target.soc_model)} (/sys/devices/soc0/soc_id); QNN uses other numbers and rejects it: \"Unknown config socModel 0\", \"CREATE_DEVICE: 11\""
  remedy     = "remove soc_model from the target block; it is ${soc.soc_model} for ${soc.name}"
  confidence = "observed"
  source     = "qairt-builder: socmodel-debug-brief"
}

compat "soc-model" {
  summary    = "soc_model of another SoC"
  argument   = "soc_model"
  when       = target.soc_model != soc.soc_model && soc_with_id(target.soc_model) == ""
  reason     = "the target's soc_model is ${target.soc_model}${soc_with_model(target.soc_model) == "" ? ", which is not in the catalog" : ", which is ${soc_with_model(target.soc_model)}"}; the soc_model of ${soc.name} is ${soc.soc_model}"
  remedy     = "remove soc_model from the target block, or correct the SoC's record in toolchains/*.hcl of the workspace"
  confidence = confidence("soc", soc.name, "soc_model")
  source     = source("soc", soc.name, "soc_model")
}

compat "target-arch" {
  severity   = "warning" # sources disagree about a few
  summary    = "Arch mismatch between target and SoC"
  argument   = "arch"
  when       = target.arch != soc.arch
  reason     = "the target has arch ${target.arch}, but the catalog has ${soc.arch} for ${soc.name}${soc.note == "" ? "" : " (${soc.note})"}: code for another arch does not load (0x80000406)"
  remedy     = "remove arch from the target block, unless you are sure of it"
  confidence = confidence("soc", soc.name, "arch")
  source     = source("soc", soc.name, "arch")
}

compat "target-vtcm" {
  summary    = "Insufficient VTCM"
  argument   = "vtcm_mb"
  when       = soc.vtcm_mb > 0 && target.vtcm_mb > soc.vtcm_mb
  reason     = "the target has ${target.vtcm_mb} MB of VTCM, but ${soc.name} has ${soc.vtcm_mb}: a context for more does not load (\"Request feature vtcm size … unsupported\", error 5005)"
  remedy     = "remove vtcm_mb from the target block, or set at most ${soc.vtcm_mb}"
  confidence = confidence("soc", soc.name, "vtcm_mb")
  source     = source("soc", soc.name, "vtcm_mb")
}

compat "soc-htp" {
  summary    = "Target without HTP"
  argument   = "soc"
  when       = !has_htp(target.arch)
  reason     = "${target.soc} has Hexagon ${target.arch}, which has no HTP: QNN uses its DSP backend, which hexmage does not support"
  remedy     = "choose a SoC with v68 or newer: `hexmage compat` lists them"
  confidence = "documented"
  source     = "QNN: supported devices"
}

compat "soc-first-sdk" {
  severity   = "note"
  doubt      = true
  when       = qairt.version != "" && soc.min_sdk == "" && has_htp(target.arch) && (soc.seen_sdk == "" || older(qairt.version, soc.seen_sdk)) && (length(qairt.arches) == 0 || contains(qairt.arches, target.arch))
  reason     = "no record names the first QAIRT with support for ${soc.name}. QAIRT ${qairt.version} has libraries for its arch, ${target.arch}, but may reject the SoC: \"SoC model (SnapdragonModel) is unknown\""
  remedy     = soc.seen_sdk == "" ? "use the newest QAIRT release" : "use QAIRT ${or(first_since("qairt", soc.seen_sdk), soc.seen_sdk)} or newer, which supports it"
  confidence = soc.seen_sdk == "" ? "inferred" : confidence("soc", soc.name, "seen_sdk")
  source     = soc.seen_sdk == "" ? "catalog" : source("soc", soc.name, "seen_sdk")
}

compat "qairt-arch-unknown" {
  severity   = "note"
  doubt      = true
  when       = qairt.version != "" && length(qairt.arches) == 0
  reason     = "no record lists the Hexagon archs of QAIRT ${qairt.version}: it may lack libraries for ${target.arch}"
  remedy     = "look for lib/hexagon-${target.arch} in the SDK, and set arches in its release block"
  confidence = "inferred"
  source     = "catalog"
}

compat "soc-unsure" {
  severity   = "note"
  when       = soc.note != ""
  reason     = "${soc.name}: ${soc.note}"
  confidence = "inferred"
  source     = "catalog"
}

compat "mllm-chipset" {
  severity   = "note"
  when       = !contains(["", format("%d", soc.soc_model)], mllm_soc_model(soc.name))
  reason     = "in mllm's table of chips, htp_chipset ${soc.name} has soc_model ${mllm_soc_model(soc.name)}${soc_with_model(mllm_soc_model(soc.name)) == "" ? "" : ", which is ${soc_with_model(mllm_soc_model(soc.name))}"}; the soc_model of ${soc.name} is ${soc.soc_model}: mllm's compiler compiles for the other SoC"
  remedy     = "use another compiler, or correct mllm's table"
  confidence = "observed"
  source     = "mllm: QcomChipset; output of the compiler of QAIRT 2.51 for each number"
}

compat "context-chipset" {
  severity   = "warning"
  summary    = "Wrong SoC in mllm's table"
  when       = step.kind == "context" && !contains(["", format("%d", soc.soc_model)], mllm_soc_model(soc.name))
  reason     = "context ${step.name} passes ${soc.name} to mllm's compiler, whose table of chips maps it to soc_model ${mllm_soc_model(soc.name)}${soc_with_model(mllm_soc_model(soc.name)) == "" ? "" : ", which is ${soc_with_model(mllm_soc_model(soc.name))}"}; the soc_model of ${soc.name} is ${soc.soc_model}"
  remedy     = "correct mllm's table, or check that the context loads on the phone"
  confidence = "observed"
  source     = "mllm: QcomChipset; output of the compiler of QAIRT 2.51 for each number"
}

# --- the Hexagon SDK and its tools ----------------------------------------------------------------------------------------

compat "hexagon-arch" {
  summary    = "Target unsupported by the Hexagon SDK"
  argument   = "version"
  when       = length(hexagon.arches) > 0 && !contains(hexagon.arches, target.arch) && has_htp(target.arch)
  reason     = "Hexagon SDK ${hexagon.version}${hexagon.tools_version == "" ? "" : " with tools ${hexagon.tools_version}"} supports ${join(", ", hexagon.arches)} but not ${target.arch}, the arch of ${target.soc}"
  remedy     = "use Hexagon SDK ${or(first_with("hexagon", target.arch), "with newer tools")} or newer${first_open("hexagon", target.arch) == "" ? "" : " (${first_open("hexagon", target.arch)} is the first without an account)"}: ${target.arch} needs tools ${or(first_tools(target.arch), "that are not in the catalog")} or newer"
  confidence = confidence_without("hexagon", target.arch)
  source     = source_without("hexagon", target.arch)
}

compat "hexagon-arch-unknown" {
  severity   = "note"
  doubt      = true
  when       = hexagon.version != "" && length(hexagon.arches) == 0
  reason     = "no record lists the Hexagon archs of the tools in Hexagon SDK ${hexagon.version}: they may not support ${target.arch}"
  remedy     = "set tools_version or arches in its release block"
  confidence = "inferred"
  source     = "catalog"
}

compat "op-tools-arch" {
  summary    = "Hexagon tools too old"
  argument   = "targets"
  each       = step.arches
  when       = !can_build(step.tools_version == "" ? hexagon.tools_version : step.tools_version, each.value)
  reason     = "${step.kind} ${step.name} builds htp_${each.value}, but the Hexagon tools ${step.tools_version == "" ? "${hexagon.tools_version} of Hexagon SDK ${hexagon.version}" : step.tools_version} cannot compile for ${each.value}"
  remedy     = "use Hexagon SDK ${or(first_with("hexagon", each.value), "with newer tools")} or newer${first_open("hexagon", each.value) == "" ? "" : " (${first_open("hexagon", each.value)} is the first without an account)"}: ${each.value} needs tools ${or(first_tools(each.value), "that are not in the catalog")} or newer"
  confidence = confidence("arch", each.value, "since.tools")
  source     = source("arch", each.value, "since.tools")
}

compat "hexagon-tools-folder" {
  summary    = "Hexagon tools mismatch"
  argument   = "tools_version"
  each       = step.tools_wanted
  when       = hexagon.tools_version != "" && each.value != hexagon.tools_version && !hexagon.installed
  reason     = "${step.kind} ${step.name} looks for the compiler in tools/HEXAGON_Tools/${each.value}, but Hexagon SDK ${hexagon.version} has it in tools/HEXAGON_Tools/${hexagon.tools_version}: make fails with \"Cannot retrieve hexagon tools from: …/${each.value}/Tools\""
  remedy     = "${with_tools(each.value) == "" ? "" : "use Hexagon SDK ${with_tools(each.value)}, which has ${each.value}, or "}omit the version, like steps \"oppackage\" and \"makefile\", which use the SDK's tools"
  confidence = "observed"
  source     = "mllm: op package Makefile, issues; llm.npu reproduction report"
}

compat "hexagon-tools-other" {
  severity   = "warning" # users can add other tools to their SDK
  summary    = "Unexpected Hexagon tools"
  argument   = "tools_version"
  each       = step.tools_wanted
  when       = hexagon.tools_version != "" && each.value != hexagon.tools_version && hexagon.installed
  reason     = "${step.kind} ${step.name} looks for the compiler in tools/HEXAGON_Tools/${each.value}, but the installed Hexagon SDK ${hexagon.version} names tools ${hexagon.tools_version}: unless you added the other tools, make fails with \"Cannot retrieve hexagon tools from: …/${each.value}/Tools\""
  remedy     = "omit the version, or add the tools with `qpm-cli --extract`"
  confidence = "observed"
  source     = "mllm: op package Makefile, issues"
}

compat "make-sdk-root" {
  summary    = "Unset Makefile variable"
  argument   = "argv"
  each       = step.unset_roots
  reason     = "${step.kind} ${step.name} runs mllm's make for htp_${lower(replace(each.value, "HEXAGON_SDK_ROOT_", ""))}, whose rules use ${each.value}, which is not set: make fails with \"${each.value} is set incorrectly. Cannot retrieve\""
  remedy     = "build with a step \"oppackage\", or write the Makefile with a step \"makefile\": both support every arch; or pass ${each.value}=$HEXAGON_SDK_ROOT to make"
  confidence = "observed"
  source     = "mllm: op package Makefile on main; llm.npu reproduction report"
}

# --- op packages ----------------------------------------------------------------------------------------------------------

compat "op-renamed" {
  summary    = "Op package for another SDK's API"
  argument   = "source"
  each       = step.renamed
  reason     = "${each.value.at} calls ${each.value.from}(), which the headers of QAIRT ${qairt.version} no longer declare; the new name is ${each.value.to}(): compiling fails with \"no member named '${each.value.from}' in '${each.value.receiver}'\""
  remedy     = "add a step \"patch\" with series = \"${each.value.series}\" before the op package, and use its output as the source: rename rule \"${each.value.rule}\" rewrites the call"
  confidence = "observed"
  source     = "patch series mllm; llm.npu reproduction report"
}

compat "op-target" {
  severity   = "warning"
  summary    = "Op package for other targets"
  argument   = "targets"
  when       = step.kind == "oppackage" && length(step.arches) > 0 && !contains(step.arches, target.arch)
  reason     = "${step.kind} ${step.name} is built for ${join(", ", step.arches)}, but not for ${target.arch}, the Hexagon arch of ${target.soc}: it does not load there"
  remedy     = "add htp_${target.arch} to targets"
  confidence = "documented"
  source     = "QNN: op packages"
}

compat "op-runtime" {
  severity   = "warning"
  summary    = "Missing runtime for an op package target"
  argument   = "targets"
  each       = step.kind == "oppackage" ? step.arches : []
  when       = length(qairt.arches) > 0 && !contains(qairt.arches, each.value)
  reason     = "QAIRT ${qairt.version} has libraries for ${join(", ", qairt.arches)}: the op package for ${each.value} compiles, but none of them can load it"
  remedy     = first_with("qairt", each.value) == "" ? "remove htp_${each.value}" : "use QAIRT ${first_with("qairt", each.value)} or newer, or remove htp_${each.value}"
  confidence = confidence_without("qairt", each.value)
  source     = source_without("qairt", each.value)
}

# --- contexts and runs ----------------------------------------------------------------------------------------------------

compat "signed-pd" {
  summary    = "Unsupported signed protection domain"
  argument   = "signed_pd"
  when       = step.signed_pd && older(qairt.version, "2.34")
  reason     = "${step.kind} ${step.name} requests a signed protection domain, which QAIRT ${qairt.version} does not support: \"Unsupported config option 2\""
  remedy     = "use an unsigned protection domain: signed_pd = false, or \"HtpUnsignedPd\" in a config of mllm's compiler; mllm supports QAIRT 2.34 and newer"
  confidence = "inferred"
  source     = "mllm: AOT documentation; llm.npu reproduction report"
}

compat "signed-pd-skel" {
  severity   = "warning"
  summary    = "Unsigned libraries in a signed protection domain"
  argument   = "signed_pd"
  when       = step.signed_pd && qairt.version != "" && !older(qairt.version, "2.34")
  reason     = "${step.kind} ${step.name} requests a signed protection domain: the SDK's skel and your op packages are unsigned, and a phone without a test signature rejects them (0x80000481)"
  remedy     = "use an unsigned protection domain, or sign the libraries with the Hexagon SDK's elfsigner.py"
  confidence = "observed"
  source     = "fastrpc: AEEStdErr"
}

compat "aot-config" {
  summary    = "Compiler config for another target"
  argument   = "argv"
  when       = step.aot_arch != "" && (step.aot_arch != target.arch || step.aot_soc != "" && step.aot_soc != target.soc)
  reason     = "${step.kind} ${step.name} compiles with a config for ${or(step.aot_soc, "another SoC")}, ${step.aot_arch}, but the target is ${target.soc}, ${target.arch}: the context does not load there (\"Request feature arch with value … unsupported\")"
  remedy     = "set htp_chipset to \"${target.soc}\" and htp_arch to \"${upper(target.arch)}\" in the config, or let a step \"context\" write it"
  confidence = "observed"
  source     = "executorch#11100"
}

compat "lpbq" {
  summary    = "LPBQ unsupported by the target"
  argument   = "block_size"
  when       = step.kind == "quantize" && length(soc.features) > 0 && !contains(soc.features, "lpbq")
  reason     = "quantize ${step.name} writes 4-bit weights with block scales (LPBQ), which need Hexagon v73 or newer, but ${soc.name} has ${soc.arch}: \"QnnBackend_validateOpConfig failed 3110\""
  remedy     = "choose a SoC with v73 or newer, or another quantization"
  confidence = "observed"
  source     = "executorch: feature matrix, #17296"
}

compat "context-size" {
  summary    = "Context too large"
  argument   = "model"
  when       = arch.context_mb > 0 && step.context_mb > arch.context_mb
  reason     = "${step.kind} ${step.name}: a context has at least ${step.context_mb} MiB, and Hexagon ${arch.name} loads contexts of at most ${arch.context_mb} MiB: \"limit is ${arch.context_mb * 1024} KB\""
  remedy     = "use a smaller model; with module onnx-htp also 4-bit weights, more shards (num_shards) or an embedding on the CPU (embedding = \"outside\")"
  confidence = confidence("arch", arch.name, "context_mb")
  source     = source("arch", arch.name, "context_mb")
}

compat "process-size" {
  summary    = "Model too large for one process on the DSP"
  argument   = "model"
  when       = arch.process_mb > 0 && step.process_mb > arch.process_mb
  reason     = "${step.kind} ${step.name}: contexts and cache take at least ${step.process_mb} MiB together, and a process on Hexagon ${arch.name} maps at most ${arch.process_mb} MiB"
  remedy     = "use a smaller model, a shorter cache, or several processes"
  confidence = confidence("arch", arch.name, "process_mb")
  source     = source("arch", arch.name, "process_mb")
}

compat "soc-id-in-command" {
  summary    = "Android soc_id used as soc_model"
  argument   = "argv"
  each       = step.soc_models
  when       = soc_with_model(each.value) == "" && soc_with_id(each.value) != ""
  reason     = "${step.kind} ${step.name} passes soc_model ${each.value}, Android's soc_id of ${soc_with_id(each.value)} (/sys/devices/soc0/soc_id); QNN rejects it: \"Unknown config socModel 0\", \"CREATE_DEVICE: 11\""
  remedy     = "pass ${model_of(soc_with_id(each.value))}, the soc_model of ${soc_with_id(each.value)}: $${target.soc_model} is the target's"
  confidence = "observed"
  source     = "qairt-builder: socmodel-debug-brief"
}

compat "run-vendor-libraries" {
  summary    = "Precedence of the phone's QNN libraries"
  argument   = "env"
  when       = step.vendor_first != ""
  reason     = "run ${step.name} pushes QNN libraries and sets LD_LIBRARY_PATH so that the phone's ${step.vendor_first} precedes them: the loader takes a stub of another SDK (\"Stub lib id mismatch\", \"Unable to find a valid interface\")"
  remedy     = "put the run's folder first, or remove the phone's folder"
  confidence = "observed"
  source     = "executorch#8762, qai-appbuilder#14; llm.npu reproduction report"
}

# Rules that read files are code (package qnn). Only their severity can be set here.

compat "push-one-sdk" {
  summary = "Libraries of different SDKs in one push"
}

compat "push-arch" {
  summary = "Library for another Hexagon arch"
}

compat "context-newer" {
  summary = "Context newer than the runtime"
}

compat "context-build" {
  severity = "warning"
  summary  = "Context from a newer build than the runtime"
}

compat "context-arch" {
  summary = "Context for another Hexagon arch"
}

compat "context-vtcm" {
  summary = "Insufficient VTCM for a context"
}

compat "context-soc" {
  severity = "warning"
  summary  = "Context for another SoC"
}

# --- releases with a known defect -----------------------------------------------------------------------------------------
#
# A defect block names the releases. Defects that affect pipelines are warnings. Defects of other programs are notes, which only
# `hexmage compat` prints.

compat "qairt-system-abi" {
  severity   = "warning"
  reason     = "QAIRT ${qairt.version} changed the binary interface of libQnnSystem.so by mistake: programs built with another release crash"
  remedy     = "build everything that uses QnnSystemInterface.h with this release, or use QAIRT 2.45 or newer, which fixes it"
  confidence = "documented"
  source     = "Qualcomm 80-63442-10: API version history"
  defect "qairt" {
    from   = "2.44.0"
    before = "2.44.1"
  }
}

compat "qairt-quantizer" {
  severity   = "warning"
  reason     = "the quantizers of QAIRT ${qairt.version} end with a segmentation fault after \"Quantized parameters\" on a large transformer (461 MB)"
  remedy     = "use a newer release"
  confidence = "observed"
  source     = "one project's notes on DistilGPT-2: five attempts with qairt-quantizer and snpe-dlc-quantize"
  defect "qairt" {
    from   = "2.22.6"
    before = "2.23"
  }
}

compat "qairt-skel-symbol" {
  severity   = "note"
  reason     = "since 2.48.0, the name of the skel's entry point contains the version: a skel of the phone's firmware does not answer (0x80000442)"
  remedy     = "push the SDK's own skel and put its folder first in ADSP_LIBRARY_PATH"
  confidence = "observed"
  source     = "the skels of 2.48.0 and 2.51.0; fastrpc#379"
  defect "qairt" {
    from = "2.48"
  }
}

compat "qairt-implicit-bias" {
  severity   = "warning"
  reason     = "QAIRT ${qairt.version} rejects LayerNorm without a bias when it validates the op, so the op goes to the CPU or the graph fails"
  remedy     = "use QAIRT 2.28.2 or newer, or give the op a bias of zeros"
  confidence = "observed"
  source     = "onnxruntime#22844"
  defect "qairt" {
    from   = "2.24"
    before = "2.28"
  }
}

compat "qairt-layer-norm" {
  severity   = "warning"
  reason     = "LayerNorm on the HTP is inaccurate with QAIRT ${qairt.version}: ONNX Runtime's LayerNorm tests fail with this release"
  remedy     = "use QAIRT 2.28.2 or newer, which passes these tests"
  confidence = "observed"
  source     = "onnxruntime#22844"
  defect "qairt" {
    from   = "2.28.0"
    before = "2.28.2"
  }
}

compat "qairt-block-head" {
  severity   = "warning"
  when       = target.arch == "v73"
  reason     = "qnn-context-binary-generator of QAIRT ${qairt.version} crashes (segmentation fault) for v73 on the graph with lm_head, if the weights of lm_head are quantized in blocks"
  remedy     = "quantize that layer per channel, or use a newer release"
  confidence = "observed"
  source     = "MNN#4437, #4567"
  defect "qairt" {
    from   = "2.42"
    before = "2.43"
  }
}

compat "qairt-windows-exit-code" {
  severity   = "note"
  reason     = "on Windows, qnn-context-binary-generator of QAIRT ${qairt.version} exits with an error code, although the context is valid"
  remedy     = "check the context's size and read it back with qnn-context-binary-utility, or compile on Linux"
  confidence = "observed"
  source     = "qai-appbuilder: context_binary.md"
  defect "qairt" {
    from   = "2.45"
    before = "2.46"
  }
}

compat "qairt-mapped-weights" {
  severity   = "warning"
  when       = contains(["SC7280X", "SC8280X", "SC8340XP", "SC8380XP", "SC8440XP", "SC8480XP"], target.soc)
  reason     = "on Windows, QAIRT ${qairt.version} maps a context's weights from its file, and some NPU drivers reject that: \"Failed to create context from binary. Error code: 1002\""
  remedy     = "set ONNX Runtime's provider option disable_file_mapped_weights=1, or update the driver"
  confidence = "observed"
  source     = "foundry-local#1124"
  defect "qairt" {
    from   = "2.48"
    before = "2.49"
  }
}

compat "ort-qnn-llm" {
  severity   = "warning"
  reason     = "onnxruntime-qnn ${ort_qnn_android.version} fails to load some language models from contexts: QNN_MEMORY_ALLOCATION_ERROR, 1002"
  remedy     = "enable the provider option enable_vtcm_backup_buffer_sharing when you compile, or use another release"
  confidence = "documented"
  source     = "onnxruntime-qnn: release notes of 2.5.0; onnxruntime-qnn#789"
  defect "ort_qnn_android" {
    from   = "2.5.0"
    before = "2.6.0"
  }
}

compat "ort-qnn-plugin" {
  severity   = "warning"
  when       = !older(ort_android.version, "1.27")
  reason     = "ONNX Runtime ${ort_android.version} rejects onnxruntime-qnn ${ort_qnn_android.version}: \"OrtEp has invalid ort_version_supported=0\""
  remedy     = "use onnxruntime-qnn 2.4 or newer, or ONNX Runtime 1.26"
  confidence = "observed"
  source     = "onnxruntime-qnn#492, #564"
  defect "ort_qnn_android" {
    from   = "0"
    before = "2.4"
  }
}

compat "qairt-genie-slot" {
  severity   = "note"
  reason     = "Genie of QAIRT ${qairt.version} fails all requests after one whose prompt and answer together exceed the smallest context length less ar_len: \"GenieDialog_query failed\", \"batch dispatch failed\". GenieDialog_reset does not help"
  remedy     = "use QAIRT 2.51, or 2.48 and older; with another release, keep prompt and answer below that length, and load the model again after a failure"
  confidence = "observed"
  source     = "open-genie-server: QAIRT Version Issues, D1, measured with 2.49.40, 2.50.0 and 2.51.0"
  defect "qairt" {
    from   = "2.49"
    before = "2.51"
  }
}

compat "ndk-pages" {
  severity   = "note"
  when       = older(ndk.version, "r28")
  reason     = "NDK ${ndk.version} links for pages of 4 KB: phones with 16 KB pages reject its libraries"
  remedy     = "use NDK r28 or newer, or link with -Wl,-z,max-page-size=16384"
  confidence = "observed"
  source     = "executorch#11518"
}
