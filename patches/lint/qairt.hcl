# What came and went in the API that HTP op packages are written against. Names are those of the vendor's public documents and of
# comparisons of which names stand in the headers of two releases; no text of a header is here.
#
# A name that is gone has an "until", the last release that is known to have it, and a "since", the first that is known not to.
# A name that came has them the other way round. Between the two nobody has looked: then the SDK's headers say, if they are there.

removed "interface_scale" {
  names    = ["get_interface_scale"]
  kind     = "method"
  receiver = "Tensor"
  until    = "2.25.0"
  since    = "2.34.0"
  instead  = "interface_scale()"
  rule     = "rename interface_scale"
  source   = "names in tensor.h: there in 2.13, 2.20 and 2.25, gone in 2.36.1; upstream's issue 284 fails to compile with 2.34.0.250424"
}

removed "interface_offset" {
  names    = ["get_interface_offset"]
  kind     = "method"
  receiver = "Tensor"
  until    = "2.25.0"
  since    = "2.36.1"
  instead  = "interface_offset()"
  rule     = "rename interface_offset"
  source   = "names in tensor.h: there in 2.13 and 2.25, gone in 2.36.1"
}

added "interface" {
  names    = ["interface_scale", "interface_offset"]
  kind     = "method"
  receiver = "Tensor"
  since    = "2.20.0"
  instead  = "get_interface_scale() and get_interface_offset()"
  rule     = "rename get_interface_scale"
  source   = "names in tensor.h of 2.20.0, which has both spellings"
}

added "registration" {
  names   = ["DEFINE_UNIQ_TY", "BEGIN_PKG_OPS_OPTS_LIST", "DECLARE_PKG_OPS_OPTS_LIST", "END_PKG_OPS_OPTS_LIST", "BEGIN_PKG_OP_DEFINITION", "END_PKG_OP_DEFINITION"]
  kind    = "macro"
  until   = "2.9.0"
  since   = "2.10.0"
  instead = "the registration that the SDK's own op package examples show; or take QAIRT 2.10 or newer"
  rule    = "include unique_types"
  source  = "HTP API version history, 5.10"
}

added "registration_headers" {
  names   = ["HTP/core/unique_types.h", "HTP/core/simple_reg.h"]
  kind    = "header"
  until   = "2.9.0"
  since   = "2.10.0"
  instead = "nothing: before 2.10 ops are registered without it"
  source  = "HTP API version history, 5.10"
}

shape "op_name" {
  macro    = "DEF_PACKAGE_OP"
  argument = 2
  is       = "string"
  since    = "2.10.0"
  instead  = "the op's name as a string literal, such as \"MyOp\""
  source   = "HTP API version history, 5.10"
}

shape "op_name_cost" {
  macro    = "DEF_PACKAGE_OP_AND_COST_AND_FLAGS"
  argument = 2
  is       = "string"
  since    = "2.10.0"
  instead  = "the op's name as a string literal, such as \"MyOp\""
  source   = "HTP API version history, 5.10"
}

shape "op_cost" {
  macro    = "DEF_PACKAGE_OP_AND_COST_AND_FLAGS"
  argument = 3
  is       = "name"
  since    = "2.10.0"
  instead  = "the cost without quotes, such as SNAIL"
  source   = "HTP API version history, 5.10"
}

unguarded "prepare" {
  macro   = "PREPARE_DISABLED"
  used_by = ["DEF_PACKAGE_OPTIMIZATION", "DEF_PACKAGE_OPTIMIZATION_WITH_FLAGS"]
  since   = "2.15.0"
  instead = "#ifndef PREPARE_DISABLED around it: code for the DSP is built with -DPREPARE_DISABLED"
  rule    = "guard prepare"
  source  = "HTP API version history, 5.15"
}

removed "register_ops" {
  names   = ["REGISTER_PACKAGE_OPS", "REGISTER_PACKAGE_OPTIMIZATIONS"]
  kind    = "macro"
  until   = "2.16.0"
  since   = "2.18.0"
  instead = "INIT_PKG_CORE_INIT_FUNC(), once, at the file's outermost level"
  rule    = "call register_ops"
  source  = "HTP API version history, 5.17; upstream adapts to 2.18 in commit 167f7b34"
}

added "core_init" {
  names   = ["INIT_PKG_CORE_INIT_FUNC"]
  kind    = "macro"
  until   = "2.16.0"
  since   = "2.18.0"
  instead = "REGISTER_PACKAGE_OPS() and REGISTER_PACKAGE_OPTIMIZATIONS() in the package's function of initialisation"
  source  = "HTP API version history, 5.17"
}

