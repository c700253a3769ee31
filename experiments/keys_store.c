/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/keys.h"

#include "experiments/keys_special.h"
#include "sim/world/nearest.h"

#include <string.h>

/* Generic part of the key table: parse a text by its key's type, keep it in a field of struct sim_point, and back. */

static void store(const struct lab_key *key, struct sim_point *point, double number)
{
	const size_t offsets[] = { key->offset, key->mirror };

	for (guint i = 0; i < (key->mirror ? 2 : 1); i++) {
		void *field = (char *)point + offsets[i];

		switch (key->storage) {
		case LAB_STORE_NONE:
			break;
		case LAB_STORE_U16:
			*(uint16_t *)field = (uint16_t)number;
			break;
		case LAB_STORE_U32:
			*(uint32_t *)field = (uint32_t)number;
			break;
		case LAB_STORE_U64:
			*(uint64_t *)field = (uint64_t)number;
			break;
		case LAB_STORE_DOUBLE:
			*(double *)field = number;
			break;
		case LAB_STORE_BOOL:
			*(bool *)field = number != 0;
			break;
		}
	}
}

static double stored(const struct lab_key *key, const struct sim_point *point)
{
	const void *field = (const char *)point + key->offset;

	switch (key->storage) {
	case LAB_STORE_U16:
		return *(const uint16_t *)field;
	case LAB_STORE_U32:
		return *(const uint32_t *)field;
	case LAB_STORE_U64:
		return (double)*(const uint64_t *)field;
	case LAB_STORE_DOUBLE:
		return *(const double *)field;
	case LAB_STORE_BOOL:
		return *(const bool *)field;
	case LAB_STORE_NONE:
		break;
	}
	g_assert_not_reached();
}

static bool choice_parse(const struct lab_key *key, const char *text, double *number, GError **error)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	const char *nearest;

	for (const struct lab_choice *choice = key->choices; choice->word; choice++) {
		if (!strcmp(choice->word, text)) {
			*number = choice->value;
			return true;
		}
		g_ptr_array_add(words, (gpointer)choice->word);
	}
	nearest = sim_nearest(text, (const char *const *)words->pdata, words->len);
	g_ptr_array_add(words, NULL);
	g_autofree char *list = g_strjoinv(", ", (char **)words->pdata);
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "'%s' is not one of %s%s%s", text, list,
		    nearest ? "; nearest: " : "", nearest ? nearest : "");
	return false;
}

static bool check_range(const struct lab_key *key, const char *text, double number, GError **error)
{
	g_autofree char *bound = NULL;

	if (number == 0 && key->zero) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "'%s' is impossible; write '%s' if that is meant", text,
			    key->zero);
		return false;
	}
	if (number >= key->min && (key->max == 0 || number <= key->max))
		return true;
	bound = lab_number_format(key->type, number < key->min ? key->min : key->max);
	g_set_error(error, LAB_ERROR, LAB_ERROR_USAGE, "'%s' is impossible: the %s is %s", text,
		    number < key->min ? "least" : "most", bound);
	return false;
}

bool lab_key_number(const struct lab_key *key, const char *text, double *number, GError **error)
{
	bool flag = false;
	uint64_t whole = 0;

	if (key->zero && !strcmp(text, key->zero)) {
		*number = 0;
		return true;
	}
	if (key->type == LAB_CHOICE)
		return choice_parse(key, text, number, error);
	if (key->type == LAB_BOOL) {
		if (!lab_bool_parse(text, &flag, error))
			return false;
		*number = flag;
		return true;
	}
	if (key->storage == LAB_STORE_DOUBLE) {
		if (!lab_number_parse(key->type, text, number, error))
			return false;
	} else {
		if (!lab_whole_parse(key->type, text, &whole, error))
			return false;
		*number = (double)whole;
	}
	return check_range(key, text, *number, error);
}

bool lab_key_set(struct lab_draft *draft, guint index, const char *text, GError **error)
{
	const struct lab_key *key = &lab_keys(NULL)[index];
	double number;

	if (key->set)
		return key->set(draft, key, text, error);
	if (key->type == LAB_TEXT)
		return true;
	if (!lab_key_number(key, text, &number, error))
		return false;
	if (key->storage != LAB_STORE_NONE)
		store(key, draft->point, number);
	return true;
}

void lab_key_store(const struct lab_key *key, struct sim_point *point, double number)
{
	store(key, point, number);
}

static char *number_show(const struct lab_key *key, double number)
{
	if (number == 0 && key->zero)
		return g_strdup(key->zero);
	if (key->type == LAB_BOOL)
		return g_strdup(number != 0 ? "true" : "false");
	for (const struct lab_choice *choice = key->choices; choice && choice->word; choice++)
		if (choice->value == number)
			return g_strdup(choice->word);
	return lab_number_format(key->type, number);
}

char *lab_key_effective(guint index, const struct sim_point *point, const struct lab_values *values)
{
	const struct lab_key *key = &lab_keys(NULL)[index];

	if (key->set == lab_set_policy) {
		char text[64] = "";

		smb_policy_get(&point->policy, key->name + strlen("policy."), text, sizeof(text));
		return g_strdup(text);
	}
	if (key->storage == LAB_STORE_NONE) {
		const char *given = values->text[index];

		return given ? lab_key_canonical(index, given) : g_strdup(key->fallback ? key->fallback : "");
	}
	return number_show(key, stored(key, point));
}

bool lab_key_check_text(guint index, const char *text, GError **error)
{
	const struct lab_key *key = &lab_keys(NULL)[index];
	double number;

	return key->type == LAB_TEXT || lab_key_number(key, text, &number, error);
}

char *lab_key_canonical(guint index, const char *text)
{
	const struct lab_key *key = &lab_keys(NULL)[index];
	double number;

	if (key->type == LAB_TEXT || !lab_key_number(key, text, &number, NULL))
		return g_strdup(text);
	return number_show(key, number);
}
