#include <stdio.h>
#include <stdlib.h>

#include "greeting.h"
#include "multiply.h"
#include "version.h"

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  printf("%s %d (app %s)\n", GREETING, multiply(atoi(argv[1]), atoi(argv[2])), VERSION);
  return 0;
}
