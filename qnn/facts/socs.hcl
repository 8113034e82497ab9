# SoCs with an HTP. soc_model is QNN's number (Qnn_SocModel_t). soc_ids are Android's numbers in /sys/devices/soc0/soc_id, which
# always differ from soc_model. vtcm_mb 0 means not published. min_sdk is the first supporting QAIRT SDK in executorch's list;
# Qualcomm does not publish it. seen_sdk is the oldest SDK seen to support the SoC, if the first is not published. lpai is the
# version of the low-power AI core.

fact "soc" "soc_model" {
  confidence = "documented"
  source     = "QNN: Qnn_SocModel_t"
}

fact "soc" "arch" {
  confidence = "documented"
  source     = "QNN: supported devices"
}

fact "soc" "vtcm_mb" {
  confidence = "observed"
  source     = "executorch#9084; executorch: devices and versions"
}

# Peak memory bandwidth of phones with the SoC: twice the fastest clock, on all channels. A phone may have slower memory, and the
# NPU gets only a part of the bandwidth.
fact "soc" "bandwidth_gbs" {
  confidence = "inferred"
  source     = "a third party's table of Qualcomm's product pages (gist.github.com, EwoutH, 754fa40a)"
}

fact "soc" "soc_ids" {
  confidence = "observed"
  source     = "QAIRT's own table of Android's numbers; executorch: devices and versions"
}

fact "soc" "lpai" {
  confidence = "observed"
  source     = "executorch: devices and versions"
}

fact "soc" "missing_features" {
  confidence = "observed"
  source     = "executorch#22542: The SocModel doesn't support FP16"
}

fact "soc" "min_sdk" {
  confidence = "inferred"
  source     = "executorch: devices and versions"
}

fact "soc" "seen_sdk" {
  confidence = "observed"
  source     = "the name that the compiler of QAIRT 2.51 writes for the number"
}

soc "SM8350" {
  marketing_name = "Snapdragon 888"
  arch           = "v68"
  soc_model      = 30
  vtcm_mb        = 4
  soc_ids        = [415]
  min_sdk        = "2.14"
  aliases        = ["SM8350P"]
}

soc "SM7325" {
  marketing_name = "Snapdragon 778G"
  arch           = "v68"
  soc_model      = 35
  seen_sdk       = "2.25"
  vtcm_mb        = 2
  soc_ids        = [475]
  # Some third-party tables have 35 for SM8350 instead of 30.
  # VTCM: by rwkv-qualcomm; executorch does not list the SoC.
  fact "seen_sdk" {
    confidence = "documented"
    source     = "Qualcomm: supported Snapdragon devices, QAIRT 2.25"
  }
}

soc "SM8325" {
  arch      = "v68"
  soc_model = 34
  seen_sdk  = "2.25"
  vtcm_mb   = 4
  soc_ids   = [501]
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "seen_sdk" {
    confidence = "documented"
    source     = "Qualcomm: supported Snapdragon devices, QAIRT 2.25"
  }
}

soc "SM7350" {
  marketing_name = "Snapdragon 780G"
  arch           = "v68"
  soc_model      = 32
  seen_sdk       = "2.25"
  vtcm_mb        = 2
  soc_ids        = [450]
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "seen_sdk" {
    confidence = "documented"
    source     = "Qualcomm: supported Snapdragon devices, QAIRT 2.25"
  }
}

soc "QCM6490" {
  marketing_name = "Dragonwing QCM6490"
  arch           = "v68"
  soc_model      = 93
  vtcm_mb        = 2
  soc_ids        = [497, 498]
  min_sdk        = "2.37"
  aliases        = ["QCS6490"]
  note           = "sources disagree about soc_model: 93 in newer lists (executorch, LiteRT), 35 in the documentation of QAIRT 2.25"
}

soc "SA8295" {
  marketing_name = "Automotive"
  arch           = "v68"
  soc_model      = 39
  vtcm_mb        = 8
  min_sdk        = "2.14"
  aliases        = ["SA8295P"]
}

