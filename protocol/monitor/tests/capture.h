/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_MONITOR_TESTS_CAPTURE_H
#define SMB_MONITOR_TESTS_CAPTURE_H

/* The SMB PDUs of a compressed pcap file, per TCP connection to port 445, in the order they completed. */

#include <stdbool.h>
#include <stdint.h>

struct captured_pdu {
	uint8_t *bytes;
	uint32_t length;
	uint32_t channel; /* connections are numbered as they appear */
	uint64_t when_ns;
	bool sent; /* by the client */
};

#define CAPTURE_PDUS_MAX 4096
struct capture {
	struct captured_pdu pdus[CAPTURE_PDUS_MAX];
	uint32_t count;
	uint32_t channels;
};

/** Fails the test when the file cannot be read or a TCP segment is missing. */
struct capture *capture_load(const char *path);
struct capture *capture_copy(const struct capture *capture);
/** A copy of `pdu` in place `at`; what was there and behind moves back. */
void capture_insert(struct capture *capture, uint32_t at, const struct captured_pdu *pdu);
void capture_remove(struct capture *capture, uint32_t at);
void capture_free(struct capture *capture);

#endif
