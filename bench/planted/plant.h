/* bench/planted/plant.h - a place in a program at which a planted race can happen (place.awk puts them in). */
#ifndef PLANTED_PLANT_H
#define PLANTED_PLANT_H

#ifdef __cplusplus
extern "C"
#endif
void plant(int place);

#endif
