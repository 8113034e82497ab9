# Numbers that programs print instead of words. A name is "NAME" or "NAME: what it means".

# From a DSP's process: 0x80000400 + n.
codes "FastRPC" {
  base = 2147484672
  names = {
    "0x001" = "AEE_EFAILED"
    "0x002" = "AEE_ENOMEMORY: the DSP has no memory left"
    "0x004" = "AEE_EVERSIONNOTSUPPORT"
    "0x005" = "AEE_EALREADYLOADED"
    "0x006" = "AEE_EUNABLETOLOAD: a skel or library was not found, or cannot be loaded"
    "0x00c" = "AEE_EEXPIRED: the call took longer than its time limit"
    "0x00d" = "AEE_EBADSTATE: the protection domain is dead, or not in the state that the call expects"
    "0x00e" = "AEE_EBADPARM"
    "0x012" = "AEE_EINCOMPLETEITEM"
    "0x014" = "AEE_EUNSUPPORTED: the DSP's image has no such function or feature"
    "0x015" = "AEE_EPRIVLEVEL"
    "0x016" = "AEE_ERESOURCENOTFOUND"
    "0x01d" = "AEE_EMEMPTR: a pointer is missing"
    "0x02c" = "AEE_EINVHANDLE"
    "0x02e" = "AEE_EINTERRUPTED: the session ended while a call waited"
    "0x035" = "AEE_EINVALIDFILENAME"
    "0x039" = "AEE_EINVALIDDOMAIN"
    "0x03b" = "AEE_EINVALIDDEVICE: the device node could not be opened"
    "0x03e" = "AEE_ENOSUCHMOD"
    "0x042" = "AEE_ENOSUCHSYMBOL: a library lacks a symbol"
    "0x045" = "AEE_ENOSUCHFILE"
    "0x04e" = "AEE_EBADPERMS"
    "0x052" = "AEE_EBADELF: the file is no ELF that the DSP takes"
    "0x057" = "AEE_EFOPEN"
    "0x058" = "AEE_EFGETS"
    "0x065" = "AEE_EMMAP"
    "0x068" = "AEE_ENORPCMEMORY"
    "0x069" = "AEE_ENOROOTOFTRUST"
    "0x072" = "AEE_ECONNREFUSED: the session or its queue is broken"
    "0x081" = "AEE_EUNSIGNEDMOD: the module is not signed, and no test signature was found"
    "0x082" = "AEE_EINVALIDHASH"
    "0x08a" = "AEE_ENOSESSION"
    "0x14f" = "AEE_EQURTBADASID: the firmware refuses a user protection domain"
    "0x180" = "AEE_EDEFAULTPROCESS"
    "0x194" = "AEE_ESTUBSKELVERMISMATCH: stub and skel are of different versions"
    "0x200" = "AEE_ERPC: the other side of FastRPC could not be reached"
    "0x201" = "AEE_EFILE"
  }
}

# The same numbers without the offset, and some of the system's, as the processor's side prints them.
codes "FastRPC on the processor's side" {
  near = ["fastrpc", "adsprpc", "remote_handle", "remote_mmap", "dspqueue", "apps_dev", "get uri", "domain_init", "rpcmem", "open_shell", "aee"]
  names = {
    "2"     = "AEE_ENOMEMORY"
    "6"     = "AEE_EUNABLETOLOAD"
    "0x0c"  = "AEE_EEXPIRED: the call took longer than its time limit"
    "0x0d"  = "EACCES: the system does not let the program use the DSP"
    "0x0e"  = "AEE_EBADPARM"
    "0x14"  = "AEE_EUNSUPPORTED: the device's libcdsprpc or DSP image has no such function"
    "0x16"  = "AEE_ERESOURCENOTFOUND"
    "0x27"  = "AEE_ENOSUCH"
    "0x2e"  = "AEE_EINTERRUPTED: the session ended while a call waited"
    "0x42"  = "AEE_ENOSUCHSYMBOL"
    "0x58"  = "AEE_EFGETS"
    "0x65"  = "AEE_EMMAP"
    "0x68"  = "ECONNRESET: the DSP's protection domain crashed"
    "0x72"  = "AEE_ECONNREFUSED: the session or its queue is broken"
    "0x81"  = "AEE_EUNSIGNEDMOD"
    "0x200" = "AEE_ERPC: the other side of FastRPC could not be reached"
    "0x201" = "AEE_EFILE"
  }
}

# What Windows says when a program ends, as an unsigned or a negative number.
codes "Windows" {
  base = 3221225472
  names = {
    "0x005" = "STATUS_ACCESS_VIOLATION: the program touched memory that is not its own"
    "0x017" = "STATUS_NO_MEMORY"
    "0x01d" = "STATUS_ILLEGAL_INSTRUCTION"
    "0x0fd" = "STATUS_STACK_OVERFLOW"
    "0x135" = "STATUS_DLL_NOT_FOUND: a DLL is missing beside the program and in PATH"
    "0x139" = "STATUS_ENTRYPOINT_NOT_FOUND: a DLL is of another version than the program wants"
    "0x142" = "STATUS_DLL_INIT_FAILED"
    "0x409" = "STATUS_STACK_BUFFER_OVERRUN: the program ended itself"
  }
}

