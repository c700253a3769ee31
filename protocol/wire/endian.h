/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_ENDIAN_H
#define SMB_WIRE_ENDIAN_H

/** Little-endian numbers at any address. */

#include <stdint.h>

static inline uint16_t smb_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t smb_get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t smb_get64(const uint8_t *p)
{
	return (uint64_t)smb_get32(p) | (uint64_t)smb_get32(p + 4) << 32;
}

static inline void smb_put16(uint8_t *p, uint16_t value)
{
	p[0] = (uint8_t)value;
	p[1] = (uint8_t)(value >> 8);
}

static inline void smb_put32(uint8_t *p, uint32_t value)
{
	p[0] = (uint8_t)value;
	p[1] = (uint8_t)(value >> 8);
	p[2] = (uint8_t)(value >> 16);
	p[3] = (uint8_t)(value >> 24);
}

static inline void smb_put64(uint8_t *p, uint64_t value)
{
	smb_put32(p, (uint32_t)value);
	smb_put32(p + 4, (uint32_t)(value >> 32));
}

#endif
