/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_KIT_PCAPNG_H
#define REPORTS_KIT_PCAPNG_H

/** Capture files with comments: one section, one Ethernet interface, times in microseconds. In memory. */

#include <glib.h>

/** The head of the file; `comment` tells about the capture as a whole. */
void kit_pcapng_begin(GByteArray *out, const char *program, const char *comment);
/** One frame; `comment` may be NULL. */
void kit_pcapng_frame(GByteArray *out, guint64 time_us, const GByteArray *frame, const char *comment);

/** A TCP segment in IPv4 in Ethernet. Client ports are told by the caller; the server's is 445. */
struct kit_segment {
	gboolean to_server;
	guint16 client_port;
	guint32 sequence;
	guint32 acknowledged;
	guint8 flags; /* KIT_TCP_... */
	const guint8 *data;
	guint length; /* at most KIT_SEGMENT_MAX */
};

#define KIT_TCP_FIN 0x01
#define KIT_TCP_SYN 0x02
#define KIT_TCP_RST 0x04
#define KIT_TCP_PSH 0x08
#define KIT_TCP_ACK 0x10
#define KIT_SEGMENT_MAX 61440 /* as a card with segmentation offload shows them */

/** The frame of a segment, checksums included; free with g_byte_array_unref. */
GByteArray *kit_segment_frame(const struct kit_segment *segment);

#endif
