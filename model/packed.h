/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_PACKED_H
#define MODEL_PACKED_H

/**
 * Blocks of the cores, packed as what differs from a base block, in words of 8 bytes. A block of 14 KiB usually takes
 * one or two hundred words.
 */

#include <stddef.h>
#include <stdint.h>

/** Most bytes that packing `size` can give. */
size_t model_packed_max(size_t size);
/** `size` is a multiple of 8; all three are aligned for uint64_t. Returns the bytes of `packed`. */
size_t model_pack(const uint8_t *block, const uint8_t *base, size_t size, uint8_t *packed);
void model_unpack(const uint8_t *packed, size_t length, const uint8_t *base, size_t size, uint8_t *block);

#endif
