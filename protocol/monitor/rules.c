/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/monitor/monitor.h"

#define CLIENT true
#define SERVER false

/* Judged by the monitor. Sections are those of MS-SMB2; "cifs" and "mm" name functions of the Linux kernel. */
#define JUDGED(number, side, meaning_, section_, file, test_, mutants_)                                                \
	[number] = {                                                                                                   \
		(enum smb_rule)number,		 side,	   "C" #number, meaning_, section_, "protocol/monitor/" file,  \
		"protocol/monitor/tests/" test_, mutants_, true                                                        \
	}
/* Judged by the model checker, or kept by a module of the core. */
#define KEPT(number, side, meaning_, section_, file, test_, mutants_)                                                  \
	[number] = { (enum smb_rule)number, side, "C" #number, meaning_, section_, file, test_, mutants_, false }

/* clang-format off */
static const struct smb_rule_info rules[SMB_RULE_MAX] = {
	JUDGED(1, CLIENT, "MessageIds come from the granted window and are used once", "3.2.4.1.6, 3.3.1.1",
	       "window.c", "window_test.c: ids_come_from_the_granted_window_and_are_used_once", "D-5"),
	JUDGED(2, CLIENT, "the lowest available MessageIds are used; no id is left out for good", "3.2.4.1.6",
	       "window.c", "window_test.c: no_id_stays_unused_for_good", NULL),
	JUDGED(3, CLIENT, "a request of charge n takes n consecutive MessageIds of its own", "3.2.4.1.5, 3.3.5.2.3",
	       "window.c", "window_test.c: a_request_of_several_credits_takes_as_many_ids", "D-38"),
	JUDGED(4, CLIENT, "CreditCharge pays for the larger of request and response payload, 65536 bytes a credit",
	       "3.1.5.2, 3.2.4.1.5", "credits.c", "credits_test.c: the_charge_pays_for_the_payload", "D-9, D-10"),
	JUDGED(5, CLIENT, "a request with CreditCharge 0 still needs and costs one credit", "3.2.4.1.3",
	       "credits.c", "credits_test.c: credits_are_not_overdrawn", "D-24"),
	JUDGED(6, CLIENT, "credits are never overdrawn, oplock break acknowledgements apart, and at max_credits no more are "
	       "asked for", "3.2.5.1.4; cifs smb2_add_credits", "credits.c",
	       "credits_test.c: credits_are_not_overdrawn",
	       "D-1, D-2, D-3, D-8, D-12, D-37, D-42, D-55, D-69"),
	JUDGED(7, SERVER, "each request gets exactly one final response; none is open on idle",
	     "3.2.5.1; cifs in_flight",
	       "credits.c", "credits_test.c: every_request_gets_one_final_response", "D-14, D-54"),
	KEPT(8, CLIENT, "credits taken on one connection are never returned to another", "cifs reconnect_instance",
	     "protocol/flow/credits.c",
	     "protocol/flow/tests/credits_test.c: credits_of_an_older_connection_are_dropped",
	     NULL),
	JUDGED(9, SERVER, "credits are granted once per request: in the interim response or else in the final one",
	       "3.3.4.1.2, 3.3.4.2", "async.c", "async_test.c: the_interim_response_carries_the_grant", "D-41"),
	JUDGED(10, SERVER, "the grants of a chain's responses count as their sum, and the sum keeps the client going",
	       "3.3.4.1.3", "chains.c", "chains_test.c: the_grants_of_a_chain_count_as_their_sum", NULL),
	JUDGED(11, SERVER, "a client with nothing outstanding holds at least one credit", "3.3.1.2",
	       "credits.c", "credits_test.c: a_client_with_nothing_outstanding_holds_a_credit", "D-56"),
	JUDGED(12, CLIENT, "NextCommand leads, in multiples of 8, to members that all lie inside the PDU",
	       "3.2.4.1.4, 3.3.4.1.3", "chains.c", "chains_test.c: next_command_leads_to_the_next_header",
	       "D-20, D-21, D-46"),
	JUDGED(13, CLIENT, "a related chain starts unrelated with a real FileId, all later members are related and carry "
	       "FileId all ones", "3.2.4.1.4, 3.3.5.2.7", "chains.c",
	       "chains_test.c: related_members_refer_to_the_one_before",
	       "D-19"),
	JUDGED(14, SERVER, "members that depend on a failed CREATE of their chain fail like it", "3.3.5.2.7.2",
	       "chains.c", "chains_test.c: members_fail_like_the_create_they_depend_on", "D-62"),
	JUDGED(15, SERVER, "the members of a related chain are answered in order", "3.2.5.1.9, 3.3.4.1.3",
	       "chains.c", "chains_test.c: members_are_answered_in_order", "D-59"),
	JUDGED(16, CLIENT, "requests carry a signature if and only if they say so, all members of a chain or none, always the "
	       "one that binds a channel (whether a signature is right is not judged: there are no keys here)",
	       "3.1.4.1, 3.2.4.1.1", "signing.c", "signing_test.c: requests_carry_a_signature_when_they_say_so", NULL),
	JUDGED(17, CLIENT, "CANCEL names a request that was sent, an asynchronous one by its AsyncId; nothing answers it",
	       "3.2.4.24, 3.3.5.16", "session.c", "session_test.c: cancel_names_what_was_sent", NULL),
	JUDGED(18, SERVER, "an async request gets one interim response and a final one with the same, unique AsyncId",
	       "3.3.4.2, 3.2.5.1.5", "async.c", "async_test.c: interim_and_final_belong_together", "D-45"),
	JUDGED(19, CLIENT, "only breaks that were announced are acknowledged; an announcement belongs to no session and tree",
	       "3.2.5.19, 3.3.4.6, 3.3.4.7", "session.c", "session_test.c: breaks_are_announced_and_acknowledged",
	       NULL),
	KEPT(20, CLIENT, "a break is acknowledged in time, at one credit and full load too (liveness)",
	     "3.3.6.1; cifs change_conf",
	     "model/judge.c", "protocol/client/tests/trouble_test.c: "
	     "a_lease_break_is_acknowledged_from_the_reserve_even_without_credits", "D-27"),
	JUDGED(21, CLIENT, "one ECHO at a time, and none with the only credit", "2.2.28, 3.3.5.17; cifs change_conf",
	       "session.c", "session_test.c: one_echo_at_a_time_and_not_with_the_only_credit", NULL),
	JUDGED(22, CLIENT, "a connection begins with NEGOTIATE, and no SessionId of an older one is used on it",
	       "3.2.4.2, 3.2.7.1", "session.c", "session_test.c: a_new_connection_uses_nothing_of_the_old_session",
	       "D-6, D-22"),
	JUDGED(23, CLIENT, "ChannelSequence only goes up, at most once per connection made, and the newest is never refused as stale",
	     "3.2.4.1, 3.2.7.1, 3.3.5.2.10",
	       "session.c", "session_test.c: channel_sequence_counts_connections", "D-28, D-35"),
	JUDGED(24, CLIENT, "a CREATE that is sent again has the same CreateGuid and opens once", "3.2.7.1, 3.3.5.9.10",
	       "replay.c", "replay_test.c: a_create_that_is_sent_again_keeps_its_guid", NULL),
	KEPT(25, CLIENT, "a durable handle is asked for again with its lease key and FileId",
	     "3.2.4.4, 3.3.5.9.7, 3.3.5.9.12",
	     "protocol/client/message.c", "protocol/client/tests/reconnect_test.c: a_durable_handle_is_asked_for_first",
	     NULL),
	JUDGED(26, CLIENT, "all channels have one ClientGuid, and nothing is sent on one before its SESSION_SETUP is complete",
	       "3.3.5.5", "session.c", "session_test.c: channels_belong_to_one_client_and_bind_first", "D-58"),
	JUDGED(27, CLIENT, "every byte read is the file's byte, and end of file is where it is", "3.2.5.11, 3.3.5.12",
	       "reads.c", "reads_test.c: every_byte_is_the_files_byte", NULL),
	KEPT(28, CLIENT, "every dirty byte reaches the server before fsync(2) returns, and a retry changes nothing newer",
	     "3.2.5.12; cifs writeback", "model/judge_data.c",
	     "protocol/client/tests/write_random_test.c: what_was_synced_is_at_the_server_whatever_it_does",
	     "D-38b, D-77, D-83"),
	JUDGED(29, CLIENT, "every handle is closed before the session ends", "cifs smb2_handle_cancelled_mid",
	       "session.c", "session_test.c: handles_are_closed_before_logoff", "D-17, D-25"),
	JUDGED(30, CLIENT, "readahead stays within twice its window, a READ within rsize, and no page is asked for twice at once",
	       "mm ondemand_readahead; cifs cifs_readahead", "reads.c",
	       "reads_test.c: readahead_stays_within_twice_its_window",
	       "D-18, D-31b"),
	JUDGED(31, CLIENT, "READ and WRITE keep to MaxReadSize and MaxWriteSize of their connection", "3.2.5.2",
	       "reads.c", "reads_test.c: sizes_keep_to_what_the_connection_negotiated", NULL),
	JUDGED(32, CLIENT, "nothing is sent on a channel that is not connected", "cifs cifs_pick_channel",
	       "session.c", "session_test.c: nothing_goes_out_on_a_closed_channel", NULL),
	KEPT(33, CLIENT, "while credits or requests under way are left, somebody proceeds (liveness)",
	     "cifs wait_for_free_credits",
	     "model/liveness.c", "sim/world/tests/cores_test.c: whatever_a_server_may_choose",
	     "D-4, D-11, D-13b, D-40, D-43, D-49, D-76, L-1"),
	KEPT(34, CLIENT, "after a reconnect every operation ends (liveness)", "cifs cifs_reconnect",
	     "model/liveness.c", "sim/world/tests/cores_test.c: "
	     "channels_that_are_cut_sessions_that_expire_and_time_that_passes", "D-31, D-47, D-71, D-75, D-81"),
	KEPT(35, CLIENT, "single requests cannot starve compounds, nor break acknowledgements the pool (liveness)",
	     "cifs MAX_COMPOUND", "model/judge.c",
	     "protocol/flow/tests/credits_test.c: single_requests_leave_the_last_credits_to_chains", "D-16"),
	KEPT(36, CLIENT, "each request is answered to its owner exactly once", "cifs mid callback",
	     "protocol/flow/requests.c",
	     "protocol/flow/tests/requests_test.c: an_ended_request_is_found_no_more_and_may_be_sent_again",
	     "D-48, D-70, D-79"),
};
/* clang-format on */

const struct smb_rule_info *smb_rule_info(enum smb_rule rule)
{
	unsigned int number = (unsigned int)rule;
	return number < SMB_RULE_MAX && rules[number].name ? &rules[number] : NULL;
}
