# Written by `hexmage lock`: what each release of a toolchain was, to the byte. Commit it.

locked "adb" "29.0.6" {
  source = "deb"
  package "adb" {
    version = "1:29.0.6-28"
    arch    = "amd64"
    size    = 193808
    sha256  = "a12693b0fab2edd8389017ce4589f59d11770dcdb585f090f3eff26f4a7d2dbc"
  }
  package "android-libbase" {
    version = "1:29.0.6-28"
    arch    = "amd64"
    size    = 46332
    sha256  = "c651582c9beb229b6a4581eef5d03796293aa2da3b602eafc5427b198060819f"
  }
  package "android-libboringssl" {
    version = "13.0.0+r24-2"
    arch    = "amd64"
    size    = 675736
    sha256  = "638b90834022a5dfe46c13778481d1d22b9b54eabee26a7bddf83253c14c009b"
  }
  package "android-libcutils" {
    version = "1:29.0.6-28"
    arch    = "amd64"
    size    = 34800
    sha256  = "12ac0a99beb683269d77af09bf80ddd7b8c428fda442c05070ea3ff50429718c"
  }
  package "android-liblog" {
    version = "1:29.0.6-28"
    arch    = "amd64"
    size    = 40340
    sha256  = "d495761ec2dc87070f6ac75c771d221d05e2be387cbaeab7e7c7fcd740ce4ce2"
  }
  package "libusb-1.0-0" {
    version = "2:1.0.26-1"
    arch    = "amd64"
    size    = 62592
    sha256  = "0a8a6c4a7d944538f2820cbde2a313f2fe6f94c21ffece9e6f372fc2ab8072e1"
  }
}

locked "busybox" "1.35.0" {
  source = "deb"
  package "busybox-static" {
    version = "1:1.35.0-4+deb12u1+b1"
    arch    = "amd64"
    size    = 928188
    sha256  = "3d3fdbe91d4660c873e14b092c213fe81c1da6362daa236eb25d0171eb108744"
  }
}

locked "entr" "5.3" {
  source = "deb"
  package "entr" {
    version = "5.3-1"
    arch    = "amd64"
    size    = 20184
    sha256  = "e9957575661799937129517e672067b64fcfe23e69500f9e33d1d2b0b6abc079"
  }
  package "libbsd0" {
    version = "0.11.7-2"
    arch    = "amd64"
    size    = 117416
    sha256  = "bb31cc8b40f962a85b2cec970f7f79cc704a1ae4bad24257a822055404b2c60b"
  }
  package "libmd0" {
    version = "1.0.4-2"
    arch    = "amd64"
    size    = 29456
    sha256  = "03539fd30c509e27101d13a56e52eda9062bdf1aefe337c07ab56def25a13eab"
  }
}

locked "hexagon" "6.4.0.2" {
  source = "embedded"
  size   = 25949
  sha256 = "ef0293c4755f659e6522816e78621774716f284afa930b9987af98f3164eb61c"
}

