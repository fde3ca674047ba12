/* cc/instrument/machine.h - instructions that answer differently in every run. */
#ifndef CC_INSTRUMENT_MACHINE_H
#define CC_INSTRUMENT_MACHINE_H

struct hooks;

/* In the full variant rdtsc, rdrand and rdseed become calls of libplait. */
void machine_virtual(struct hooks *h);

#endif
