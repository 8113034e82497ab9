# Graphs and contexts: too large, not supported, wrongly named, or wrong.

failure "graph-allocation" {
  where    = ["device", "tool"]
  patterns = ["graph requires estimated allocation of (?P<want>[0-9]+) KB, limit is (?P<limit>[0-9]+) KB"]
  cause    = "The graph wants {want} KB of the DSP's address space, of which a protection domain has {limit} KB."
  remedy   = "Split the model into more shards (num_sharding), or quantize it to fewer bits."
  source   = "pytorch/executorch#15954"
  explains = ["graph-finalize", "plain-1002", "serialize-memory"]
  examples = ["fa_alloc.cc:2462::ERROR:graph requires estimated allocation of 2315388 KB, limit is 2097152 KB\nFailed to finalize graph (id: 1) with err 1002"]
}

failure "pd-full" {
  where    = ["device", "logcat"]
  patterns = ["Failed to find available PD"]
  cause    = "The DSP has no protection domain left for one more context: about 50 contexts are too many, or they are too large."
  remedy   = "Free contexts that are not needed, or put several graphs into one context."
  source   = "pytorch/executorch#14985"
  explains = ["context-create"]
  examples = ["<E> Failed to find available PD for contextId 51 on deviceId 0 coreId 0 with context size estimate 1189330944\n<E> Could not create context from binary for context index = 50 : err 1002"]
}

failure "tcm-too-small" {
  where    = ["device", "tool"]
  patterns = ["[Rr]equires (?P<want>0x[0-9a-f]+) bytes of TCM, which is greater than the TCM size of (?P<have>0x[0-9a-f]+)"]
  cause    = "One op needs {want} bytes of VTCM, and the target has {have}."
  remedy   = "Split the op along its largest dimension, use fewer bits, or a smaller input."
  source   = "pytorch/executorch#1430"
  explains = ["graph-finalize", "could-not-create-op"]
  examples = ["graph_prepare.cc:217::ERROR:Requires 0x2400000 bytes of TCM, which is greater than the TCM size of 0x800000!\nQnnDsp <E> Failed to finalize graph (id: 1) with err 1002"]
}

failure "finalize-optimizer" {
  where    = ["tool"]
  patterns = ["Failed to finalize QNN graph\\. Error: QNN_COMMON_ERROR_MEM_ALLOC"]
  cause    = "Qualcomm's compiler gave this graph up. It calls that memory, also where an op that its own optimizer put in could not be made (\"could not create op: q::…\" in its verbose log)."
  remedy   = "Compile with less optimization (`optimization_level = 1` of htp_context). If that fails, use a graph of fewer layers, a smaller ar_len, or a machine with more memory."
  source   = "QAIRT 2.51.0: an RMSNorm in floats before an MLP of int8, 576 and 1,536 wide; q::SlicePad_shape_inplace"
  examples = ["prefill.onnx could not be compiled: [ONNXRuntimeError] : 11 : EP_FAIL : Failed to finalize QNN graph. Error: QNN_COMMON_ERROR_MEM_ALLOC: Memory allocation related error., Code: 1002"]
}

failure "graph-finalize" {
  where    = ["device", "tool"]
  patterns = ["Failed to finalize graph", "RouterX86 graph prepare failed", "Finalize Graph for Idx = [0-9]+ failed", "Graph Finalize failure", "Error finalizing graph"]
  rank     = "symptom"
  cause    = "The graph could not be prepared: an op is not supported as it is used, or it is too large."
  remedy   = "Look at the line FILE.cc:NUMBER::ERROR: before it, which names the op. Without one, run with --log_level verbose."
  source   = "pytorch/executorch#1430, microsoft/T-MAC#102"
  explains = ["context-create"]
  examples = [
    "QnnDsp <E> RouterX86 graph prepare failed 13\nQnnDsp <E> Failed to finalize graph (id: 1) with err 1002",
    "Finalize Graph for Idx = 0 failed with error = 1002",
    "Graph Finalize failure",
    "Error finalizing graph.",
  ]
}

