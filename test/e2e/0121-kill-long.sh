#!/usr/bin/env bash
# A thousand kills.
# level: long
KILLS=1000 exec bash "$(dirname "$0")/0120-kill.sh"
