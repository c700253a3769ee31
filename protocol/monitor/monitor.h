/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_MONITOR_MONITOR_H
#define SMB_MONITOR_MONITOR_H

/**
 * The rule monitor: judges SMB traffic of any origin by the numbered invariants of this project.
 *
 * It sees PDUs as they leave and reach the client, and what the application was given; it knows nothing of the
 * client's or the server's insides. One monitor watches one client (all its channels). Like the core it is one
 * block, allocates nothing, and judges each PDU in constant time.
 */

#include "protocol/wire/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The rules, by their numbers C1..C36. Those not named here are not judged by the monitor; smb_rule_info() says who does. */
enum smb_rule {
	SMB_RULE_C1 = 1, /* MessageIds come from the granted window and are used once */
	SMB_RULE_C2, /* the lowest available ids are used */
	SMB_RULE_C3, /* a request of charge n takes n consecutive ids */
	SMB_RULE_C4, /* CreditCharge fits the payload */
	SMB_RULE_C5, /* a request with CreditCharge 0 costs one credit */
	SMB_RULE_C6, /* credits are conserved and never negative */
	SMB_RULE_C7, /* in flight = sent and not finally answered; 0 on idle */
	SMB_RULE_C9 = 9, /* grants arrive once per request */
	SMB_RULE_C10, /* the sum of a chain's grants counts */
	SMB_RULE_C11, /* the server never leaves 0 credits and nothing outstanding */
	SMB_RULE_C12, /* NextCommand and padding */
	SMB_RULE_C13, /* related chains */
	SMB_RULE_C14, /* error propagation in chains */
	SMB_RULE_C15, /* chain members are answered in order */
	SMB_RULE_C16, /* signatures where they belong; not whether they are right */
	SMB_RULE_C17, /* CANCEL */
	SMB_RULE_C18, /* interim and final of an async request */
	SMB_RULE_C19, /* breaks and their acknowledgements */
	SMB_RULE_C21 = 21, /* one ECHO at a time, and none with the only credit (expect.is_cifs) */
	SMB_RULE_C22, /* nothing of an old connection or session is used on a new one */
	SMB_RULE_C23, /* ChannelSequence goes up, at most once per connection */
	SMB_RULE_C24, /* a CREATE that is sent again */
	SMB_RULE_C26 = 26, /* one ClientGuid; nothing on a channel before its SESSION_SETUP */
	SMB_RULE_C27 = 27, /* read integrity */
	SMB_RULE_C29 = 29, /* every handle is closed */
	SMB_RULE_C30, /* readahead stays within twice its window; READ <= rsize; no page asked twice at once */
	SMB_RULE_C31, /* sizes in use <= limits negotiated on that connection */
	SMB_RULE_C32, /* no request on a channel that is down */
	SMB_RULE_MAX = 37,
};

/** What a rule says, for `smblab list rules` and for messages. */
struct smb_rule_info {
	enum smb_rule rule;
	bool client_side; /* a client breaks it; false: a server does */
	const char *name; /* "C6" */
	const char *meaning; /* one sentence */
	const char *section; /* of MS-SMB2, or the kernel function */
	const char *where; /* the file that judges it, or that keeps it; NULL: not covered */
	const char *test; /* the test that breaks it; NULL: none */
	const char *mutants; /* historical bugs that break it, of model/mutants: "D-17, D-25"; NULL: none */
	bool is_monitored; /* the monitor reports it */
};
/** NULL for numbers that no rule has. */
const struct smb_rule_info *smb_rule_info(enum smb_rule rule);

struct smb_monitor_limits {
	uint32_t channels;
	uint32_t requests; /* outstanding, all channels */
	uint32_t files; /* open handles whose READs are judged */
	uint32_t window; /* widest MessageId window followed, ids; a power of two, e.g. 65536 */
};