failure "package-loaded-twice" {
  where    = ["device", "tool"]
  patterns = ["Memory properties specified twice for operator (?P<op>[^ ]+)"]
  cause    = "The op package was loaded twice, so {op} has its tensor properties twice."
  remedy   = "Register the package once, and link no second copy of it into another library."
  source   = "microsoft/T-MAC#102"
  explains = ["graph-finalize", "op-package-not-registered"]
  examples = ["tcm_migration.cc:174:ERROR:Memory properties specified twice for operator LLaMAPackage::RoPE"]
}

failure "could-not-create-op" {
  where    = ["device", "tool"]
  patterns = ["generated: could not create op", "no properties registered", "could not create op(?: |:|$)"]
  cause    = "The backend has no implementation of an op for these types: usually floats of 32 bits, or a custom op whose package is not loaded."
  remedy   = "Quantize the model or convert with --float_bitwidth 16; for a custom op check that its package is registered for the HTP."
  source   = "public report on HardSigmoid; UbiquitousLearning/mllm#266"
  explains = ["graph-finalize"]
  examples = ["\"HardSigmoid.0\" generated: could not create op", "graph_prepare.cc:154::ERROR:could not create op: LLaMAPackage.LLaMALinear.tcm", "op q::RmsNorm: no properties registered"]
}

failure "op-validation-arch" {
  where    = ["device", "tool"]
  patterns = ["has incorrect Value (?P<have>[0-9]+), expected >= ?(?P<want>[0-9]+)"]
  cause    = "An op or quantization needs Hexagon v{want}, and the target is v{have}."
  remedy   = "Use a quantization that v{have} has, or set the target to a newer SoC."
  source   = "pytorch/executorch#17296"
  explains = ["op-validation"]
  examples = ["[4294967295] has incorrect Value 68, expected >= 73.\nQnnBackend_validateOpConfig failed 3110"]
}

failure "op-validation" {
  where    = ["device", "tool"]
  patterns = ["validateOpConfig failed", "Op specific validation failed", "does not support A16W16 for dsp arch v(?:[0-9]+)"]
  rank     = "symptom"
  cause    = "The backend has no such op for the types, shapes or quantization that were asked for (3110)."
  remedy   = "Look at the line before it, which names the op's parameter. Change its quantization or shape, or keep the op on another backend."
  source   = "pytorch/executorch#17296"
  examples = [
    "QnnBackend_validateOpConfig failed 3110",
    "<E> Op MatMul does not support A16W16 for dsp arch v68",
    "Op specific validation failed",
  ]
}

failure "vtcm-size" {
  where    = ["device", "logcat"]
  patterns = ["Request feature vtcm size with value (?P<bytes>[0-9]+) unsupported", "Custom config VTCM size (?P<bytes>[0-9]+) not supported"]
  cause    = "The context wants {bytes} bytes of VTCM, more than this SoC gives."
  remedy   = "Set the target's soc, so that vtcm_mb is right for it, and compile again."
  source   = "pytorch/executorch#9084"
  explains = ["context-create", "context-err-5005"]
  examples = [
    "<E> Request feature vtcm size with value 8388608 unsupported\n<E> Could not create context from binary for context index = 0 : err 5005",
    "<E> Custom config VTCM size 16 not supported",
  ]
}

failure "context-err-5005" {
  where    = ["device"]
  patterns = ["[Cc]ould not create context from binary.*err 5005", "Failed to create context from binary with err 0x138d", "Failed to create context from binary[.] Error code: 5005"]
  cause    = "The device cannot hold this context binary (5005): it wants more VTCM than there is, is for another SoC or arch, or is too large."
  remedy   = "Compile the model again for this device's SoC, with a smaller vtcm_mb or more shards if it is too large; `hexmage inspect context.bin` shows what it was made for."
  source   = "qualcomm/ai-hub-models#289, #192"
  explains = ["context-create"]
  examples = [
    "Could not create context from binary for context index = 0 : err 5005",
    "<E> Failed to create context from binary with err 0x138d",
    "[E:onnxruntime:, qnn_ctx_model_helper.cc:191] Failed to load from EpContext model. LoadCachedQnnContextFromBuffer Failed to create context from binary. Error code: 5005",
  ]
}

