/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_TESTS_SAMPLES_H
#define SMB_WIRE_TESTS_SAMPLES_H

#include "protocol/wire/message.h"

/** A conversation that holds every message once in every flavour that changes its format. */
struct wire_sample {
	const char *name;
	unsigned int connection; /* MessageIds are unique within one */
	bool follows; /* a further member of the chain that the sample before belongs to */
	struct smb2_message message;
};

#define WIRE_SAMPLES_MAX 100
#define WIRE_CHAIN_MAX 4
#define WIRE_PDU_MAX 4096

/** The samples, requests before their responses; valid until the program ends. */
const struct wire_sample *wire_samples(size_t *count);

/** Encode the sample at `index` and the members that follow it; `index` out: of the next PDU. */
enum smb_wire_verdict wire_sample_encode(size_t *index, uint8_t buffer[WIRE_PDU_MAX], struct smb_pdu *pdu);

#endif
