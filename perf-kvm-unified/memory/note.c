// SPDX-License-Identifier: GPL-2.0
/*
 * The build-id in a section of ELF notes, which may be anything: not by libelf, as that wants
 * the file around it, of which a guest's memory has only pieces.
 */
#include <elf.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "note.h"

#define NOTE_ALIGN	4

bool guest_build_id__same(const struct guest_build_id *a, const struct guest_build_id *b)
{
	return a->size == b->size && !memcmp(a->data, b->data, a->size);
}

/**
 * guest_note__build_id - find the build-id among notes
 * @notes: @len: the notes' bytes
 * @id: the result; of size 0 if there is none
 */
void guest_note__build_id(const void *notes, size_t len, struct guest_build_id *id)
{
	const char *at = notes, *end = at + len;

	id->size = 0;
	while ((size_t)(end - at) > sizeof(Elf64_Nhdr)) {
		size_t left, name, desc;
		Elf64_Nhdr note;

		memcpy(&note, at, sizeof(note));
		at += sizeof(note);
		left = end - at;
		if (note.n_namesz > left || note.n_descsz > left)
			return;
		name = (note.n_namesz + NOTE_ALIGN - 1UL) & ~(NOTE_ALIGN - 1UL);
		desc = (note.n_descsz + NOTE_ALIGN - 1UL) & ~(NOTE_ALIGN - 1UL);
		if (name > left || note.n_descsz > left - name)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(at, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) && note.n_descsz &&
		    note.n_descsz <= sizeof(id->data)) {
			memset(id->data, 0, sizeof(id->data));
			memcpy(id->data, at + name, note.n_descsz);
			id->size = note.n_descsz;
			return;
		}
		if (desc > left - name)
			return;
		at += name + desc;
	}
}
