# The QAIRT release that ExecuTorch was built against: other releases have other structures.

profile "device" {
  toolchain "qairt" { version = "2.37.0.250724" }
  locals { libraries = "${toolchain.qairt.dir}/lib/x86_64-linux-clang" }
}
