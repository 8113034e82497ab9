# A third party's package with Qualcomm's runtime for arm64 Linux: CPU and HTP of QAIRT 2.48.0, laid out like an SDK, with the skels of every arch. It
# has no text of Qualcomm's license, which holds all the same: QAIRT's. For tests on the simulated phone it is a second build beside htp_linux_arm64, and
# the one that has the CPU backend; for a product take Qualcomm's own packages.

toolchain "qnnruntime" {
  description   = "Qualcomm's QNN runtime for arm64 Linux, of a third party: CPU, HTP, skels"
  license       = "QAIRT's; the package has no text of it"
  download_page = "https://softwarecenter.qualcomm.com/catalog/item/Qualcomm_AI_Runtime_Community"
  default       = "2.48.0.2"

  push_set "htp_runtime" {
    for_each = "arch"
    files = {
      "libQnnHtp.so"            = "qnnruntime/.libs/libQnnHtp.so"
      "libQnnSystem.so"         = "qnnruntime/.libs/libQnnSystem.so"
      "libQnnHtpV{arch}Stub.so" = "qnnruntime/.libs/libQnnHtpV{arch}Stub.so"
      "libQnnHtpV{arch}Skel.so" = "qnnruntime/.libs/hexagon-v{arch}/unsigned/libQnnHtpV{arch}Skel.so"
    }
  }
  push_set "cpu_runtime" {
    files = {
      "libQnnCpu.so" = "qnnruntime/.libs/libQnnCpu.so"
    }
  }

  verify {
    layout = ["qnnruntime/.libs/libQnnCpu.so", "qnnruntime/.libs/libQnnHtp.so", "qnnruntime/.libs/libQnnSystem.so"]
    elf "qnnruntime/.libs/*.so" {
      machine = 183
    }
    elf "qnnruntime/.libs/hexagon-v*/unsigned/*.so" {
      machine = 164
    }
    build_id {
      files = ["qnnruntime/.libs/libQnn*.so", "qnnruntime/.libs/hexagon-v*/unsigned/libQnn*.so"]
    }
  }

  release "2.48.0.2" {
    build_id = "v2.48.0.260626120635"
    arches   = ["v68", "v69", "v73", "v75", "v79", "v81"]
    source "pypi" {
      project = "qnnruntime"
      tags    = "cp311-cp311-manylinux_2_34_aarch64" # the libraries are the same for every Python
    }
  }
}
