# What does not go together. Each rule is asked when a pipeline is planned, as soon as all that it mentions is known, and by
# `hexmage compat`. docs/compat.md says what rules can mention; a workspace's own files can add rules, or set another severity:
#
#   compat "ndk-pages" {
#     severity = "error" # or warning, note, off
#   }

# --- target and QAIRT -----------------------------------------------------------------------------------------------------

compat "qairt-arch" {
  summary    = "The SDK does not know the target"
  argument   = "version"
  when       = length(qairt.arches) > 0 && !contains(qairt.arches, target.arch) && has_htp(target.arch)
  reason     = "QAIRT ${qairt.version} has libraries for ${join(", ", qairt.arches)} and none for ${target.arch}, the Hexagon arch of ${target.soc}: on the phone it fails with \"SoC model (SnapdragonModel) is unknown\", or finds no skel (0x80000406)"
  remedy     = first_with("qairt", target.arch) == "" ? "no release of the catalogue has ${target.arch}: add a newer one in toolchains/*.hcl of the workspace" : "take QAIRT ${first_with("qairt", target.arch)} or newer: ${target.arch} is first in that"
  confidence = confidence_without("qairt", target.arch)
  source     = source_without("qairt", target.arch)
}

compat "qairt-soc" {
  summary    = "The SDK does not know the target"
  argument   = "version"
  when       = older(qairt.version, soc.min_sdk) && (length(qairt.arches) == 0 || contains(qairt.arches, target.arch))
  reason     = "QAIRT ${qairt.version} does not know ${soc.name}${soc.marketing_name == "" ? "" : " (${soc.marketing_name})"}: on the phone it fails with \"SoC model (SnapdragonModel) is unknown\""
  remedy     = "take QAIRT ${or(first_since("qairt", soc.min_sdk), soc.min_sdk)} or newer: ${soc.min_sdk} is the first said to know it"
  confidence = confidence("soc", soc.name, "min_sdk")
  source     = source("soc", soc.name, "min_sdk")
}

compat "soc-id-as-model" {
  summary    = "An Android soc_id is used as soc_model"
  argument   = "soc_model"
  when       = target.soc_model != soc.soc_model && soc_with_id(target.soc_model) != ""
  reason     = "the target's soc_model is ${target.soc_model}, which is what Android calls ${soc_with_id(target.soc_model)} in /sys/devices/soc0/soc_id; QNN counts differently and refuses it: \"Unknown config socModel 0\", \"CREATE_DEVICE: 11\""
  remedy     = "leave soc_model out of the target block: for ${soc.name} it is ${soc.soc_model}"
  confidence = "observed"
  source     = "qairt-builder: socmodel-debug-brief"
}

compat "soc-model" {
  summary    = "soc_model is that of another SoC"
  argument   = "soc_model"
  when       = target.soc_model != soc.soc_model && soc_with_id(target.soc_model) == ""
  reason     = "the target's soc_model is ${target.soc_model}${soc_with_model(target.soc_model) == "" ? ", which the catalogue does not have" : ", which is ${soc_with_model(target.soc_model)}"}; that of ${soc.name} is ${soc.soc_model}"
  remedy     = "leave soc_model out of the target block, or correct the SoC's record in toolchains/*.hcl of the workspace"
  confidence = confidence("soc", soc.name, "soc_model")
  source     = source("soc", soc.name, "soc_model")
}

compat "target-arch" {
  severity   = "warning" # sources disagree about a few
  summary    = "The target's arch is not the SoC's"
  argument   = "arch"
  when       = target.arch != soc.arch
  reason     = "the target says ${target.arch}, the catalogue says ${soc.arch} for ${soc.name}${soc.note == "" ? "" : " (${soc.note})"}: what is built for another arch does not load (0x80000406)"
  remedy     = "leave arch out of the target block, unless you know better"
  confidence = confidence("soc", soc.name, "arch")
  source     = source("soc", soc.name, "arch")
}