# What a shell says of a program that a signal ended: 128 + the signal.
codes "exit code" {
  near = ["exit", "returncode", "return code"]
  names = {
    "126" = "not executable: the file has no right to run, or is for another processor"
    "127" = "not found: there is no such program, or a library or loader that it needs is missing"
    "132" = "SIGILL: the program has an instruction that this CPU does not know"
    "133" = "SIGTRAP: the program stopped itself at a check"
    "134" = "SIGABRT: the program ended itself, after an assertion or an exception"
    "135" = "SIGBUS: the program touched memory behind the end of a mapped file"
    "136" = "SIGFPE: division by zero"
    "137" = "SIGKILL: somebody killed the program, often the kernel for want of memory"
    "139" = "SIGSEGV: the program touched memory that is not its own"
  }
}

# Qnn_ErrorHandle_t: the low 16 bits.
codes "QNN" {
  mask  = 65535
  least = 1000
  names = {
    "1000"  = "common NOT_SUPPORTED"
    "1002"  = "common MEM_ALLOC: memory could not be had; for a graph also: an op needs more VTCM than there is"
    "1003"  = "common SYSTEM"
    "1004"  = "common INVALID_ARGUMENT"
    "1005"  = "common OPERATION_NOT_PERMITTED"
    "1006"  = "common PLATFORM_NOT_SUPPORTED"
    "1007"  = "common SYSTEM_COMMUNICATION: the DSP crashed and came back"
    "1008"  = "common INCOMPATIBLE_BINARIES: libraries of different SDKs"
    "1009"  = "common LOADING_BINARIES: the process has a second copy of the libraries"
    "1010"  = "common RESOURCE_UNAVAILABLE"
    "1011"  = "common SYSTEM_COMMUNICATION_FATAL: the DSP crashed for good"
    "1100"  = "common GENERAL"
    "3000"  = "op package LIBRARY_ALREADY_INITIALIZED"
    "3001"  = "op package LIBRARY_NOT_INITIALIZED"
    "3002"  = "op package INVALID_HANDLE"
    "3100"  = "op package INVALID_INFRASTRUCTURE"
    "3101"  = "op package INVALID_INFO"
    "3110"  = "op package VALIDATION_FAILURE: the backend has no such op for these types and shapes"
    "3200"  = "op package INVALID_ARGUMENT"
    "4000"  = "backend CANNOT_INITIALIZE"
    "4002"  = "backend TERMINATE_FAILED"
    "4003"  = "backend NOT_SUPPORTED"
    "4004"  = "backend INVALID_ARGUMENT"
    "4005"  = "backend OP_PACKAGE_NOT_FOUND"
    "4006"  = "backend OP_PACKAGE_IF_PROVIDER_NOT_FOUND: the package's library lacks the named interface provider"
    "4007"  = "backend OP_PACKAGE_REGISTRATION_FAILED"
    "4008"  = "backend OP_PACKAGE_UNSUPPORTED_VERSION"
    "4009"  = "backend OP_PACKAGE_DUPLICATE"
    "4010"  = "backend INCONSISTENT_CONFIG"
    "4011"  = "backend INVALID_HANDLE"
    "4012"  = "backend INVALID_CONFIG"
    "5000"  = "context INVALID_ARGUMENT: also a context binary that this runtime or device does not take"
    "5001"  = "context CTX_DOES_NOT_EXIST"
    "5002"  = "context INVALID_HANDLE"
    "5003"  = "context NOT_FINALIZED"
    "5004"  = "context BINARY_VERSION"
    "5005"  = "context CREATE_FROM_BINARY: the device cannot hold this context binary"
    "5006"  = "context GET_BINARY_SIZE_FAILED"
    "5007"  = "context GET_BINARY_FAILED"
    "5008"  = "context BINARY_CONFIGURATION"
    "5009"  = "context SET_PROFILE"
    "5010"  = "context INVALID_CONFIG"
    "5011"  = "context BINARY_SUBOPTIMAL"
    "5012"  = "context ABORTED"
    "5013"  = "context TIMED_OUT"
    "5014"  = "context INCREMENT_INVALID_BUFFER"
    "6000"  = "graph INVALID_ARGUMENT"
    "6001"  = "graph INVALID_HANDLE"
    "6002"  = "graph DOES_NOT_EXIST"
    "6003"  = "graph INVALID_NAME: a name that is there already"
    "6004"  = "graph INVALID_TENSOR"
    "6005"  = "graph INVALID_OP_CONFIG"
    "6006"  = "graph SET_PROFILE"
    "6007"  = "graph UNCONNECTED_NODE"
    "6020"  = "graph CREATE_FAILED"
    "6021"  = "graph OPTIMIZATION_FAILED"
    "6022"  = "graph FINALIZE_FAILED"
    "6023"  = "graph NOT_FINALIZED"
    "6024"  = "graph FINALIZED"
    "6025"  = "graph ASYNC_FIFO_FULL"
    "6030"  = "graph SIGNAL_IN_USE"
    "6031"  = "graph ABORTED"
    "6032"  = "graph PROFILE_IN_USE"
    "6033"  = "graph TIMED_OUT"
    "6034"  = "graph SUBGRAPH"
    "6035"  = "graph DISABLED"
    "6036"  = "graph DYNAMIC_SHAPE"
    "6037"  = "graph SPARSITY"
    "6038"  = "graph EARLY_TERMINATION"
    "6039"  = "graph INVALID_CONTEXT"
    "7001"  = "tensor INVALID_HANDLE"
    "7002"  = "tensor DOES_NOT_EXIST"
    "7003"  = "tensor ALREADY_EXISTS"
    "7004"  = "tensor INVALID_PARAM"
    "7005"  = "tensor UNSUPPORTED_PARAM"
    "7006"  = "tensor NAME_HASH_COLLISION"
    "7007"  = "tensor INCOMPATIBLE_UPDATE"
    "8000"  = "mem INVALID_ARGUMENT"
    "8001"  = "mem INVALID_HANDLE"
    "8002"  = "mem ALREADY_REGISTERED"
    "8003"  = "mem MAPPING"
    "8004"  = "mem INVALID_SHAPE"
    "8005"  = "mem UNSUPPORTED_MEMTYPE"
    "9000"  = "signal IN_USE"
    "9004"  = "signal TIMEOUT"
    "14000" = "device INVALID_HANDLE"
    "14001" = "device INVALID_CONFIG: SoC, arch or protection domain do not fit, or the transport failed before"
    "14002" = "device HARDWARE_UNAVAILABLE"
    "14003" = "device ASSOCIATED_TO_CONTEXT: contexts were not freed"
    "30000" = "system INVALID_HANDLE"
    "30001" = "system INVALID_ARGUMENT"
    "30002" = "system OPERATION_FAILED"
    "30010" = "system MALFORMED_BINARY: a truncated file, or no context binary"
  }
}

