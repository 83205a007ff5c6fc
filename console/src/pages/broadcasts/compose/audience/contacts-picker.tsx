import { MultiSelect, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { InboxContact } from '../../../../../../src/model/conversations/inbox.js'
import { nameOf } from '../../../inbox/contact/contact-name.js'
import { useContactSearch } from '../data.js'

interface ContactsPickerProps {
  value: InboxContact[]
  error: ReactNode
  onChange: (contacts: InboxContact[]) => void
}

const TYPING_MS = 250

/** Selects contacts one by one, by name or number. */
export function ContactsPicker({ value, error, onChange }: ContactsPickerProps) {
  const { t } = useTranslation('broadcasts')
  const [search, setSearch] = useState('')
  const [debounced] = useDebouncedValue(search.trim(), TYPING_MS)
  const { data: found = [], isFetching } = useContactSearch(debounced)
  const byId = new Map([...found, ...value].map((contact) => [contact.id, contact]))
  return (
    <MultiSelect
      label={t('audiences.contacts')}
      description={t('audienceHints.contacts')}
      placeholder={t('compose.contactsPlaceholder')}
      nothingFoundMessage={isFetching ? t('loading', { ns: 'common' }) : t('compose.noContact')}
      data={Array.from(byId.values(), (contact) => ({ value: contact.id, label: nameOf(contact) }))}
      value={value.map(({ id }) => id)}
      onChange={(ids) => {
        onChange(ids.flatMap((id) => byId.get(id) ?? []))
        setSearch('')
      }}
      searchValue={search}
      onSearchChange={setSearch}
      // Not filtered again: the service also searches fields that are not shown.
      filter={({ options }) => options}
      renderOption={({ option }) => <Option contact={byId.get(option.value)} />}
      error={error}
      data-path="contacts"
      searchable
      clearable
      hidePickedOptions
    />
  )
}

function Option({ contact }: { contact: InboxContact | undefined }) {
  if (!contact) return null
  return (
    <Stack gap={0}>
      <Text size="sm">{nameOf(contact)}</Text>
      {contact.full_name && (
        <Text size="xs" c="dimmed">
          {contact.phone_number}
        </Text>
      )}
    </Stack>
  )
}
