/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/monitor/tests/capture.h"

#include "protocol/wire/message.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define PCAP_MAGIC 0xa1b2c3d4u
#define SMB_PORT 445
#define STREAM_MAX (1u << 22)
#define CHANNELS_MAX 8

/* One direction of one connection: what has arrived and is not a whole PDU yet. */
struct stream {
	uint8_t *bytes;
	uint32_t length;
	uint32_t next; /* sequence number expected */
	bool started;
};

struct connection {
	uint16_t client_port;
	struct stream streams[2]; /* [1] = from the client */
};

struct loader {
	struct capture *capture;
	struct connection connections[CHANNELS_MAX];
};

static uint32_t big(const uint8_t *bytes, uint32_t count)
{
	uint32_t value = 0;
	for (uint32_t i = 0; i < count; i++)
		value = value << 8 | bytes[i];
	return value;
}

static struct connection *connection_of(struct loader *loader, uint16_t port)
{
	for (uint32_t i = 0; i < loader->capture->channels; i++) {
		if (loader->connections[i].client_port == port)
			return &loader->connections[i];
	}
	cr_assert_lt(loader->capture->channels, CHANNELS_MAX);
	struct connection *connection = &loader->connections[loader->capture->channels++];
	*connection = (struct connection){ .client_port = port };
	for (int i = 0; i < 2; i++)
		connection->streams[i].bytes = malloc(STREAM_MAX);
	return connection;
}

static void take_pdus(struct loader *loader, struct stream *stream, struct captured_pdu pdu)
{
	uint32_t length;
	while (stream->length >= 4 && smb_frame_decode(stream->bytes, &length) == SMB_WIRE_OK &&
	       stream->length >= 4 + length) {
		pdu.bytes = stream->bytes + 4;
		pdu.length = length;
		capture_insert(loader->capture, loader->capture->count, &pdu);
		stream->length -= 4 + length;
		memmove(stream->bytes, stream->bytes + 4 + length, stream->length);
	}
}

static void segment(struct loader *loader, const uint8_t *tcp, uint32_t length, uint64_t when_ns)
{
	bool sent = big(tcp + 2, 2) == SMB_PORT;
	if (!sent && big(tcp, 2) != SMB_PORT)
		return;
	struct connection *connection = connection_of(loader, (uint16_t)big(sent ? tcp : tcp + 2, 2));
	struct stream *stream = &connection->streams[sent];
	uint32_t sequence = big(tcp + 4, 4);
	uint32_t header = (tcp[12] >> 4) * 4u;
	bool synchronize = tcp[13] & 2;
	if (synchronize || !stream->started) {
		stream->started = true;
		stream->next = sequence + synchronize;
	}
	if (synchronize || header >= length)
		return;
	cr_assert_eq(sequence, stream->next, "a TCP segment is missing or repeated");
	cr_assert_lt(stream->length + length - header, STREAM_MAX);
	memcpy(stream->bytes + stream->length, tcp + header, length - header);
	stream->length += length - header;
	stream->next += length - header;
	take_pdus(loader, stream,
		  (struct captured_pdu){
			  .channel = (uint32_t)(connection - loader->connections), .when_ns = when_ns, .sent = sent });
}

/* Ethernet, IPv4, TCP; anything else is skipped. */
static void frame(struct loader *loader, const uint8_t *bytes, uint32_t length, uint64_t when_ns)
{
	if (length < 14 + 20 + 20 || big(bytes + 12, 2) != 0x0800 || bytes[14 + 9] != 6)
		return;
	const uint8_t *ip = bytes + 14;
	uint32_t header = (ip[0] & 15) * 4u;
	uint32_t total = big(ip + 2, 2);
	cr_assert(total >= header + 20 && total + 14 <= length, "a frame is cut");
	segment(loader, ip + header, total - header, when_ns);
}

struct capture *capture_load(const char *path)
{
	static uint8_t bytes[1 << 16];
	uint32_t record[4], magic[6];
	gzFile file = gzopen(path, "rb");
	struct loader *loader = calloc(1, sizeof(*loader));
	struct capture *capture = calloc(1, sizeof(*capture));

	cr_assert_not_null(file, "cannot open %s", path);
	cr_assert_eq(gzread(file, magic, sizeof(magic)), sizeof(magic));
	cr_assert_eq(magic[0], PCAP_MAGIC, "%s: not a pcap file with microseconds", path);
	loader->capture = capture;
	while (gzread(file, record, sizeof(record)) == sizeof(record)) {
		cr_assert_leq(record[2], sizeof(bytes));
		cr_assert_eq(gzread(file, bytes, record[2]), (int)record[2]);
		frame(loader, bytes, record[2], record[0] * UINT64_C(1000000000) + record[1] * UINT64_C(1000));
	}
	gzclose(file);
	for (uint32_t i = 0; i < 2 * capture->channels; i++)
		free(loader->connections[i / 2].streams[i % 2].bytes);
	free(loader);
	return capture;
}

void capture_insert(struct capture *capture, uint32_t at, const struct captured_pdu *pdu)
{
	cr_assert(at <= capture->count && capture->count < CAPTURE_PDUS_MAX);
	struct captured_pdu copy = *pdu;
	copy.bytes = malloc(pdu->length ? pdu->length : 1);
	memcpy(copy.bytes, pdu->bytes, pdu->length);
	memmove(capture->pdus + at + 1, capture->pdus + at, (capture->count - at) * sizeof(copy));
	capture->pdus[at] = copy;
	capture->count++;
}

void capture_remove(struct capture *capture, uint32_t at)
{
	cr_assert(at < capture->count);
	free(capture->pdus[at].bytes);
	capture->count--;
	memmove(capture->pdus + at, capture->pdus + at + 1, (capture->count - at) * sizeof(capture->pdus[0]));
}

struct capture *capture_copy(const struct capture *capture)
{
	struct capture *copy = calloc(1, sizeof(*copy));
	copy->channels = capture->channels;
	for (uint32_t i = 0; i < capture->count; i++)
		capture_insert(copy, i, &capture->pdus[i]);
	return copy;
}

void capture_free(struct capture *capture)
{
	while (capture->count)
		capture_remove(capture, capture->count - 1);
	free(capture);
}
