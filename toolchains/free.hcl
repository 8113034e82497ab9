# Tools that are free to take: compilers, emulators, adb, a shell for the simulated phone. They come as packages of the
# distribution, unpacked without being installed, or from the machine itself where a pipeline says `source = "installed"`.

toolchain "llvm" {
  description   = "clang and lld with the Hexagon and AArch64 back ends"
  download_page = "https://llvm.org"
  default       = "22"

  verify {
    layout = ["usr/bin/clang-22", "usr/bin/clang++-22", "usr/bin/ld.lld-22"]
    run "usr/bin/clang-22" {
      args  = ["--version"]
      match = "clang version (2[0-9]|[3-9][0-9])\\."
    }
    run "usr/bin/clang-22" {
      args  = ["--print-targets"]
      match = "(?s)aarch64.*hexagon"
    }
  }

  release "22" {
    source "deb" {
      only = ["usr/bin/**", "usr/lib/**", "usr/share/doc/**"]
      packages = ["clang-22", "lld-22", "libclang-cpp22", "libllvm22", "libclang-common-22-dev",
        # Libraries that not every machine has.
      "libffi8", "libedit2", "libbsd0", "libz3-4", "libxml2", "libicu72"]
      # The programs look for libraries in usr/lib/llvm-22/lib, where the package of libLLVM puts a link only when installed whole.
      link "usr/lib/llvm-22/lib/libLLVM.so.22.1" {
        to = "../../x86_64-linux-gnu/libLLVM.so.22.1"
      }
      wrap "usr/bin/clang-22" {
        program   = "usr/lib/llvm-22/bin/clang"
        libraries = ["usr/lib/x86_64-linux-gnu"]
      }
      wrap "usr/bin/clang++-22" {
        program   = "usr/lib/llvm-22/bin/clang++"
        libraries = ["usr/lib/x86_64-linux-gnu"]
      }
      wrap "usr/bin/ld.lld-22" {
        program   = "usr/lib/llvm-22/bin/ld.lld"
        libraries = ["usr/lib/x86_64-linux-gnu"]
      }
    }
    source "installed" {
      program "usr/bin/clang-22" {
        names = ["clang-22", "clang-21", "clang-20", "clang"]
      }
      program "usr/bin/clang++-22" {
        names = ["clang++-22", "clang++-21", "clang++-20", "clang++"]
      }
      program "usr/bin/ld.lld-22" {
        names = ["ld.lld-22", "ld.lld-21", "ld.lld-20", "ld.lld"]
      }
    }
  }
}

# NDKs have one of their own, with its other half for phones: a pipeline whose NDK has it is debugged with that.
toolchain "lldb" {
  description   = "LLDB, the debugger, for programs on the simulated phone"
  download_page = "https://lldb.llvm.org"
  default       = "22"

  verify {
    layout = ["usr/bin/lldb-22"]
    run "usr/bin/lldb-22" {
      args  = ["--version"]
      match = "lldb version (2[0-9]|[3-9][0-9])\\."
    }
  }

  release "22" {
    source "deb" {
      only = ["usr/bin/**", "usr/lib/**", "lib/**", "usr/share/doc/**"]
      packages = ["lldb-22", "liblldb-22", "libclang-cpp22", "libllvm22",
        # Libraries that not every machine has.
        "libffi8", "libedit2", "libbsd0", "libmd0", "libz3-4", "libxml2", "libicu72", "libncurses6", "libipt2", "libpython3.11", "libexpat1", "libssl3",
        "libcurl4", "libnghttp2-14", "librtmp1", "libssh2-1", "libpsl5", "libbrotli1", "libldap-2.5-0", "libsasl2-2",
      "libgssapi-krb5-2", "libkrb5-3", "libk5crypto3", "libkrb5support0", "libkeyutils1", "libcom-err2"]
      wrap "usr/bin/lldb-22" {
        program   = "usr/lib/llvm-22/bin/lldb"
        libraries = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"]
      }
    }
    source "installed" {
      program "usr/bin/lldb-22" {
        names = ["lldb-22", "lldb-21", "lldb-20", "lldb"]
      }
    }
  }
}