added "tensor_properties" {
  names   = ["DEF_TENSOR_PROPERTIES"]
  kind    = "macro"
  until   = "2.16.0"
  since   = "2.17.0"
  instead = "optimizations that name flat, crouton and VTCM layouts, as the SDK's documents of that release show; or take QAIRT 2.17 or newer"
  source  = "HTP API version history, 5.17"
}

removed "serializer" {
  names   = ["Serializer", "serialize_*"]
  kind    = "type"
  until   = "2.13.0"
  since   = "2.25.0"
  instead = "nothing: ops are no longer serialised by code of the package"
  source  = "names in include/QNN/HTP/core of 2.13 and 2.25"
}

removed "logs_2" {
  names   = ["infolog2", "errlog2", "warnlog2"]
  kind    = "macro"
  until   = "2.13.0"
  since   = "2.25.0"
  instead = "infolog, errlog, warnlog or debuglog"
  source  = "names in include/QNN/HTP/core of 2.13 and 2.25"
}

removed "split_history" {
  names   = ["SplitHistory"]
  kind    = "type"
  until   = "2.13.0"
  since   = "2.25.0"
  instead = "nothing that is known; make the package's skeleton anew for this SDK and compare"
  source  = "names in include/QNN/HTP/core of 2.13 and 2.25"
}

removed "tile_properties" {
  names   = ["DEF_TILE_PROPERTIES", "TILE_COST", "TILE_FLAGS", "TILE_LIKE", "TILE_SHAPE"]
  kind    = "macro"
  until   = "2.25.0"
  since   = "2.36.1"
  instead = "DEF_TENSOR_PROPERTIES for where tensors lie; leave tiling to the graph's preparation"
  source  = "names in include/QNN/HTP/core of 2.25 and 2.36.1"
}

removed "tiles" {
  names   = ["unary_by_tiles", "EarlyCrouton"]
  kind    = "function"
  until   = "2.25.0"
  since   = "2.36.1"
  instead = "a loop over the tensor's own tiles or elements"
  source  = "names in include/QNN/HTP/core of 2.25 and 2.36.1"
}

removed "comparisons" {
  names   = ["tensor_compare", "compare_equal", "compare_eq_same_type"]
  kind    = "function"
  until   = "2.25.0"
  since   = "2.36.1"
  instead = "a comparison of your own, element by element"
  source  = "names in include/QNN/HTP/core of 2.25 and 2.36.1"
}

removed "floats" {
  names   = ["read_floats", "write_floats"]
  kind    = "method"
  until   = "2.25.0"
  since   = "2.36.1"
  instead = "the tensor's elements one by one, t(b, h, w, d), or raw_data() of a tensor of floats"
  source  = "names in include/QNN/HTP/core of 2.25 and 2.36.1"
}

removed "accessors" {
  names   = ["generic_accessor", "generic_accessor_ro", "get_plain_ifc", "get_extra_info", "contains_addr"]
  kind    = "method"
  until   = "2.25.0"
  since   = "2.36.1"
  instead = "the tensor's own operator()(b, h, w, d) and raw_data()"
  source  = "names in include/QNN/HTP/core of 2.25 and 2.36.1"
}

removed "optimizer" {
  names   = ["change_opstr", "replace_func", "index_pn", "for_hlx"]
  kind    = "function"
  until   = "2.25.0"
  since   = "2.36.1"
  instead = "the replacement written out in DEF_PACKAGE_OPTIMIZATION"
  source  = "names in include/QNN/HTP/core of 2.25 and 2.36.1"
}

removed "logs_l" {
  names   = ["logmsgl", "errlogl"]
  kind    = "macro"
  until   = "2.25.0"
  since   = "2.36.1"
  instead = "infolog, errlog, warnlog or debuglog"
  source  = "names in include/QNN/HTP/core of 2.25 and 2.36.1"
}

removed "build_options" {
  names   = ["HAS_ELTWISE", "SMART_CHANNEL_SIZE_QUANT", "GOOD_WEIGHTS_QUANT", "ALLOW_INTRINSIC_SHIFT"]
  kind    = "macro"
  until   = "2.25.0"
  since   = "2.36.1"
  instead = "nothing: what they chose is chosen by the SDK; drop the condition"
  source  = "names in include/QNN/HTP/core of 2.25 and 2.36.1"
}

removed "intrinsic_shims" {
  names   = ["Q6_Vh_vshuffe_VhVh", "Q6_Vuh_vasr_VwVwR_sat"]
  kind    = "function"
  until   = "2.25.0"
  since   = "2.36.1"
  instead = "the intrinsic that the compiler's hexagon_protos.h declares for the arch, or an inline function of your own"
  source  = "names in include/QNN/HTP/core of 2.25 and 2.36.1"
}
