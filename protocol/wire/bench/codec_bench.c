/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the codec costs per message, beside clearing one struct smb2_message, which it must never do. */
#include "protocol/wire/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 2000000u

static uint8_t bytes[256];
static struct smb_pdu pdu;
static struct smb2_message decoded;

static void clear(const struct smb2_message *message)
{
	(void)message;
	memset(&decoded, 0, sizeof(decoded));
	__asm__ volatile("" : : "r"(&decoded) : "memory");
}

static void encode(const struct smb2_message *message)
{
	if (smb2_message_encode(message, bytes, sizeof(bytes), &pdu) != SMB_WIRE_OK)
		abort();
}

static void decode(const struct smb2_message *message)
{
	(void)message;
	if (smb2_message_decode(&pdu, &decoded) != SMB_WIRE_OK)
		abort();
}

static double nanoseconds(void (*work)(const struct smb2_message *), const struct smb2_message *message)
{
	struct timespec begin, end;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (unsigned int i = 0; i < ROUNDS; i++)
		work(message);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / ROUNDS;
}

static void measure(const char *name, const struct smb2_message *message, double base)
{
	double encode_ns = nanoseconds(encode, message);
	double decode_ns = nanoseconds(decode, message);
	printf("%-14s encode %6.1f ns (%.2f of a clear), decode %6.1f ns (%.2f)\n", name, encode_ns, encode_ns / base,
	       decode_ns, decode_ns / base);
}

int main(void)
{
	static const struct smb2_message request = {
		.header = { .command = SMB2_READ, .credit_charge = 16, .credits = 24, .message_id = 7 },
		.kind = SMB2_BODY_READ_REQ,
		.body.read_req = { .length = 1 << 20, .offset = 1 << 30 },
	};
	static const struct smb2_message response = {
		.header = { .command = SMB2_READ, .flags = SMB2_FLAGS_SERVER_TO_REDIR, .message_id = 7 },
		.kind = SMB2_BODY_READ_RSP,
		.body.read_rsp = { .data_length = 1 << 20, .payload = { 1, 1 << 30, 1 << 20 } },
	};
	double base = nanoseconds(clear, NULL);
	printf("%-14s %13.1f ns for %zu bytes\n", "clear", base, sizeof(decoded));
	measure("READ request", &request, base);
	measure("READ response", &response, base);
	return 0;
}
