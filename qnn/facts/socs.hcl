# SoCs with an HTP. soc_model is the number QNN knows (Qnn_SocModel_t); soc_ids are what Android says in
# /sys/devices/soc0/soc_id: never the same number. vtcm_mb 0: not published. min_sdk: the first QAIRT SDK said to know it, by
# executorch's list; Qualcomm says it of none. seen_sdk: if no first one is published, the oldest that is known to know it.
# lpai: version of the low-power AI core.

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

# What the memory of phones with it can give at most: its fastest clock, twice, on all its channels. A phone may have slower memory, and the NPU
# gets less than all of it.
fact "soc" "bandwidth_gbs" {
  confidence = "inferred"
  source     = "a third party's table of Qualcomm's product pages (gist.github.com, EwoutH, 754fa40a)"
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
  # Some tables of third parties give 35 for SM8350; that is 30.
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
  note           = "arch and VTCM taken from SM8550, of the same family"
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
  vtcm_mb          = 8
  bandwidth_gbs    = 67.2
  missing_features = ["fp16_relaxed_precision"] # rwkv-qualcomm
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "a draft, executorch#19216; the compiler of QAIRT 2.51 targets 4 MB"
  }
  fact "seen_sdk" {
    confidence = "documented"
    source     = "Qualcomm: supported Snapdragon devices, QAIRT 2.25"
  }
}

soc "SM7675" {
  marketing_name = "Snapdragon 7+ Gen 3"
  arch           = "v73"
  soc_model      = 70
  seen_sdk       = "2.25"
  vtcm_mb        = 4
  bandwidth_gbs  = 67.2
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
  note           = "the arch is said of SA7255 and LiteRT's table; QNN's own list does not have it"
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

# SoCs that nobody has published more of than their numbers: arch and VTCM are what the compiler of QAIRT 2.51 takes for them, which is not always what
# a chip has.

soc "SM8975" {
  arch      = "v85"
  soc_model = 103
  seen_sdk  = "2.51"
  vtcm_mb   = 12
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "SM8975L" {
  arch      = "v85"
  soc_model = 112
  seen_sdk  = "2.51"
  vtcm_mb   = 8
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "SM8950" {
  arch      = "v85"
  soc_model = 113
  seen_sdk  = "2.51"
  vtcm_mb   = 8
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "SA8787" {
  arch      = "v85"
  soc_model = 114
  seen_sdk  = "2.51"
  vtcm_mb   = 16
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "SM8850L" {
  arch      = "v81"
  soc_model = 92
  seen_sdk  = "2.51"
  vtcm_mb   = 8
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "QCS8845" {
  arch      = "v81"
  soc_model = 109
  seen_sdk  = "2.51"
  vtcm_mb   = 8
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "SC8440XP" {
  arch      = "v81"
  soc_model = 94
  seen_sdk  = "2.51"
  vtcm_mb   = 8
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "SM7950" {
  arch      = "v81"
  soc_model = 123
  seen_sdk  = "2.51"
  vtcm_mb   = 4
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "CQ8750S" {
  arch      = "v79"
  soc_model = 105
  seen_sdk  = "2.51"
  vtcm_mb   = 8
  soc_ids   = [705] # executorch#16465
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "CQ8725S" {
  arch      = "v79"
  soc_model = 104
  seen_sdk  = "2.51"
  vtcm_mb   = 8
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "QCS8625" {
  arch      = "v75"
  soc_model = 90
  seen_sdk  = "2.47"
  vtcm_mb   = 8
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
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

soc "SM7750" {
  arch      = "v73"
  soc_model = 86
  seen_sdk  = "2.51"
  vtcm_mb   = 4
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "SM7550" {
  arch          = "v73"
  soc_model     = 64
  seen_sdk      = "2.51"
  vtcm_mb       = 2
  bandwidth_gbs = 25.6
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "SM6650" {
  arch      = "v73"
  soc_model = 74
  seen_sdk  = "2.51"
  vtcm_mb   = 2
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "QCM6690" {
  arch      = "v73"
  soc_model = 78
  seen_sdk  = "2.51"
  vtcm_mb   = 2
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "SC8340XP" {
  arch      = "v73"
  soc_model = 120
  seen_sdk  = "2.51"
  vtcm_mb   = 8
  fact "soc_model" {
    confidence = "observed"
    source     = "the name that the compiler of QAIRT 2.51 writes for the number"
  }
  fact "arch" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
  fact "vtcm_mb" {
    confidence = "inferred"
    source     = "what the compiler of QAIRT 2.51 targets for the number"
  }
}

soc "SC7280X" {
  marketing_name = "Snapdragon 7c Gen 2"
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

# Without an HTP: QNN runs on their DSP with another backend, and most of what hexmage builds does not.

soc "SM8250" {
  marketing_name = "Snapdragon 865"
  arch           = "v66"
  soc_model      = 21
  soc_ids        = [356, 455]
  aliases        = ["QRB5165", "SDM865"]
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

# SoCs that QNN's headers number (2.36.1, and LiteRT's table of 2.47) and whose Hexagon arch nobody has published, or that have no
# HTP. A target cannot be one of them before somebody writes a soc block. Of SA8155 (v66) and CQ8750S (soc_id 705) not even the number
# is known; SM8975, SM7775, SM6850, SM4850 and a few more are named in libraries of 2.45 only.
other_socs {
  models = {
    SDM845  = 1, SDM835 = 2, SDM821 = 3, SDM820 = 4, SDM801 = 5, SDM670 = 6, SDM660 = 7, SDM652 = 8, SDM636 = 9, SDM630 = 10, SDM625 = 11,
    SDM855  = 12, SDM710 = 13, SDM632 = 15, SM6150 = 16, QCS610 = 16, SM7150 = 17, QCS405 = 18, SM6125 = 19, QCS403 = 20, IPQ6018 = 23,
    IPQ6028 = 24, SA8195 = 26, SM6250 = 27, QCS410 = 33, STP6225P = 47, QCS6125 = 48, QRB4210 = 49, QCS7230 = 51, SM4375 = 55, QCM4325 = 56,
    SM4450  = 59, QCM4490 = 59, SM7435 = 61, SA8540 = 62, AIC100 = 63, SM6450Q = 65, SM4635 = 71, SM6475 = 76,
    IPQ9574 = 79, IPQ5404 = 80, IPQ5424 = 81, QCS2290 = 83, QCM2290 = 83, SA525M = 84,
  }
  soc_ids = { SM4450 = 568, SM7425 = 564, SXR2250P = 649 }
}