failure "context-err-1007" {
  where    = ["device"]
  patterns = ["[Cc]ould not create context from binary.*err 1007", "Failed to free device: 14003"]
  cause    = "The DSP crashed or had no memory left while the context was loaded."
  remedy   = "Load fewer or smaller contexts at once; free contexts before the device."
  source   = "qualcomm/ai-hub-models#168"
  explains = ["context-create", "dsp-crash"]
  examples = ["Could not create context from binary for context index = 2 : err 1007\nFailed to free device: 14003"]
}

failure "dsp-address-space" {
  where    = ["device", "logcat"]
  patterns = ["fastrpc memory map for fd: ?[0-9]+ with length: ?(?P<bytes>[0-9]+) failed", "remote_mmap64_internal failed", "Failed to map weights buffer to device", "Could not allocate persistent weights buffer"]
  cause    = "The DSP's address space (under 4 GB for a protection domain) is used up."
  remedy   = "Split the model into more shards, or load fewer of them at once."
  source   = "pytorch/executorch#4517, microsoft/onnxruntime#25696"
  explains = ["context-create", "mem-handle", "plain-1002"]
  examples = [
    "<E> fastrpc memory map for fd: 33 with length: 817889280 failed with error: 0x1\nadsprpc: Error 0x58: remote_mmap64_internal failed for fd -1",
    "<E> Failed to map weights buffer to device!\n<E> Could not allocate persistent weights buffer!",
  ]
}

failure "smmu-limit" {
  where    = ["device", "logcat"]
  patterns = ["(?i)smmu.*(?:map|mmap).*(?:fail|1002)", "(?i)fastrpc.*mmap.*(?:err|error|failed)[ :=]{1,3}1002"]
  cause    = "The phone's SMMU lets the DSP map no buffer of this size (on some phones the limit is below 500 MB)."
  remedy   = "Use smaller buffers: more shards, or spill buffers in parts."
  source   = "pytorch/executorch#18862"
  explains = ["plain-1002", "context-create"]
  examples = ["fastrpc: SMMU mmap of 489684992 bytes failed, err 1002"]
}

failure "not-ion" {
  where    = ["device"]
  patterns = ["PreRegisterMem failed to get file descriptor"]
  cause    = "A buffer that is to be shared with the DSP was not allocated as shared memory."
  remedy   = "Switch the shared buffer off, or allocate it with rpcmem."
  source   = "pytorch/executorch#15732"
  examples = ["[ERROR] [Qnn ExecuTorch]: PreRegisterMem failed to get file descriptor."]
}

failure "mem-handle" {
  where    = ["device"]
  patterns = ["Duplicate Memory Handle found", "(?i)mem(?:ory)?[ _]?(?:handle|register)[^\\n]*(?:error|err|failed)[ :=]{1,3}(?:8002|1003)\\b"]
  cause    = "A memory handle is registered already, or belongs to another protection domain."
  remedy   = "Register the buffer anew for each context, and deregister it before it is registered again."
  source   = "MollySophia/rwkv-qualcomm; messages of libQnnHtp.so"
  examples = ["<E> Duplicate Memory Handle found", "QnnMem_register: mem register failed: 8002"]
}

failure "tensor-exists" {
  where    = ["device", "tool"]
  patterns = ["Tensor name (?P<tensor>[^ ]*) ?(?:\\.\\.\\. )?already exists in the graph"]
  cause    = "Two tensors of one graph have the name {tensor}: an op's name was used twice, and the names of its tensors are made from it."
  remedy   = "Make the names unique in the graph, from the layer's full name, where the graph is built (in mllm: its QNN backend, not the op package)."
  source   = "the reproduction of llm.npu; messages of libQnnHtp.so"
  explains = ["graph-finalize", "context-create", "graph-compose"]
  seed     = true
  examples = ["<E> Tensor name model.layers.0.self_attn.q_proj.weight already exists in the graph.\nComposeGraphs Failed with error = 1"]
}

