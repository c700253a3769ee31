/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_KIT_GRAPH_H
#define REPORTS_KIT_GRAPH_H

/** States and moves as a graph in the dot language, labelled in words. */

#include "reports/kit/walk.h"

#define KIT_GRAPH_STATES_MAX 2000 /* beyond it nobody sees anything, and dot takes minutes */

/** All states of a small model. NULL: there are more than KIT_GRAPH_STATES_MAX. */
GString *kit_graph_whole(struct model *model, GError **error);
/** The last states before a fault and everything that can happen in them. */
GString *kit_graph_near(const struct kit_walk *walk);
/** Write the graph to `path`, as SVG when it ends in ".svg", else in the dot language. Whole or not at all. */
bool kit_graph_write(const GString *dot, const char *path, GError **error);
/** Let Graphviz draw it. NULL: there is no dot, or it fails. */
char *kit_graph_draw(const GString *dot, GError **error);

#endif
