/* rt/log/atomics.h - private to rt/log/: the place of an atomic, for C and for loads.S. */
#ifndef RT_LOG_ATOMICS_H
#define RT_LOG_ATOMICS_H

/* Offsets in struct rt_thread and struct plait_cells. */
#define LOG_THREAD_DEPTH  76
#define LOG_THREAD_CELLS  112
#define LOG_THREAD_SYNCED 120
#define LOG_CELLS_FIRST	  32
#define LOG_CELLS_BITS	  12
#define LOG_CELLS_HASH	  0x9e3779b1

#ifndef __ASSEMBLER__

#include <stdint.h>

/* Of 16 bytes of memory. */
static inline uint32_t log_cell_of(const void *p)
{
	return (uint32_t)((uint64_t)p >> 4) * LOG_CELLS_HASH >> (32 - LOG_CELLS_BITS);
}

#endif
#endif
