/* mode.h - symbolic and octal file modes. */

/* Apply `text` to *mode; -1 when it is not a mode. */
int mode_parse(const char *text, int *mode);
