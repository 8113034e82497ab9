// Constraints of graph optimisations.
// hexmage simulated: the ops built with it use nothing of this header; it is here because they include it.
#pragma once

#include "op_register_ext.h"
