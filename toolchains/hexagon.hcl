# The Hexagon SDK: the compiler for the DSP, the headers of its operating system, libnative for emulation on the host.

toolchain "hexagon" {
  description   = "Hexagon SDK"
  download_page = "https://softwarecenter.qualcomm.com/catalog/item/Hexagon_SDK"
  license       = "free of charge; downloading accepts the license on that page"
  default       = "6.4.0.2"

  # What setup_sdk_env.source sets, and HEXAGON_TOOLS_ROOT, which many makefiles want beside it.
  env "HEXAGON_SDK_ROOT" {
    value = "${root}"
  }
  env "DEFAULT_HEXAGON_TOOLS_ROOT" {
    value = "${root}/${tools}"
  }
  env "HEXAGON_TOOLS_ROOT" {
    value = "${root}/${tools}"
  }
  # Which arch and which tools CMake takes by itself differs between releases: the SDK's own script says it.
  env "DEFAULT_DSP_ARCH" {
    file    = "setup_sdk_env.source"
    pattern = "(?m)^\\s*(?:export\\s+)?DEFAULT_DSP_ARCH=[\"']?(v[0-9]+)[\"']?\\s*$"
    value   = "${match}"
  }
  env "DEFAULT_TOOLS_VARIANT" {
    file    = "setup_sdk_env.source"
    pattern = "(?m)^\\s*(?:export\\s+)?DEFAULT_TOOLS_VARIANT=[\"']?(toolv[0-9]+)[\"']?\\s*$"
    value   = "${match}"
  }

  verify {
    layout = [
      "hexagon_sdk.json",
      "setup_sdk_env.source",
      "incs/stddef",
      "rtos/qurt/computev{arch}/include/qurt",
      "rtos/qurt/computev{arch}/include/posix",
      "tools/HEXAGON_Tools/${tools_version}/Tools/bin/hexagon-clang++",
      "tools/HEXAGON_Tools/${tools_version}/Tools/libnative/include",
    ]
    absent   = ["*/hexagon_sdk.json", "Hexagon_SDK/*/hexagon_sdk.json"] # another SDK that was unpacked into this one
    identity = true
    elf "tools/HEXAGON_Tools/*/Tools/target/hexagon/lib/v*/G0/pic/libc++*.so.1" {
      machine = 164
    }
    elf "ipc/fastrpc/remote/ship/android_aarch64/*.so" {
      machine = 183
    }
  }

  source "archive" {
    urls = [
      "https://softwarecenter.qualcomm.com/api/download/software/sdks/Hexagon_SDK/Linux/Debian/${version}/Hexagon_SDK_Linux.zip",
      "https://apigwx-aws.qualcomm.com/qsc/public/v1/api/download/software/sdks/Hexagon_SDK/Linux/Debian/${version}/Hexagon_SDK_Linux.zip",
    ]
    strip_prefix = "Hexagon_SDK/${version}"
    user_agent   = "Mozilla/5.0"
    case_matters = true # made for Linux
  }
  source "installed" {
    env   = ["HEXAGON_SDK_ROOT"]
    paths = ["~/Qualcomm/Hexagon_SDK/${version}", "/opt/qcom/Hexagon_SDK/${version}", "/local/mnt/workspace/Qualcomm/Hexagon_SDK/${version}"]
  }

  # Releases without an address are to be had with Qualcomm's client and an account only. Which tools came with a release is what
  # people have found in it; an SDK of 5.x is often given others by hand (8.6.02, 8.7.03).

  release "5.4.0" {
    tools_version = "8.7.06"
    note          = "named by its first three numbers, as the makefiles do"
    source "qpm" {
      product = "hexagonsdk5.x"
    }
  }

  release "5.4.1.1" {
    tools_version = "8.7.06"
    source "qpm" {
      product = "hexagonsdk5.x"
    }
  }

  release "5.5.5.0" {
    tools_version = "8.7.06"
    source "qpm" {
      product = "hexagonsdk5.x"
    }
  }

  release "6.0.0" {
    tools_version = "8.7.08"
    note          = "named by its first three numbers; makefiles for v79 want tools 8.8.02 in it, which have to be added with `qpm-cli --extract hexagon8.8 --version 8.8.02.1`"
    source "qpm" {
      product = "hexagonsdk6.x"
    }
  }

  release "6.2.0.1" {
    tools_version = "8.8.06"
    source "qpm" {
      product = "hexagonsdk6.x"
    }
  }

  release "6.3.0.0" {
    tools_version = "8.8.06"
    note          = "nobody has tried the address where hexmage is developed"
    source "archive" { # under another file name than the newer ones
      urls = ["https://apigwx-aws.qualcomm.com/qsc/public/v1/api/download/software/sdks/Hexagon_SDK/Linux/Debian/6.3.0.0/Hexagon_SDK.zip"]
    }
    source "embedded" {}
    fact "address" {
      confidence = "inferred"
      source     = "one course's instructions: zju-aces-aios/OS-2026"
    }
  }

  release "6.4.0.0" {
    tools_version = "19.0.04"
    source "qpm" {
      product = "hexagonsdk6.x"
    }
  }

  release "6.4.0.1" {
    tools_version = "19.0.04"
    source "qpm" {
      product = "hexagonsdk6.x"
    }
  }

  release "6.4.0.2" {
    tools_version = "19.0.04"
    source "archive" { # under another file name than the newer ones
      urls = [
        "https://softwarecenter.qualcomm.com/api/download/software/sdks/Hexagon_SDK/Linux/Debian/6.4.0.2/Hexagon_SDK_lnx.zip",
        "https://apigwx-aws.qualcomm.com/qsc/public/v1/api/download/software/sdks/Hexagon_SDK/Linux/Debian/6.4.0.2/Hexagon_SDK_lnx.zip",
      ]
    }
    source "embedded" {}
  }

  # A third party's archive of what is needed to build, a quarter of the size. Files of a release there can be replaced: the digest is
  # that which several projects pin.
  release "6.4.0.2-trimmed" {
    tools_version = "19.0.04"
    note          = "made by others than Qualcomm, from its SDK; Qualcomm's license is the same"
    source "archive" {
      urls         = ["https://github.com/snapdragon-toolchain/hexagon-sdk/releases/download/v6.4.0.2/hexagon-sdk-v6.4.0.2-amd64-lnx.tar.xz"]
      strip_prefix = "6.4.0.2"
      size         = 706737852
      sha256       = "b4a57a774795cf12da19a777a5d306e970905bf9758a4c4765e5e4593428ae0b"
    }
  }

  release "6.5.0.0" {
    tools_version = "19.0.07" # scripts that have 19.0.04 written into them fail
    source "archive" {
      size   = 3086093891
      sha256 = "668626f75c38ce1ca993768953db9bf4b632753c3e32ed8363a8287e3aaffc9a"
      md5    = "c8dfd97d339043e3ace673dd17677fc6"
    }
  }

  release "6.6.0.0" {
    tools_version = "19.0.07"
  }

  release "6.6.0.0-trimmed" {
    tools_version = "19.0.07"
    note          = "made by others than Qualcomm, from its SDK; Qualcomm's license is the same"
    source "archive" {
      urls         = ["https://github.com/snapdragon-toolchain/hexagon-sdk/releases/download/v6.6.0.0/hexagon-sdk-v6.6.0.0-amd64-lnx.tar.xz"]
      strip_prefix = "6.6.0.0"
      sha256       = "4a916e42c1dab9efdf2e58773f901ea780fa43c907bf054ab76572a3b3d942f4"
    }
  }
}