toolchain "qemu" {
  description   = "user emulation of AArch64 and Hexagon programs"
  download_page = "https://www.qemu.org"
  default       = "7.2"

  verify {
    layout = ["usr/bin/qemu-aarch64-static", "usr/bin/qemu-hexagon-static"]
    run "usr/bin/qemu-aarch64-static" {
      args  = ["--version"]
      match = "qemu-aarch64 version"
    }
    run "usr/bin/qemu-hexagon-static" {
      args  = ["--version"]
      match = "qemu-hexagon version"
    }
  }

  release "7.2" {
    source "deb" {
      packages = ["qemu-user-static"]
      # The package has an emulator for every machine there is: 370 MB, of which two are used.
      only = ["usr/bin/qemu-aarch64-static", "usr/bin/qemu-hexagon-static", "usr/share/doc/**"]
    }
    source "installed" {
      program "usr/bin/qemu-aarch64-static" {
        names = ["qemu-aarch64-static"]
        copy  = true # it goes into the phone's image
      }
      program "usr/bin/qemu-hexagon-static" {
        names = ["qemu-hexagon-static"]
        copy  = true
      }
    }
  }

  # The HVX of v68 and v69, of integers. Of another suite than the distribution's own, which was tried on Debian 12, too: the programs are static.
  release "11.1" {
    verify {
      run "usr/bin/qemu-hexagon-static" {
        args  = ["--version"]
        match = "qemu-hexagon version [1-9][0-9]\\."
      }
    }
    source "deb" {
      suite    = "trixie-backports"
      packages = ["qemu-user"]
      only     = ["usr/bin/qemu-aarch64", "usr/bin/qemu-hexagon", "usr/share/doc/**"]
      link "usr/bin/qemu-aarch64-static" {
        to = "qemu-aarch64"
      }
      link "usr/bin/qemu-hexagon-static" {
        to = "qemu-hexagon"
      }
    }
    source "installed" {
      program "usr/bin/qemu-aarch64-static" {
        names = ["qemu-aarch64-static", "qemu-aarch64"]
        copy  = true
      }
      program "usr/bin/qemu-hexagon-static" {
        names = ["qemu-hexagon-static", "qemu-hexagon"]
        copy  = true
      }
    }
  }
}

toolchain "adb" {
  description   = "the Android Debug Bridge: client and server"
  download_page = "https://developer.android.com/tools/adb"
  default       = "29.0.6"

  verify {
    layout = ["usr/bin/adb"]
    run "usr/bin/adb" {
      args  = ["version"]
      match = "Android Debug Bridge version"
    }
  }

  release "29.0.6" {
    source "deb" {
      packages = ["adb", "android-libbase", "android-libboringssl", "android-libcutils", "android-liblog", "libusb-1.0-0"]
      wrap "usr/bin/adb" {
        program   = "usr/lib/android-sdk/platform-tools/adb"
        libraries = ["usr/lib/x86_64-linux-gnu/android", "usr/lib/x86_64-linux-gnu"]
      }
    }
    source "installed" {
      program "usr/bin/adb" {
        names = ["adb"]
      }
    }
  }

  # Google's own, newer than the distribution's. The digest is that which the guides of a project print that depends on it.
  release "35.0.2" {
    source "archive" {
      urls         = ["https://dl.google.com/android/repository/platform-tools_r35.0.2-linux.zip"]
      strip_prefix = "platform-tools"
      sha256       = "acfdcccb123a8718c46c46c059b2f621140194e5ec1ac9d81715be3d6ab6cd0a"
      link "usr/bin/adb" {
        to = "../../adb"
      }
    }
    source "installed" {
      program "usr/bin/adb" {
        names = ["adb"]
      }
    }
  }
}

# What programs for arm64 Linux load: Qualcomm's runtime is built for it, too. The simulated phone has it where it is asked for.
toolchain "linux_arm64" {
  description   = "C and C++ libraries of arm64 Linux, for the simulated phone"
  download_page = "https://www.debian.org"
  default       = "12"

  verify {
    elf "usr/lib/aarch64-linux-gnu/*.so*" {
      machine = 183
    }
  }

  release "12" {
    verify {
      layout = ["lib/ld-linux-aarch64.so.1"]
      elf "lib/aarch64-linux-gnu/*.so*" {
        machine = 183
      }
    }
    source "deb" {
      architecture = "arm64"
      packages     = ["libc6", "libgcc-s1", "libstdc++6", "libatomic1"]
      only         = ["lib/*.so*", "lib/aarch64-linux-gnu/*.so*", "usr/lib/aarch64-linux-gnu/*.so*", "usr/share/doc/**"]
    }
  }
}

# What programs for arm64 Linux are compiled with, beside a compiler: headers of the C library, without the kernel's, and what they are linked with.
toolchain "linux_arm64_dev" {
  description   = "C headers and start files of arm64 Linux, for programs that are compiled for it"
  download_page = "https://www.debian.org"
  default       = "12"

  verify {
    layout = ["usr/include/stdio.h", "usr/include/aarch64-linux-gnu/bits/types.h", "usr/lib/aarch64-linux-gnu/Scrt1.o", "usr/lib/gcc/aarch64-linux-gnu/12/crtbeginS.o"]
    elf "lib/aarch64-linux-gnu/*.so*" {
      machine = 183
    }
  }

  release "12" {
    source "deb" {
      architecture = "arm64"
      packages     = ["libc6-dev", "libgcc-12-dev", "libc6", "libgcc-s1"]
      only         = ["usr/include/**", "usr/lib/aarch64-linux-gnu/*", "usr/lib/gcc/**", "lib/*.so*", "lib/aarch64-linux-gnu/*.so*", "usr/share/doc/**"]
    }
  }
}

