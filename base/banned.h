/* base/banned.h - included before everything else: these functions are how buffers overflow. */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H
#include <stdio.h>
#include <string.h>
#pragma GCC poison strcpy strcat sprintf vsprintf strtok gets
#endif
