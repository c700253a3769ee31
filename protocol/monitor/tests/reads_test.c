/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/monitor/tests/traffic.h"

#include <criterion/criterion.h>

#define K 1024u
#define M (1024u * K)
#define OPEN                                                                                                           \
	{ .kind = STEP_FILE, .name = "file", .source = 7, .length = 64 * M },                                          \
		SEND(.command = SMB2_CREATE, .id = 1, .name = "file"),                                                 \
		REPLY(.command = SMB2_CREATE, .id = 1, .fid = FID)
#define READ(number, at, bytes)                                                                                        \
	SEND(.command = SMB2_READ, .id = number, .charge = ((bytes) + 65535) / 65536, .fid = FID, .offset = at,        \
	     .length = bytes)
#define DATA(number, at, bytes, ...)                                                                                   \
	REPLY(.command = SMB2_READ, .id = number, .source = 7, .offset = at, .length = bytes, __VA_ARGS__)
#define GIVEN(at, bytes, ...) APPLICATION(.offset = at, .length = bytes, __VA_ARGS__)
#define CLOSE(number) SEND(.command = SMB2_CLOSE, .id = number, .fid = FID)

Test(monitor_reads, every_byte_is_the_files_byte)
{
	static const struct conversation cases[] = {
		{ "the right bytes", 99, .steps = { OPEN, READ(2, M, 64 * K), DATA(2, M, 64 * K), GIVEN(M, 64 * K) } },
		{ "a short reply of the right bytes", 99, .steps = { OPEN, READ(2, M, 64 * K), DATA(2, M, 10 * K) } },
		{ "another offset", 99, .steps = { OPEN, READ(2, M, 64 * K), DATA(2, M + 1, 64 * K) },
		  .broken = { SMB_RULE_C27 } },
		{ "another file's bytes", 99, .steps = { OPEN, READ(2, M, 64 * K), DATA(2, M, 64 * K, .source = 8) },
		  .broken = { SMB_RULE_C27 } },
		{ "more than was asked for", 99, .steps = { OPEN, READ(2, M, 64 * K), DATA(2, M, 64 * K + 1) },
		  .broken = { SMB_RULE_C27 } },
		{ "the application gets zeros", 99, .steps = { OPEN, GIVEN(M, 4 * K, .source = 0) },
		  .broken = { SMB_RULE_C27 } },
		{ "the application gets the page before", 99,
		  .steps = { OPEN,
			     { .kind = STEP_FILE, .name = "other", .source = 9, .length = M },
			     APPLICATION(.name = "other", .source = 9, .length = 4 * K),
			     APPLICATION(.name = "file", .source = 9, .offset = 4 * K, .length = 4 * K) },
		  .broken = { SMB_RULE_C27 } },
		{ "the end at the end", 99, .steps = { OPEN, GIVEN(63 * M, M, .eof = true) } },
		{ "the end too early", 99, .steps = { OPEN, GIVEN(62 * M, M, .eof = true) },
		  .broken = { SMB_RULE_C27 } },
		{ "bytes behind the end", 99, .steps = { OPEN, GIVEN(63 * M, M + 1) }, .broken = { SMB_RULE_C27 } },
		{ "the server tells the end at the end", 99,
		  .steps = { OPEN, READ(2, 64 * M, 64 * K),
			     REPLY(.command = SMB2_READ, .id = 2, .status = STATUS_END_OF_FILE) } },
		{ "the server tells the end too early", 99,
		  .steps = { OPEN, READ(2, 64 * M - 1, 64 * K),
			     REPLY(.command = SMB2_READ, .id = 2, .status = STATUS_END_OF_FILE) },
		  .broken = { SMB_RULE_C27 } },
		{ "an unknown file is not judged", 99, .steps = { APPLICATION(.name = "unknown", .length = 9) } },
		{ "a written file is not judged", 99,
		  .steps = { OPEN, SEND(.command = SMB2_WRITE, .id = 2, .fid = FID, .source = 3, .length = 9),
			     GIVEN(0, 9, .source = 3) } },
		{ "a file that was written to in the page cache is not judged", 99,
		  .steps = { OPEN, { .kind = STEP_WRITTEN, .name = "file" }, GIVEN(0, 9, .source = 3) } },
		{ "what is written to another file changes nothing", 99,
		  .steps = { OPEN,
			     { .kind = STEP_FILE, .name = "other", .source = 9, .length = M },
			     { .kind = STEP_WRITTEN, .name = "other" },
			     GIVEN(0, 9, .source = 3) },
		  .broken = { SMB_RULE_C27 } },
		{ "a file truncated in a chain is not judged", 99,
		  .steps = { OPEN, SEND(.command = SMB2_CREATE, .id = 2, .name = "file", .more = true),
			     SEND(.command = SMB2_SET_INFO, .id = 3, .info_class = 20, .more = true, RELATED),
			     SEND(.command = SMB2_CLOSE, .id = 4, RELATED), GIVEN(0, 0, .eof = true) } },
		{ "changed times leave the content as it is", 99,
		  .steps = { OPEN, SEND(.command = SMB2_SET_INFO, .id = 2, .info_class = 4, .fid = FID),
			     GIVEN(0, 9, .source = 3) },
		  .broken = { SMB_RULE_C27 } },
		{ "a file made anew is not judged", 99,
		  .steps = { OPEN, SEND(.command = SMB2_CREATE, .id = 2, .name = "file"),
			     REPLY(.command = SMB2_CREATE, .id = 2, .fid = FID + 1, .create_action = 3),
			     GIVEN(0, 9, .source = 3) } },
		{ "named again it is", 99,
		  .steps = { OPEN,
			     SEND(.command = SMB2_WRITE, .id = 2, .fid = FID, .source = 3, .length = 9),
			     { .kind = STEP_FILE, .name = "file", .source = 3, .length = 9 },
			     GIVEN(0, 9, .source = 7) },
		  .broken = { SMB_RULE_C27 } },
	};
	CONVERSATIONS_CHECK(cases);
}