compat "target-vtcm" {
  summary    = "The target has less VTCM"
  argument   = "vtcm_mb"
  when       = soc.vtcm_mb > 0 && target.vtcm_mb > soc.vtcm_mb
  reason     = "the target says ${target.vtcm_mb} MB of VTCM, ${soc.name} has ${soc.vtcm_mb}: a context for more does not load (\"Request feature vtcm size … unsupported\", error 5005)"
  remedy     = "leave vtcm_mb out of the target block, or set at most ${soc.vtcm_mb}"
  confidence = confidence("soc", soc.name, "vtcm_mb")
  source     = source("soc", soc.name, "vtcm_mb")
}

compat "soc-htp" {
  summary    = "The target has no HTP"
  argument   = "soc"
  when       = !has_htp(target.arch)
  reason     = "${target.soc} has Hexagon ${target.arch}, which has no HTP: QNN reaches it through another backend (DSP), for which nothing here is built"
  remedy     = "choose a SoC with v68 or newer: `hexmage compat` lists them"
  confidence = "documented"
  source     = "QNN: supported devices"
}

compat "soc-first-sdk" {
  severity   = "note"
  doubt      = true
  when       = qairt.version != "" && soc.min_sdk == "" && has_htp(target.arch) && (soc.seen_sdk == "" || older(qairt.version, soc.seen_sdk)) && (length(qairt.arches) == 0 || contains(qairt.arches, target.arch))
  reason     = "no record says which QAIRT is the first that knows ${soc.name}. QAIRT ${qairt.version} has libraries for its arch, ${target.arch}, and may reject the SoC all the same: \"SoC model (SnapdragonModel) is unknown\""
  remedy     = soc.seen_sdk == "" ? "take the newest" : "take QAIRT ${or(first_since("qairt", soc.seen_sdk), soc.seen_sdk)} or newer, which knows it"
  confidence = soc.seen_sdk == "" ? "inferred" : confidence("soc", soc.name, "seen_sdk")
  source     = soc.seen_sdk == "" ? "catalogue" : source("soc", soc.name, "seen_sdk")
}

compat "qairt-arch-unknown" {
  severity   = "note"
  doubt      = true
  when       = qairt.version != "" && length(qairt.arches) == 0
  reason     = "nobody has written down for which Hexagon archs QAIRT ${qairt.version} has libraries: it may have none for ${target.arch}"
  remedy     = "look for lib/hexagon-${target.arch} in it, and write arches into its release block"
  confidence = "inferred"
  source     = "catalogue"
}

compat "soc-unsure" {
  severity   = "note"
  when       = soc.note != ""
  reason     = "${soc.name}: ${soc.note}"
  confidence = "inferred"
  source     = "catalogue"
}

compat "upstream-chipset" {
  severity   = "note"
  when       = !contains(["", format("%d", soc.soc_model)], upstream_model(soc.name))
  reason     = "mllm's table of chips takes htp_chipset ${soc.name} for soc_model ${upstream_model(soc.name)}${soc_with_model(upstream_model(soc.name)) == "" ? "" : ", which is ${soc_with_model(upstream_model(soc.name))}"}; ${soc.name} is ${soc.soc_model}: what its compiler makes for it is for the other one"
  remedy     = "compile with another compiler, or mend its table"
  confidence = "observed"
  source     = "mllm: QcomChipset; what the compiler of QAIRT 2.51 writes for each number"
}

compat "context-chipset" {
  severity   = "warning"
  summary    = "The compiler of mllm takes the SoC for another"
  when       = step.kind == "context" && !contains(["", format("%d", soc.soc_model)], upstream_model(soc.name))
  reason     = "context ${step.name} names ${soc.name} to mllm's compiler, whose table of chips takes that for soc_model ${upstream_model(soc.name)}${soc_with_model(upstream_model(soc.name)) == "" ? "" : ", which is ${soc_with_model(upstream_model(soc.name))}"}; ${soc.name} is ${soc.soc_model}"
  remedy     = "mend its table, or see that what it makes loads on the phone"
  confidence = "observed"
  source     = "mllm: QcomChipset; what the compiler of QAIRT 2.51 writes for each number"
}

# --- the Hexagon SDK and its tools ----------------------------------------------------------------------------------------

