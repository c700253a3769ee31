/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/monitor/monitor.h"

/* Sections are those of MS-SMB2; "cifs" and "mm" name functions of the Linux kernel. */
static const struct smb_rule_info rules[SMB_RULE_MAX] = {
	[SMB_RULE_C1] = { SMB_RULE_C1, true, "C1", "MessageIds come from the granted window and are used once",
			  "3.2.4.1.6, 3.3.1.1" },
	[SMB_RULE_C2] = { SMB_RULE_C2, true, "C2",
			  "the lowest available MessageIds are used; no id is left out for good", "3.2.4.1.6" },
	[SMB_RULE_C3] = { SMB_RULE_C3, true, "C3", "a request of charge n takes n consecutive MessageIds of its own",
			  "3.2.4.1.5, 3.3.5.2.3" },
	[SMB_RULE_C4] = { SMB_RULE_C4, true, "C4",
			  "CreditCharge pays for the larger of request and response payload, 65536 bytes a credit",
			  "3.1.5.2, 3.2.4.1.5" },
	[SMB_RULE_C5] = { SMB_RULE_C5, true, "C5", "a request with CreditCharge 0 still needs and costs one credit",
			  "3.2.4.1.3" },
	[SMB_RULE_C6] = { SMB_RULE_C6, true, "C6",
			  "credits are never overdrawn, oplock break acknowledgements apart, and at max_credits no "
			  "more are asked for",
			  "3.2.5.1.4; cifs smb2_add_credits" },
	[SMB_RULE_C7] = { SMB_RULE_C7, false, "C7",
			  "each request gets exactly one final response; none is open on idle",
			  "3.2.5.1; cifs in_flight" },
	[SMB_RULE_C9] = { SMB_RULE_C9, false, "C9",
			  "credits are granted once per request: in the interim response or else in the final one",
			  "3.3.4.1.2, 3.3.4.2" },
	[SMB_RULE_C10] = { SMB_RULE_C10, false, "C10",
			   "the grants of a chain's responses count as their sum, and the sum keeps the client going",
			   "3.3.4.1.3" },
	[SMB_RULE_C11] = { SMB_RULE_C11, false, "C11", "a client with nothing outstanding holds at least one credit",
			   "3.3.1.2" },
	[SMB_RULE_C12] = { SMB_RULE_C12, true, "C12",
			   "NextCommand leads, in multiples of 8, to members that all lie inside the PDU",
			   "3.2.4.1.4, 3.3.4.1.3" },
	[SMB_RULE_C13] = { SMB_RULE_C13, true, "C13",
			   "a related chain starts unrelated with a real FileId, all later members are related and "
			   "carry FileId all ones",
			   "3.2.4.1.4, 3.3.5.2.7" },
	[SMB_RULE_C14] = { SMB_RULE_C14, false, "C14",
			   "members that depend on a failed CREATE of their chain fail like it", "3.3.5.2.7.2" },
	[SMB_RULE_C15] = { SMB_RULE_C15, false, "C15", "the members of a related chain are answered in order",
			   "3.2.5.1.9, 3.3.4.1.3" },
	[SMB_RULE_C18] = { SMB_RULE_C18, false, "C18",
			   "an async request gets one interim response and a final one with the same, unique AsyncId",
			   "3.3.4.2, 3.2.5.1.5" },
	[SMB_RULE_C27] = { SMB_RULE_C27, true, "C27",
			   "every byte read is the file's byte, and end of file is where it is", "3.2.5.11, 3.3.5.12" },
	[SMB_RULE_C30] = { SMB_RULE_C30, true, "C30",
			   "readahead stays within twice its window, a READ within rsize, and no page is asked for "
			   "twice at once",
			   "mm ondemand_readahead; cifs cifs_readahead" },
	[SMB_RULE_C31] = { SMB_RULE_C31, true, "C31",
			   "READ and WRITE keep to MaxReadSize and MaxWriteSize of their connection", "3.2.5.2" },
};

const struct smb_rule_info *smb_rule_info(enum smb_rule rule)
{
	unsigned int number = (unsigned int)rule;
	return number < SMB_RULE_MAX && rules[number].name ? &rules[number] : NULL;
}
