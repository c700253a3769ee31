/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_CLIENT_SMB1_H
#define SMB_CLIENT_SMB1_H

/**
 * The client over SMB1 (vers=1.0); private to protocol/client.
 *
 * Everything above the wire is the same: a request says its purpose in SMB1's words, and what comes back is turned into
 * the SMB2 message that means the same. In place of credits a connection has MaxMpxCount slots (at most 50, the
 * module parameter cifs_max_pending); every answer brings its slot back, as a grant of 1.
 *
 * Known differences: open(2) goes through NT_CREATE_ANDX also with the Unix extensions, where cifs uses their POSIX open;
 * no DFS referral is asked for; no ECHO is sent; shell operations (SMB_OP_COMMAND) are not taken, protocol/ops speaks SMB2.
 */

#include "protocol/client/internal.h"

static inline bool client_is_smb1(const struct smb_client *client)
{
	return client->mount.vers == SMB_VERS_1;
}

/** The class whose counter a request's answer goes to: with SMB1 nothing is set aside for echoes and breaks
 *  (cifs 6.1, cifs_add_credits against smb2_add_credits). */
static inline enum smb_credit_class client_credit_class(const struct smb_client *client, enum smb_credit_class class)
{
	return client_is_smb1(client) ? SMB_CREDIT_SESSION_SETUP : class;
}

/** Is a request of this purpose sent in the dialect of the mount? */
bool client_speaks(const struct smb_client *client, enum client_purpose purpose);
struct smb_pdu client_smb1_encode(const struct smb_client *client, uint32_t slot, uint8_t *buffer, uint32_t size);
/** What an answer means in SMB2's words; `message->header.message_id` is that of the request it answers, or of none.
 *  False: it is malformed. Capabilities of the Unix extensions are noted in the session. */
bool client_smb1_decode(struct smb_client *client, uint32_t channel, const struct smb_pdu *pdu,
			struct smb2_message *message);
/** rsize, wsize and ra_pages by what the server can (cifs 6.1, cifs_negotiate_rsize and cifs_negotiate_wsize). */
void client_smb1_sizes(struct smb_client *client);

#endif