compat "hexagon-arch" {
  summary    = "The Hexagon SDK cannot build for the target"
  argument   = "version"
  when       = length(hexagon.arches) > 0 && !contains(hexagon.arches, target.arch) && has_htp(target.arch)
  reason     = "Hexagon SDK ${hexagon.version}${hexagon.tools_version == "" ? "" : " has tools ${hexagon.tools_version}, which"} can build for ${join(", ", hexagon.arches)} and not for ${target.arch}, the arch of ${target.soc}"
  remedy     = "take Hexagon SDK ${or(first_with("hexagon", target.arch), "with newer tools")} or newer${first_open("hexagon", target.arch) == "" ? "" : " (${first_open("hexagon", target.arch)} is the first that needs no account)"}: ${target.arch} needs tools ${or(first_tools(target.arch), "that the catalogue does not know")} or newer"
  confidence = confidence_without("hexagon", target.arch)
  source     = source_without("hexagon", target.arch)
}

compat "hexagon-arch-unknown" {
  severity   = "note"
  doubt      = true
  when       = hexagon.version != "" && length(hexagon.arches) == 0
  reason     = "nobody has written down for which Hexagon archs the tools of Hexagon SDK ${hexagon.version} can build: ${target.arch} may be none of them"
  remedy     = "write tools_version or arches into its release block"
  confidence = "inferred"
  source     = "catalogue"
}

compat "op-tools-arch" {
  summary    = "The Hexagon tools are too old for a target of the op package"
  argument   = "targets"
  each       = step.arches
  when       = !can_build(step.tools_version == "" ? hexagon.tools_version : step.tools_version, each.value)
  reason     = "${step.kind} ${step.name} wants htp_${each.value}; the Hexagon tools ${step.tools_version == "" ? "${hexagon.tools_version} of Hexagon SDK ${hexagon.version}" : step.tools_version} cannot compile for ${each.value}"
  remedy     = "take Hexagon SDK ${or(first_with("hexagon", each.value), "with newer tools")} or newer${first_open("hexagon", each.value) == "" ? "" : " (${first_open("hexagon", each.value)} is the first that needs no account)"}: ${each.value} needs tools ${or(first_tools(each.value), "that the catalogue does not know")} or newer"
  confidence = confidence("arch", each.value, "since.tools")
  source     = source("arch", each.value, "since.tools")
}

compat "hexagon-tools-folder" {
  summary    = "The Hexagon SDK has other tools"
  argument   = "tools_version"
  each       = step.tools_wanted
  when       = hexagon.tools_version != "" && each.value != hexagon.tools_version && !hexagon.installed
  reason     = "${step.kind} ${step.name} looks for the compiler in tools/HEXAGON_Tools/${each.value}, Hexagon SDK ${hexagon.version} has it in tools/HEXAGON_Tools/${hexagon.tools_version}: make ends with \"Cannot retrieve hexagon tools from: …/${each.value}/Tools\""
  remedy     = "${with_tools(each.value) == "" ? "" : "take Hexagon SDK ${with_tools(each.value)}, which has ${each.value}, or "}leave the version out, as steps \"oppackage\" and \"makefile\" do: they take the tools that the SDK has"
  confidence = "observed"
  source     = "mllm: op package Makefile, issues; llm.npu reproduction report"
}

compat "hexagon-tools-other" {
  severity   = "warning" # people put other tools into an SDK of their own
  summary    = "The Hexagon SDK came with other tools"
  argument   = "tools_version"
  each       = step.tools_wanted
  when       = hexagon.tools_version != "" && each.value != hexagon.tools_version && hexagon.installed
  reason     = "${step.kind} ${step.name} looks for the compiler in tools/HEXAGON_Tools/${each.value}, the installed Hexagon SDK ${hexagon.version} says that its own is ${hexagon.tools_version}: unless the other one was added, make ends with \"Cannot retrieve hexagon tools from: …/${each.value}/Tools\""
  remedy     = "leave the version out, or add the tools with `qpm-cli --extract`"
  confidence = "observed"
  source     = "mllm: op package Makefile, issues"
}