# For tests: a board on this machine. Its users are those of a file that the test writes, which is what nss_wrapper is for.
toolchain "sshd" {
  description   = "OpenSSH's server and client, for tests of boards"
  download_page = "https://www.openssh.com"
  default       = "9.2"

  verify {
    layout = ["usr/sbin/sshd", "usr/bin/ssh", "usr/bin/ssh-keygen", "usr/lib/x86_64-linux-gnu/libnss_wrapper.so"]
  }

  release "9.2" {
    source "deb" {
      packages = ["openssh-server", "openssh-client", "libnss-wrapper", # and libraries that not every machine has
      "libwrap0", "libnsl2", "libtirpc3", "libgssapi-krb5-2", "libkrb5-3", "libk5crypto3", "libkrb5support0", "libkeyutils1", "libssl3"]
      only = ["usr/sbin/sshd", "usr/bin/ssh", "usr/bin/ssh-keygen", "usr/lib/x86_64-linux-gnu/*.so*", "lib/x86_64-linux-gnu/*.so*", "usr/share/doc/**"]
    }
  }
}

toolchain "busybox" {
  description   = "a static shell with the usual tools, for the simulated phone"
  download_page = "https://busybox.net"
  default       = "1.35.0"

  verify {
    layout = ["bin/busybox"]
    run "bin/busybox" {
      match = "BusyBox v"
    }
  }

  release "1.35.0" {
    source "deb" {
      packages = ["busybox-static"]
    }
    source "installed" {
      program "bin/busybox" {
        names = ["busybox"] # has to be a static one
        copy  = true
      }
    }
  }
}

toolchain "make" {
  description   = "GNU make, for building op packages by hand"
  download_page = "https://www.gnu.org/software/make"
  default       = "4.3"

  verify {
    layout = ["usr/bin/make"]
    run "usr/bin/make" {
      args  = ["--version"]
      match = "GNU Make"
    }
  }

  release "4.3" {
    source "deb" {
      packages = ["make"]
    }
    source "installed" {
      program "usr/bin/make" {
        names = ["make", "gmake"]
      }
    }
  }
}

toolchain "ninja" {
  description   = "the Ninja build system, which hexmage is measured against"
  download_page = "https://ninja-build.org"
  default       = "1.11.1"

  verify {
    layout = ["usr/bin/ninja"]
    run "usr/bin/ninja" {
      args  = ["--version"]
      match = "^[0-9]+\\.[0-9]+"
    }
  }

  release "1.11.1" {
    source "deb" {
      packages = ["ninja-build"]
      only     = ["usr/bin/**", "usr/share/doc/**"]
    }
    source "installed" {
      program "usr/bin/ninja" {
        names = ["ninja", "ninja-build"]
      }
    }
  }
}

toolchain "unzip" {
  description   = "Info-ZIP's unzip, which hexmage's unpacking is measured against"
  download_page = "https://infozip.sourceforge.net"
  default       = "6.0"

  verify {
    layout = ["usr/bin/unzip"]
    run "usr/bin/unzip" {
      args  = ["-v"]
      match = "^UnZip 6"
    }
  }

  release "6.0" {
    source "deb" {
      packages = ["unzip"] # its libbz2 is dpkg's too
      only     = ["usr/bin/unzip", "usr/share/doc/**"]
    }
    source "installed" {
      program "usr/bin/unzip" {
        names = ["unzip"]
      }
    }
  }
}

toolchain "zsh" {
  description   = "zsh, for tests of its completion"
  download_page = "https://www.zsh.org"
  default       = "5.9"

  verify {
    layout = ["bin/zsh", "usr/lib/x86_64-linux-gnu/zsh/5.9/zsh/zle.so", "usr/share/zsh/functions/Completion/compinit"]
  }

  release "5.9" {
    source "deb" {
      packages = ["zsh", "zsh-common", "libcap2", "libtinfo6"]
      only     = ["bin/zsh", "usr/lib/**", "lib/**", "usr/share/zsh/**", "usr/share/doc/**"]
    }
  }
}

toolchain "fish" {
  description   = "fish, for tests of its completion"
  download_page = "https://fishshell.com"
  default       = "3.6.0"

  verify {
    layout = ["usr/bin/fish", "usr/share/fish/config.fish", "usr/lib/x86_64-linux-gnu/libpcre2-32.so.0"]
  }

  release "3.6.0" {
    source "deb" {
      packages = ["fish", "fish-common", "libpcre2-32-0", "libstdc++6", "libgcc-s1", "libtinfo6"]
      only     = ["usr/bin/fish", "usr/lib/**", "lib/**", "etc/fish/**", "usr/share/fish/**", "usr/share/doc/**"]
      link "usr/etc" { # where fish looks for what belongs to it, seen from its program
        to = "../etc"
      }
    }
  }
}

toolchain "debootstrap" {
  description   = "debootstrap, which makes root file systems of Debian, for tests of releases"
  download_page = "https://wiki.debian.org/Debootstrap"
  default       = "1.0.128"

  verify {
    layout = ["usr/sbin/debootstrap", "usr/share/debootstrap/scripts/bookworm", "usr/share/debootstrap/scripts/trixie"]
  }

  release "1.0.128" {
    source "deb" {
      packages = ["debootstrap"]
    }
  }
}
