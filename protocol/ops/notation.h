/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_OPS_NOTATION_H
#define SMB_OPS_NOTATION_H

/**
 * The round-trip bill in the notation of captures/: `[CREATE+GETINFO+CLOSE] [CREATE+CLOSE]`. One pair of brackets is
 * one pair of request and response; `!c0000034` is an NT status; `*3` repeats. With details, each member says what it
 * asks and, in angle brackets, its MessageId, CreditCharge, the credits asked and granted, and whether it is related:
 * `[SETINFO(file:Basic)<mid25 ch1 req10 gr10>]`.
 *
 * It works on decoded messages of any origin.
 */

#include "protocol/wire/smb2.h"

#include <stddef.h>

#define SMB_NOTATION_MEMBERS 8
#define SMB_NOTATION_DETAIL 40 /* bytes of what one member asks */

struct smb_notation_member {
	uint16_t command;
	uint16_t charge;
	uint16_t asked;
	bool related;
	uint64_t message_id;
	char detail[SMB_NOTATION_DETAIL]; /* "(file:All)"; empty = nothing to tell */
	uint32_t status; /* of the final response */
	uint32_t granted; /* by all its responses, interim ones included */
};

struct smb_notation_pair {
	uint32_t count;
	struct smb_notation_member members[SMB_NOTATION_MEMBERS];
};

/** What a request asks. */
void smb_notation_request(struct smb_notation_member *member, const struct smb2_message *request);
/** An interim or final response. */
void smb_notation_response(struct smb_notation_member *member, const struct smb2_message *response);
/** The command's short name: "GETINFO", "QUERYDIR". */
const char *smb_notation_command(uint16_t command);
/** Write the pairs as text. Returns the length it has in full, as snprintf does. */
size_t smb_notation_print(const struct smb_notation_pair *pairs, uint32_t count, bool detailed, char *text,
			  size_t size);

#endif