failure "graph-exists" {
  where    = ["device", "tool"]
  patterns = ["Graph already exists", "Qnn.*graph.*(?:error|err)[ :=]{1,3}6003\\b"]
  cause    = "Two graphs of one context have the same name."
  remedy   = "Name graphs after model and chunk length, such as model.0.s32."
  source   = "messages of libQnnHtp.so"
  explains = ["graph-compose"]
  examples = [
    "<E> Graph already exists: model.0.s32",
    "QnnGraph_create: graph error: 6003",
  ]
}

failure "graph-compose" {
  where    = ["device", "tool"]
  patterns = ["ComposeGraphs Failed with error", "Graph Compose failure"]
  rank     = "consequence"
  cause    = "The graph could not be put together."
  remedy   = "Look for the first error above it: an op or tensor is not accepted."
  source   = "messages of qnn-net-run"
  examples = [
    "ComposeGraphs Failed with error = 1",
    "Graph Compose failure",
  ]
}

failure "graph-execute" {
  where    = ["device"]
  patterns = ["Execute Graph Failed at iteration", "Graph Execution failure", "QnnGraph_execute failed"]
  rank     = "consequence"
  cause    = "The graph was loaded and failed while it ran."
  remedy   = "Look for the first error above it, and at logcat's adsprpc lines: the DSP may have crashed in an op."
  source   = "messages of qnn-net-run"
  examples = [
    "Execute Graph Failed at iteration = 0 for graph = qnn_model",
    "Graph Execution failure",
    "QnnGraph_execute failed with error 6031",
  ]
}

failure "graph-not-found" {
  where    = ["device"]
  patterns = ["Graph (?P<graph>[^ ]+) not found for execution"]
  cause    = "The context binary has no graph {graph}. A graph is named after its model and its chunk length, and the runner's default length 128 is not what contexts are compiled for."
  remedy   = "Give the runner the length that the context has, such as --ar_len 32; `hexmage inspect context.bin` lists its graphs."
  source   = "UbiquitousLearning/mllm"
  examples = ["[ERROR] QNNBackend.cpp:412 Graph model.0.s128 not found for execution"]
}

failure "graph-name-config" {
  where    = ["tool", "device"]
  patterns = ["graph_names?.*(?:does not match|not found in|no such graph)"]
  cause    = "The backend's configuration names a graph that the model does not have, so its options are not used."
  remedy   = "Write the graph's name as the tool has it: the model's file name with '-' and '.' replaced by '_'."
  source   = "QAIRT documentation, HTP backend extensions"
  examples = ["[WARN] graph_names entry qwen3-1.7b does not match any graph of the model"]
}

failure "constant-output" {
  where    = ["tool", "device"]
  patterns = ["the device's tokens differ from the reference's from token 0", "(?i)output (?:tensor )?is constant"]
  cause    = "The context runs, and what it computes is wrong from the start: wrong quantization parameters, a prompt padded otherwise, or a context made for several SoCs at once (--htp_socs)."
  remedy   = "Compare layer by layer with the CPU backend; compile for this SoC alone; check that linear_block_size and --ar_len are those of the compile."
  source   = "public report on --htp_socs; UbiquitousLearning/mllm#659"
  examples = [
    "metrics: the device's tokens differ from the reference's from token 0 on: device [7 7 7], reference [12 8 99]",
    "verify: output tensor is constant",
  ]
}

failure "tokens-differ" {
  where    = ["tool", "device"]
  patterns = ["the device's tokens differ from the reference's from token [1-9]"]
  cause    = "The device computes the first tokens right and then others: state is wrong, such as the KV cache's position, or rounding differs."
  remedy   = "Compare the logits of the first token that differs; when the two best are nearly equal it is rounding, else look at the cache update."
  source   = "hexmage"
  examples = ["metrics: the device's tokens differ from the reference's from token 12 on: device [1 2], reference [1 3]"]
}

failure "tokenizers-disagree" {
  where    = ["tool"]
  patterns = ["the tokenizers disagree"]
  cause    = "The device read the prompt as other tokens than the reference did."
  remedy   = "Push the tokenizer.json of the model that the reference uses, and give both the same chat template."
  source   = "hexmage"
  examples = ["metrics: the device read the prompt as tokens [1 2], the reference as [1 3]: the tokenizers disagree"]
}

