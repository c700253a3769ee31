/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a server sends, as a client reads it, and the list of interfaces inside an IOCTL response. */
#include "protocol/wire/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_pdu(data, size, true);
}
