/* sym/models/libc/state.c - objects that stand for what functions of libc keep (cc/expand/bodies/state.c). */
#include "model.h"

#include <time.h>

char *plait_state_strtok;
uint64_t plait_state_rand, plait_state_rand48, plait_state_environ;
struct tm plait_state_tm;
char plait_state_asctime[64];
uint64_t plait_state_files, plait_state_locale, plait_state_handlers, plait_state_process;