# What the Linux kernel answers: a negative number, here as 32 bits.
codes "Linux" {
  near = ["rproc", "firmware", "fastrpc", "ioctl", "kernel:"]
  names = {
    "0xfffffffe" = "ENOENT: there is no such file"
    "0xfffffffb" = "EIO: the device did not answer right"
    "0xfffffff4" = "ENOMEM: no memory"
    "0xfffffff3" = "EACCES: this user may not do it"
    "0xfffffff0" = "EBUSY: the device is in use"
    "0xffffffed" = "ENODEV: there is no such device"
    "0xffffffea" = "EINVAL: the driver or the secure world refused it"
    "0xffffffe7" = "ENOTTY: the driver does not know this call"
    "0xffffff98" = "ECONNRESET: the DSP's side ended"
    "0xffffff92" = "ETIMEDOUT: no answer in time"
    "0xffffff91" = "ECONNREFUSED"
  }
}

# runtime/core/error.h of ExecuTorch.
codes "ExecuTorch" {
  near = ["executorch", "of method", "qnnbackend", "xnnpackbackend", "load method"]
  names = {
    "0x01" = "Internal: a delegate or an operator failed"
    "0x02" = "InvalidState"
    "0x10" = "NotSupported"
    "0x11" = "NotImplemented"
    "0x12" = "InvalidArgument: an input has another shape or type than the model's"
    "0x13" = "InvalidType"
    "0x14" = "OperatorMissing: the runner has no kernel for an operator of the model"
    "0x20" = "NotFound: a method or a backend is not in the runner"
    "0x21" = "MemoryAllocationFailed"
    "0x22" = "AccessFailed: the file could not be read"
    "0x23" = "InvalidProgram: the file is no .pte of this release"
    "0x24" = "InvalidExternalData"
    "0x25" = "OutOfResources"
    "0x30" = "DelegateInvalidCompatibility: the delegate is of another release than the exporter"
    "0x31" = "DelegateMemoryAllocationFailed"
    "0x32" = "DelegateInvalidHandle"
  }
}

# What Windows says when it cannot load a library.
codes "Windows loader" {
  near = ["winerror", "loadlibrary", ".dll"]
  names = {
    "2"    = "ERROR_FILE_NOT_FOUND"
    "5"    = "ERROR_ACCESS_DENIED"
    "126"  = "ERROR_MOD_NOT_FOUND: the library, or one that it needs, is not in the searched folders"
    "127"  = "ERROR_PROC_NOT_FOUND: a library that it needs is of another release"
    "193"  = "ERROR_BAD_EXE_FORMAT: the library is for another processor (x64 in an Arm process, or the reverse)"
    "1114" = "ERROR_DLL_INIT_FAILED"
  }
}
