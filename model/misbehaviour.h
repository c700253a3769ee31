/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_MISBEHAVIOUR_H
#define MODEL_MISBEHAVIOUR_H

/**
 * What a server may be told to do though MS-SMB2 forbids it (sim/server/choice.h), and what that excuses.
 *
 * The client must survive all of it: what it sends breaks no rule, and its operations end. A rule that is broken by what
 * the server sends is the server's fault; where the switch is bound to break it, the run goes on, and the rule is named
 * beside its result.
 */

#include "sim/server/choice.h"

#include <stddef.h>

#define MODEL_MISBEHAVIOURS_MAX 16

struct model_misbehaviour {
	const char *name; /* of the member of struct smb_server_misbehaviour */
	const char *tells; /* one line */
	size_t at; /* where that member is */
	size_t bytes; /* its size */
	uint32_t max; /* largest value; 1: on or off */
	uint64_t rules; /* bit per number: rules that the server breaks by it */
	bool may_fail; /* an operation may end with an error because of it */
};

const struct model_misbehaviour *model_misbehaviours(uint32_t *count);
/** Give the member a value, 0 to max. */
void model_misbehaviour_set(const struct model_misbehaviour *row, struct smb_server_misbehaviour *misbehaviour,
			    uint32_t value);
bool model_misbehaviour_is_on(const struct model_misbehaviour *row, const struct smb_server_misbehaviour *misbehaviour);

/** Rules that these switches have the server break; bit per number. */
uint64_t model_misbehaviour_rules(const struct smb_server_misbehaviour *misbehaviour);
/** May operations fail because of them? */
bool model_misbehaviour_may_fail(const struct smb_server_misbehaviour *misbehaviour);

#endif
