# The vendor's SDK of the release that ExecuTorch was built against. Another one's structures are laid out differently.

profile "device" {
  toolchain "qairt" { version = "2.37.0.250724" }
  locals { libraries = "${toolchain.qairt.dir}/lib/x86_64-linux-clang" }
}
