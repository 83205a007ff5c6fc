import { DataList, Group, Stack, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { useFormat } from '../../../shared/format.js'
import { Copy } from './copy.js'

/** Sources that the service itself sets. */
const SOURCES = [
  'inbound_message',
  'address_book',
  'phone_history',
  'send_template_auto_create',
  'send_chat_create',
  'gateway_send',
  'broadcast_recipient',
  'import',
  'opt_out_import',
] as const

/** The ads or posts that the person came from: the first and the last one, or the only one. */
function adsOf({ referral: { first, last } }: InboxContact) {
  const isOne = first?.message_id === last?.message_id
  return [
    ...(first === null ? [] : [{ key: isOne ? ('only' as const) : ('first' as const), ad: first }]),
    ...(last === null || isOne ? [] : [{ key: 'last' as const, ad: last }]),
  ]
}

/** The summary of the conversation, if there is one. */
export function Summary({ contact }: { contact: InboxContact }) {
  const { t } = useTranslation('inbox')
  const format = useFormat()
  const { contact_summary: summary, contact_summary_updated_at: updatedAt } = contact
  if (!summary) return null
  return (
    <Stack gap={4}>
      <Title order={4} size="sm">
        {t('panel.summary')}
      </Title>
      <Text size="sm">{summary}</Text>
      {updatedAt !== null && (
        <Text size="xs" c="dimmed">
          {t('panel.summaryOf', { date: format.dateTime(updatedAt) })}
        </Text>
      )}
    </Stack>
  )
}

/** What WhatsApp reported about a group; empty for people. */
function useGroupFacts({ group }: InboxContact): { label: string; value: string }[] {
  const { t } = useTranslation('inbox')
  const format = useFormat()
  if (!group) return []
  const { description, suspended, deleted_at: deletedAt, participants } = group
  const names = participants.map(
    ({ name, phone_number, username, user_id }) => name ?? phone_number ?? username ?? user_id,
  )
  const state =
    deletedAt === null
      ? suspended && t('panel.groupOf.suspended')
      : t('panel.groupOf.deleted', { date: format.date(deletedAt) })
  return [
    ...(description === null ? [] : [{ label: t('panel.groupOf.description'), value: description }]),
    ...(state ? [{ label: t('panel.groupOf.state'), value: state }] : []),
    ...(names.length === 0 ? [] : [{ label: t('panel.groupOf.participants'), value: names.join(', ') }]),
  ]
}

/** Read-only fields of a contact. */
export function Facts({ contact }: { contact: InboxContact }) {
  const { t } = useTranslation('inbox')
  const format = useFormat()
  const source = contact.source?.type
  const group = useGroupFacts(contact)
  const known = SOURCES.find((name) => name === source)
  // Clients of the API may set any source.
  const sourceName = known ? t(`panel.sources.${known}`) : source
  const facts = [
    ...group,
    {
      label: t('panel.lastInbound'),
      value: contact.last_inbound_at ? format.dateTime(contact.last_inbound_at) : t('panel.never'),
    },
    { label: t('panel.messages'), value: format.number(contact.message_count) },
    { label: t('panel.created'), value: format.dateTime(contact.created_at) },
    ...(typeof sourceName === 'string' ? [{ label: t('panel.source'), value: sourceName }] : []),
    ...adsOf(contact).map(({ key, ad }) => ({
      label: t(`panel.referral.${key}`),
      value: `${ad.headline ?? ad.source_url ?? ad.source_id ?? ad.ctwa_clid ?? '–'} · ${format.date(ad.at)}`,
    })),
  ]
  return (
    <Stack gap="xs">
      <Title order={4} size="sm">
        {t('panel.facts')}
      </Title>
      <DataList gap={4} labelWidth={126} size="xs">
        {facts.map(({ label, value }) => (
          <DataList.Item key={label}>
            <DataList.ItemLabel>{label}</DataList.ItemLabel>
            <DataList.ItemValue>{value}</DataList.ItemValue>
          </DataList.Item>
        ))}
      </DataList>
      <Group gap={4} wrap="nowrap">
        <Text size="xs" c="dimmed">
          {t('panel.id')}
        </Text>
        <Copy value={contact.id} label={t('panel.copyId')} />
      </Group>
    </Stack>
  )
}
