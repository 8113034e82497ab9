# Public packages have libraries of a later release than ExecuTorch was built against: ExecuTorch fails
# (docs/executorch.md).

profile "emulator" {
  toolchain "htp_host" {}
  locals { libraries = "${toolchain.htp_host.dir}/onnxruntime_qnn" }
}
