// hexmage simulated: what op sources use, nothing more. Freestanding: no library stands behind it except where said.
// Op sources include it and call nothing of it.
#pragma once

struct timeval {
  long tv_sec;
  long tv_usec;
};
