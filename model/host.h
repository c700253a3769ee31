/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_HOST_H
#define MODEL_HOST_H

/** For another host of the same cores that does what a run of the model did: what each event is to a core. */

#include "model/model.h"
#include "protocol/monitor/monitor.h"

/** What is on the share. */
void model_make_files(const struct model_config *config, struct smb_server *server);
/** What the monitor knows before the mount, */
void model_tell_monitor(const struct model_config *config, struct smb_monitor *monitor);
/** and after it. */
void model_tell_mounted(const struct model_config *config, const struct smb_client *client,
			struct smb_monitor *monitor);
/** The monitor of a state, as model_state_client. */
const struct smb_monitor *model_state_monitor(struct model_worker *worker, const struct model_state *state);
/** The operation that `thread` (MODEL_SYSTEM: the mount or unmount) would begin in `state`; its pointers lead into the
 *  config. */
struct smb_op model_state_op(struct model_worker *worker, const struct model_state *state, uint32_t thread);
/**
 * For the handler of failed assertions: when the calling thread runs a core for a model, the event has broken the rule
 * "assertion", with `text`, which must stay where it is, and this does not return. Else it does nothing.
 */
void model_core_stops(const char *text);
/** The choice of a move, as the server takes it. */
struct smb_server_choice model_choice(const struct model_config *config, uint16_t choice);

/** Give the server of a host the interfaces, limits and misbehaviours that the server of `state` has. */
void model_state_configure(struct model_worker *worker, const struct model_state *state, struct smb_server *server);

#endif
