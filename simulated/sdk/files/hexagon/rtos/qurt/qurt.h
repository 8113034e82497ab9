// The DSP's operating system.
// hexmage simulated: the simulated DSP runs one thread without an operating system, so nothing is declared.
#ifndef QURT_H
#define QURT_H
#endif