#define CIFS .expect = { .rsize = M, .readahead_bytes = 2 * M, .page_bytes = 4 * K }

Test(monitor_reads, readahead_stays_within_twice_its_window)
{
	static const struct conversation cases[] = {
		{ "two windows and a request", 999, CIFS,
		  .steps = { OPEN, READ(2, 0, M), READ(18, M, M), READ(34, 2 * M, M), READ(50, 3 * M, M),
			     READ(66, 4 * M, M) } },
		{ "one more", 999, CIFS,
		  .steps = { OPEN, READ(2, 0, M), READ(18, M, M), READ(34, 2 * M, M), READ(50, 3 * M, M),
			     READ(66, 4 * M, M), READ(82, 5 * M, 64 * K) },
		  .broken = { SMB_RULE_C30 } },
		{ "one more when the reader has moved", 999, CIFS,
		  .steps = { OPEN, READ(2, 0, M), READ(18, M, M), READ(34, 2 * M, M), READ(50, 3 * M, M),
			     READ(66, 4 * M, M), GIVEN(0, 64 * K), READ(82, 5 * M, 64 * K) } },
		{ "a large read() of the application counts", 999,
		  .expect = { .rsize = M, .readahead_bytes = 2 * M, .page_bytes = 4 * K, .request_bytes = 2 * M },
		  .steps = { OPEN, READ(2, 0, M), READ(18, M, M), READ(34, 2 * M, M), READ(50, 3 * M, M),
			     READ(66, 4 * M, M), READ(82, 5 * M, M) } },
		{ "a small window grows to 128 KiB under a large read()", 999,
		  .expect = { .rsize = 64 * K, .readahead_bytes = 64 * K, .page_bytes = 4 * K },
		  .steps = { OPEN, READ(2, 0, 64 * K), READ(3, 64 * K, 64 * K), READ(4, 128 * K, 64 * K),
			     READ(5, 192 * K, 64 * K), READ(6, 256 * K, 64 * K) } },
		{ "but not further", 999, .expect = { .rsize = 64 * K, .readahead_bytes = 64 * K, .page_bytes = 4 * K },
		  .steps = { OPEN, READ(2, 0, 64 * K), READ(3, 64 * K, 64 * K), READ(4, 128 * K, 64 * K),
			     READ(5, 192 * K, 64 * K), READ(6, 256 * K, 64 * K), READ(7, 320 * K, 4 * K) },
		  .broken = { SMB_RULE_C30 } },
		{ "and not under small read()s", 999,
		  .expect = { .rsize = 64 * K, .readahead_bytes = 64 * K, .page_bytes = 4 * K, .request_bytes = 4 * K },
		  .steps = { OPEN, READ(2, 0, 64 * K), READ(3, 64 * K, 64 * K), READ(4, 128 * K, 64 * K),
			     READ(5, 192 * K, 64 * K) },
		  .broken = { SMB_RULE_C30 } },
		{ "a reader that jumps is not ahead", 999, CIFS,
		  .steps = { OPEN, READ(2, 0, M), READ(18, 40 * M, M), READ(34, 20 * M, M), READ(50, 21 * M, M) } },
		{ "a second pass is judged from its start", 999, CIFS,
		  .steps = { OPEN, READ(2, 0, M), READ(18, M, M), DATA(2, 0, M), DATA(18, M, M), GIVEN(0, M),
			     GIVEN(M, M), READ(34, 0, M), READ(50, M, M), READ(66, 2 * M, M), READ(82, 3 * M, M),
			     READ(98, 4 * M, M), READ(114, 5 * M, M) },
		  .broken = { SMB_RULE_C30 } },
		{ "READ of rsize and a page", 999, CIFS, .expect.rsize = 512 * K,
		  .steps = { OPEN, READ(2, 0, 516 * K) }, .broken = { SMB_RULE_C30 } },
		{ "unknown sizes are not judged", 999,
		  .steps = { OPEN, READ(2, 0, M), READ(18, M, M), READ(34, 2 * M, M), READ(50, 3 * M, M),
			     READ(66, 4 * M, M), READ(82, 0, M) } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_reads, no_page_is_asked_for_twice_at_once)
{
	static const struct conversation cases[] = {
		{ "adjoining", 999, CIFS, .steps = { OPEN, READ(2, 0, M), READ(18, M, M), READ(34, 2 * M, M) } },
		{ "the same again", 999, CIFS, .steps = { OPEN, READ(2, 0, M), READ(18, 0, M) },
		  .broken = { SMB_RULE_C30 } },
		{ "the same again after the answer", 999, CIFS,
		  .steps = { OPEN, READ(2, 0, M), DATA(2, 0, 64 * K), READ(18, 64 * K, M - 64 * K) } },
		{ "the last page twice", 999, CIFS, .steps = { OPEN, READ(2, 0, M), READ(18, M - 4 * K, 64 * K) },
		  .broken = { SMB_RULE_C30 } },
		{ "into the one behind", 999, CIFS, .steps = { OPEN, READ(2, M, M), READ(18, M - 4 * K, 8 * K) },
		  .broken = { SMB_RULE_C30 } },
		{ "up to the one behind", 999, CIFS, .steps = { OPEN, READ(2, M, M), READ(18, 0, M) } },
		{ "between two", 999, CIFS,
		  .steps = { OPEN,
			     READ(2, 0, M),
			     READ(18, 2 * M, M),
			     READ(34, M, M),
			     DATA(18, 2 * M, M),
			     DATA(2, 0, M),
			     DATA(34, M, M),
			     { .kind = STEP_IDLE } } },
		{ "a closed file's READs do not matter", 999, CIFS,
		  .steps = { OPEN, READ(2, 0, M), CLOSE(18), SEND(.command = SMB2_CREATE, .id = 19, .name = "file"),
			     REPLY(.command = SMB2_CREATE, .id = 19, .fid = FID), READ(20, 0, M), DATA(2, 0, M),
			     DATA(20, 0, M) } },
	};
	CONVERSATIONS_CHECK(cases);
}

Test(monitor_reads, sizes_keep_to_what_the_connection_negotiated)
{
	static const struct conversation cases[] = {
		{ "READ of MaxReadSize", 999, .steps = { OPEN, READ(2, 0, M) } },
		{ "READ of a byte more", 999, .steps = { OPEN, READ(2, 0, M + 1) }, .broken = { SMB_RULE_C31 } },
		{ "WRITE of MaxWriteSize", 999,
		  .steps = { SEND(.command = SMB2_WRITE, .id = 1, .charge = 16, .fid = FID, .length = M) } },
		{ "WRITE of a byte more", 999,
		  .steps = { SEND(.command = SMB2_WRITE, .id = 1, .charge = 17, .fid = FID, .length = M + 1) },
		  .broken = { SMB_RULE_C31 } },
		{ "64 KiB without large MTU", 9, true,
		  .steps = { SEND(.command = SMB2_READ, .id = 1, .charge = 0, .fid = FID, .length = 64 * K) } },
		{ "more without large MTU breaks the charge rule too", 9, true,
		  .steps = { SEND(.command = SMB2_READ, .id = 1, .charge = 0, .fid = FID, .length = 64 * K + 1) },
		  .broken = { SMB_RULE_C4, SMB_RULE_C31 } },
		{ "sizes after a reconnect are the new ones", 999,
		  .steps = { { .kind = STEP_CLOSED },
			     { .kind = STEP_CONNECT },
			     SEND(.command = SMB2_NEGOTIATE, .charge = 0),
			     REPLY(.command = SMB2_NEGOTIATE, .length = 512 * K, .credits = 99),
			     READ(1, 0, 512 * K),
			     READ(9, 512 * K, M) },
		  .broken = { SMB_RULE_C31 } },
	};
	CONVERSATIONS_CHECK(cases);
}
