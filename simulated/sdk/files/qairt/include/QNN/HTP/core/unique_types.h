// A real package gives its tensor types unique names here.
// hexmage simulated: there is one kind of tensor, so there is nothing to name.
#pragma once

#define DEFINE_UNIQ_TY()
