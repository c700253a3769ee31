/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_SERVER_OUTPUTS_H
#define SIM_SERVER_OUTPUTS_H

/** What waits to be drained, and the bytes of replies until then. */

#include "sim/server/internal.h"

/** Bytes that replies may still take. */
uint32_t server_chunks_room(const struct smb_server *server);
/** Keep a copy of `bytes`; the caller has checked the room. */
uint32_t server_chunks_store(struct smb_server *server, const uint8_t *bytes, uint32_t length);
void server_chunks_free(struct smb_server *server, uint32_t chunk);
/** Keep the bytes of a reply, spoiled if the server misbehaves; `length` as they will be sent. */
uint32_t server_reply_store(struct smb_server *server, const struct smb_pdu *reply, uint32_t *length);

/** True when `count` more outputs fit. */
static inline bool server_outputs_fit(const struct smb_server *server, uint32_t count)
{
	return server->output_count + count <= server->limits.outputs;
}
void server_output_send(struct smb_server *server, uint32_t connection, const struct smb_pdu *pdu);
void server_output_held(struct smb_server *server, const struct server_request *request);
void server_output_work(struct smb_server *server, uint32_t token, bool is_write, uint32_t bytes);
/** Nothing more is sent on this connection; what waits for it stays in front when `cut` names a reason. */
void server_output_cut(struct smb_server *server, uint32_t connection, enum server_cut cut);
void server_outputs_forget(struct smb_server *server, uint32_t connection);
const char *server_cut_reason(enum server_cut cut);

#endif
