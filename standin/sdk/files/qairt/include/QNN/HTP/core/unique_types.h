// A real package gives its tensor types unique names here.
// hexmage open stand-in: there is one kind of tensor, so there is nothing to name.
#pragma once

#define DEFINE_UNIQ_TY()
