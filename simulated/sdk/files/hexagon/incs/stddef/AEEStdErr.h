// Error numbers of the DSP's interface code.
// hexmage simulated: only success, for no op uses more.
#ifndef AEESTDERR_H
#define AEESTDERR_H

#define AEE_SUCCESS 0

#endif
