/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_MONITOR_TESTS_TRAFFIC_H
#define SMB_MONITOR_TESTS_TRAFFIC_H

/* A conversation as a table of steps, played to a fresh monitor that writes down the rules it finds broken. */

#include "protocol/monitor/monitor.h"

enum step_kind {
	STEP_END,
	STEP_SEND, /* the client sends a request */
	STEP_REPLY, /* a response reaches the client */
	STEP_APPLICATION, /* the application is handed `length` bytes at `offset` of source `source` */
	STEP_WRITTEN, /* the application writes to the file; nothing goes out yet */
	STEP_FILE, /* the host names a file: `source`, `length` bytes */
	STEP_IDLE,
	STEP_CONNECT,
	STEP_CLOSED,
};

struct step {
	enum step_kind kind;
	uint16_t command;
	uint16_t charge;
	uint16_t credits;
	uint32_t channel;
	uint32_t flags;
	uint32_t status;
	uint64_t id;
	uint64_t async_id;
	uint64_t fid; /* FileId of request, and of a CREATE response; UINT64_MAX = all ones */
	uint64_t offset;
	uint64_t source;
	uint32_t length;
	uint32_t length2; /* IOCTL: MaxInputResponse */
	uint32_t create_action; /* CREATE response */
	uint8_t info_class; /* SET_INFO */
	bool more; /* the next step is the next member of this PDU */
	bool eof;
	const char *name; /* of the file */
	uint64_t session; /* SessionId; 0 = 1 */
	bool sessionless; /* SessionId 0 */
	uint16_t sequence; /* ChannelSequence */
	uint8_t guid; /* NEGOTIATE: first byte of the ClientGuid; CREATE: of the CreateGuid, 0 = none */
	uint8_t signature; /* its first byte */
	bool binding; /* SESSION_SETUP: of another channel */
	uint32_t repeat; /* play this step so many times more, ids counting up by the charge */
};

/* SEND and its like set defaults; what a step says itself comes later and wins. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

#define SEND(...)                                                                                                      \
	{                                                                                                              \
		.kind = STEP_SEND, .charge = 1, .credits = 1, __VA_ARGS__                                              \
	}
#define REPLY(...)                                                                                                     \
	{                                                                                                              \
		.kind = STEP_REPLY, .credits = 1, .create_action = 1, __VA_ARGS__                                      \
	}
#define APPLICATION(...)                                                                                               \
	{                                                                                                              \
		.kind = STEP_APPLICATION, .name = "file", .source = 7, __VA_ARGS__                                     \
	}
#define PENDING .status = STATUS_PENDING, .flags = SMB2_FLAGS_ASYNC_COMMAND
#define ASYNC .flags = SMB2_FLAGS_ASYNC_COMMAND
#define RELATED .flags = SMB2_FLAGS_RELATED_OPERATIONS, .fid = UINT64_MAX
#define FID 0x11u

#define STEPS_MAX 24
struct conversation {
	const char *name;
	uint16_t credits; /* that the client holds when the steps begin; ids begin at 1 */
	bool old_dialect; /* 2.0.2 instead of 3.1.1 */
	struct smb_monitor_expect expect;
	struct step steps[STEPS_MAX];
	enum smb_rule broken[4]; /* in this order; {} = none */
};

#define FOUND_MAX 64
struct traffic {
	struct smb_monitor *monitor;
	enum smb_rule found[FOUND_MAX];
	struct smb_violation last;
	uint32_t count;
	uint8_t bytes[8192];
	struct smb_chain_writer writer;
	uint32_t window; /* limit; 0 = 1024 */
	uint32_t requests; /* limit; 0 = 64 */
};

/** A fresh monitor with channel 0 negotiated as the conversation asks. */
void traffic_start(struct traffic *traffic, const struct conversation *conversation);
/** Play steps until STEP_END or `count`. */
void traffic_play(struct traffic *traffic, const struct step *steps, uint32_t count);
void traffic_stop(struct traffic *traffic);

/** Play the conversation and assert that exactly the rules in `broken` are reported, in that order. */
void conversation_check(const struct conversation *conversation);
#define CONVERSATIONS_CHECK(table)                                                                                     \
	for (size_t i_ = 0; i_ < sizeof(table) / sizeof((table)[0]); i_++)                                             \
	conversation_check(&(table)[i_])

#endif
