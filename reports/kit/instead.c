/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What would have had to happen where a rule is broken. */

#include "protocol/monitor/monitor.h"
#include "reports/kit/walk.h"

#include <string.h>

static const struct {
	const char *rule;
	const char *instead;
} table[] = {
	{ "C1", "the client takes MessageIds inside the window the server has granted, and each of them once" },
	{ "C2", "the client takes the lowest MessageId that is free, and comes back to those it left out" },
	{ "C3", "a request that charges n credits takes the next n MessageIds, and the following request starts behind "
		"them" },
	{ "C4",
	  "the request charges one credit for each 65536 bytes of the larger of its request and response payload" },
	{ "C5", "the client waits until it holds a credit, for requests with CreditCharge 0 as well" },
	{ "C6",
	  "a request is sent only when its charge is held, asks for no more than what is missing to max_credits, and "
	  "both sides count the same credits" },
	{ "C7", "each request is answered finally once, and counts as in flight from its sending to that answer" },
	{ "C8", "credits and in-flight counts of a lost connection end with it, and the new connection starts at one "
		"credit" },
	{ "C9", "the interim response carries the grant and the final one 0, or the final one carries it alone" },
	{ "C10",
	  "the client adds up the grants of all members of the compound response, and the server grants at least one "
	  "credit in them" },
	{ "C11", "the server grants at least one credit with the last response that is outstanding" },
	{ "C12", "NextCommand is 0 in the last member and else a multiple of 8 that leads to a member inside the PDU" },
	{ "C13",
	  "the first member is unrelated and names its FileId, all later ones are related and carry FileId all ones" },
	{ "C14", "each member that depends on the failed CREATE ends with the status of that CREATE" },
	{ "C15", "the server answers the members of the chain in the order of the request" },
	{ "C16", "each member is signed over its own bytes, padding included, with the key of its channel" },
	{ "C17", "a CANCEL names its target's MessageId or AsyncId, takes neither id nor credit, and gets no answer of "
		 "its own" },
	{ "C18", "one interim response with an AsyncId of its own, then one final response with the same AsyncId" },
	{ "C19",
	  "a break is acknowledged with a state that it allows, and the acknowledgement is paid for like any request" },
	{ "C20", "the client acknowledges the break before the server gives up waiting, however few credits it holds" },
	{ "C21", "one ECHO is under way at a time, and only when a credit was set aside for it" },
	{ "C22", "a new connection begins with NEGOTIATE and MessageId 0, and nothing of the old session is used "
		 "before it is back" },
	{ "C23", "each loss of a channel counts ChannelSequence up once, and all requests with a FileId carry the new "
		 "number" },
	{ "C24", "a CREATE that is sent again carries the same CreateGuid, and one open comes of both" },
	{ "C25", "a durable reconnect names the lease key, CreateGuid and FileId of the open it wants back" },
	{ "C26", "a channel binds with the ClientGuid, dialect and SessionId of its session, and is used once its own "
		 "SESSION_SETUP is over" },
	{ "C27", "the application gets the bytes the file has at that offset, and end of file only where it ends" },
	{ "C28", "what was written is at the server before fsync returns, and nothing older takes its place later" },
	{ "C29", "each open that succeeded is closed once, the one of an interrupted caller too" },
	{ "C30", "the client asks for pages that are neither cached nor asked for already, at most rsize in one READ" },
	{ "C31", "the client cuts READ and WRITE to the limits that this connection negotiated" },
	{ "C32", "the client picks a channel that is up as long as there is one" },
	{ "C33", "the server's next grant wakes the operation that waits for credits, and it ends" },
	{ "C34", "once the server can be reached again, each operation ends, well or with an error" },
	{ "C35", "chains and single requests both get on: credits set aside go back when others need them" },
	{ "C36", "what receives never waits, and calls each request's completion once" },
	{ "stuck", "something can still happen - an answer, a timer, a wake-up - until the application is done" },
	{ "fails", "the operation ends without an error, as nothing was cut, refused or late" },
	{ "assertion", "the core goes on: what the assertion says holds after each event" },
	{ "valid", "the core's own predicate of a valid state holds after each event" },
};

const char *kit_instead(const char *rule)
{
	for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
		if (!strcmp(table[i].rule, rule))
			return table[i].instead;
	}
	for (int i = 1; i < SMB_RULE_MAX; i++) {
		const struct smb_rule_info *info = smb_rule_info((enum smb_rule)i);

		if (info && !strcmp(info->name, rule))
			return info->meaning;
	}
	return "what the rule says holds after each step (smblab list rules)";
}

/* C33 and C34 are about more than circles. */
const char *kit_instead_of(const struct kit_walk *walk)
{
	if (walk->goes_round && (!strcmp(walk->found.rule, "C33") || !strcmp(walk->found.rule, "C34")))
		return "whatever comes first, one of these steps gets the operation on, until it ends, well or with an "
		       "error";
	return kit_instead(walk->found.rule);
}
