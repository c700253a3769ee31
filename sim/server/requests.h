/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_SERVER_REQUESTS_H
#define SIM_SERVER_REQUESTS_H

/** Requests that wait for storage: the table, interim replies (MS-SMB2 3.3.4.2), cancelling, final replies. */

#include "sim/server/internal.h"

/** The table entry of a new request with the fields of its header; SERVER_NONE when the table is full. */
uint32_t server_request_new(struct smb_server *server, uint32_t connection, const struct smb2_header *header);
void server_request_free(struct smb_server *server, uint32_t index);
/** By MessageId; AsyncId and MessageId are the same number here, as with Samba. SERVER_NONE when there is none. */
uint32_t server_request_find(const struct smb_server *server, uint32_t connection, uint64_t message_id);
/** Storage is at work for a single request: start the clock of its interim reply, or send that now. */
void server_request_wait(struct smb_server *server, uint32_t index);
/** Storage is at work for a chain whose reply is complete. */
void server_request_hold(struct smb_server *server, uint32_t index, const struct smb_pdu *reply);
void server_request_cancel(struct smb_server *server, uint32_t index);
/** The connection is gone: nobody waits for these replies. */
void server_requests_abandon(struct smb_server *server, uint32_t connection);

/** STATUS_PENDING for a request whose final `reply` is known: it is encoded with `writer`'s buffer and kept. */
bool server_request_later(struct smb_server *server, uint32_t index, struct smb2_message *reply,
			  struct smb_chain_writer *writer, uint32_t credits);
/** Nothing more is answered to it; its storage work goes on. */
void server_request_forget(struct smb_server *server, uint32_t index);

/** Credits granted with one reply, as the host chose or by the profile's rules. `is_last`: of a chain. */
uint32_t server_grant(struct smb_server *server, uint32_t connection, const struct smb2_header *request,
		      uint32_t status, bool is_last);
/** The header of the reply to a request: ids, flags and CreditCharge; no credits yet. */
void server_reply_header(struct smb2_header *reply, const struct smb2_header *request, uint32_t status);
/** An error, or an interim reply: nothing but the status. */
void server_reply_error(struct smb2_message *reply);

/** Make one interim reply that is due an output. False: none is due. */
bool server_interim_due(struct smb_server *server);
/** When the next interim reply falls due; 0 = never. */
uint64_t server_interim_wake(const struct smb_server *server);

#endif
