/* base/secret.h - a random key that only this user on this machine has.
 *
 * It is made when it is first wanted: in $XDG_STATE_HOME/unplait/key, else in
 * ~/.local/state/unplait/key, else (no home to write in) in /tmp/unplait-UID/key, which does not
 * outlive the machine's next start. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False when there is none and none can be made. */
bool secret_get(uint8_t *ret, size_t len);

#endif
