/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_STRANGER_H
#define MODEL_STRANGER_H

/** Another client, which breaks the rules: what a server must withstand. */

#include "model/model.h"

#define MODEL_STRANGERS 4 /* different ones */

/** Stranger number `stranger` comes to the server, on the connection behind the client's channels, and goes. False: what
 *  the server did is wrong, see `found`. */
bool model_stranger_visit(const struct model_config *config, struct smb_server *server, uint32_t stranger,
			  struct model_fault_found *found);
/** What it sends. */
const char *model_stranger_tell(uint32_t stranger);

#endif