compat "make-sdk-root" {
  summary    = "A variable of the Makefile is not set"
  argument   = "argv"
  each       = step.unset_roots
  reason     = "${step.kind} ${step.name} runs mllm's make for htp_${lower(replace(each.value, "HEXAGON_SDK_ROOT_", ""))}, whose rules use ${each.value}; nothing sets it, and make ends with \"${each.value} is set incorrectly. Cannot retrieve\""
  remedy     = "build with a step \"oppackage\", or write the Makefile with a step \"makefile\": both know every arch; or pass ${each.value}=$HEXAGON_SDK_ROOT to make"
  confidence = "observed"
  source     = "mllm: op package Makefile on main; llm.npu reproduction report"
}

# --- op packages ----------------------------------------------------------------------------------------------------------

compat "op-renamed" {
  summary    = "The op package speaks another SDK's API"
  argument   = "source"
  each       = step.renamed
  reason     = "${each.value.at} calls ${each.value.from}(), which the headers of QAIRT ${qairt.version} no longer declare; it is ${each.value.to}() now: compiling ends with \"no member named '${each.value.from}' in '${each.value.receiver}'\""
  remedy     = "put a step \"patch\" with series = \"${each.value.series}\" before the op package and take its output as the source: rename rule \"${each.value.rule}\" rewrites it"
  confidence = "observed"
  source     = "patch series mllm; llm.npu reproduction report"
}

compat "op-target" {
  severity   = "warning"
  summary    = "The op package is not built for the target"
  argument   = "targets"
  when       = step.kind == "oppackage" && length(step.arches) > 0 && !contains(step.arches, target.arch)
  reason     = "${step.kind} ${step.name} is built for ${join(", ", step.arches)} and not for ${target.arch}, the Hexagon arch of ${target.soc}: it will not load there"
  remedy     = "add htp_${target.arch} to targets"
  confidence = "documented"
  source     = "QNN: op packages"
}

compat "op-runtime" {
  severity   = "warning"
  summary    = "The SDK has no runtime for a target of the op package"
  argument   = "targets"
  each       = step.kind == "oppackage" ? step.arches : []
  when       = length(qairt.arches) > 0 && !contains(qairt.arches, each.value)
  reason     = "QAIRT ${qairt.version} has libraries for ${join(", ", qairt.arches)}: the op package for ${each.value} compiles and can be loaded by none of them"
  remedy     = first_with("qairt", each.value) == "" ? "leave htp_${each.value} out" : "take QAIRT ${first_with("qairt", each.value)} or newer, or leave htp_${each.value} out"
  confidence = confidence_without("qairt", each.value)
  source     = source_without("qairt", each.value)
}

# --- contexts and runs ----------------------------------------------------------------------------------------------------

compat "signed-pd" {
  summary    = "The SDK does not take the option for a signed protection domain"
  argument   = "signed_pd"
  when       = step.signed_pd && older(qairt.version, "2.34")
  reason     = "${step.kind} ${step.name} asks for a signed protection domain, which QAIRT ${qairt.version} does not take: \"Unsupported config option 2\""
  remedy     = "use the unsigned one: signed_pd = false, in a config of mllm's compiler \"HtpUnsignedPd\"; QAIRT 2.34 is the oldest that mllm supports"
  confidence = "observed"
  source     = "mllm: AOT documentation; llm.npu reproduction report"
}

compat "signed-pd-skel" {
  severity   = "warning"
  summary    = "A signed protection domain takes signed libraries only"
  argument   = "signed_pd"
  when       = step.signed_pd && qairt.version != "" && !older(qairt.version, "2.34")
  reason     = "${step.kind} ${step.name} asks for a signed protection domain: the SDK's skel and your op packages are not signed, and a phone without a test signature refuses them (0x80000481)"
  remedy     = "use the unsigned one, or sign the libraries with the Hexagon SDK's elfsigner.py"
  confidence = "observed"
  source     = "fastrpc: AEEStdErr"
}

compat "aot-config" {
  summary    = "The compiler's config is for another target"
  argument   = "argv"
  when       = step.aot_arch != "" && (step.aot_arch != target.arch || step.aot_soc != "" && step.aot_soc != target.soc)
  reason     = "${step.kind} ${step.name} compiles with a config for ${or(step.aot_soc, "another SoC")}, ${step.aot_arch}; the target is ${target.soc}, ${target.arch}: the context does not load there (\"Request feature arch with value … unsupported\")"
  remedy     = "set htp_chipset to \"${target.soc}\" and htp_arch to \"${upper(target.arch)}\" in the config, or have a step \"context\" write it"
  confidence = "observed"
  source     = "executorch#11100"
}

