# Written by `hexmage lock`: what each release of a toolchain was, to the byte. Commit it.

locked "buildgrid" "3.13" {
  source = "python"
  asked  = "5d123bb9cad0e21362e96aec8127adfca6d318647b7951e0e25ed391703644d2"
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
  wheel "boto3" {
    version = "1.44.7"
    file    = "boto3-1.44.7-py3-none-any.whl"
    size    = 140157
    sha256  = "15fac273416d37cd5e3f0c02b33fd8d7f27d3e64c5f64b911f8b953772302609"
    licence "boto3-1.44.7.dist-info/LICENSE" {
      sha256 = "0d542e0c8804e39aa7f37eb00da5a762149dc682d7829451287e11b938e94594"
    }
    licence "boto3-1.44.7.dist-info/NOTICE" {
      sha256 = "04fb1e61484a7810f1ba09bb42bc01ca58c9af33927d7c5a21556e4c4d1c7fa4"
    }
  }
  wheel "botocore" {
    version = "1.44.7"
    file    = "botocore-1.44.7-py3-none-any.whl"
    size    = 16741609
    sha256  = "56ec7cf3a7c0012c7e105c8f498c67077afa722df916dbdbe667b584fe7e5f99"
    licence "botocore-1.44.7.dist-info/LICENSE.txt" {
      sha256 = "0d542e0c8804e39aa7f37eb00da5a762149dc682d7829451287e11b938e94594"
    }
    licence "botocore-1.44.7.dist-info/NOTICE" {
      sha256 = "1d1c5a6f3d68cb11f4fad1afa86a7450d0286f15c176ef0ea048f255b46d95b0"
    }
  }
  wheel "buildgrid" {
    version = "0.9.1"
    file    = "buildgrid-0.9.1-py3-none-any.whl"
    size    = 701203
    sha256  = "05ce2e62d9f615cfbbc74bfb77dc0290c48cbf97f81e5bb90de3caf255ee7113"
    licence "buildgrid-0.9.1.dist-info/licenses/LICENSE" {
      sha256 = "b306b756cec68002da1bda7e7b4e4cf962e485dfd4f5092769c364c9567ce710"
    }
  }
  wheel "cachetools" {
    version = "8.0.2"
    file    = "cachetools-8.0.2-py3-none-any.whl"
    size    = 19334
    sha256  = "502bf3c17c6e35d78ccdaa70da8c7001b28634541f5cde0dee33c93bb252277d"
    licence "cachetools-8.0.2.dist-info/licenses/LICENSE" {
      sha256 = "28c000b52b0ee27138a68ef778227e4057046e86b65f62f1cacb99b0cc49e0d2"
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
  wheel "cffi" {
    version = "2.1.1"
    file    = "cffi-2.1.1-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 221824
    sha256  = "a931079504ecc49efed7744c476a5c343a92fabf66dec2db95edb1b2fdc770e2"
    licence "cffi-2.1.1.dist-info/licenses/LICENSE" {
      sha256 = "5ba24ddc57067f9249add644c3afc41a5d6dc37e23433ef759d95df370b0af63"
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
  wheel "cryptography" {
    version = "50.0.2"
    file    = "cryptography-50.0.2-cp311-abi3-manylinux_2_34_x86_64.whl"
    size    = 4752576
    sha256  = "9dab55f57c74c3cad24c323bacbbd04be4705ba6eb0d92e920b1fc4837ed5079"
    licence "cryptography-50.0.2.dist-info/licenses/LICENSE" {
      sha256 = "3e0c7c091a948b82533ba98fd7cbb40432d6f1a9acbf85f5922d2f99a93ae6bb"
    }
    licence "cryptography-50.0.2.dist-info/licenses/LICENSE.APACHE" {
      sha256 = "aac73b3148f6d1d7111dbca32099f68d26c644c6813ae1e4f05f6579aa2663fe"
    }
    licence "cryptography-50.0.2.dist-info/licenses/LICENSE.BSD" {
      sha256 = "602c4c7482de6479dd2e9793cda275e5e63d773dacd1eca689232ab7008fb4fb"
    }
  }
  wheel "dnspython" {
    version = "2.9.2"
    file    = "dnspython-2.9.2-py3-none-any.whl"
    size    = 360455
    sha256  = "af15f7d385a6ae2fb35a796fde2138004c8c42c7389090e2addc83e3b3340fd8"
    licence "dnspython-2.9.2.dist-info/licenses/LICENSE" {
      sha256 = "c3ea3ff5654b329c19d3bc5f7481af623c3dded4a6145585499f843ad3d741cd"
    }
  }
  wheel "grpcio" {
    version = "1.85.3"
    file    = "grpcio-1.85.3-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 7362466
    sha256  = "9d20015c0dfc91de7a9a037cc84c7a174e8fe62e6427f563f1e2e35ca10f3798"
    licence "grpcio-1.85.3.dist-info/licenses/LICENSE" {
      sha256 = "58c86a3f2b5cca0ebdf9ed3e7f4e6dc38e3b38796d8c3dc92064c62a4e39d0dd"
    }
  }
  wheel "grpcio-health-checking" {
    version = "1.85.1"
    file    = "grpcio_health_checking-1.85.1-py3-none-any.whl"
    size    = 20011
    sha256  = "05e1cb0cc69706f89e884d219c9b2b9da4f561c1c610e9987ee4492b9c826ad1"
    licence "grpcio_health_checking-1.85.1.dist-info/licenses/LICENSE" {
      sha256 = "58c86a3f2b5cca0ebdf9ed3e7f4e6dc38e3b38796d8c3dc92064c62a4e39d0dd"
    }
  }
  wheel "grpcio-reflection" {
    version = "1.85.1"
    file    = "grpcio_reflection-1.85.1-py3-none-any.whl"
    size    = 22987
    sha256  = "476f98ec652a5d69f837781ef44c9ff65ebc116e58a6c1dc7712526ac071262a"
    licence "grpcio_reflection-1.85.1.dist-info/licenses/LICENSE" {
      sha256 = "58c86a3f2b5cca0ebdf9ed3e7f4e6dc38e3b38796d8c3dc92064c62a4e39d0dd"
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
  wheel "janus" {
    version = "2.0.0"
    file    = "janus-2.0.0-py3-none-any.whl"
    size    = 12161
    sha256  = "7e6449d34eab04cd016befbd7d8c0d8acaaaab67cb59e076a69149f9031745f9"
    licence "janus-2.0.0.dist-info/LICENSE" {
      sha256 = "8b177cccb6ddec12a9fc97bd49e7e2bbcd92464625624bd8bdbfad799ae606e9"
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
  wheel "jmespath" {
    version = "1.1.0"
    file    = "jmespath-1.1.0-py3-none-any.whl"
    size    = 20419
    sha256  = "a5663118de4908c91729bea0acadca56526eb2698e83de10cd116ae0f4e97c64"
    licence "jmespath-1.1.0.dist-info/LICENSE" {
      sha256 = "6eefacfa4d71b82d08408c751470ac8d9854538da2142cb27be0287fb13d0ab9"
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
  wheel "lark" {
    version = "1.3.1"
    file    = "lark-1.3.1-py3-none-any.whl"
    size    = 113151
    sha256  = "c629b661023a014c37da873b4ff58a817398d12635d3bbb2c5a03be7fe5d1e12"
    licence "lark-1.3.1.dist-info/licenses/LICENSE" {
      sha256 = "2eee60f52d4e11357bf89e72b034d050e285e47fda1361e5662fb322ee27d771"
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
  wheel "mmh3" {
    version = "5.3.1"
    file    = "mmh3-5.3.1-cp313-cp313-manylinux1_x86_64.manylinux_2_28_x86_64.manylinux_2_5_x86_64.whl"
    size    = 103129
    sha256  = "931d9d86c66f306e91414e95509af05e5c79bfcbac78218c2ee55c9734000053"
    licence "mmh3-5.3.1.dist-info/licenses/LICENSE" {
      sha256 = "bf3469397307c3081d44d89c1dd72191348d93837ec6f6bd354d6d4ecdcae8e4"
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
  wheel "psycopg" {
    version = "3.3.9"
    file    = "psycopg-3.3.9-py3-none-any.whl"
    size    = 219041
    sha256  = "d2d7d04a1ce6dab4f5b27316bea3b52585cafa2f2d631e5b09dd69823f5c26f6"
    licence "psycopg-3.3.9.dist-info/licenses/LICENSE.txt" {
      sha256 = "e3a994d82e644b03a792a930f574002658412f62407f5fee083f2555c5f23118"
    }
  }
  wheel "psycopg-binary" {
    version = "3.3.9"
    file    = "psycopg_binary-3.3.9-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    size    = 3915163
    sha256  = "180e4a99904d7a77f826fbb6dd16834bb3313675d8a6f055e39742fda00c33dc"
    licence "psycopg_binary-3.3.9.dist-info/licenses/LICENSE.txt" {
      sha256 = "e3a994d82e644b03a792a930f574002658412f62407f5fee083f2555c5f23118"
    }
  }
  wheel "pycparser" {
    version = "3.12"
    file    = "pycparser-3.12-py3-none-any.whl"
    size    = 62600
    sha256  = "a076f3f489b39b43ed13563a1dafe42447445bec2e294154ec5c57fcdda4c85e"
    licence "pycparser-3.12.dist-info/licenses/LICENSE" {
      sha256 = "0a9e78156ae8b96caf1b4f11ac2df424b83de29736f9e757630548a6272fdf90"
    }
  }
  wheel "pycurl" {
    version = "7.49.0"
    file    = "pycurl-7.49.0-cp313-cp313-manylinux_2_28_x86_64.whl"
    size    = 6364307
    sha256  = "0553733d9654a6faf6c672320d68576b07e407b2104c5e7b5569346fcfafa6f3"
    licence "pycurl-7.49.0.dist-info/licenses/COPYING-LGPL" {
      sha256 = "20e50fe7aae3e56378ebf0417d9de904f55a0e61e4df315333e632a4d3555d95"
    }
    licence "pycurl-7.49.0.dist-info/licenses/COPYING-MIT" {
      sha256 = "9dfbea2d787fce7407ec6627578ac9e63efbbafe5570f19318829a7887ef5f2e"
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
  wheel "pyjwt" {
    version = "2.15.1"
    file    = "pyjwt-2.15.1-py3-none-any.whl"
    size    = 33860
    sha256  = "42d59d631f7768a1028a64c7ff581a9bf7519804daf91fc5b6c56e30eec5e193"
    licence "pyjwt-2.15.1.dist-info/licenses/AUTHORS.rst" {
      sha256 = "925ce43461029eedbf558ec0b7cf7fc4b045def5120ebb97937c70814071cf07"
    }
    licence "pyjwt-2.15.1.dist-info/licenses/LICENSE" {
      sha256 = "797a7a20231d4c433e9f1911db1731d06b5828b98f499819a034f7c0f56f5ce5"
    }
  }
  wheel "python-dateutil" {
    version = "2.9.0.post0"
    file    = "python_dateutil-2.9.0.post0-py2.py3-none-any.whl"
    size    = 229892
    sha256  = "a8b2bc7bffae282281c8140a97d3aa9c14da0b136dfe83f850eea9a5f7470427"
    licence "python_dateutil-2.9.0.post0.dist-info/LICENSE" {
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
  wheel "s3transfer" {
    version = "0.19.3"
    file    = "s3transfer-0.19.3-py3-none-any.whl"
    size    = 90252
    sha256  = "24eb7535804306355e31c952a90022bf5b2f9d760f9a11062c7493a217c08553"
    licence "s3transfer-0.19.3.dist-info/LICENSE.txt" {
      sha256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    }
    licence "s3transfer-0.19.3.dist-info/NOTICE.txt" {
      sha256 = "d8354e0fa7fb762da7bc054a8a6774a0b310dfbbc78006393ee573a0e57612b5"
    }
  }
  wheel "sentry-sdk" {
    version = "2.75.0"
    file    = "sentry_sdk-2.75.0-py3-none-any.whl"
    size    = 555165
    sha256  = "9a10e97de2cbd42ad7e4a6e02a0d5af19de9811eb02445077d41ba14c08e170c"
    licence "sentry_sdk-2.75.0.dist-info/licenses/LICENSE" {
      sha256 = "2a140d660f462812fa290bc740d04633126c5ec45d84b79b569e127b0eeddd0b"
    }
  }
  wheel "six" {
    version = "1.17.0"
    file    = "six-1.17.0-py2.py3-none-any.whl"
    size    = 11050
    sha256  = "4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274"
    licence "six-1.17.0.dist-info/LICENSE" {
      sha256 = "4375ba20e2b9c6c4e7cad2940a628fd90e95cc3d50ee92aae755715d8ba1fbd0"
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
