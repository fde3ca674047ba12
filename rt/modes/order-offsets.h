/* rt/modes/order-offsets.h - where order-kept.S finds things; order.c checks the numbers. */
#ifndef RT_MODES_ORDER_OFFSETS_H
#define RT_MODES_ORDER_OFFSETS_H

#define ORDER_KEPT    1 /* in rt_thread.held: the lock is not released afterwards */
#define SLOT_LOCK     0
#define SLOT_WORD     8
#define SLOT_OWNER    32
#define THREAD_DEPTH  76
#define THREAD_HELD   96
#define THREAD_NESTED 104
#define THREAD_BITS   13

#endif
