# Public packages have libraries of a later release than ExecuTorch was built against: ExecuTorch fails
# (docs/executorch.md).

profile "emulator" {
  toolchain "htp_host" {}
  locals { libraries = "${toolchain.htp_host.dir}/onnxruntime_qnn" }

  check "release" {
    condition     = false
    error_message = "ExecuTorch 1.5.1 needs QAIRT 2.37, but public packages contain only libraries of a later release, which reject it. Use --profile device."
  }
}
