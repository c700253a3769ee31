/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_TESTS_PCAP_H
#define SMB_WIRE_TESTS_PCAP_H

#include "protocol/wire/payload.h"

#include <stdbool.h>
#include <stdio.h>

/** A capture file of SMB over TCP: Ethernet, IPv4, one PDU per frame, up to eight connections to port 445. */
struct pcap_writer {
	FILE *file;
	uint32_t frames;
	uint32_t sequence[8][2]; /* [connection][to_server] */
};

bool pcap_open(struct pcap_writer *writer, const char *path);
/** Framing and the bytes of a payload that stayed out of the PDU are added here; at most 60 KiB in all. */
void pcap_add(struct pcap_writer *writer, unsigned int connection, bool to_server, const struct smb_pdu *pdu);
bool pcap_close(struct pcap_writer *writer);

#endif
