# The vendor's libraries in public packages are of a later release than ExecuTorch was built against: it fails with what they say (docs/fallback.md), until an
# ExecuTorch comes that was built against theirs.

profile "emulator" {
  toolchain "htp_host" {}
  locals { libraries = "${toolchain.htp_host.dir}/onnxruntime_qnn" }
}
