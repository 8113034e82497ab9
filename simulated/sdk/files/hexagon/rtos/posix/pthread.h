// Threads of the DSP's operating system.
// hexmage simulated: the simulated DSP runs one thread, so nothing is declared.
#ifndef OPEN_PTHREAD_H
#define OPEN_PTHREAD_H
#endif
