# Until February 2025 upstream's int8 linear layer gave two tensors of each layer the same two names, left over from another network. With newer SDKs
# the program dies of it: "Tensor name InceptionV3_…_Conv2D_stride already exists in the graph". So the reproduction of the paper reports of the artifact.
# The names outlive the call that makes the tensors, which are as many as the model has layers: so they are never given back.

replace "stride" {
  description = "each layer's stride has the layer's name"
  from        = ".name = \"InceptionV3_InceptionV3_Conv2d_1a_3x3_Conv2D_stride\""
  to          = ".name = strdup((name() + \".stride\").c_str())"
  files       = ["**/qnn/op/QNNLinearINT8.cpp", "**/qnn/op/QNNLinear.cpp"]

  expect {
    max = 4
  }
}

replace "pad" {
  description = "each layer's padding has the layer's name"
  from        = ".name = \"InceptionV3_InceptionV3_Conv2d_1a_3x3_Conv2D_pad_amount\""
  to          = ".name = strdup((name() + \".pad\").c_str())"
  files       = ["**/qnn/op/QNNLinearINT8.cpp", "**/qnn/op/QNNLinear.cpp"]

  expect {
    max = 4
  }
}