/** What the monitor is told about the client under test; 0 = unknown, the rule that needs it does not judge. */
struct smb_monitor_expect {
	uint32_t max_credits; /* C6: beyond this (and the two held back for echo and oplock) no more are asked for */
	uint32_t idle_credits; /* of what it holds beyond this it lets go when it is idle; 0: beyond max_credits */
	uint32_t rsize; /* bytes, C30 */
	uint64_t readahead_bytes; /* ra_pages * page size, C30 */
	uint32_t page_bytes; /* of the page cache; 0: reads are not cached, READs may overlap (C30) */
	uint32_t request_bytes; /* largest single read() of the application, C30 */
	bool is_cifs; /* it keeps cifs's own rules, too: C21 */
	bool grants_vary; /* the server grants as it likes, also nothing: C10 cannot tell a lost sum from that */
};

struct smb_monitor;

size_t smb_monitor_size(const struct smb_monitor_limits *limits);
struct smb_monitor *smb_monitor_init(void *block, const struct smb_monitor_limits *limits,
				     const struct smb_monitor_expect *expect);
/** Tell (again) what is known about the client: rsize and readahead are only known once the mount has negotiated. */
void smb_monitor_set_expect(struct smb_monitor *monitor, const struct smb_monitor_expect *expect);
bool smb_monitor_is_valid(const struct smb_monitor *monitor);
/** The state in canonical form for hashing, as far as it matters for what will be said from now on; `monitor` watches at
 *  most 256 requests. Returns bytes written, 0 when `size` is too small. */
size_t smb_monitor_encode(const struct smb_monitor *monitor, uint8_t *buffer, size_t size);

/** A verdict of the monitor: the first rule that the event broke. */
struct smb_violation {
	enum smb_rule rule;
	uint64_t event; /* number of the event, from 1 */
	uint64_t when_ns;
	uint32_t channel;
	uint64_t message_id;
	uint16_t command;
	bool received; /* seen in a PDU that reached the client: of a rule that binds both, the server broke it */
	char text[160]; /* what was seen and what the rule asks, in one line */
};

/** Called for each violation. The monitor goes on afterwards, on the assumption that nothing was broken. */
typedef void (*smb_violation_fn)(void *context, const struct smb_violation *violation);
void smb_monitor_report_to(struct smb_monitor *monitor, smb_violation_fn report, void *context);

/** A connection came up (again): its window is {0}, one credit (MS-SMB2 3.2.4.1.6). */
void smb_monitor_connected(struct smb_monitor *monitor, uint32_t channel, uint64_t now_ns);
void smb_monitor_closed(struct smb_monitor *monitor, uint32_t channel, uint64_t now_ns);
/** The client put this PDU on the wire. Returns violations found in it. */
uint32_t smb_monitor_sent(struct smb_monitor *monitor, uint32_t channel, const struct smb_pdu *pdu, uint64_t now_ns);
/** This PDU reached the client. */
uint32_t smb_monitor_received(struct smb_monitor *monitor, uint32_t channel, const struct smb_pdu *pdu,
			      uint64_t now_ns);

/** A file on the server as the host made it: `name` as CREATE names it (ASCII, '\\' between components). C27. */
void smb_monitor_file(struct smb_monitor *monitor, const char *name, uint64_t source, uint64_t bytes);
/** The application was handed `data` as the content of `name` at `offset`; `at_eof` says that it was told that the
 *  file ends behind it. */
uint32_t smb_monitor_application_read(struct smb_monitor *monitor, const char *name, uint64_t offset,
				      struct smb_slice data, bool at_eof, uint64_t now_ns);
/** The application writes to `name`: its content is known no more, also while no WRITE has gone out. */
void smb_monitor_application_writes(struct smb_monitor *monitor, const char *name);
/** Nothing will follow: whatever had to be finished by now must be. */
uint32_t smb_monitor_idle(struct smb_monitor *monitor, uint64_t now_ns);

/** Running numbers of one channel, counted from PDUs alone. */
struct smb_monitor_channel {
	int64_t credits; /* 1 + grants seen - charges sent */
	int64_t let_go; /* of them: what the client may count no more (expect.idle_credits) */
	uint32_t in_flight; /* requests sent, not finally answered */
	uint64_t read_bytes_in_flight;
	uint64_t sent; /* PDUs */
	uint64_t received; /* PDUs */
	uint64_t pairs; /* transport sends that were finally answered; a compound is one */
};
void smb_monitor_look(const struct smb_monitor *monitor, uint32_t channel, struct smb_monitor_channel *numbers);
uint64_t smb_monitor_violations(const struct smb_monitor *monitor);

#endif
