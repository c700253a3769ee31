/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a client sends, as a server reads it. */
#include "protocol/wire/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_pdu(data, size, false);
}