failure "wall-clock" {
  where    = ["device", "tool"]
  severity = "warning"
  patterns = ["qnn-net-run.*(?:wall[- ]?clock|elapsed|took|real)[ :=]+[0-9.]+ ?(?:s|ms|m)"]
  cause    = "The time of the whole process was measured: starting it and loading the context takes seconds, while the graph may take microseconds."
  remedy   = "Use --profiling_level basic, and read the accelerator's time from the profile with qnn-profile-viewer."
  source   = "wyanzhao/qairt-builder"
  examples = ["qnn-net-run took 2.6 s for 1 inference"]
}

failure "buffer-not-mapped" {
  where    = ["device", "logcat"]
  patterns = ["fastrpc_mmap failed to map buffer fd (?P<fd>[0-9]+).*errno (?P<reason>.+)"]
  cause    = "FastRPC could not map a buffer for the DSP ({reason}). The memory was not allocated for sharing, was freed, or the DSP's address space is full."
  remedy   = "Allocate shared buffers with rpcmem and keep them until the graph ends. If they are: split the model into smaller parts, or free other contexts first."
  source   = "UbiquitousLearning/mllm#527"
  explains = ["segfault", "tombstone"]
  examples = ["fastrpc_mem.c:496: Error 0x1: fastrpc_mmap failed to map buffer fd 347, addr 0x0, length 0xc0000, domain 3, flags 0x3, ioctl ret 0xffffffff, errno Bad address"]
}

failure "binary-validate-1002" {
  where    = ["device"]
  patterns = ["Failed to validate binary: 1002"]
  cause    = "QNN does not accept the context binary (1002): it is too large for one piece, or was compiled with another SDK release or for another SoC."
  remedy   = "Split the model into smaller parts when it is exported, and compile for this SoC with the SDK release whose libraries are on the device."
  source   = "alibaba/MNN#4099"
  explains = ["segfault"]
  examples = ["QNN: Failed to validate binary: 1002\nSegmentation fault"]
}

failure "execute-no-memory" {
  where    = ["device"]
  patterns = ["QNN (?P<graph>[A-Z ]+) exec failed"]
  rank     = "symptom"
  cause    = "The graph {graph} was loaded and did not run. Image models fail so when the phone has too little free memory."
  remedy   = "Close other apps, or take a smaller model or image size. Look at logcat for lines of lowmemorykiller and adsprpc."
  source   = "xororz/local-dream#165"
  examples = ["E  Backend: QNN UNET exec failed (uncond)"]
}

failure "tcm-not-tiled" {
  where    = ["device", "tool"]
  patterns = ["Operator named (?P<op>[^ ]+) .*not sufficiently tiled to fit in TCM[.] Requires (?P<want>[0-9]+) bytes"]
  cause    = "QNN could not cut {op} into parts that fit in the DSP's fast memory (VTCM): one part needs {want} bytes."
  remedy   = "Make that tensor smaller: split the op along its largest dimension, use fewer bits or a smaller input. A newer QAIRT release may cut it better; else keep the op on the CPU."
  source   = "microsoft/onnxruntime#24876"
  explains = ["plain-1002", "graph-prepare", "graph-finalize", "finalize-optimizer"]
  examples = ["tcm_migration.cc:2088:ERROR:Operator named q::*InputSlicePad (0x1654900000002) not sufficiently tiled to fit in TCM. Requires 12441600 bytes"]
}

failure "graph-prepare" {
  where    = ["device", "tool"]
  patterns = ["Graph prepare (?P<step>[A-Za-z ]+) action failed", "Graph prepare failed during optimization with err"]
  rank     = "consequence"
  cause    = "QNN's compiler gave the graph up in one of its steps."
  remedy   = "Look at the first line with ERROR before it: it names the op. Without one, compile with verbose logs."
  source   = "microsoft/onnxruntime#24876"
  examples = [
    "graph_prepare.cc:2808:ERROR:Graph prepare TCM Migration action failed",
    "graph_prepare.cc:2868:ERROR:Graph prepare failed during optimization with err: 17, Fatal Optimize",
  ]
}
