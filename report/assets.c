/* report/assets.c - the style and script of the pages, embedded at build time. */
#include "report/assets.h"

#include "base/embed.h"

EMBED(asset_explain_css, "report/assets/explain.css");
EMBED(asset_explain_js, "report/assets/explain.js");
EMBED(asset_index_css, "report/assets/index.css");
EMBED(asset_index_js, "report/assets/index.js");
EMBED(asset_races_css, "report/assets/races.css");
