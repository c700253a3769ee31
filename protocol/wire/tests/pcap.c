/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/wire/tests/pcap.h"

#include "protocol/wire/buffer.h"

#include <assert.h>

#define LINK_ETHERNET 1
#define ETHERNET_SIZE 14u
#define IPV4_SIZE 20u
#define TCP_SIZE 20u
#define HEADERS_SIZE (ETHERNET_SIZE + IPV4_SIZE + TCP_SIZE)
#define FRAME_MAX (60u << 10)

static void put16be(uint8_t *p, uint16_t value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}

static void put32be(uint8_t *p, uint32_t value)
{
	put16be(p, (uint16_t)(value >> 16));
	put16be(p + 2, (uint16_t)value);
}

bool pcap_open(struct pcap_writer *writer, const char *path)
{
	uint8_t header[24] = { 0 };
	*writer = (struct pcap_writer){ .file = fopen(path, "wb") };
	if (!writer->file)
		return false;
	smb_put32(header, 0xa1b2c3d4);
	smb_put16(header + 4, 2);
	smb_put16(header + 6, 4);
	smb_put32(header + 16, FRAME_MAX);
	smb_put32(header + 20, LINK_ETHERNET);
	return fwrite(header, sizeof(header), 1, writer->file) == 1;
}

static void put_headers(uint8_t *frame, uint16_t client_port, bool to_server, uint32_t length)
{
	uint8_t *ip = frame + ETHERNET_SIZE, *tcp = ip + IPV4_SIZE;
	memset(frame, 0, HEADERS_SIZE);
	frame[5] = to_server ? 1 : 2;
	frame[11] = to_server ? 2 : 1;
	put16be(frame + 12, 0x0800);
	ip[0] = 0x45;
	put16be(ip + 2, (uint16_t)(IPV4_SIZE + TCP_SIZE + length));
	ip[8] = 64; /* time to live */
	ip[9] = 6; /* TCP */
	put32be(ip + 12, to_server ? 0x0a000002 : 0x0a000001);
	put32be(ip + 16, to_server ? 0x0a000001 : 0x0a000002);
	put16be(tcp, to_server ? client_port : 445);
	put16be(tcp + 2, to_server ? 445 : client_port);
	tcp[12] = TCP_SIZE / 4 << 4;
	tcp[13] = 0x18; /* PSH, ACK */
	put16be(tcp + 14, 0xffff);
}

void pcap_add(struct pcap_writer *writer, unsigned int connection, bool to_server, const struct smb_pdu *pdu)
{
	static uint8_t frame[HEADERS_SIZE + FRAME_MAX];
	uint8_t record[16] = { 0 };
	uint32_t length = 4 + pdu->length + pdu->payload.length;
	assert(connection < 8 && length <= FRAME_MAX);

	uint32_t *sequence = writer->sequence[connection];
	put_headers(frame, (uint16_t)(40000 + connection), to_server, length);
	put32be(frame + ETHERNET_SIZE + IPV4_SIZE + 4, 1 + sequence[to_server]);
	put32be(frame + ETHERNET_SIZE + IPV4_SIZE + 8, 1 + sequence[!to_server]);
	sequence[to_server] += length;

	uint8_t *p = frame + HEADERS_SIZE;
	smb_frame_encode(pdu->length + pdu->payload.length, p);
	memcpy(p + 4, pdu->bytes, pdu->length);
	for (uint32_t i = 0; i < pdu->payload.length; i++)
		p[4 + pdu->length + i] = smb_source_byte(pdu->payload.source, pdu->payload.offset + i);

	smb_put32(record + 4, ++writer->frames); /* microseconds */
	smb_put32(record + 8, HEADERS_SIZE + length);
	smb_put32(record + 12, HEADERS_SIZE + length);
	fwrite(record, sizeof(record), 1, writer->file);
	fwrite(frame, HEADERS_SIZE + length, 1, writer->file);
}

bool pcap_close(struct pcap_writer *writer)
{
	bool good = !ferror(writer->file);
	return !fclose(writer->file) && good;
}
