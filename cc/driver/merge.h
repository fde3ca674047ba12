/* cc/driver/merge.h - one module out of the bitcode of all objects. */
#ifndef CC_DRIVER_MERGE_H
#define CC_DRIVER_MERGE_H

struct err;
struct object_list;
struct program;

/* Parse and merge the bitcode of all objects that have some; sets context, module and layout. */
struct err *merge_objects(struct program *p, const struct object_list *objects);

#endif