compat "lpbq" {
  summary    = "The target cannot run LPBQ"
  argument   = "block_size"
  when       = step.kind == "quantize" && length(soc.features) > 0 && !contains(soc.features, "lpbq")
  reason     = "quantize ${step.name} makes weights of 4 bits with scales for blocks (LPBQ), which need Hexagon v73 or newer; ${soc.name} has ${soc.arch}: \"QnnBackend_validateOpConfig failed 3110\""
  remedy     = "choose a SoC with v73 or newer, or another quantisation"
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
  summary    = "An Android soc_id is used as soc_model"
  argument   = "argv"
  each       = step.soc_models
  when       = soc_with_model(each.value) == "" && soc_with_id(each.value) != ""
  reason     = "${step.kind} ${step.name} passes soc_model ${each.value}, which is what Android calls ${soc_with_id(each.value)} in /sys/devices/soc0/soc_id; QNN refuses it: \"Unknown config socModel 0\", \"CREATE_DEVICE: 11\""
  remedy     = "pass ${model_of(soc_with_id(each.value))}, the soc_model of ${soc_with_id(each.value)}: $${target.soc_model} has the target's"
  confidence = "observed"
  source     = "qairt-builder: socmodel-debug-brief"
}

compat "run-vendor-libraries" {
  summary    = "The phone's own QNN libraries come first"
  argument   = "env"
  when       = step.vendor_first != ""
  reason     = "run ${step.name} pushes QNN libraries and sets LD_LIBRARY_PATH so that ${step.vendor_first} of the phone is searched before them: a stub of another SDK is loaded (\"Stub lib id mismatch\", \"Unable to find a valid interface\")"
  remedy     = "put the run's folder first, or leave the phone's own folder out"
  confidence = "observed"
  source     = "executorch#8762, qai-appbuilder#14; llm.npu reproduction report"
}

# Rules that look into files are code (package qnn); what can be set of them here is the severity.

compat "push-one-sdk" {
  summary = "Libraries of different SDKs are pushed together"
}

compat "push-arch" {
  summary = "A library for another Hexagon arch is pushed"
}

compat "context-newer" {
  summary = "The context is newer than the runtime"
}

compat "context-build" {
  severity = "warning"
  summary  = "The context is of a newer build than the runtime"
}

compat "context-arch" {
  summary = "The context is for another Hexagon arch"
}

compat "context-vtcm" {
  summary = "The context wants more VTCM than there is"
}

compat "context-soc" {
  severity = "warning"
  summary  = "The context is for another SoC"
}

# --- releases with a known defect -----------------------------------------------------------------------------------------

compat "qairt-system-abi" {
  severity   = "warning"
  summary    = "A release with a known defect"
  argument   = "version"
  when       = !older(qairt.version, "2.44.0") && older(qairt.version, "2.44.1")
  reason     = "QAIRT ${qairt.version} changed the binary interface of libQnnSystem.so by mistake: programs that were built with another release and use it crash"
  remedy     = "build everything that uses QnnSystemInterface.h with this release, or take 2.45 or newer, where it is mended"
  confidence = "documented"
  source     = "Qualcomm 80-63442-10: API version history"
}

compat "qairt-quantizer" {
  severity   = "note"
  when       = !older(qairt.version, "2.22.6") && older(qairt.version, "2.23")
  reason     = "the quantizer of QAIRT ${qairt.version} is known to crash on large transformers"
  remedy     = "take a newer release"
  confidence = "observed"
  source     = "users' reports"
}

compat "qairt-skel-symbol" {
  severity   = "note"
  when       = qairt.version != "" && !older(qairt.version, "2.48")
  reason     = "from 2.48.0 on the skel's entry has the version in its name: a skel of the phone's own firmware does not answer (0x80000442)"
  remedy     = "push the SDK's own skel and put its folder first in ADSP_LIBRARY_PATH"
  confidence = "observed"
  source     = "the skels of 2.48.0 and 2.51.0; fastrpc#379"
}

