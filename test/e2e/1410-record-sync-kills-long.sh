#!/usr/bin/env bash
# A thousand kills at random moments leave no log that cannot be read.
# level: long
# seconds: 7200
KILLS=${KILLS:-1000} exec bash "$(dirname "$0")/1403-record-sync-kills.sh"
