/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/kit/pcapng.h"

#include <string.h>

#define BLOCK_SECTION 0x0a0d0d0au
#define BLOCK_INTERFACE 1u
#define BLOCK_PACKET 6u
#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define OPTION_COMMENT 1
#define OPTION_PROGRAM 4 /* of a section */
#define LINK_ETHERNET 1
#define COMMENT_MAX 65000

static void put16(GByteArray *out, guint16 value)
{
	guint8 bytes[] = { (guint8)value, (guint8)(value >> 8) };

	g_byte_array_append(out, bytes, sizeof(bytes));
}

static void put32(GByteArray *out, guint32 value)
{
	put16(out, (guint16)value);
	put16(out, (guint16)(value >> 16));
}

static void put_padded(GByteArray *out, const guint8 *bytes, guint length)
{
	static const guint8 zeros[4];

	g_byte_array_append(out, bytes, length);
	g_byte_array_append(out, zeros, (4 - length % 4) % 4);
}

static void put_option(GByteArray *out, guint16 code, const char *text)
{
	guint length = text ? MIN((guint)strlen(text), COMMENT_MAX) : 0;

	if (!length)
		return;
	put16(out, code);
	put16(out, (guint16)length);
	put_padded(out, (const guint8 *)text, length);
}

/* A block says its length in front and behind. */
static void put_block(GByteArray *out, guint32 type, const GByteArray *body)
{
	put32(out, type);
	put32(out, body->len + 12);
	g_byte_array_append(out, body->data, body->len);
	put32(out, body->len + 12);
}

void kit_pcapng_begin(GByteArray *out, const char *program, const char *comment)
{
	g_autoptr(GByteArray) section = g_byte_array_new();
	g_autoptr(GByteArray) interface = g_byte_array_new();

	put32(section, BYTE_ORDER_MAGIC);
	put16(section, 1); /* version 1.0 */
	put16(section, 0);
	put32(section, 0xffffffff); /* length of the section: unknown */
	put32(section, 0xffffffff);
	put_option(section, OPTION_COMMENT, comment);
	put_option(section, OPTION_PROGRAM, program);
	put32(section, 0); /* end of options */
	put_block(out, BLOCK_SECTION, section);
	put16(interface, LINK_ETHERNET);
	put16(interface, 0);
	put32(interface, 0); /* frames are whole */
	put_block(out, BLOCK_INTERFACE, interface);
}

void kit_pcapng_frame(GByteArray *out, guint64 time_us, const GByteArray *frame, const char *comment)
{
	g_autoptr(GByteArray) body = g_byte_array_new();

	put32(body, 0); /* interface */
	put32(body, (guint32)(time_us >> 32));
	put32(body, (guint32)time_us);
	put32(body, frame->len);
	put32(body, frame->len);
	put_padded(body, frame->data, frame->len);
	if (comment) {
		put_option(body, OPTION_COMMENT, comment);
		put32(body, 0);
	}
	put_block(out, BLOCK_PACKET, body);
}

/* --------------------------------------------------------------------------------------------------------------- frames */

#define ETHERNET_BYTES 14
#define IPV4_BYTES 20
#define TCP_BYTES 20

static void set16be(guint8 *at, guint16 value)
{
	at[0] = (guint8)(value >> 8);
	at[1] = (guint8)value;
}

static void set32be(guint8 *at, guint32 value)
{
	set16be(at, (guint16)(value >> 16));
	set16be(at + 2, (guint16)value);
}

/* The Internet checksum (RFC 1071): 16-bit words summed with the carry brought round, and its complement. */
static guint16 checksum(guint32 sum, const guint8 *bytes, guint length)
{
	for (guint i = 0; i < length; i++)
		sum += i % 2 ? bytes[i] : (guint32)bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (guint16)~sum;
}

static void fill_ip(guint8 *ip, gboolean to_server, guint tcp_bytes)
{
	ip[0] = 0x45; /* version 4, five words */
	set16be(ip + 2, (guint16)(IPV4_BYTES + tcp_bytes));
	set16be(ip + 6, 0x4000); /* not to be cut */
	ip[8] = 64; /* hops */
	ip[9] = 6; /* TCP */
	set32be(ip + 12, to_server ? 0x0a000001 : 0x0a000002);
	set32be(ip + 16, to_server ? 0x0a000002 : 0x0a000001);
	set16be(ip + 10, checksum(0, ip, IPV4_BYTES));
}

static void fill_tcp(guint8 *tcp, const struct kit_segment *segment, guint head, const guint8 *addresses)
{
	guint32 pseudo = 6 + head + segment->length;

	set16be(tcp, segment->to_server ? segment->client_port : 445);
	set16be(tcp + 2, segment->to_server ? 445 : segment->client_port);
	set32be(tcp + 4, segment->sequence);
	set32be(tcp + 8, segment->acknowledged);
	tcp[12] = (guint8)(head / 4 << 4);
	tcp[13] = segment->flags;
	set16be(tcp + 14, 0xffff); /* window */
	for (guint i = 0; i < 8; i += 2)
		pseudo += (guint32)addresses[i] << 8 | addresses[i + 1];
	set16be(tcp + 16, checksum(pseudo, tcp, head + segment->length));
}

GByteArray *kit_segment_frame(const struct kit_segment *segment)
{
	static const guint8 options[] = { 2, 4, 0xff, 0xd7, 1, 3, 3, 14 }; /* MSS 65495, window scale 14 */
	guint more = segment->flags & KIT_TCP_SYN ? sizeof(options) : 0;
	guint head = TCP_BYTES + more;
	GByteArray *frame = g_byte_array_new();
	guint8 *ethernet, *ip;

	g_assert(segment->length <= KIT_SEGMENT_MAX);
	g_byte_array_set_size(frame, ETHERNET_BYTES + IPV4_BYTES + head);
	memset(frame->data, 0, frame->len);
	memcpy(frame->data + ETHERNET_BYTES + IPV4_BYTES + TCP_BYTES, options, more);
	if (segment->length)
		g_byte_array_append(frame, segment->data, segment->length);
	ethernet = frame->data;
	ethernet[0] = ethernet[6] = 0x02; /* addresses that nobody was given */
	ethernet[5] = segment->to_server ? 2 : 1;
	ethernet[11] = segment->to_server ? 1 : 2;
	set16be(ethernet + 12, 0x0800);
	ip = ethernet + ETHERNET_BYTES;
	fill_ip(ip, segment->to_server, head + segment->length);
	fill_tcp(ip + IPV4_BYTES, segment, head, ip + 12);
	return frame;
}