compat "qairt-implicit-bias" {
  severity   = "note"
  when       = !older(qairt.version, "2.24") && older(qairt.version, "2.28")
  reason     = "QAIRT ${qairt.version} rejects LayerNorm without a bias when it validates the op, so the op goes to the CPU or the graph fails"
  remedy     = "take 2.28.2 or newer, or give the op a bias of zeros"
  confidence = "observed"
  source     = "onnxruntime#22844"
}

compat "qairt-layer-norm" {
  severity   = "warning"
  summary    = "A release with a known defect"
  argument   = "version"
  when       = !older(qairt.version, "2.28.0") && older(qairt.version, "2.28.2")
  reason     = "LayerNorm on the HTP is inaccurate with QAIRT ${qairt.version}: ONNX Runtime's tests of it failed with this release"
  remedy     = "take 2.28.2 or newer, with which they pass"
  confidence = "observed"
  source     = "onnxruntime#22844"
}

compat "qairt-block-head" {
  severity   = "note"
  when       = target.arch == "v73" && !older(qairt.version, "2.42") && older(qairt.version, "2.43")
  reason     = "qnn-context-binary-generator of QAIRT ${qairt.version} crashes (segmentation fault) for v73 on the graph with lm_head, if its weights are quantized in blocks"
  remedy     = "quantize that layer per channel, or take a newer release"
  confidence = "observed"
  source     = "MNN#4437, #4567"
}

compat "qairt-windows-exit-code" {
  severity   = "note"
  when       = !older(qairt.version, "2.45") && older(qairt.version, "2.46")
  reason     = "on Windows, qnn-context-binary-generator of QAIRT ${qairt.version} ends with an exit code other than 0, although the context is good"
  remedy     = "check the context's size and read it back with qnn-context-binary-utility, or compile on Linux"
  confidence = "observed"
  source     = "qai-appbuilder: context_binary.md"
}

compat "qairt-mapped-weights" {
  severity   = "note"
  when       = !older(qairt.version, "2.48") && older(qairt.version, "2.49")
  reason     = "on Windows, QAIRT ${qairt.version} maps a context's weights from its file, and some NPU drivers refuse that: \"Failed to create context from binary. Error code: 1002\""
  remedy     = "set ONNX Runtime's provider option disable_file_mapped_weights=1, or update the driver"
  confidence = "observed"
  source     = "foundry-local#1124"
}

compat "ort-qnn-llm" {
  severity   = "warning"
  summary    = "A release with a known defect"
  argument   = "version"
  when       = !older(ort_qnn_android.version, "2.5.0") && older(ort_qnn_android.version, "2.6.0")
  reason     = "onnxruntime-qnn ${ort_qnn_android.version} fails to load some language models from contexts: QNN_MEMORY_ALLOCATION_ERROR, 1002"
  remedy     = "enable the provider option enable_vtcm_backup_buffer_sharing when you compile, or take another release"
  confidence = "documented"
  source     = "onnxruntime-qnn: release notes of 2.5.0; onnxruntime-qnn#789"
}

compat "ort-qnn-plugin" {
  severity   = "warning"
  summary    = "ONNX Runtime rejects the plug-in"
  when       = !older(ort_android.version, "1.27") && older(ort_qnn_android.version, "2.4")
  reason     = "ONNX Runtime ${ort_android.version} rejects onnxruntime-qnn ${ort_qnn_android.version}: \"OrtEp has invalid ort_version_supported=0\""
  remedy     = "take onnxruntime-qnn 2.4 or newer, or ONNX Runtime 1.26"
  confidence = "observed"
  source     = "onnxruntime-qnn#492, #564"
}

compat "ndk-pages" {
  severity   = "note"
  when       = older(ndk.version, "r28")
  reason     = "NDK ${ndk.version} links for pages of 4 KB: phones with 16 KB pages refuse its libraries"
  remedy     = "take r28 or newer, or link with -Wl,-z,max-page-size=16384"
  confidence = "observed"
  source     = "executorch#11518"
}