locked "llvm" "22" {
  source = "deb"
  package "clang-22" {
    version = "1:22.1.8-1~deb12u1"
    arch    = "amd64"
    size    = 173508
    sha256  = "b6ffc4ffae2bf3d0757bab0623701060b30f5bb59e7ba4123d66b56fbb91362a"
  }
  package "lld-22" {
    version = "1:22.1.8-1~deb12u1"
    arch    = "amd64"
    size    = 1487860
    sha256  = "13103b3fb3195bfeade9835d3906a4cc91002010f9013d98aa1fc55b841d07b4"
  }
  package "libclang-cpp22" {
    version = "1:22.1.8-1~deb12u1"
    arch    = "amd64"
    size    = 13222636
    sha256  = "662a8497190dd6cebaee2ac9421ed9d91cb1199eeabd154eafc4b5c1ac01d4b3"
  }
  package "libllvm22" {
    version = "1:22.1.8-1~deb12u1"
    arch    = "amd64"
    size    = 29378692
    sha256  = "729ec3e943d320515c2bbdc96acfffd7ce34861e62bd5c42726bf586d644dfe2"
  }
  package "libclang-common-22-dev" {
    version = "1:22.1.8-1~deb12u1"
    arch    = "amd64"
    size    = 805660
    sha256  = "833d7559bfbe169d7927dfe151cae48bf352da5202e36034a206688ae33f9031"
  }
  package "libffi8" {
    version = "3.4.4-1"
    arch    = "amd64"
    size    = 22856
    sha256  = "6d9f6c25c30efccce6d4bceaa48ea86c329a3432abb360a141f76ac223a4c34a"
  }
  package "libedit2" {
    version = "3.1-20221030-2"
    arch    = "amd64"
    size    = 92992
    sha256  = "1cf14abf2716d3279db12d0657a5737cf70074a1e71d3bdf73206625e3c89ce6"
  }
  package "libbsd0" {
    version = "0.11.7-2"
    arch    = "amd64"
    size    = 117416
    sha256  = "bb31cc8b40f962a85b2cec970f7f79cc704a1ae4bad24257a822055404b2c60b"
  }
  package "libz3-4" {
    version = "4.8.12-3.1"
    arch    = "amd64"
    size    = 7216172
    sha256  = "6221ca25ad5abcfbe1965801029d85a88b4775320384b4b716de8fab7a4d2f7a"
  }
  package "libxml2" {
    version = "2.9.14+dfsg-1.3~deb12u6"
    arch    = "amd64"
    size    = 688760
    sha256  = "4460e39dda10a815881374217cde08474747cfa018358cd8612c14b390eff53b"
  }
  package "libicu72" {
    version = "72.1-3+deb12u1"
    arch    = "amd64"
    size    = 9376124
    sha256  = "f7f6f99c6d7b025914df2447fc93e11d22c44c0c8bdd8b6f36691c9e7ddcef88"
  }
}

locked "make" "4.3" {
  source = "deb"
  package "make" {
    version = "4.3-4.1"
    arch    = "amd64"
    size    = 395632
    sha256  = "a1a83af8cbd854af887b72ad196b1f4af58387815e21ced1000253a116a46e2a"
  }
}

locked "mllm" "1" {
  source = "embedded"
  size   = 97875
  sha256 = "f946a9e111d8f3ffe88dd946d9dfc90b5b3eafb4b2ed2df65bf7a980011918c6"
}

locked "ndk" "r28b" {
  source = "embedded"
  size   = 17323
  sha256 = "b4f887b120b248f89c66c7f1a8dd7bef2e3f363a19995522f179744627794d90"
}

locked "ninja" "1.11.1" {
  source = "deb"
  package "ninja-build" {
    version = "1.11.1-2~deb12u1"
    arch    = "amd64"
    size    = 134996
    sha256  = "e75fe14ee81334f52efe955aaaddac07d26f117bac60488ea19ea7a8b564e62c"
  }
}

locked "qairt" "2.31.0.250130" {
  source = "embedded"
  size   = 85118
  sha256 = "f9418f7bac17efebc47d8795e0a68500df3f78391b5468a6c5db2066d90ad530"
}

locked "qairt" "2.41.0.251128" {
  source = "embedded"
  size   = 85054
  sha256 = "75b35e2b22a876fe42b6292cf5ed6b406e15647fe252a988ff900cbf7b4e35a8"
}

locked "qemu" "7.2" {
  source = "deb"
  package "qemu-user-static" {
    version = "1:7.2+dfsg-7+deb12u18+b3"
    arch    = "amd64"
    size    = 62603724
    sha256  = "c3e3ba2bd87f8c5b9a5da5ef21b5a3b82d7c63b89dd448d9ddaa4eabc5b6e402"
  }
}

locked "unzip" "6.0" {
  source = "deb"
  package "unzip" {
    version = "6.0-28+deb12u1"
    arch    = "amd64"
    size    = 166504
    sha256  = "1c27c879f4f7f056499c5393d422fd6c77ff6fbfa450c3f91f2f205ca788cc36"
  }
}
