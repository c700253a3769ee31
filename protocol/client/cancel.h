/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_CLIENT_CANCEL_H
#define SMB_CLIENT_CANCEL_H

/** Answers that nobody waits for any more, and the handles that they bring; private to protocol/client. */

#include "protocol/client/internal.h"

/** Send a CLOSE for a handle that has no owner, when there is a channel and a credit. False: no slot is free now. */
bool client_close_later(struct smb_client *client, struct smb2_file_id id);
struct smb2_file_id client_late_close_id(const struct smb_request *request);
/** One is to be sent or under way, or an answer that may bring a handle. */
bool client_has_late_closes(const struct smb_client *client);
void client_closes_run(struct smb_client *client);
/** The session is lost, its handles with it. */
void client_closes_forget(struct smb_client *client);
/** The answer to a request that was left, or to a late CLOSE; `message` NULL: it was lost with its channel. */
void client_late_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message);
/** command.c: the application does not wait for this member of its chain any more. */
void client_command_left(struct smb_client *client, struct client_op *op, uint32_t member);
/** channel.c: a request went down with its channel, or was never sent. */
void client_request_lost(struct smb_client *client, uint32_t slot);
/** channel.c: PDUs for this channel that wait to be drained are not sent. */
void client_outputs_forget(struct smb_client *client, uint32_t channel);

#endif