soc "SA8540" {
  marketing_name = "Automotive"
  arch           = "v68"
  soc_model      = 62
  vtcm_mb        = 8
  seen_sdk       = "2.51"
  fact "arch" {
    confidence = "observed"
    source     = "executorch: qc_schema.py; what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "observed"
    source     = "executorch: qc_schema.py; what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "SC8280X" {
  marketing_name = "Snapdragon 8cx Gen 3"
  arch           = "v68"
  soc_model      = 37
  seen_sdk       = "2.25"
  vtcm_mb        = 4
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "seen_sdk" {
    confidence = "documented"
    source     = "Qualcomm: supported Snapdragon devices, QAIRT 2.25"
  }
}

soc "SM8450" {
  marketing_name = "Snapdragon 8 Gen 1"
  arch           = "v69"
  soc_model      = 36
  vtcm_mb        = 8
  soc_ids        = [457, 482]
  min_sdk        = "2.14"
}

soc "SM8475" {
  marketing_name = "Snapdragon 8+ Gen 1"
  arch           = "v69"
  soc_model      = 42
  vtcm_mb        = 8
  soc_ids        = [530]
  min_sdk        = "2.14"
  note           = "asked for this SoC, the compiler of QAIRT 2.51 compiles for v68"
}

soc "SM7450" {
  marketing_name = "Snapdragon 7 Gen 1"
  arch           = "v69"
  soc_model      = 41
  seen_sdk       = "2.25"
  soc_ids        = [506]
  note           = "asked for this SoC, the compiler of QAIRT 2.51 compiles for v68"
  fact "seen_sdk" {
    confidence = "documented"
    source     = "Qualcomm: supported Snapdragon devices, QAIRT 2.25"
  }
}

soc "SM7475" {
  marketing_name = "Snapdragon 7+ Gen 2"
  arch           = "v69"
  soc_model      = 54
  seen_sdk       = "2.25"
  bandwidth_gbs  = 25.6
  soc_ids        = [591]
  note           = "asked for this SoC, the compiler of QAIRT 2.51 compiles for v68"
  fact "seen_sdk" {
    confidence = "documented"
    source     = "Qualcomm: supported Snapdragon devices, QAIRT 2.25"
  }
}

soc "SXR2230P" {
  marketing_name = "Snapdragon XR2 Gen 2"
  arch           = "v69"
  soc_model      = 53
  vtcm_mb        = 8
  soc_ids        = [549]
  min_sdk        = "2.37"
}

soc "SM8550" {
  marketing_name = "Snapdragon 8 Gen 2"
  arch           = "v73"
  soc_model      = 43
  vtcm_mb        = 8
  soc_ids        = [519, 536]
  min_sdk        = "2.23"
  bandwidth_gbs  = 67.2
}

soc "QCS8550" {
  marketing_name = "Dragonwing QCS8550"
  arch           = "v73"
  soc_model      = 66
  seen_sdk       = "2.47"
  vtcm_mb        = 8
  aliases        = ["QCM8550", "QCM8550LA", "QCM8550LE"]
  fact "arch" {
    confidence = "documented"
    source     = "Qualcomm 80-63442-2: supported Snapdragon devices"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "seen_sdk" {
    confidence = "inferred"
    source     = "LiteRT: table of SoCs after the documentation of QAIRT 2.47"
  }
}

soc "SM8635" {
  marketing_name   = "Snapdragon 8s Gen 3"
  arch             = "v73"
  soc_model        = 68
  seen_sdk         = "2.25"
  vtcm_mb          = 4 # a draft, executorch#19216, says 8
  bandwidth_gbs    = 67.2
  missing_features = ["fp16"]
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "seen_sdk" {
    confidence = "documented"
    source     = "Qualcomm: supported Snapdragon devices, QAIRT 2.25"
  }
}

soc "SM7675" {
  marketing_name   = "Snapdragon 7+ Gen 3"
  arch             = "v73"
  soc_model        = 70
  seen_sdk         = "2.25"
  vtcm_mb          = 4
  bandwidth_gbs    = 67.2
  missing_features = ["fp16"]
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "seen_sdk" {
    confidence = "documented"
    source     = "Qualcomm: supported Snapdragon devices, QAIRT 2.25"
  }
}

soc "SM6450" {
  marketing_name = "Snapdragon 6 Gen 1"
  arch           = "v73"
  soc_model      = 50
  seen_sdk       = "2.25"
  soc_ids        = [537]
  note           = "asked for this SoC, the compiler of QAIRT 2.51 compiles for v68"
  fact "seen_sdk" {
    confidence = "documented"
    source     = "Qualcomm: supported Snapdragon devices, QAIRT 2.25"
  }
}

soc "SM7435" {
  marketing_name = "Snapdragon 7s Gen 2"
  arch           = "v73"
  soc_model      = 61
  seen_sdk       = "2.47"
  note           = "asked for this SoC, the compiler of QAIRT 2.51 compiles for v68"
  fact "arch" {
    confidence = "inferred"
    source     = "LiteRT: supported_soc.csv"
  }
  fact "seen_sdk" {
    confidence = "inferred"
    source     = "LiteRT: table of SoCs after the documentation of QAIRT 2.47"
  }
}

soc "SM7635" {
  marketing_name = "Snapdragon 7s Gen 3" # of common knowledge
  arch           = "v73"
  soc_model      = 73
  seen_sdk       = "2.51"
  vtcm_mb        = 2
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "SM8735" {
  marketing_name = "Snapdragon 8s Gen 4"
  arch           = "v73"
  soc_model      = 85
  seen_sdk       = "2.51"
  vtcm_mb        = 8
  note           = "a draft says v79 (executorch#19216); rwkv-qualcomm and the compiler of QAIRT 2.51 say v73"
  fact "arch" {
    confidence = "observed"
    source     = "what the compiler of QAIRT 2.51 targets for the number; rwkv-qualcomm"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "SC8380XP" {
  marketing_name = "Snapdragon X Elite"
  arch           = "v73"
  soc_model      = 60
  seen_sdk       = "2.25"
  vtcm_mb        = 8
  aliases        = ["X1E80100"]
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "seen_sdk" {
    confidence = "documented"
    source     = "Qualcomm: supported Snapdragon devices, QAIRT 2.25"
  }
}

soc "SA8255" {
  marketing_name = "Automotive"
  arch           = "v73"
  soc_model      = 52
  vtcm_mb        = 8
  min_sdk        = "2.37"
  aliases        = ["SA8775", "SA8650", "SA8630"]
}

soc "QCS9100" {
  marketing_name = "Dragonwing IQ-9075"
  arch           = "v73"
  soc_model      = 77
  vtcm_mb        = 8
  min_sdk        = "2.37"
  aliases        = ["QCS9075"]
}

soc "SSG2115P" {
  marketing_name = "Snapdragon AR1 Gen 1"
  arch           = "v73"
  soc_model      = 46
  vtcm_mb        = 2
  soc_ids        = [554]
  min_sdk        = "2.37"
  aliases        = ["SAR2130P"]
  note           = "asked for this SoC, the compiler of QAIRT 2.51 compiles for v68"
}

soc "SSG2125P" {
  marketing_name = "Snapdragon AR2 Gen 1"
  arch           = "v73"
  soc_model      = 58
  vtcm_mb        = 2
  soc_ids        = [579]
  min_sdk        = "2.37"
  aliases        = ["SAR1130P"]
  note           = "asked for this SoC, the compiler of QAIRT 2.51 compiles for v68"
}

soc "SXR1230P" {
  arch      = "v73"
  soc_model = 45
  vtcm_mb   = 2
  soc_ids   = [525]
  min_sdk   = "2.37"
  note      = "asked for this SoC, the compiler of QAIRT 2.51 compiles for v68"
}

soc "SM8650" {
  marketing_name = "Snapdragon 8 Gen 3"
  arch           = "v75"
  soc_model      = 57
  vtcm_mb        = 8
  soc_ids        = [557]
  min_sdk        = "2.23"
  bandwidth_gbs  = 76.8
}

soc "SA8620P" {
  marketing_name = "Automotive"
  arch           = "v75"
  soc_model      = 67
  seen_sdk       = "2.47"
  vtcm_mb        = 8
  note           = "the arch is that of SA7255 and LiteRT's table; QNN's own list omits the SoC"
  aliases        = ["SA7255", "SA8610", "SA8620"]
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "seen_sdk" {
    confidence = "inferred"
    source     = "LiteRT: table of SoCs after the documentation of QAIRT 2.47"
  }
}

soc "QCS8300" {
  marketing_name = "Dragonwing IQ-8275"
  arch           = "v75"
  soc_model      = 82
  seen_sdk       = "2.47"
  vtcm_mb        = 8
  soc_ids        = [675]
  aliases        = ["QCS8275"]
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "seen_sdk" {
    confidence = "inferred"
    source     = "LiteRT: table of SoCs after the documentation of QAIRT 2.47"
  }
}

soc "SM8750" {
  marketing_name = "Snapdragon 8 Elite"
  arch           = "v79"
  soc_model      = 69
  vtcm_mb        = 8
  soc_ids        = [618, 639]
  min_sdk        = "2.37"
  lpai           = "v5"
  aliases        = ["SM8750P"]
  bandwidth_gbs  = 84.8
  fact "bandwidth_gbs" {
    confidence = "inferred"
    source     = "LPDDR5X at 5300 MHz, geektopia.es on 2024-10-22"
  }
}

soc "SXR2330P" {
  arch      = "v79"
  soc_model = 75
  vtcm_mb   = 8
  min_sdk   = "2.37"
}

soc "SM8850" {
  marketing_name = "Snapdragon 8 Elite Gen 5"
  arch           = "v81"
  soc_model      = 87
  vtcm_mb        = 8
  soc_ids        = [660, 661, 722, 723, 743]
  min_sdk        = "2.42"
  aliases        = ["SM8850P", "SM8847", "SM8847P", "SG8450P"]
  lpai           = "v6"
  bandwidth_gbs  = 84.8
  fact "bandwidth_gbs" {
    confidence = "inferred"
    source     = "LPDDR5X at 5300 MHz, lowyat.net in 2025; the width is taken to be its predecessor's"
  }
  # 87 by the headers of 2.36.1; a README of a third party gives 88, which is SC8480XP.
}

soc "SM8845" {
  marketing_name = "Snapdragon 8 Gen 5"
  arch           = "v81"
  soc_model      = 97
  vtcm_mb        = 8
  min_sdk        = "2.42"
  aliases        = ["SM8845P"]
}

soc "SC8480XP" {
  marketing_name = "Snapdragon X2 Elite"
  arch           = "v81"
  soc_model      = 88
  seen_sdk       = "2.47"
  vtcm_mb        = 8
  lpai           = "v5"
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "seen_sdk" {
    confidence = "inferred"
    source     = "LiteRT: table of SoCs after the documentation of QAIRT 2.47"
  }
}

soc "SA8797" {
  marketing_name = "Automotive"
  arch           = "v81"
  soc_model      = 72
  vtcm_mb        = 16
  min_sdk        = "2.42"
}

soc "SAR2230P" {
  arch      = "v81"
  soc_model = 95
  lpai      = "v6"
  vtcm_mb   = 4
  min_sdk   = "2.42"
}

soc "SW6100" {
  marketing_name = "Wearable"
  arch           = "v81"
  soc_model      = 96
  vtcm_mb        = 4
  min_sdk        = "2.42"
}

# SoCs with published numbers only. Arch and VTCM are the targets of the compiler of QAIRT 2.51, which can differ from the chip.

fact "compiler" "soc_model" {
  confidence = "observed"
  source     = "the name that the compiler of QAIRT 2.51 writes for the number"
}

fact "compiler" "arch" {
  confidence = "inferred"
  source     = "what the compiler of QAIRT 2.51 targets for the number"
}

fact "compiler" "vtcm_mb" {
  confidence = "inferred"
  source     = "what the compiler of QAIRT 2.51 targets for the number"
}

soc "SM8975" {
  basis     = "compiler"
  arch      = "v85"
  soc_model = 103
  seen_sdk  = "2.51"
  vtcm_mb   = 12
}

soc "SM8975L" {
  basis     = "compiler"
  arch      = "v85"
  soc_model = 112
  seen_sdk  = "2.51"
  vtcm_mb   = 8
}

soc "SM8950" {
  basis     = "compiler"
  arch      = "v85"
  soc_model = 113
  seen_sdk  = "2.51"
  vtcm_mb   = 8
}

soc "SA8787" {
  basis     = "compiler"
  arch      = "v85"
  soc_model = 114
  seen_sdk  = "2.51"
  vtcm_mb   = 16
}

soc "SM8850L" {
  basis     = "compiler"
  arch      = "v81"
  soc_model = 92
  seen_sdk  = "2.51"
  vtcm_mb   = 8
}

soc "QCS8845" {
  basis     = "compiler"
  arch      = "v81"
  soc_model = 109
  seen_sdk  = "2.51"
  vtcm_mb   = 8
}

soc "SC8440XP" {
  basis     = "compiler"
  arch      = "v81"
  soc_model = 94
  seen_sdk  = "2.51"
  vtcm_mb   = 8
}

soc "SM7950" {
  basis     = "compiler"
  arch      = "v81"
  soc_model = 123
  seen_sdk  = "2.51"
  vtcm_mb   = 4
}

soc "CQ8750S" {
  basis     = "compiler"
  arch      = "v79"
  soc_model = 105
  seen_sdk  = "2.51"
  vtcm_mb   = 8
  soc_ids   = [705] # executorch#16465
}

soc "CQ8725S" {
  basis     = "compiler"
  arch      = "v79"
  soc_model = 104
  seen_sdk  = "2.51"
  vtcm_mb   = 8
}

soc "QCS8625" {
  basis     = "compiler"
  arch      = "v75"
  soc_model = 90
  seen_sdk  = "2.47"
  vtcm_mb   = 8
  fact "arch" {
    confidence = "documented"
    source     = "Qualcomm 80-63442-2: supported Snapdragon devices"
  }
  fact "seen_sdk" {
    confidence = "inferred"
    source     = "LiteRT: table of SoCs after the documentation of QAIRT 2.47"
  }
}

soc "SM7750" {
  basis     = "compiler"
  arch      = "v73"
  soc_model = 86
  seen_sdk  = "2.51"
  vtcm_mb   = 4
}

soc "SM7550" {
  basis         = "compiler"
  arch          = "v73"
  soc_model     = 64
  seen_sdk      = "2.51"
  vtcm_mb       = 2
  bandwidth_gbs = 25.6
}

soc "SM6650" {
  basis     = "compiler"
  arch      = "v73"
  soc_model = 74
  seen_sdk  = "2.51"
  vtcm_mb   = 2
}

soc "QCM6690" {
  basis     = "compiler"
  aliases   = ["QCS6690"]
  arch      = "v73"
  soc_model = 78
  seen_sdk  = "2.51"
  vtcm_mb   = 2
  fact "arch" {
    confidence = "documented"
    source     = "Qualcomm 80-63442-2: supported Snapdragon devices"
  }
}

soc "SC8340XP" {
  basis     = "compiler"
  arch      = "v73"
  soc_model = 120
  seen_sdk  = "2.51"
  vtcm_mb   = 8
}

soc "SAR1165P" {
  basis     = "compiler"
  arch      = "v73"
  soc_model = 100
  seen_sdk  = "2.51"
  vtcm_mb   = 2
}

soc "SAR1180P" {
  basis     = "compiler"
  arch      = "v73"
  soc_model = 101
  seen_sdk  = "2.51"
  vtcm_mb   = 2
}

soc "CQ7790M" {
  basis     = "compiler"
  arch      = "v73"
  soc_model = 102
  seen_sdk  = "2.51"
  vtcm_mb   = 4
}

soc "IQX5121" {
  basis     = "compiler"
  arch      = "v73"
  soc_model = 119
  seen_sdk  = "2.51"
  vtcm_mb   = 8
}

soc "XRV7200" {
  basis     = "compiler"
  arch      = "v81"
  soc_model = 110
  seen_sdk  = "2.51"
  vtcm_mb   = 4
}

soc "XRV7205" {
  basis     = "compiler"
  arch      = "v81"
  soc_model = 111
  seen_sdk  = "2.51"
  vtcm_mb   = 4
}

soc "QMX115" {
  basis     = "compiler"
  arch      = "v81"
  soc_model = 115
  seen_sdk  = "2.51"
  vtcm_mb   = 2
}

soc "IPQ9650" {
  basis     = "compiler"
  arch      = "v81"
  soc_model = 117
  seen_sdk  = "2.51"
  vtcm_mb   = 2
}

soc "SC7280X" {
  marketing_name = "Snapdragon 7c+ Gen 3" # Qualcomm's list calls it 7c Gen 2, which is SC7180
  arch           = "v68"
  soc_model      = 44
  seen_sdk       = "2.25"
  fact "seen_sdk" {
    confidence = "documented"
    source     = "Qualcomm: supported Snapdragon devices, QAIRT 2.25"
  }
}

soc "SM7315" {
  arch      = "v68"
  soc_model = 38
  seen_sdk  = "2.25"
  vtcm_mb   = 2
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "seen_sdk" {
    confidence = "documented"
    source     = "Qualcomm: supported Snapdragon devices, QAIRT 2.25"
  }
}

# SoCs without an HTP: QNN uses another backend on their DSP, and most of hexmage's outputs do not run there.

soc "SM8250" {
  marketing_name = "Snapdragon 865"
  arch           = "v66"
  soc_model      = 21
  soc_ids        = [356, 455]
  aliases        = ["QRB5165", "QRB5165U", "QRB5165LE", "SDM865"]
}

soc "QCS7230" {
  arch      = "v66"
  soc_model = 51
  aliases   = ["QCS7230LA", "QCS7230LE"]
}

soc "SM7250" {
  marketing_name = "Snapdragon 765"
  arch           = "v66"
  soc_model      = 25
}

soc "SM6350" {
  marketing_name = "Snapdragon 690"
  arch           = "v66"
  soc_model      = 29
  aliases        = ["SM7225"]
}

soc "SM6225" {
  marketing_name = "Snapdragon 680"
  arch           = "v66"
  soc_model      = 40
}

soc "SM4350" {
  marketing_name = "Snapdragon 480"
  arch           = "v66"
  soc_model      = 31
  soc_ids        = [507]
  aliases        = ["SM6375"]
}

soc "SM4250" {
  marketing_name = "Snapdragon 460"
  arch           = "v66"
  soc_model      = 28
  aliases        = ["QCM4290"]
}

# SoCs without an HTP or a published Hexagon arch. Their numbers are from QNN's headers (2.36.1, and LiteRT's table of 2.47) or the
# compiler of QAIRT 2.51 (89 and newer). The compiler compiles for v68 for 89 and newer, as for unknown numbers. Such a SoC needs a
# soc block before it can be a target. For SA8155 (v66), even the number is unknown.
fact "other_socs" "models" {
  confidence = "observed"
  source     = "published copies of QNN's headers; LiteRT: table of SoCs; the names that the compiler of QAIRT 2.51 writes"
}

fact "other_socs" "soc_ids" {
  confidence = "observed"
  source     = "QAIRT's own table of Android's numbers"
}

other_socs {
  models = {
    SDM845  = 1, SDM835 = 2, SDM821 = 3, SDM820 = 4, SDM801 = 5, SDM670 = 6, SDM660 = 7, SDM652 = 8, SDM636 = 9, SDM630 = 10, SDM625 = 11,
    SDM855  = 12, SDM710 = 13, SDM632 = 15, SM6150 = 16, QCS610 = 16, SM7150 = 17, QCS405 = 18, SM6125 = 19, QCS403 = 20, IPQ6018 = 23,
    IPQ6028 = 24, SA8195 = 26, SM6250 = 27, QCS410 = 33, STP6225P = 47, QCS6125 = 48, QRB4210 = 49, SM4375 = 55, QCM4325 = 56,
    SM4450  = 59, QCM4490 = 59, AIC100 = 63, SM6450Q = 65, SM4635 = 71, SM6475 = 76,
    IPQ9574 = 79, IPQ5404 = 80, IPQ5424 = 81, QCS2290 = 83, QCM2290 = 83, SA525M = 84, QCM8538 = 89, SM7775 = 91, QCM8838 = 99,
    SM6850  = 106, SM4850 = 107, CQ2390M = 116, SM4875 = 118,
  }
  # SXR2250P has v69 by Qualcomm's list of supported devices (80-63442-2), SM7425 by LiteRT's; their QNN numbers are not published.
  soc_ids = { SM4450 = 568, SM7425 = 564, SXR2250P = 649 }
}
